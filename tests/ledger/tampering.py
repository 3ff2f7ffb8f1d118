"""A log that somebody changes behind the program's back: past the triggers, with another tool than the program.

Each way of tampering has a stream of its own, of six events in two appends; event 3 has all that an event may have.
`{s}` stands for the stream's key; of `erased` streams events 3 and 4 are erased.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct, structs

from recorder.events import Event
from recorder.events.chain import GENESIS, content_hash, erasure_link, relink
from recorder.store import Store
from recorder.store.tables import events as events_table
from tests.store.made import Behind, append, erase, event

TABLES = (
    "log_streams",
    "log_events",
    "log_event_types",
    "log_origins",
    "log_appends",
    "log_erasures",
    "log_captures",
)
"""What has triggers, and captures."""
AT = "WHERE stream_id = {s} AND seq = 3"
LAST = "WHERE stream_id = {s} AND seq = 6"
_COLUMNS = list(events_table.c.keys())

Change = Callable[[Behind, Store, str], None]


class Tampering(Struct, frozen=True):
    """What is done, and what a verification then says: the first bad event, and a part of why."""

    does: str | tuple[str, ...] | Change
    seq: int | None
    says: str
    erased: bool = False


def changed(assignment: str, says: str, seq: int = 3) -> Tampering:
    """An UPDATE of event 3."""
    return Tampering(f"UPDATE log_events SET {assignment} {AT}", seq, says)


def fill(store: Store, stream: str, *, erased: bool = False) -> None:
    kind = f"kind of {stream}"
    third = event(
        3,
        b'{"n": 3}',
        kind=kind,
        frame=b"data: x",
        cuts=b"[[1, 2]]",
        meta=b'{"status": 200}',
        occurred_at=7,
        source_id="source",
        redacted="a key",
        name="node",
    )
    given = [event(number, b'{"n": %d}' % number, kind=kind) for number in range(1, 7)]
    append(store, stream, [*given[:2], third, given[3]])
    append(store, stream, given[4:])
    if erased:
        erase(store, stream, 3, 4)


def apply(other: Behind, store: Store, stream: str, does: str | tuple[str, ...] | Change) -> None:
    """Does it, as somebody who owns the tables can."""
    key = str(store.head(stream).stream_id)
    if callable(does):
        does(other, store, stream)
        return
    for statement in (does,) if isinstance(does, str) else does:
        other.run(other.spelled(statement.replace("{s}", key)))


def copied_event(**changes: str) -> str:
    """An INSERT of event 6 again, with other values in some columns."""
    values = ", ".join(changes.get(column, column) for column in _COLUMNS)
    return f"INSERT INTO log_events ({', '.join(_COLUMNS)}) SELECT {values} FROM log_events {LAST}"


def rewrite(other: Behind, store: Store, stream: str, first: int, body: bytes, *, to_the_end: bool) -> None:
    """Puts another body into event `first`, with all its hashes; `to_the_end`: and makes those behind it follow."""
    head = store.head(stream)
    found = list(store.events(head, as_stored=True))
    previous = found[first - 2].hash if first > 1 else GENESIS
    for each in found[first - 1 :] if to_the_end else found[first - 1 : first]:
        made = structs.replace(each, body=body) if each.seq == first else each
        made = structs.replace(made, body_hash=_content_hash(made))
        previous = relink(previous, head.uuid, made)
        other.run(
            "UPDATE log_events SET body = ?, body_hash = ?, hash = ? WHERE stream_id = ? AND seq = ?",
            *(made.body, made.body_hash, previous, head.stream_id, each.seq),
        )
    if to_the_end:
        other.run("UPDATE log_streams SET head_hash = ? WHERE stream_id = ?", previous, head.stream_id)


def _content_hash(event: Event) -> bytes:
    assert event.salt is not None
    return content_hash(event.salt, event)


def rewritten(other: Behind, store: Store, stream: str) -> None:
    rewrite(other, store, stream, 3, b"other", to_the_end=True)


def rehashed(other: Behind, store: Store, stream: str) -> None:
    rewrite(other, store, stream, 3, b"other", to_the_end=False)


def rehashed_at_the_end(other: Behind, store: Store, stream: str) -> None:
    rewrite(other, store, stream, 6, b"other", to_the_end=False)


def erasure_put_back(other: Behind, store: Store, stream: str) -> None:
    """Takes the record of an erasure away, and gives the events another content, chain and all."""
    key = store.head(stream).stream_id
    other.run("DELETE FROM log_erasures WHERE stream_id = ?", key)
    for seq in (3, 4):
        other.run("UPDATE log_events SET erased = 0, salt = ? WHERE stream_id = ? AND seq = ?", b"s" * 16, key, seq)
    rewrite(other, store, stream, 3, b"other", to_the_end=True)


def erasure_made_up(other: Behind, store: Store, stream: str) -> None:
    """A record of an erasure, its hash as it must be, of events that hold their content."""
    head = store.head(stream)
    said: dict[str, Any] = {"erasure": 1, "first_seq": 2, "last_seq": 3, "reason": "made up", "erased_at": 5}
    digest = erasure_link(GENESIS, head.uuid, **said)
    other.run("INSERT INTO log_erasures VALUES (?, ?, ?, ?, ?, ?, ?)", head.stream_id, *said.values(), digest)


def body_swapped(other: Behind, store: Store, stream: str) -> None:
    """Content, salt and hash of the content of two events, each in the place of the other's."""
    third, fourth = store.events(store.head(stream), 3, 4, as_stored=True)
    for seq, each in ((3, fourth), (4, third)):
        other.run(
            "UPDATE log_events SET body = ?, frame = ?, cuts = ?, meta = ?, salt = ?, body_hash = ?"
            " WHERE stream_id = ? AND seq = ?",
            *(each.body, each.frame, each.cuts, each.meta, each.salt, each.body_hash),
            store.head(stream).stream_id,
            seq,
        )


