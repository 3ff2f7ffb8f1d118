"""`rec export`, `rec copy`, `rec tail`: streams out of the log, into another one, as they grow."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from recorder.cli import opening, output, targets
from recorder.cli.options import Database
from recorder.errors import BadInput, RecorderError

if TYPE_CHECKING:
    from recorder.ledger import Ledger
    from recorder.ledger.transfer import Moved


def export(
    streams: Annotated[list[str] | None, typer.Argument(metavar="STREAM…", help="All streams by default.")] = None,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="Whole streams, a line of JSON an event.")] = False,
    out: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write. Default: standard output.")
    ] = None,
    database: Database = None,
) -> None:
    """Write streams out whole.

    \b
    Examples:
      rec export --jsonl weather > weather.jsonl
      rec export --jsonl -o all.jsonl
      rec export --jsonl | rec capture -d other.db -

    With ids, times, salts, hashes and erasures: rec capture takes the streams in again as they are, and rec verify
    proves them there. Erased events are tombstones, without content.
    """
    from recorder.replay import export as exporting

    if not jsonl:
        raise BadInput("give the format: --jsonl")
    with opening.ledger(database) as ledger:
        names = _names(ledger, streams)
        file = _opened(out)
        try:
            for name in names:
                for line in exporting.export(ledger, name):
                    file.write(line)
            file.flush() if out is None else file.close()
        except BaseException as error:
            if out is None:
                raise
            _give_up(file, out)
            if not isinstance(error, OSError):
                raise
            raise BadInput(f"{out} cannot be written: {(error.strerror or str(error)).lower()}") from None
        if out is not None:
            output.hint(f"{out}: {len(names)} {'stream' if len(names) == 1 else 'streams'}")


def copy(
    source: Annotated[str, typer.Argument(metavar="SRC", help="The database to copy from: a path or URL.")],
    target: Annotated[str, typer.Argument(metavar="DST", help="The database to copy to.")],
    streams: Annotated[list[str] | None, typer.Argument(metavar="STREAM…", help="All streams by default.")] = None,
) -> int:
    """Copy streams into another database.

    \b
    Examples:
      rec copy runs.db postgresql://log@server/agents
      rec copy postgresql://log@server/agents monday.db weather

    UUIDs, numbers, times and hashes stay as they are. A stream that is there already gets what it lacks, erasures
    included, so that the same command again keeps two databases alike. What cannot be copied is told, and does not
    keep the others out; exit code 2 says that there was some.
    """
    from recorder.ledger import transfer

    refused = 0
    with opening.ledger(source) as from_ledger, opening.ledger(target, write=True) as to_ledger:
        for name in _names(from_ledger, streams):
            try:
                _report(transfer.copy(from_ledger.store, from_ledger.head(name), to_ledger.store))
            except RecorderError as error:
                refused += 1
                output.error_line(str(error))
    return 2 if refused else 0


def tail(
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on as events come, until Ctrl-C.")] = False,
    after: Annotated[
        str | None, typer.Option("--after", metavar="CURSOR", help="Only what came behind it; a line's cursor.")
    ] = None,
    number: Annotated[
        str | None, typer.Option("--lines", "-n", metavar="N", help="Only the last N events that are there.")
    ] = None,
    database: Database = None,
) -> None:
    """Print events as they are committed, whatever their stream.

    \b
    Examples:
      rec tail
      rec tail -f
      rec tail -n 20
      rec tail -f --after 0.1042.7.88

    A JSON object a line. Each event comes once, those of a stream in order, and none is skipped that another program
    is only just committing. `cursor` is where to go on.
    """
    from recorder.ledger import tailing

    if number is not None and not (number.isascii() and number.isdecimal() and len(number) <= 9):
        raise BadInput(f"--lines {number}: give a number from 0 on")
    start = None if after is None else tailing.position_of(after)
    with opening.ledger(database) as ledger:
        write = sys.stdout.write
        for line in tailing.tail(
            ledger.store, after=start, last=None if number is None else int(number), follow=follow
        ):
            write(line)
            sys.stdout.flush()


def _names(ledger: Ledger, streams: list[str] | None) -> list[str]:
    if streams:
        return [targets.stream_name(ledger, each) for each in streams]
    return [head.name for head in ledger.streams()]


def _opened(out: str | None) -> BinaryIO | Any:
    if out is None:
        return sys.stdout.buffer
    try:
        return open(out, "wb")
    except OSError as error:
        raise BadInput(f"{out} cannot be written: {(error.strerror or str(error)).lower()}") from None


def _give_up(file: BinaryIO, out: str) -> None:
    """Removes a file that was not written to its end: nobody could tell that it is not whole."""
    with suppress(OSError):
        file.close()
    if Path(out).is_file():
        Path(out).unlink()


def _report(moved: Moved) -> None:
    what = {
        "stored": f"copied {moved.events} events",
        "extended": f"copied {moved.events} more, {moved.last_seq} in all",
        "known": f"known already, {moved.last_seq} events",
    }[moved.status]
    erased = f"; {moved.erasures} of its erasures applied" if moved.erasures else ""
    output.hint(f"{moved.stream}: {what}{erased}")
    if moved.remains is not None:
        output.hint(f"{moved.stream}: {moved.remains}")
