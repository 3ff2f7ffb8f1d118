"""`rec replay`: the state at an event, or the events again."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recorder.cli import opening, output, targets
from recorder.cli.options import Database, Gather, Json, Reading, reading_of
from recorder.errors import BadInput

if TYPE_CHECKING:
    from recorder.ledger import Ledger
    from recorder.replay import Form

_MOST_RANGES = 10
"""Ranges of erased events that are named."""
FORMS: dict[str, Form] = {
    "raw": "raw",
    "jsonl": "jsonl",
    "sse": "sse",
    "changes": "changes",
    "patch": "patch",
    "values": "values",
}


def replay(
    target: Annotated[
        str, typer.Argument(metavar="STREAM[@N]", help="A stream; latest is the one that was appended to last.")
    ] = "latest",
    at: Annotated[
        str | None, typer.Option("--at", metavar="N", help="The event after which to look; 0 is empty, end the last.")
    ] = None,
    message: Annotated[str | None, typer.Option("--message", metavar="last|REF", help="Only this message.")] = None,
    call: Annotated[str | None, typer.Option("--call", metavar="ID", help="Only this call.")] = None,
    emit: Annotated[
        str | None,
        typer.Option(
            "--emit",
            metavar="raw|jsonl|sse|changes|patch|values",
            help="Give the events out again, raw as they were captured; or what each changed; or how the arguments of "
            "calls changed, as JSON Patch (RFC 6902), or what they then were.",
        ),
    ] = None,
    whole_call: Annotated[
        bool, typer.Option("--whole-call", help="With --emit patch or values: of a call's name and arguments.")
    ] = False,
    gather: Gather = None,
    database: Database = None,
    json: Json = False,
) -> None:
    """Show the state after event N, or give events out again.

    \b
    Examples:
      rec replay weather --at 12
      rec replay weather --at 12 --json
      rec replay weather --emit sse > again.sse
      rec replay weather --emit raw > the-same-bytes
      rec replay weather --emit changes
      rec replay weather --emit patch
    """
    reading = reading_of(gather)
    if emit is not None and emit not in FORMS:
        raise BadInput(f"--emit {emit}: give one of {', '.join(FORMS)}")
    if emit is not None and (at is not None or message is not None or call is not None or json):
        raise BadInput("--emit gives events, --at, --message, --call and --json a state: give one or the other")
    if whole_call and emit not in ("patch", "values"):
        raise BadInput("--whole-call goes with --emit patch or --emit values")
    with opening.ledger(database) as ledger:
        if emit is not None:
            _emit(ledger, target, FORMS[emit], reading, whole_call)
        else:
            _state(ledger, target, at, message, call, reading, json)


def _emit(ledger: Ledger, target: str, form: Form, reading: Reading, whole_call: bool) -> None:
    from recorder.replay import emit

    found = targets.resolve(ledger, target, ranges=True)
    write = sys.stdout.buffer.write
    pieces = emit(
        ledger,
        found.stream,
        form,
        first=found.first or 1,
        last=found.last,
        gather=reading,
        whole_call=whole_call,
    )
    for piece in pieces:
        write(piece)
    sys.stdout.buffer.flush()
    _tell_erased(ledger, found)


def _tell_erased(ledger: Ledger, found: targets.Target) -> None:
    """Says which of the events that were asked for are erased."""
    from recorder.ledger.erasure import erased_ranges

    head = ledger.head(found.stream)
    ranges = erased_ranges(ledger.store, head, found.first or 1, head.last_seq if found.last is None else found.last)
    if ranges:
        count = sum(last - first + 1 for first, last in ranges)
        listed = ", ".join(f"{first}-{last}" if first < last else f"{first}" for first, last in ranges[:_MOST_RANGES])
        more = ", …" if len(ranges) > _MOST_RANGES else ""
        events = "1 event that was" if count == 1 else f"{count} events that were"
        output.hint(f"{found.stream}: nothing is given out of {events} erased: {listed}{more}")


def _state(
    ledger: Ledger, target: str, at: str | None, message: str | None, call: str | None, reading: Reading, json: bool
) -> None:
    from recorder.cli.commands import replay_text

    found = targets.resolve(ledger, target)
    last = ledger.head(found.stream).last_seq
    if at is not None and found.last is not None:
        raise BadInput(f"{target} names an event and --at {at} another: give one of them")
    n = targets.number(found.stream, at, last) if at is not None else found.last
    state = ledger.state(found.stream, n, gather=reading, last_message=message == "last")
    shown = state.to_dict()
    if message is not None and message != "last":
        _only_message(shown, message)
    if call is not None:
        _only_call(shown, call)
    if json:
        output.document(shown)
    else:
        for line in replay_text.lines(shown, cut=replay_text.CUT if sys.stdout.isatty() else None):
            print(line)


def _only_message(shown: dict[str, Any], message: str) -> None:
    """Leaves of the state what is about one message. Raises `BadInput` where there is no such message."""
    shown["messages"] = [each for each in shown["messages"] if message in (each["message_ref"], each["message_id"])]
    if not shown["messages"]:
        raise BadInput(f"--message {message}: no such message at event {shown['at']}; last is the one opened last")
    _only_their_answers(shown)


def _only_call(shown: dict[str, Any], call: str) -> None:
    """Leaves of the state what is about one call. Raises `BadInput` where there is no such call."""
    for message in shown["messages"]:
        message["calls"] = [each for each in message["calls"] if call in (each["id"], each["call_ref"])]
    shown["messages"] = [message for message in shown["messages"] if message["calls"]]
    if not shown["messages"]:
        raise BadInput(f"--call {call}: no such call at event {shown['at']}; rec replay {shown['stream']} shows them")
    _only_their_answers(shown)


def _only_their_answers(shown: dict[str, Any]) -> None:
    """Leaves the pairings and tool messages of the calls that are left."""
    refs = {call["call_ref"] for message in shown["messages"] for call in message["calls"]}
    shown["pairings"] = [row for row in shown["pairings"] if row["call_ref"] in refs]
    answers = {(row["call_id"], row["answer_seq"]) for row in shown["pairings"]}
    shown["tool_messages"] = [row for row in shown["tool_messages"] if (row["tool_call_id"], row["seq"]) in answers]
