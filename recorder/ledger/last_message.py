"""The state narrowed to the message opened last: what is read and folded for it does not grow with the stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from recorder.events import jsontext
from recorder.ledger import snapshots
from recorder.ledger.projector import VERSION, Projector
from recorder.ledger.state import ClosedParts, State, closed_message, gathered_as, known_finding, known_tool_message
from recorder.projections import render
from recorder.store import Store, StreamHead


def narrowed(found: State) -> State:
    """A whole state with its last message only, what pairs with that message's calls, and what was found in it."""
    messages = found.messages[-1:]
    refs = {call["call_ref"] for message in messages for call in message["calls"]}
    pairings = [row for row in found.pairings if row["call_ref"] in refs]
    answers = {(row["call_id"], row["answer_seq"]) for row in pairings}
    tool_messages = [row for row in found.tool_messages if (row["tool_call_id"], row["seq"]) in answers]
    findings = [row for row in found.findings if any(_is_about(row, message) for message in messages)]
    return msgspec.structs.replace(
        found,
        gather=gathered_as(messages, found.gather),
        messages=messages,
        pairings=pairings,
        tool_messages=tool_messages,
        findings=findings,
    )


def last_message(store: Store, head: StreamHead, at: int, otherwise: str) -> State | None:
    """What `narrowed` makes of the state after event `at`, without that state. None where there is no snapshot for it.

    The read model must be up to the log. Pairs are never unmade, so that its last rows tell what held at `at`.
    `otherwise`: the reading, where there is no message that says it.
    """
    open_state = snapshots.load_open(store, head, at, VERSION)
    if open_state is None:
        return None
    closed = ClosedParts()
    projector = Projector(open_state=open_state, with_pairings=False, observer=closed)
    projector.advance(store.events(head, projector.at + 1, at))
    message = _newest(store, head, projector, closed)
    messages = [message] if message is not None else []
    pairings = list(_pairings(store, head, at, message)) if message is not None else []
    return State(
        stream=head.name,
        at=at,
        of=head.last_seq,
        gather=gathered_as(messages, otherwise),
        messages=messages,
        tool_messages=list(_answers(store, head, pairings)),
        pairings=pairings,
        findings=list(_findings(store, head, at, message)) if message is not None else [],
    )


def _is_about(finding: dict[str, Any], message: dict[str, Any]) -> bool:
    """Whether a finding came while the message was open, in its run."""
    same_run = finding["run_id"] == jsontext.cleaned(message["run_id"])
    return bool(same_run and message["first_seq"] <= finding["seq"] <= message["last_seq"])


def _findings(store: Store, head: StreamHead, at: int, message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    until = min(at, message["last_seq"])
    for row in store.rows(head, "findings", since=message["first_seq"], until=until):
        if _is_about(shown := known_finding(row), message):
            yield shown


def _newest(store: Store, head: StreamHead, projector: Projector, closed: ClosedParts) -> dict[str, Any] | None:
    """The message opened last: open still, closed since the snapshot, or closed before it."""
    messages = projector.fold.state.messages
    ref = messages.newest
    for message in messages.shown:
        if message.ref == ref:
            return render.message(message)
    for shown in closed.messages:
        if shown["message_ref"] == ref:
            return shown
    return next(map(closed_message, store.rows(head, "message_states", equal={"message_ref": ref})), None)


def _pairings(store: Store, head: StreamHead, at: int, message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The pairings of the message's calls as they were after event `at`, in the contract's shape."""
    found = []
    for call in message["calls"]:
        for row in store.rows(head, "pairings", equal={"call_ref": call["call_ref"]}):
            shown = _pairing_at(row, call, at, superseded=message.get("superseded", False))
            if shown is not None:
                found.append((row["position"], shown))
    return (shown for _, shown in sorted(found, key=lambda pair: pair[0]))


def _pairing_at(row: dict[str, Any], call: dict[str, Any], at: int, *, superseded: bool) -> dict[str, Any] | None:
    """A pairing's row as it was after event `at`; None where a second answer came later."""
    answered = row["answer_seq"] is not None and row["answer_seq"] <= at
    shown = {
        "call_id": jsontext.cleaned(call["id"]),
        "name": jsontext.cleaned(call["name"]),
        "status": row["status"],
        "call_seq": call["last_seq"],
        "answer_seq": row["answer_seq"] if answered else None,
        "call_ref": row["call_ref"],
        "answer_status": row["answer_status"] if answered else None,
        "executor": row["executor"],
    }
    if row["status"] == "duplicate":
        same = {name: row[name] for name in ("call_id", "name", "call_seq")}
        return {**shown, **same} if answered else None
    if answered:
        shown["status"] = "error" if row["answer_status"] == "error" else "answered"
    elif superseded:
        shown["status"] = "superseded"
    else:
        shown["status"] = "failed" if row["failed_seq"] is not None and row["failed_seq"] <= at else "open"
    return shown


def _answers(store: Store, head: StreamHead, pairings: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The tool messages of these pairings, in the order of the log."""
    answers = {(row["call_id"], row["answer_seq"]) for row in pairings}
    for seq in sorted({seq for _, seq in answers if seq is not None}):
        for row in store.rows(head, "tool_messages", equal={"seq": seq}):
            if (row["tool_call_id"], seq) in answers:
                yield known_tool_message(row)
