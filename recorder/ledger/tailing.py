"""The global tail: the events of all streams in the order of their commits."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from recorder.errors import BadInput
from recorder.events import Event, clock, jsontext
from recorder.store import Position, Store, StreamHead
from recorder.store.reading import FIRST

_PAGE = 200
"""Appends that are asked for at a time."""
_HIDDEN_SECONDS = 0.05
"""How long appends that cannot be shown yet are left alone."""


def position_of(cursor: str) -> Position:
    """The position that a cursor names. Raises `BadInput`."""
    parts = cursor.split(".")
    if len(parts) != 4 or not all(part.isascii() and part.isdecimal() and len(part) <= 18 for part in parts):
        raise BadInput(f"{cursor!r} is no cursor: give one that rec tail printed")
    return Position(*map(int, parts))


def tail(
    store: Store, *, after: Position | None = None, last: int | None = None, follow: bool = False
) -> Iterator[str]:
    """A line of JSON for each event behind a position, or from the last `last` ones on; with `follow`, without end."""
    place = after or FIRST
    if last is not None:
        place = max(place, _before_the_last(store, last))
    while True:
        for found in store.appended(place, _PAGE):
            head = store.head_of(found)
            within = (place.epoch, place.position, place.stream_id) == (
                found.position.epoch,
                found.position.position,
                found.position.stream_id,
            )
            first = max(found.first_seq, place.seq + 1) if within else found.first_seq
            for event in store.events(head, first, found.last_seq):
                yield _line(head, event, found.position)
            place = found.position
        if store.appended(place, 1):
            continue
        if not follow:
            return
        if store.hides_appends(place):
            # What is there can be shown once a transaction that began before it is over, of which nobody is told.
            store.wait_for_append(_HIDDEN_SECONDS)
        else:
            store.wait_for_append()


def _before_the_last(store: Store, count: int) -> Position:
    """The position behind which `count` events lie, or the first one where there are no more."""
    left = count
    newest = store.newest_appends(max(count, 1))
    if count == 0 and newest:
        return newest[-1].position
    for found in reversed(newest):
        size = found.last_seq - found.first_seq + 1
        if size > left:
            return structs.replace(found.position, seq=found.last_seq - left)
        left -= size
        if left == 0:
            return structs.replace(found.position, seq=found.first_seq - 1)
    return FIRST


def _line(head: StreamHead, event: Event, position: Position) -> str:
    shown = {
        "cursor": f"{position.epoch}.{position.position}.{position.stream_id}.{event.seq}",
        "stream": head.name,
        "seq": event.seq,
        "kind": event.kind,
        "dialect": event.dialect,
        "run_id": event.run_id,
        "name": event.name,
        "recorded_at": clock.to_text(event.recorded_at),
        "text": None if event.encoding == "binary" or event.erased else event.body.decode("utf-8", "replace"),
    }
    return jsontext.encode(shown) + "\n"
