"""`rec serve`: record programs in any language, through a proxy or by what they post."""

from __future__ import annotations

import os
from pathlib import Path
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
    from recorder.capture.live.sink import Sink
    from recorder.capture.live.spool import SUFFIX
    from recorder.capture.names import checked, name_of_program
    from recorder.store.location import default_database

    stream = checked(name_of_program("serve") if name is None else name)
    if not port.isdecimal() or int(port) > 65535:
        raise BadInput(f"--port {port} is no port: give 0 to 65535")
    with opening.ledger(database, write=True) as ledger:
        place = default_database() if database is None else database
        folder = Path.cwd() if "://" in place else Path(place).absolute().parent
        sink = Sink(place, stream, spool=folder / f"{stream.replace('/', '_')}-{os.getpid()}{SUFFIX}")
        proxy = Proxy(record, sink) if record is not None else None
        what = f"records what passes to {proxy.upstream} as {stream!r}" if proxy is not None else "takes posted events"

        def started(address: str) -> None:
            output.hint(f"{address} {what}; Ctrl-C ends it")

        serving.serve(serving.application(ledger, proxy), host, int(port), started)
        counts = sink.close()
        if proxy is not None:
            output.hint(f"{sink.stream}: {counts.stored} events")
        if counts.spooled or counts.lost:
            places = " and ".join(str(path) for path in sink.places if path.exists()) or "no file"
            raise BadInput(f"{counts.spooled} events wait in {places}, {counts.lost} were lost: {counts.reason}")
