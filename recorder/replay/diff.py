"""How two states differ, and what one event changed."""

from __future__ import annotations

from typing import Any

import jsonpatch

from recorder.errors import OutOfRange
from recorder.ledger import Ledger, State
from recorder.ledger.projector import Projector
from recorder.projections.changes import ChangeCollector, Changes
from recorder.projections.fold import Gathering

Patch = list[dict[str, Any]]

_OF_A_RUN = {
    "messages": ("layer", "choice", "role", "model", "finish_reason", "text", "usage"),
    "calls": ("name", "index", "raw", "value", "state", "executor"),
    "tool_messages": ("name", "content", "status", "artifact", "executor"),
    "pairings": ("name", "status", "answer_status", "executor"),
    "findings": ("rule", "severity"),
}
"""What two runs can have in common. Every run has new ids, and its events other numbers."""


def patch(before: dict[str, Any], after: dict[str, Any]) -> Patch:
    """RFC 6902 operations that turn one state into the other."""
    operations: Patch = jsonpatch.make_patch(before, after).patch
    return operations


def compared(left: State, right: State) -> Patch:
    """How two states differ, as the operations that turn the left one into the right one.

    Two states of one stream are compared whole; of two streams, what two runs can have in common: messages and their
    calls, answers, pairings and findings in their order, without ids and event numbers.
    """
    if left.stream == right.stream:
        return patch(_whole(left), _whole(right))
    return patch(_of_a_run(left), _of_a_run(right))


def _whole(state: State) -> dict[str, Any]:
    return {name: value for name, value in state.to_dict().items() if name not in ("at", "of")}


def _of_a_run(state: State) -> dict[str, Any]:
    shown = {name: _picked(name, getattr(state, name)) for name in ("tool_messages", "pairings", "findings")}
    messages = [
        {**picked, "calls": _picked("calls", message["calls"])}
        for message, picked in zip(state.messages, _picked("messages", state.messages), strict=True)
    ]
    return {"gather": state.gather, "messages": messages, **shown}


def _picked(kind: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: row[name] for name in _OF_A_RUN[kind]} for row in rows]


def event_patch(ledger: Ledger, stream: str, n: int, gather: Gathering = "default") -> Patch:
    """What event `n` changed in the state, as RFC 6902 operations. Raises `OutOfRange`."""
    _check(ledger, stream, n)
    before = ledger.state(stream, n - 1, gather=gather).to_dict()
    return patch(before, ledger.state(stream, n, gather=gather).to_dict())


def event_changes(ledger: Ledger, stream: str, n: int, gather: Gathering = "default") -> Changes:
    """What event `n` changed, as `--emit changes` says it. Raises `OutOfRange`."""
    _check(ledger, stream, n)
    changes = ChangeCollector()
    projector = Projector(gathering=gather, observer=changes)
    projector.advance(ledger.events(stream, 1, n - 1))
    changes.take()
    projector.advance(ledger.events(stream, n, n))
    return changes.take()


def _check(ledger: Ledger, stream: str, n: int) -> None:
    head = ledger.head(stream)
    if not 1 <= n <= head.last_seq:
        raise OutOfRange(f"stream {head.name!r} has events 1 to {head.last_seq}: there is no event {n}")
