"""Appending: what of a batch is new, and the rows that it becomes.

Salt, hashes and numbers are given here, behind the stream's lock, so that the chain has one writer at a time.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from operator import attrgetter

from msgspec import Struct, structs
from sqlalchemy import Connection, select

from recorder.errors import BadInput, Conflict, Corrupt, IdentityClash
from recorder.events import ENVELOPE_VERSION, Event, NewEvent, clock
from recorder.events.chain import SALT_BYTES, content_hash, link, relink
from recorder.events.upcast import upcast
from recorder.store import tables
from recorder.store.backend import RARE, Backend, Row
from recorder.store.interning import Interner
from recorder.store.shapes import Receipt, StreamHead
from recorder.store.texts import is_storable, storable

_ID_BYTES = 16
_LOOK_UP = 500
"""Ids that are asked for in one statement."""
_TEXTS = ("dialect", "kind", "framing", "run_id", "parent_run_id", "name", "source_id", "redacted")


class _Stored(Struct, frozen=True):
    """What a comparison needs of a stored event."""

    seq: int
    salt: bytes | None
    body_hash: bytes
    erased: int


def append(
    backend: Backend,
    connection: Connection,
    interner: Interner,
    head: StreamHead,
    events: Sequence[NewEvent],
    expected: int | None,
) -> Receipt:
    """Appends to the stream whose current, locked head this is; see `Transaction.append`."""
    if len({event.event_id for event in events}) < len(events):
        raise BadInput(f"two events of one append to stream {head.name!r} have the same id: nothing was stored")
    stored = _stored(backend, connection, head, events)
    known = _leading(connection, head, events, stored, expected) if stored else 0
    erased = sum(found.erased for found in stored.values())
    first = stored[events[0].event_id].seq if known else head.last_seq + 1
    if known == len(events):
        return Receipt(first_seq=first, last_seq=first + known - 1, status="known", events=[], erased=erased)
    if expected is not None and head.last_seq != expected + known:
        raise Conflict(head.name, expected + known, head.last_seq)
    made = _store(backend, connection, interner, head, events[known:])
    return Receipt(first_seq=first, last_seq=made[-1].seq, status="stored", events=made, erased=erased)


def adopt(
    backend: Backend, connection: Connection, interner: Interner, head: StreamHead, events: Sequence[Event]
) -> None:
    """Stores events of another database as they are; see `Transaction.adopt`."""
    previous, rows = head.head_hash, list[Row]()
    for seq, event in enumerate(events, head.last_seq + 1):
        wrong = _wrong(event, seq, previous, head.uuid)
        if wrong is not None:
            raise BadInput(f"stream {head.name!r}: event {seq} {wrong}: nothing of the batch was stored")
        previous = event.hash
        rows.append(
            (
                head.stream_id,
                seq,
                event.event_id,
                *interner.intern(head.stream_id, event),
                event.arrived_at,
                event.recorded_at,
                event.body,
                event.salt,
                event.body_hash,
                event.hash,
                event.version,
                *_rare(event),
                int(event.erased),
            )
        )
    interner.flush()
    backend.insert_events(connection, rows)
    backend.grow_head(connection, head.stream_id, events[0].seq, events[-1].seq, previous)


def _wrong(event: Event, seq: int, previous: bytes, stream: bytes) -> str | None:
    """Why an event of another database cannot be event `seq` of the stream with this UUID; None where it can."""
    if event.seq != seq:
        return "is missing"
    moments = (event.arrived_at, event.recorded_at)
    if len(event.event_id) != _ID_BYTES or not all(0 <= moment <= clock.LAST for moment in moments):
        return "has an id or a time that none has"
    if _storable(event) is not event or _sound(event) is not event:
        return "has an envelope that no append has stored"
    try:
        upcast(event)
    except Corrupt:
        return f"has version {event.version}, which this program does not know"
    if event.hash != relink(previous, stream, event):
        return "does not follow from the one before it"
    if event.erased:
        held = event.body or event.frame or event.cuts or event.meta or event.salt
        return "is said to be erased, and holds something" if held else None
    if event.salt is None or content_hash(event.salt, event) != event.body_hash:
        return "does not hold what its hash was made of"
    return None


def _stored(
    backend: Backend, connection: Connection, head: StreamHead, events: Sequence[NewEvent]
) -> dict[bytes, _Stored]:
    """Those of the events' ids that the stream has."""
    # Ids ascend in nearly every stream, so that one look at the last one tells that a batch is new.
    last = backend.last_event_id(connection, head.stream_id)
    ids = [event.event_id for event in events if last is not None and event.event_id <= last]
    columns = tables.events.c
    found = {}
    for start in range(0, len(ids), _LOOK_UP):
        rows = connection.execute(
            select(columns.event_id, columns.seq, columns.salt, columns.body_hash, columns.erased).where(
                columns.stream_id == head.stream_id, columns.event_id.in_(ids[start : start + _LOOK_UP])
            )
        )
        found.update({row[0]: _Stored(*row[1:]) for row in rows})
    return found


