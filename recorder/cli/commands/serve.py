"""`rec serve`: record programs in any language, through a proxy or by what they post."""

from __future__ import annotations

from typing import Annotated

import typer

from recorder.cli import opening, output
from recorder.cli.options import Database
from recorder.errors import BadInput


def serve(
    record: Annotated[
        str | None, typer.Option("--record", metavar="URL", help="Pass requests on to this server, and record them.")
    ] = None,
    name: Annotated[str | None, typer.Option("--name", metavar="NAME", help="The stream's name.")] = None,
    host: Annotated[str, typer.Option("--host", metavar="HOST", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[str, typer.Option("--port", metavar="PORT", help="0 takes a free one.")] = "8899",
    database: Database = None,
) -> None:
    """Record programs in any language.

    \b
    Examples:
      rec serve --record https://api.openai.com
      OPENAI_BASE_URL=http://127.0.0.1:8899/v1 node agent.mjs
      curl --data-binary @run.jsonl http://127.0.0.1:8899/streams/run/events

    The proxy passes bytes on as they come. Its stream has an exchange for each request. POST /streams/NAME/events
    appends the JSON lines or server-sent events of its body to a stream. Ctrl-C ends it. Everyone who can reach the
    port can use both: listen where only your own programs are.
    """
    try:
        from recorder.capture.live import serving
        from recorder.capture.live.proxy import Proxy
    except ImportError as error:
        needed = f"rec serve needs the package {error.name}"
        raise BadInput(f"{needed}: pip install 'agent-stream-recorder[serve]'") from None
    from recorder.capture.live.session import Session
    from recorder.capture.names import name_of_program

    if not port.isdecimal() or int(port) > 65535:
        raise BadInput(f"--port {port} is no port: give 0 to 65535")
    with opening.ledger(database, write=True) as ledger:
        session = Session(name_of_program("serve") if name is None else name, database=database, listens=False)
        proxy = Proxy(record, session.sink) if record is not None else None
        what = f"records what passes to {proxy.upstream} as {session.stream!r}" if proxy else "takes posted events"

        def started(address: str) -> None:
            output.hint(f"{address} {what}; Ctrl-C ends it")

        session.start()
        try:
            serving.serve(serving.application(ledger, proxy), host, int(port), started)
        finally:
            counts = session.stop()
        if proxy is not None:
            output.hint(f"{session.stream}: {counts.stored} events")
        if counts.spooled or counts.lost:
            # The session has said how many, and where they are.
            raise typer.Exit(2)
