"""`rec capture -- PROGRAM` and `rec capture --spool`: programs that are recorded while they run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from recorder.cli import opening
from recorder.cli.output import error_line, hint
from recorder.errors import BadInput, DatabaseUnusable, RecorderError

if TYPE_CHECKING:
    from recorder.capture.live.launcher import Outcome, Recorded


def run(command: Sequence[str], name: str | None, database: str | None) -> int:
    """Runs the program and says in one line what was recorded; gives its exit code, or dies by its signal."""
    from recorder.capture.live import launcher

    if not command or not command[0]:
        raise BadInput("-- comes before a program: rec capture -- python agent.py")
    outcome = launcher.run(command, name=name, database=_place(database))
    hint(summary(outcome))
    return launcher.die_by(-outcome.code) if outcome.code < 0 else outcome.code


def take_in(path: str, database: str | None) -> int:
    """Takes spools in; gives 2 where one was refused."""
    from recorder.capture.live import intake

    try:
        spools = intake.spools_in(Path(path))
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: {_reason(error)}; nothing was stored") from None
    if not spools:
        hint(f"{path}: no spool waits there; nothing was stored")
        return 0
    refused = 0
    with opening.ledger(database, write=True) as ledger:
        for spool in spools:
            try:
                stream, events = intake.take_in(ledger, spool)
                hint(f"{stream}: stored {_count(events)}")
            except RecorderError as error:
                refused += 1
                error_line(str(error))
            except OSError as error:
                refused += 1
                error_line(f"{spool}: {_reason(error)}; nothing was stored")
    return 2 if refused else 0


def summary(outcome: Outcome) -> str:
    """What was recorded, and what could not be kept, in one line."""
    own = [each for each in outcome.recorded if each.stream == outcome.stream and each.events]
    others = [each for each in outcome.recorded if each.stream != outcome.stream and each.events]
    said = [f"{own[0].stream}: recorded {_count(own[0].events)}"] if own else []
    if others:
        events = _count(sum(each.events for each in others))
        where = (
            others[0].stream
            if len(others) == 1
            else f"{len(others)} streams, {others[0].stream} to {others[-1].stream}"
        )
        said.append(f"{events} of its processes in {where}" if own else f"{where}: recorded {events}")
    notes = [note for each in outcome.recorded for note in _notes(each)]
    if not said and not any(each.spools or each.lost for each in outcome.recorded):
        said.append(f"{outcome.stream}: nothing was recorded: {outcome.why_nothing}")
    if outcome.stream != outcome.wanted:
        notes.append(f"there was a stream {outcome.wanted!r} already")
    if outcome.trouble is not None:
        notes.append(outcome.trouble)
    return "; ".join(said + list(dict.fromkeys(notes)))


def _notes(recorded: Recorded) -> list[str]:
    notes = []
    because = "" if recorded.reason is None else f" ({recorded.reason})"
    for spool in recorded.spools:
        notes.append(f"events wait in {spool}: rec capture --spool takes them in{because}")
    if recorded.lost:
        notes.append(f"{recorded.lost} things that happened could not be kept{because}")
    if recorded.failures:
        notes.append(f"the recorder failed {recorded.failures} times in process {recorded.process}{because}")
    if recorded.runs:
        notes.append(f"process {recorded.process} runs on, and goes on recording into {recorded.stream}")
    if not recorded.told:
        notes.append(f"process {recorded.process} was killed: its last moments may be missing")
    return notes


def _place(database: str | None) -> str:
    from recorder.store.location import default_database

    try:
        return database if database is not None else default_database()
    except OSError as error:
        raise DatabaseUnusable(f"{error.filename}: {_reason(error)}; name a database with -d or REC_DATABASE") from None


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()


def _count(events: int) -> str:
    return "1 event" if events == 1 else f"{events} events"
