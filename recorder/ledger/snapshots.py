"""Snapshots: the open state after an event, as bytes. A cache: any one may be deleted, none is needed."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from recorder.ledger.decoding import Decoders
from recorder.projections.fold import FoldState
from recorder.projections.pairing import Pairings
from recorder.store import StreamHead
from recorder.store.reading import Reads

T = TypeVar("T")

OPEN, PAIRINGS = "open", "pairings"
"""The two parts of a snapshot: who wants one message need not load every call of the stream."""


class OpenState(Struct):
    """What is open after an event: messages, runs, decoders."""

    fold: FoldState
    decoders: dict[str, Any]


class Base(Struct):
    """A whole snapshot, and what its parts weigh in bytes."""

    open_state: OpenState
    pairings: Pairings
    open_weight: int
    pairings_weight: int


def pack(value: Struct) -> bytes:
    """MessagePack behind a zero byte, or JSON where a value is beyond MessagePack (a lone surrogate, a huge number)."""
    try:
        return b"\0" + msgspec.msgpack.encode(value)
    except (UnicodeEncodeError, OverflowError):
        return json.dumps(msgspec.to_builtins(value, str_keys=True)).encode()


def unpack(body: bytes, kind: type[T]) -> T:
    """The value that `pack` was given. Raises `msgspec.DecodeError` or `ValueError` where it was another program's."""
    if body.startswith(b"\0"):
        return msgspec.msgpack.decode(body[1:], type=kind)
    return msgspec.convert(json.loads(body), kind, str_keys=True)


def load(reads: Reads, head: StreamHead, at: int, version: int) -> Base | None:
    """The newest whole snapshot at or before the event `at` that this program can read, None where there is none."""
    pairings = reads.snapshot(head, at, PAIRINGS, version)
    if pairings is None:
        return None
    seq, body = pairings
    found = reads.snapshot(head, seq, OPEN, version)
    if found is None or found[0] != seq:
        return None
    open_state = _open_state(found[1])
    if open_state is None:
        return None
    with suppress(msgspec.MsgspecError, ValueError):
        return Base(open_state, unpack(body, Pairings), len(found[1]), len(body))
    return None


def load_open(reads: Reads, head: StreamHead, at: int, version: int) -> OpenState | None:
    """As `load`, without the pairings: never older, and its size does not grow with the stream."""
    found = reads.snapshot(head, at, OPEN, version)
    return _open_state(found[1]) if found is not None else None


def _open_state(body: bytes) -> OpenState | None:
    with suppress(msgspec.MsgspecError, ValueError):
        open_state = unpack(body, OpenState)
        Decoders.restore(open_state.decoders)
        return open_state
    return None


class Pace:
    """Decides when a part of a snapshot is due: by what it would save, not by a count of events.

    It is when the bytes folded since the last one are several times what that one weighed, so that snapshots stay a
    constant fraction of the log however much state is open, and a state at any event costs one snapshot and a bounded
    fold.
    """

    FLOOR = 64 * 1024
    RATIO = 4

    def __init__(self, weight: int = 0) -> None:
        self._weight = weight
        self._since = 0

    def folded(self, size: int) -> None:
        self._since += size

    @property
    def due(self) -> bool:
        return self._since >= max(self.FLOOR, self.RATIO * self._weight)

    def taken(self, weight: int) -> None:
        self._weight, self._since = weight, 0
