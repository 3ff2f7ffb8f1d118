"""Snapshots: the open state after an event, as bytes. A cache: any one may be deleted, none is needed."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from recorder.projections.fold import FoldState
from recorder.projections.pairing import Pairings
from recorder.store import Store, StreamHead

T = TypeVar("T")

OPEN, PAIRINGS = "open", "pairings"
"""The two parts of a snapshot: who wants one message need not load every call of the stream."""


class OpenState(Struct):
    """What is open after an event: messages, runs, decoders."""

    fold: FoldState
    decoders: dict[str, Any]


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
    return msgspec.convert(json.loads(body), kind)


def load(store: Store, head: StreamHead, at: int, version: int) -> tuple[OpenState, Pairings] | None:
    """The newest snapshot at or before the event `at` that this program can read, None where there is none."""
    parts = [store.snapshot(head, at, part, version) for part in (OPEN, PAIRINGS)]
    if parts[0] is None or parts[1] is None or parts[0][0] != parts[1][0]:
        return None
    with suppress(msgspec.MsgspecError, ValueError):
        return unpack(parts[0][1], OpenState), unpack(parts[1][1], Pairings)
    return None


class Pace:
    """Decides when a snapshot is due: by what it would save, not by a count of events.

    One is taken when the bytes folded since the last are several times what the last one weighed, so that snapshots
    stay a constant fraction of the log however much state is open, and a state at any event costs one snapshot and a
    bounded fold.
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
