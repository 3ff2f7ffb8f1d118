"""`rec capture`: recordings into the log."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recorder.cli import opening
from recorder.cli.options import Database
from recorder.cli.output import hint
from recorder.errors import BadInput, RecorderError

if TYPE_CHECKING:
    from recorder.capture import Captured
    from recorder.ledger import Ledger


def capture(
    files: Annotated[list[str], typer.Argument(metavar="FILE…|-", help="Recordings, or - for standard input.")],
    name: Annotated[str | None, typer.Option("--name", help="The stream's name. Default: the file's stem.")] = None,
    dialect: Annotated[
        str | None, typer.Option("--dialect", help="What the frames are written in. Default: found out.")
    ] = None,
    tee: Annotated[bool, typer.Option("--tee", help="With -: pass standard input on to standard output.")] = False,
    database: Database = None,
) -> int:
    """Store recordings: SSE and NDJSON dumps, LangChain events, vcrpy cassettes.

    \b
    Examples:
      rec capture run.sse cassettes/*.yaml
      rec capture --name weather dump.ndjson
      curl -N … | rec capture --tee - > answer.sse

    A file captured before is known, one that has grown is taken up where it ended; nothing is stored twice. A file
    that is refused does not keep the others out: exit code 2 says that there was one.
    """
    from recorder import dialects

    if dialect is not None and dialect not in dialects.DIALECTS:
        raise BadInput(f"--dialect {dialect}: known are {', '.join(sorted(dialects.DIALECTS))}")
    if name is not None and len(files) > 1:
        raise BadInput("--name goes with one recording: leave it out, and each stream is named after its file")
    if tee and files != ["-"]:
        raise BadInput("--tee passes standard input on: give it with - alone")
    if name is not None and not name.strip():
        raise BadInput("--name is empty: give the stream a name")
    with opening.ledger(database, write=True) as ledger:
        refused = 0
        for file in files:
            try:
                captured, stopped = _capture(ledger, file, name, dialect, tee)
            except RecorderError as error:
                refused += 1
                hint(f"rec: {' '.join(str(error).split())}")
                continue
            _report(captured)
            if stopped:
                return 130
        return 2 if refused else 0


def _capture(ledger: Ledger, file: str, name: str | None, dialect: str | None, tee: bool) -> tuple[Captured, bool]:
    """Captures one recording; also says whether a signal ended it."""
    from recorder.capture import Interrupts, capture_file, capture_pipe, name_of_program

    progress = _Progress(file) if sys.stderr.isatty() else None
    try:
        if file != "-":
            return capture_file(ledger, Path(file), name=name, dialect=dialect, progress=progress), False
        interrupts = Interrupts()
        captured = capture_pipe(
            ledger,
            sys.stdin.buffer,
            name or name_of_program("stdin"),
            dialect=dialect,
            tee=sys.stdout.buffer if tee else None,
            progress=progress,
            interrupts=interrupts,
        )
        return captured, interrupts.stopped
    finally:
        if progress is not None:
            progress.clear()


class _Progress:
    """One line on the terminal that tells how far a long capture is."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._shown_at = time.monotonic()
        self._width = 0

    def __call__(self, events: int, size: int) -> None:
        if time.monotonic() - self._shown_at < 0.1:
            return
        self._shown_at = time.monotonic()
        line = f"{self._file}: {events:,} events, {size / 1e6:.1f} MB"
        print(f"\r{line.ljust(self._width)}", end="", file=sys.stderr, flush=True)
        self._width = len(line)

    def clear(self) -> None:
        if self._width:
            print(f"\r{' ' * self._width}\r", end="", file=sys.stderr, flush=True)


def _report(captured: Captured) -> None:
    what = {
        "stored": f"stored {captured.events} events",
        "extended": f"stored {captured.events} more events, {captured.last_seq} in all",
        "known": f"known already, {captured.last_seq} events; nothing stored",
    }[captured.status]
    hint(f"{captured.stream}: {what}")
    if captured.note is not None:
        hint(f"{captured.stream}: {captured.note}")
