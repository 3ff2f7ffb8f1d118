"""The hash chain of a stream.

`hash(n) = SHA-256(hash(n-1) ‖ stream UUID ‖ envelope ‖ body_hash)` with 32 zero bytes before the first event, and
`body_hash = SHA-256(salt ‖ content)`. Envelope and content are MessagePack arrays, in which every value carries its
length, so that no two different events have the same bytes. The stream's name is not in it: a rename or a copy into
another database leaves the chain whole. What an erasure blanks (body, frame, cuts, meta, salt) is under `body_hash`
only, which stays.
"""

from __future__ import annotations

from hashlib import sha256

import msgspec

from recorder.events.event import Event, NewEvent

GENESIS = bytes(32)
SALT_BYTES = 16

_pack = msgspec.msgpack.Encoder().encode


def content_hash(salt: bytes, event: NewEvent) -> bytes:
    """SHA-256 over the salt and all that an erasure would blank."""
    return sha256(salt + _pack((event.body, event.frame, event.cuts, event.meta))).digest()


def link(
    previous: bytes, stream: bytes, seq: int, recorded_at: int, event: NewEvent, body_hash: bytes, version: int
) -> bytes:
    """The hash of event `seq`: over the previous hash, the stream's UUID, the envelope and the body's hash."""
    envelope = (
        version,
        seq,
        event.event_id,
        event.dialect,
        event.layer,
        event.kind,
        event.run_id,
        event.parent_run_id,
        event.name,
        event.source_id,
        event.occurred_at,
        event.arrived_at,
        recorded_at,
        event.framing,
        event.encoding,
        event.redacted,
    )
    return sha256(previous + stream + _pack(envelope) + body_hash).digest()


def erasure_link(
    previous: bytes, stream: bytes, erasure: int, first_seq: int, last_seq: int, reason: str, erased_at: int
) -> bytes:
    """The hash of a stream's erasure `erasure`: over the previous one (32 zero bytes at first) and all that it says."""
    return sha256(previous + stream + _pack((erasure, first_seq, last_seq, reason, erased_at))).digest()


def relink(previous: bytes, stream: bytes, event: Event) -> bytes:
    """The hash that a stored event must have after `previous`: what verification compares."""
    return link(previous, stream, event.seq, event.recorded_at, event, event.body_hash, event.version)