def erasure_of_what_is_not(first: int, last: int) -> Change:
    """A record of an erasure, its hash as it must be, of events that there are not."""

    def does(other: Behind, store: Store, stream: str) -> None:
        head = store.head(stream)
        said: dict[str, Any] = {"erasure": 1, "first_seq": first, "last_seq": last, "reason": "made up", "erased_at": 5}
        digest = erasure_link(GENESIS, head.uuid, **said)
        other.run("INSERT INTO log_erasures VALUES (?, ?, ?, ?, ?, ?, ?)", head.stream_id, *said.values(), digest)

    return does


_LINK = "its hash does not follow from the event before it and its own envelope"
_CONTENT = "its content is not what its hash was made of"
_APPENDS = "the appends of the stream do not cover event"
_NOT_THERE = "erasure 1 names events that there are not"
_ERASURE = "erasure 1 was changed after it was recorded"
_HEAD = "the stream's head has another hash than its last event"
_BLANK = "body = {empty}, frame = NULL, cuts = NULL, meta = NULL, salt = NULL, erased = 1"

FOUND = {
    "a byte of a body": changed("body = {byte}", _CONTENT),
    "a frame": changed("frame = {byte}", _CONTENT),
    "a frame gone": changed("frame = NULL", _CONTENT),
    "cuts": changed("cuts = {byte}", _CONTENT),
    "meta": changed("meta = {byte}", _CONTENT),
    "a salt": changed("salt = {byte}", _CONTENT),
    "a salt gone": changed("salt = NULL", "its salt is gone"),
    "the hash of the content": changed("body_hash = {byte}", _LINK),
    "the hash": changed("hash = {byte}", _LINK),
    "the kind, by another type": changed("type_id = (SELECT min(type_id) FROM log_event_types)", _LINK),
    "a type that is none": changed("type_id = 99", "lacks event 3"),
    "the run, by another origin": changed("origin_id = 1", _LINK),
    "no run": changed("origin_id = NULL", _LINK),
    "an origin that is none": changed("origin_id = 99", _LINK),
    "the event's id": changed("event_id = {byte}", _LINK),
    "the source's id": changed("source_id = 'other'", _LINK),
    "the source's time": changed("occurred_at = 8", _LINK),
    "no time of the source": changed("occurred_at = NULL", _LINK),
    "the time of arrival": changed("arrived_at = 8", _LINK),
    "the time of recording": changed("recorded_at = 8", _LINK),
    "what was redacted": changed("redacted = NULL", _LINK),
    "the version": changed("version = 2", _LINK),
    "the codec": changed("codec = 7", "event 3 is stored in a way that this program does not know"),
    "the number": changed("seq = 9", "lacks event 3"),
    "the kind of all events": Tampering("UPDATE log_event_types SET kind = 'x' WHERE kind = 'kind of {n}'", 1, _LINK),
    "the framing of all events": Tampering(
        "UPDATE log_event_types SET framing = '' WHERE kind = 'kind of {n}'", 1, _LINK
    ),
    "the run of all events": Tampering("UPDATE log_origins SET run_id = 'x' WHERE stream_id = {s}", 1, _LINK),
    "a parent of a run": Tampering("UPDATE log_origins SET parent_run_id = 'x' WHERE stream_id = {s}", 1, _LINK),
    "a name": Tampering("UPDATE log_origins SET name = 'x' WHERE stream_id = {s} AND name = 'node'", 3, _LINK),
    "an origin gone": Tampering("DELETE FROM log_origins WHERE stream_id = {s}", 1, _LINK),
    "a type gone": Tampering("DELETE FROM log_event_types WHERE kind = 'kind of {n}'", 1, "lacks event 1"),
    "the stream's identity": Tampering("UPDATE log_streams SET uuid = {uuid} WHERE stream_id = {s}", 1, _LINK),
    "a hash with its content": Tampering(rehashed, 4, _LINK),
    "the last hash with its content": Tampering(rehashed_at_the_end, 6, _HEAD),
    "two contents swapped": Tampering(body_swapped, 3, _LINK),
    "two events swapped": Tampering(
        (
            "UPDATE log_events SET seq = 99 " + AT,
            "UPDATE log_events SET seq = 3 WHERE stream_id = {s} AND seq = 4",
            "UPDATE log_events SET seq = 4 WHERE stream_id = {s} AND seq = 99",
        ),
        3,
        _LINK,
    ),
    "the first event gone": Tampering("DELETE FROM log_events WHERE stream_id = {s} AND seq = 1", 1, "lacks event 1"),
    "an event gone": Tampering("DELETE FROM log_events " + AT, 3, "lacks event 3"),
    "an event gone, and the rest moved up": Tampering(
        (
            "DELETE FROM log_events " + AT,
            *(f"UPDATE log_events SET seq = {n} WHERE stream_id = {{s}} AND seq = {n + 1}" for n in (3, 4, 5)),
        ),
        3,
        _LINK,
    ),
    "the last event gone": Tampering("DELETE FROM log_events " + LAST, 6, "lacks event 6"),
    "the last event gone, and the head moved": Tampering(
        (
            "DELETE FROM log_events " + LAST,
            "UPDATE log_streams SET last_seq = 5, head_hash = (SELECT hash FROM log_events"
            " WHERE stream_id = {s} AND seq = 5) WHERE stream_id = {s}",
        ),
        6,
        "event 6 was appended, and is not there",
    ),
    "all events gone": Tampering("DELETE FROM log_events WHERE stream_id = {s}", 1, "lacks event 1"),
    "an event behind the head": Tampering(
        copied_event(seq="7", event_id="{byte}", hash="{byte}"), 7, "there are events behind the stream's head"
    ),
    "an event before the first": Tampering(
        copied_event(seq="0", event_id="{byte}", hash="{byte}"), 0, "there are events before the first one"
    ),
    "an event long before the first": Tampering(
        copied_event(seq="-7", event_id="{byte}", hash="{byte}"), -7, "there are events before the first one"
    ),
    "an event at the end": Tampering(
        (
            copied_event(seq="7", event_id="{byte}", hash="{byte}"),
            "UPDATE log_streams SET last_seq = 7, head_hash = {byte} WHERE stream_id = {s}",
            "UPDATE log_appends SET last_seq = 7 WHERE stream_id = {s} AND first_seq = 5",
        ),
        7,
        _LINK,
    ),
    "the head's hash": Tampering("UPDATE log_streams SET head_hash = {byte} WHERE stream_id = {s}", 6, _HEAD),
    "the head ahead": Tampering("UPDATE log_streams SET last_seq = 7 WHERE stream_id = {s}", 7, "lacks event 7"),
    "the head back": Tampering(
        "UPDATE log_streams SET last_seq = 4, head_hash = (SELECT hash FROM log_events"
        " WHERE stream_id = {s} AND seq = 4) WHERE stream_id = {s}",
        5,
        "there are events behind the stream's head",
    ),
    "blanked": changed(_BLANK, "it was blanked, and no erasure says so"),
    "marked as erased": changed("erased = 1", "it was blanked, and no erasure says so"),
    "blanked beside what an erasure names": Tampering(
        f"UPDATE log_events SET {_BLANK} WHERE stream_id = {{s}} AND seq = 5",
        5,
        "it was blanked, and no erasure says so",
        erased=True,
    ),
    "an erasure gone": Tampering(
        "DELETE FROM log_erasures WHERE stream_id = {s}", 3, "it was blanked, and no erasure says so", erased=True
    ),
    "an erasure's reason": Tampering(
        "UPDATE log_erasures SET reason = 'other' WHERE stream_id = {s}", None, _ERASURE, erased=True
    ),
    "an erasure's range": Tampering(
        "UPDATE log_erasures SET last_seq = 5 WHERE stream_id = {s}", None, _ERASURE, erased=True
    ),
    "an erasure's time": Tampering(
        "UPDATE log_erasures SET erased_at = 5 WHERE stream_id = {s}", None, _ERASURE, erased=True
    ),
    "an erasure's number": Tampering(
        "UPDATE log_erasures SET erasure = 2 WHERE stream_id = {s}", None, _ERASURE, erased=True
    ),
    "an erasure more": Tampering(
        "INSERT INTO log_erasures SELECT {s}, 2, 1, 1, 'made up', 5, hash FROM log_erasures WHERE stream_id = {s}",
        None,
        "erasure 2 was changed after it was recorded",
        erased=True,
    ),
    "an erasure made up": Tampering(erasure_made_up, 2, "an erasure says that it was blanked, and it was not"),
    "an erasure of what is to come": Tampering(erasure_of_what_is_not(7, 9), None, _NOT_THERE),
    "an erasure of what never was": Tampering(erasure_of_what_is_not(0, 0), None, _NOT_THERE),
    "content in an erased event": Tampering(
        "UPDATE log_events SET body = {byte} " + AT, 3, "it is marked as erased, and holds content", erased=True
    ),
    "an erased event filled again": Tampering(
        "UPDATE log_events SET body = {byte}, salt = {byte}, erased = 0 " + AT, 3, _CONTENT, erased=True
    ),
    "an append gone": Tampering("DELETE FROM log_appends WHERE stream_id = {s} AND first_seq = 5", 5, f"{_APPENDS} 5"),
    "the first append gone": Tampering(
        "DELETE FROM log_appends WHERE stream_id = {s} AND first_seq = 1", 1, f"{_APPENDS} 1"
    ),
    "an append shortened": Tampering(
        "UPDATE log_appends SET last_seq = 5 WHERE stream_id = {s} AND first_seq = 5", 6, f"{_APPENDS} 6"
    ),
    "an append that overlaps": Tampering(
        "UPDATE log_appends SET first_seq = 4 WHERE stream_id = {s} AND first_seq = 5", 5, f"{_APPENDS} 5"
    ),
    "an append more": Tampering(
        "INSERT INTO log_appends SELECT {s}, epoch, position + 1000, 7, 9 FROM log_appends"
        " WHERE stream_id = {s} AND first_seq = 5",
        7,
        "event 9 was appended, and is not there",
    ),
}
"""What the chain, its ends and the records beside it show."""

