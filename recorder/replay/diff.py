"""How two states differ, and what one event changed."""

from __future__ import annotations

from typing import Any

import jsonpatch

from recorder.errors import OutOfRange
from recorder.ledger import Ledger
from recorder.ledger.projector import Projector
from recorder.projections.changes import ChangeCollector, Changes
from recorder.projections.fold import Gathering

Patch = list[dict[str, Any]]

_IDENTITY = ("stream", "of")
"""Which log a state is of: no difference between two runs."""


def patch(before: dict[str, Any], after: dict[str, Any]) -> Patch:
    """RFC 6902 operations that turn one state into the other."""
    operations: Patch = jsonpatch.make_patch(before, after).patch
    return operations


def compared(state: dict[str, Any]) -> dict[str, Any]:
    """A state without what only says which log it is of."""
    return {name: value for name, value in state.items() if name not in _IDENTITY}


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
