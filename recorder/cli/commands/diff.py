"""`rec diff`: what one event changed, how two states differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from recorder.cli import opening, output, targets
from recorder.cli.options import Database, Gather, Json, Reading, reading_of
from recorder.errors import BadInput

if TYPE_CHECKING:
    from recorder.ledger import Ledger


def diff(
    target: Annotated[str, typer.Argument(metavar="A[@N]", help="A stream at an event.")],
    other: Annotated[str | None, typer.Argument(metavar="B[@M]", help="What to compare it with.")] = None,
    patch: Annotated[bool, typer.Option("--patch", help="As JSON Patch (RFC 6902).")] = False,
    gather: Gather = None,
    database: Database = None,
    json: Json = False,
) -> int:
    """Show what an event changed, or how two states differ.

    \b
    Examples:
      rec diff weather@12
      rec diff weather@12 --patch
      rec diff weather@12 weather@20
      rec diff monday tuesday

    Two states of one stream are compared whole. Of two streams their messages, calls, answers, pairings and findings
    are compared, without the ids and event numbers that every run has anew. The exit code is 1 if they differ.
    """
    reading = reading_of(gather)
    if patch and json:
        raise BadInput("--patch and --json exclude each other: give one of them")
    with opening.ledger(database) as ledger:
        if other is None:
            _event(ledger, target, patch, json, reading)
            return 0
        operations = _states(ledger, target, other, reading)
        _print(operations, as_json=patch or json)
        return 1 if operations else 0


def _event(ledger: Ledger, target: str, patch: bool, json: bool, reading: Reading) -> None:
    from recorder import replay
    from recorder.cli.commands import diff_text

    found = targets.resolve(ledger, target)
    if found.last is None:
        raise BadInput(f"{target}: name an event ({found.stream}@N), or a second state to compare with")
    if patch:
        _print(replay.event_patch(ledger, found.stream, found.last, reading), as_json=True)
        return
    changes = replay.event_changes(ledger, found.stream, found.last, reading)
    if json:
        output.document({"seq": found.last, "changes": changes})
        return
    for line in diff_text.change_lines(changes):
        print(line)
    if not changes:
        output.hint(f"event {found.last} changed nothing")


def _states(ledger: Ledger, target: str, other: str, reading: Reading) -> list[dict[str, Any]]:
    from recorder import replay

    left, right = (targets.resolve(ledger, text) for text in (target, other))
    return replay.compared(
        ledger.state(left.stream, left.last, gather=reading), ledger.state(right.stream, right.last, gather=reading)
    )


def _print(operations: list[dict[str, Any]], *, as_json: bool) -> None:
    from recorder.cli.commands import diff_text

    if as_json:
        output.document(operations)
        return
    for line in diff_text.operation_lines(operations):
        print(line)