SEALED = {
    "all written anew": Tampering(rewritten, 6, "its past is another"),
    "the end gone without a trace": Tampering(
        (
            "DELETE FROM log_events WHERE stream_id = {s} AND seq > 4",
            "DELETE FROM log_appends WHERE stream_id = {s} AND first_seq = 5",
            "UPDATE log_streams SET last_seq = 4, head_hash = (SELECT hash FROM log_events"
            " WHERE stream_id = {s} AND seq = 4) WHERE stream_id = {s}",
        ),
        4,
        "its end is gone: it was sealed with 6 events and has 4",
    ),
    "all events gone without a trace": Tampering(
        (
            "DELETE FROM log_events WHERE stream_id = {s}",
            "DELETE FROM log_appends WHERE stream_id = {s}",
            "UPDATE log_streams SET last_seq = 0, head_hash = {zeros} WHERE stream_id = {s}",
        ),
        0,
        "its end is gone: it was sealed with 6 events and has 0",
    ),
    "the stream gone without a trace": Tampering(
        tuple(f"DELETE FROM {table} WHERE stream_id = {{s}}" for table in TABLES if table != "log_event_types"),
        None,
        "the stream is gone",
    ),
    "an erasure taken back": Tampering(erasure_put_back, 6, "its past is another", erased=True),
}
"""What only a seal that was kept elsewhere shows."""
