"""Identifiers: streams, events read from files, exchanges that carry none of their own."""

from __future__ import annotations

import uuid
from hashlib import sha256

from uuid_utils import uuid7


def new_stream_uuid() -> bytes:
    """16 bytes of a UUIDv7: time-ordered, so that new streams lie side by side in an index."""
    return uuid7().bytes


def derived_event_id(stream: bytes, ordinal: int) -> bytes:
    """The id of the `ordinal`-th event (from 1) that a file yields for the stream with this UUID.

    A UUIDv8 (RFC 9562, section 5.8): 60 bits of the SHA-256 of the stream's UUID, then the ordinal as 62 bits. The
    same file captured again derives the same ids, which is what makes a second capture harmless; ids of one stream
    ascend, so their index grows at its end.
    """
    if not 0 < ordinal < 1 << 62:
        raise ValueError(f"ordinal {ordinal} is not in 1..2**62-1")
    high = int.from_bytes(sha256(stream).digest()[:8], "big")
    high = (high & ~0xF000) | 0x8000
    return high.to_bytes(8, "big") + (ordinal | 0b10 << 62).to_bytes(8, "big")


def derived_run_id(stream: bytes, ordinal: int) -> str:
    """A UUID text for an exchange that names none, from the stream's UUID and the exchange's number."""
    return str(uuid.uuid5(uuid.UUID(bytes=stream), f"exchange {ordinal}"))
