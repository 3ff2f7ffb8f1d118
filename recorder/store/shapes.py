"""What the store gives and takes, besides events."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from recorder.events import Event


class StreamHead(Struct, frozen=True, kw_only=True):
    """A stream as it was when the head was read. Times are microseconds since the epoch, UTC."""

    stream_id: int
    """The database's own key; another database may give the stream another one."""
    uuid: bytes
    """16 bytes, the stream's identity for life."""
    name: str
    created_at: int
    last_seq: int
    """0 before the first event."""
    head_hash: bytes
    """The hash of the last event, 32 zero bytes before the first."""
    parent: str | None
    """Name of the stream that this one came out of."""
    parent_seq: int | None
    stale: str | None
    """Why the read model is behind the log; None where it is not."""
    projection: int
    """Version of the read model's rows; 0 where there are none."""


class Receipt(Struct, frozen=True, kw_only=True):
    """What an append did. `known`: all of it was stored before, and these are the numbers it got then.

    An empty append is `known` with `first_seq` one above `last_seq`.
    """

    first_seq: int
    last_seq: int
    status: Literal["stored", "known"]
    events: list[Event]
    """The newly stored ones only."""
    erased: int = 0
    """How many of the known ones were erased since: their bodies could not be compared."""


class Erasure(Struct, frozen=True, kw_only=True):
    """Events that were blanked. `hash` chains the erasures of a stream (`recorder.events.chain.erasure_link`)."""

    erasure: int
    """1, 2, 3 … within the stream."""
    first_seq: int
    last_seq: int
    reason: str
    erased_at: int
    """Microseconds since the epoch, UTC."""
    hash: bytes


class Position(Struct, frozen=True, order=True):
    """A place in the order of all appends of a database. The default is before the first one."""

    epoch: int = 0
    position: int = 0
    stream_id: int = 0
    seq: int = 0
    """The last event that was taken of the append; of a whole one its last."""


class Appended(Struct, frozen=True, kw_only=True):
    """Events `first_seq` to `last_seq` of one stream, appended together."""

    position: Position
    stream_id: int
    first_seq: int
    last_seq: int


_Digest = bytes


class Problem(Struct, frozen=True):
    """What a check found: `damage` is wrong now, a `risk` may hurt one day."""

    kind: Literal["damage", "risk"]
    text: str


class Capture(Struct, frozen=True, kw_only=True):
    """How much of a source is in the stream: what tells the same file, a longer one and another one apart."""

    source: str
    """The file's name without its folder, `-` for standard input."""
    format: str
    bytes: int
    """Bytes of the source read so far."""
    digest: _Digest
    """SHA-256 over these bytes."""
    first_seq: int
    last_seq: int
    complete: bool = False
    """Whether the source ended; false while it is read, and for ever where reading was cut off."""
    capture: int = 0
    """1, 2, 3 … within the stream; 0 on the way in means: a new one."""
    recorded_at: int = 0
    """0 on the way in means: now."""
