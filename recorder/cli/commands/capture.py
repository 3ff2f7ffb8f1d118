"""`rec capture`: recordings into the log."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recorder import dialects
from recorder.cli import opening
from recorder.cli.commands import capture_advice, capture_program
from recorder.cli.help import PROGRAM
from recorder.cli.options import Database
from recorder.cli.output import error_line, hint
from recorder.cli.progress import Progress
from recorder.errors import BadInput, RecorderError

if TYPE_CHECKING:
    from recorder.capture import Captured
    from recorder.ledger import Ledger

*_FIRST, _LAST = sorted(dialects.DIALECTS)
_DIALECTS = f"{', '.join(_FIRST)} or {_LAST}"


def capture(
    context: typer.Context,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE…|-|-- PROGRAM…",
            help="Recordings, or - for standard input; or -- and a program with its arguments.",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--name",
            metavar="NAME",
            help="The stream's name. Default: the file's stem; of a program its name and the time.",
            show_default=False,
        ),
    ] = None,
    dialect: Annotated[
        str | None,
        typer.Option(
            "--dialect",
            metavar="DIALECT",
            help=f"What its frames are in: {_DIALECTS}. Default: found.",
            show_default=False,
        ),
    ] = None,
    tee: Annotated[bool, typer.Option("--tee", help="With -: pass standard input on to standard output.")] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Of a HAR file, take what is no model traffic as well.")
    ] = False,
    spool: Annotated[
        str | None,
        typer.Option(
            "--spool",
            metavar="PATH",
            help="Take in what programs left in a spool, or in those of a folder, while the database was away.",
            show_default=False,
        ),
    ] = None,
    database: Database = None,
) -> int:
    """Store recordings in the log, or what a program does.

    \b
    Examples:
      rec capture run.sse cassettes/*.yaml
      rec capture --name weather dump.ndjson
      curl -N … | rec capture --tee - > answer.sse
      rec capture --name monday -- python agent.py --city Almería

    A recording is a dump of server-sent events, of JSON lines, of a streamed JSON array or of an AWS event stream, as a
    provider, LangChain or LangGraph streamed it; a cassette of vcrpy or its kin; a HAR file as browsers and proxies
    save it; or what rec export wrote. Its frames are stored as they are; those that are broken, or in no dialect that
    is known, are reported as findings.

    A file captured before is known, one that has grown is taken up where it ended; nothing is stored twice. A file
    that is refused does not keep the others out: exit code 2 says that there was one.

    Of a program behind -- what its Pythons do is recorded while they do it: LangChain's runs, and the traffic with
    models through httpx, requests, aiohttp and botocore. It runs as it does without; its exit code is passed on. Its
    subprocesses record into streams of their own, NAME/PID. Python does not take the recorder in with -E, -I or -S,
    nor where recorder is not installed.
    """
    program: list[str] | None = context.meta.get(PROGRAM)
    files = files or []
    if program is not None:
        _refuse_beside("--", files, dialect=dialect, tee=tee, everything=everything, spool=spool)
        return capture_program.run(program, name, database)
    if spool is not None:
        _refuse_beside("--spool", files, name=name, dialect=dialect, tee=tee, everything=everything)
        return capture_program.take_in(spool, database)
    if not files:
        raise BadInput("name recordings, or - for standard input, or -- and a program (see rec capture --help)")
    if dialect is not None and dialect not in dialects.DIALECTS:
        raise BadInput(f"--dialect {dialect}: give one of {', '.join(sorted(dialects.DIALECTS))}")
    if name is not None and len(files) > 1:
        raise BadInput("--name goes with one recording: leave it out, and each stream is named after its file")
    if tee and files != ["-"]:
        raise BadInput("--tee passes standard input on: give it with - alone")
    if files.count("-") > 1:
        raise BadInput("- is standard input: give it once")
    with opening.ledger(database, write=True) as ledger:
        refused = 0
        for file in files:
            try:
                for captured, stopped in _captured(ledger, file, name, dialect, tee, everything):
                    _report(ledger, captured, dialect)
                    refused += not captured.passed_on
                    if stopped:
                        return 130
            except RecorderError as error:
                refused += 1
                error_line(str(error))
            except KeyboardInterrupt:
                hint(f"{file}: interrupted; what was stored stays, and the same command stores the rest")
                return 130
        return 2 if refused else 0


def _refuse_beside(what: str, files: list[str], **options: object) -> None:
    """Raises `BadInput` where files or options are given that do not go with `what`."""
    if files:
        raise BadInput(f"{what} goes without recordings: leave {files[0]} out")
    for name, value in options.items():
        if value:
            raise BadInput(f"{what} goes without {'--all' if name == 'everything' else f'--{name}'}: leave that out")


def _captured(
    ledger: Ledger, file: str, name: str | None, dialect: str | None, tee: bool, everything: bool
) -> Iterable[tuple[Captured, bool]]:
    """Captures one recording, or the streams of an export; also says of each whether a signal ended it."""
    from recorder.capture import Interrupts, capture_export_file, capture_file, capture_pipe, is_export_file

    if file.startswith(("http://", "https://")):
        raise BadInput(f"{file} is a URL: curl -N {shlex.quote(file)} | rec capture - records what it streams")
    path = Path(file)
    if file != "-" and is_export_file(path):
        return ((each, False) for each in capture_export_file(ledger, path, name=name))
    progress = Progress(file) if sys.stderr.isatty() else None
    try:
        if file != "-":
            captured = capture_file(ledger, path, name=name, dialect=dialect, everything=everything, progress=progress)
            return [(captured, False)]
        if sys.stdin.isatty():
            hint("reading standard input; Ctrl-D ends it")
        interrupts = Interrupts()
        found = capture_pipe(
            ledger,
            sys.stdin.buffer,
            name,
            dialect=dialect,
            tee=sys.stdout.buffer if tee else None,
            progress=progress,
            interrupts=interrupts,
            trouble=error_line,
        )
        return [(each, interrupts.stopped) for each in found]
    finally:
        if progress is not None:
            progress.clear()


def _report(ledger: Ledger, captured: Captured, dialect: str | None) -> None:
    from recorder.ledger import questions

    if captured.last_seq == 0 and ledger.find(captured.stream) is None:
        hint("nothing came; nothing was stored")
        return
    what = {
        "stored": f"stored {_count(captured.events, 'event')}",
        "extended": f"stored {captured.events} more, {_count(captured.last_seq, 'event')} in all",
        "known": f"known already, {_count(captured.last_seq, 'event')}; nothing stored",
    }[captured.status]
    found = questions.findings_after(ledger.store, captured.stream, captured.last_seq - captured.events)
    findings = ", ".join(f"{count} {rule}" for rule, count in found)
    hint(f"{captured.stream}: {what}" + (f" (findings: {findings})" if findings else ""))
    advice = capture_advice.advice(ledger, captured, dialect)
    if advice is not None:
        hint(f"{captured.stream}: nothing in it was recognised: {advice}")
    if captured.note is not None:
        hint(f"{captured.stream}: {captured.note}")


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
