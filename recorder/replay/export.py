"""Streams written out whole: with their ids, times, salts, hashes and erasures, so that they can be taken in again.

A line of JSON each: `{"recorder": "export/1", "stream": …}`, its erasures, its events (`recorder.events.lines`), notes
of its captures, and `{"end": …}`, without which it was cut off. An erased event is a tombstone: its envelope, its
hashes, and no content.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from recorder.events import Event
from recorder.events.lines import line_of
from recorder.ledger import Ledger
from recorder.ledger.transfer import EXPORT_FORMAT, origin_of, parts
from recorder.store import Erasure, StreamHead


def export(ledger: Ledger, stream: str) -> Iterator[bytes]:
    """The lines of one stream as it stands. Raises `UnknownStream`, `Corrupt`."""
    head = ledger.head(stream)
    yield _line({"recorder": EXPORT_FORMAT, "stream": _plain(origin_of(head))})
    for part in parts(ledger.store, head):
        if isinstance(part, Event):
            yield line_of(part)
        else:
            yield _line({"erasure" if isinstance(part, Erasure) else "capture": _plain(part)})
    yield _line({"end": _end(head)})


def _end(head: StreamHead) -> dict[str, Any]:
    return {"last_seq": head.last_seq, "hash": head.head_hash.hex()}


def _plain(value: msgspec.Struct) -> dict[str, Any]:
    fields = {name: getattr(value, name) for name in value.__struct_fields__}
    return {name: each.hex() if isinstance(each, bytes) else each for name, each in fields.items() if each is not None}


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"
