"""`rec capture`: recordings into the log."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recorder.cli import opening
from recorder.cli.commands import capture_advice
from recorder.cli.options import Database
from recorder.cli.output import error_line, hint
from recorder.cli.progress import Progress
from recorder.errors import BadInput, RecorderError

if TYPE_CHECKING:
    from recorder.capture import Captured
    from recorder.ledger import Ledger

_FINDINGS = "SELECT rule, count(*) FROM findings WHERE stream = ? AND seq > ? GROUP BY rule ORDER BY min(seq), rule"


def capture(
    files: Annotated[list[str], typer.Argument(metavar="FILE…|-", help="Recordings, or - for standard input.")],
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="The stream's name. Default: the file's stem.", show_default=False),
    ] = None,
    dialect: Annotated[
        str | None,
        typer.Option(
            "--dialect",
            metavar="DIALECT",
            help="What its frames are in: anthropic.messages, langchain.v2, openai.chat or unknown. Default: found.",
            show_default=False,
        ),
    ] = None,
    tee: Annotated[bool, typer.Option("--tee", help="With -: pass standard input on to standard output.")] = False,
    database: Database = None,
) -> int:
    """Store recordings in the log.

    \b
    Examples:
      rec capture run.sse cassettes/*.yaml
      rec capture --name weather dump.ndjson
      curl -N … | rec capture --tee - > answer.sse

    A recording is a dump of server-sent events or of JSON lines, as a provider streamed them or as LangChain's
    astream_events gives them, or a vcrpy cassette. Its frames are stored as they are; those that are broken, or in no
    dialect that is known, are reported as findings.

    A file captured before is known, one that has grown is taken up where it ended; nothing is stored twice. A file
    that is refused does not keep the others out: exit code 2 says that there was one.
    """
    from recorder import dialects

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
                captured, stopped = _capture(ledger, file, name, dialect, tee)
            except RecorderError as error:
                refused += 1
                error_line(str(error))
                continue
            except KeyboardInterrupt:
                hint(f"{file}: interrupted; what was stored stays, and the same command stores the rest")
                return 130
            _report(ledger, captured)
            refused += not captured.passed_on
            if stopped:
                return 130
        return 2 if refused else 0


def _capture(ledger: Ledger, file: str, name: str | None, dialect: str | None, tee: bool) -> tuple[Captured, bool]:
    """Captures one recording; also says whether a signal ended it."""
    from recorder.capture import Interrupts, capture_file, capture_pipe, name_of_program

    progress = Progress(file) if sys.stderr.isatty() else None
    try:
        if file.startswith(("http://", "https://")):
            raise BadInput(f"{file} is a URL: curl -N {shlex.quote(file)} | rec capture - records what it streams")
        if file != "-":
            return capture_file(ledger, Path(file), name=name, dialect=dialect, progress=progress), False
        if sys.stdin.isatty():
            hint("reading standard input; Ctrl-D ends it")
        interrupts = Interrupts()
        captured = capture_pipe(
            ledger,
            sys.stdin.buffer,
            name_of_program("stdin") if name is None else name,
            dialect=dialect,
            tee=sys.stdout.buffer if tee else None,
            progress=progress,
            interrupts=interrupts,
            trouble=error_line,
        )
        return captured, interrupts.stopped
    finally:
        if progress is not None:
            progress.clear()


def _report(ledger: Ledger, captured: Captured) -> None:
    if captured.last_seq == 0:
        hint("nothing came; nothing was stored")
        return
    what = {
        "stored": f"stored {_count(captured.events, 'event')}",
        "extended": f"stored {captured.events} more, {_count(captured.last_seq, 'event')} in all",
        "known": f"known already, {_count(captured.last_seq, 'event')}; nothing stored",
    }[captured.status]
    _, found = ledger.sql(_FINDINGS, (captured.stream, captured.last_seq - captured.events))
    findings = ", ".join(f"{count} {rule}" for rule, count in found)
    hint(f"{captured.stream}: {what}" + (f" (findings: {findings})" if findings else ""))
    advice = capture_advice.advice(ledger, captured)
    if advice is not None:
        hint(f"{captured.stream}: nothing in it was recognised: {advice}")
    if captured.note is not None:
        hint(f"{captured.stream}: {captured.note}")


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