def _leading(
    connection: Connection,
    head: StreamHead,
    events: Sequence[NewEvent],
    stored: dict[bytes, _Stored],
    expected: int | None,
) -> int:
    """How many events at the beginning are stored, one behind the other, and none after them.

    Raises `IdentityClash` for another body, `Conflict` where the stored ones stand in another order.
    """
    for event in events:
        found = stored.get(event.event_id)
        if found is not None and not _same(connection, head, event, found):
            raise IdentityClash(head.name, found.seq)
    places = [stored[event.event_id].seq if event.event_id in stored else None for event in events]
    known = len(stored)
    first = places[0]
    if first is None or places[:known] != list(range(first, first + known)):
        raise Conflict(head.name, head.last_seq - known if expected is None else expected, head.last_seq)
    return known


def _same(connection: Connection, head: StreamHead, event: NewEvent, found: _Stored) -> bool:
    """Whether the stored event holds what this one does. Of an erased one nothing is left to compare."""
    if found.erased or (found.salt is not None and content_hash(found.salt, event) == found.body_hash):
        return True
    # Where network reads ended differs when the same bytes are read again; it makes no other event.
    columns = tables.events.c
    row = connection.execute(
        select(columns.body, columns.frame, columns.meta).where(
            columns.stream_id == head.stream_id, columns.seq == found.seq
        )
    ).one()
    return tuple(row) == (event.body, event.frame, event.meta)


def _store(
    backend: Backend, connection: Connection, interner: Interner, head: StreamHead, events: Sequence[NewEvent]
) -> list[Event]:
    rows: list[Row] = []
    made: list[Event] = []
    recorded_at = clock.now()
    salts = os.urandom(SALT_BYTES * len(events))
    stream_id, uuid, previous = head.stream_id, head.uuid, head.head_hash
    plain = not any(map(_has_rare, events))
    for place, given in enumerate(events):
        seq = head.last_seq + place + 1
        event = _sound(given)
        # Only what is storable is ever interned: the texts of an event whose type and origin are known need no look.
        interned = interner.known(stream_id, event)
        if interned is None or not plain:
            event = _storable(event)
            interned = interner.intern(stream_id, event)
        salt = salts[place * SALT_BYTES : (place + 1) * SALT_BYTES]
        body_hash = content_hash(salt, event)
        previous = link(previous, uuid, seq, recorded_at, event, body_hash, ENVELOPE_VERSION)
        row: Row = (
            stream_id,
            seq,
            event.event_id,
            *interned,
            event.arrived_at,
            recorded_at,
            event.body,
            salt,
            body_hash,
            previous,
            ENVELOPE_VERSION,
        )
        rows.append(row if plain else (*row, *_rare(event)))
        made.append(_event(event, seq, recorded_at, salt, body_hash, previous))
    interner.flush()
    backend.insert_events(connection, rows)
    backend.grow_head(connection, stream_id, made[0].seq, made[-1].seq, previous)
    return made


_rare = attrgetter(*RARE)
_NONE = (None,) * len(RARE)


def _has_rare(event: NewEvent) -> bool:
    return bool(_rare(event) != _NONE)


def _sound(event: NewEvent) -> NewEvent:
    """The event with an envelope that the views can show.

    A body that is called text and is none becomes binary; a source's time outside 1970 to 9999 is no time.
    """
    if event.encoding == "utf-8" and not event.body.isascii() and not _is_text(event.body):
        event = structs.replace(event, encoding="binary")
    if event.occurred_at is not None and not 0 <= event.occurred_at <= clock.LAST:
        event = structs.replace(event, occurred_at=None)
    return event


def _is_text(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def _storable(event: NewEvent) -> NewEvent:
    texts = {field: text for field in _TEXTS if (text := getattr(event, field)) is not None}
    changed = {field: storable(text) for field, text in texts.items() if not is_storable(text)}
    return structs.replace(event, **changed) if changed else event


def _event(event: NewEvent, seq: int, recorded_at: int, salt: bytes, body_hash: bytes, digest: bytes) -> Event:
    return Event(
        event_id=event.event_id,
        dialect=event.dialect,
        layer=event.layer,
        kind=event.kind,
        body=event.body,
        framing=event.framing,
        arrived_at=event.arrived_at,
        run_id=event.run_id,
        parent_run_id=event.parent_run_id,
        name=event.name,
        source_id=event.source_id,
        occurred_at=event.occurred_at,
        frame=event.frame,
        cuts=event.cuts,
        meta=event.meta,
        encoding=event.encoding,
        redacted=event.redacted,
        seq=seq,
        recorded_at=recorded_at,
        salt=salt,
        body_hash=body_hash,
        hash=digest,
    )
