"""Streams, events in batches, captures and snapshots."""

from __future__ import annotations

import pytest
from msgspec import structs

from recorder.errors import Corrupt, UnknownStream
from recorder.store import Capture, Store, reading
from tests.store.made import append, behind, event, events


def test_an_unknown_stream_is_said_to_be_unknown(store: Store) -> None:
    assert store.find("weather") is None
    with pytest.raises(UnknownStream, match="'weather'"):
        store.head("weather")


def test_a_renamed_stream_is_found_by_its_former_head(store: Store) -> None:
    append(store, "old", events(1, 2))
    former = store.head("old")
    with store.transaction() as transaction:
        transaction.rename(former, "new")
    append(store, "old", events(1, 1))
    with store.transaction() as transaction:
        for current in (store.as_now(former), transaction.current(former), store.by_uuid(former.uuid)):
            assert current is not None
            assert (current.name, current.last_seq, current.uuid) == ("new", 2, former.uuid)
        unknown = structs.replace(former, stream_id=999)
        assert (store.as_now(unknown), transaction.current(unknown), store.by_uuid(b"u" * 16)) == (None, None, None)


def test_streams_come_oldest_first_and_the_latest_is_the_one_appended_to_last(store: Store) -> None:
    assert store.latest() is None
    for name in ("b", "a", "c"):
        append(store, name, [])
    assert [head.name for head in store.streams()] == ["b", "a", "c"]
    latest = store.latest()
    assert latest is not None
    assert latest.name == "c"
    append(store, "a", events(1, 1))
    assert store.latest() == store.head("a")


def test_a_range_has_both_its_ends(store: Store) -> None:
    append(store, "s", events(1, 9))
    head = store.head("s")
    assert [found.seq for found in store.events(head, 3, 5)] == [3, 4, 5]
    assert [found.seq for found in store.events(head, 8)] == [8, 9]
    assert [found.seq for found in store.events(head, 0, 2)] == [1, 2]
    assert list(store.events(head, 5, 4)) == []
    assert list(store.events(head, 10, 12)) == []


def test_a_head_ends_where_it_was_read(store: Store) -> None:
    append(store, "s", events(1, 2))
    head = store.head("s")
    append(store, "s", events(3, 4))
    assert [found.seq for found in store.events(head)] == [1, 2]
    assert [found.seq for found in store.events(head, 1, 3)] == [1, 2, 3]


def test_batches_end_by_count_and_by_bytes(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    append(store, "s", [event(number, b"x" * number) for number in range(1, 60)])
    for rows, size in ((1, 10), (7, 100), (59, 10_000), (58, 1)):
        monkeypatch.setattr(reading, "BATCH_ROWS", rows)
        monkeypatch.setattr(reading, "BATCH_BYTES", size)
        assert [found.seq for found in store.events(store.head("s"))] == list(range(1, 60))


def test_a_missing_event_is_an_error_and_not_skipped(store: Store, database: str) -> None:
    append(store, "s", events(1, 5))
    with behind(database) as other:
        other.unguard("log_events")
        other.run("DELETE FROM log_events WHERE seq = 3")
    found = store.events(store.head("s"))
    assert [next(found).seq, next(found).seq] == [1, 2]
    with pytest.raises(Corrupt, match="lacks event 3"):
        next(found)


def test_a_removed_tail_is_an_error(store: Store, database: str) -> None:
    append(store, "s", events(1, 5))
    with behind(database) as other:
        other.unguard("log_events")
        other.run("DELETE FROM log_events WHERE seq > 3")
    with pytest.raises(Corrupt, match="lacks event 4"):
        list(store.events(store.head("s")))


def test_an_event_of_a_version_or_codec_of_the_future_is_an_error(store: Store, database: str) -> None:
    append(store, "s", events(1, 2))
    with behind(database) as other:
        other.unguard("log_events")
        other.run("UPDATE log_events SET version = 99 WHERE seq = 1")
        other.run("UPDATE log_events SET codec = 9 WHERE seq = 2")
    with pytest.raises(Corrupt, match="version 99"):
        list(store.events(store.head("s"), 1, 1))
    assert next(store.events(store.head("s"), 1, 1, as_stored=True)).version == 99
    with pytest.raises(Corrupt, match="upgrade"):
        list(store.events(store.head("s"), 2, 2))


CAPTURE = Capture(source="x.sse", format="sse", bytes=10, digest=b"d" * 32, first_seq=1, last_seq=2)


def test_captures_are_numbered_and_one_can_be_put_in_anothers_place(store: Store) -> None:
    append(store, "s", events(1, 2))
    append(store, "t", [])
    head = store.head("s")
    assert store.last_capture(head) is None
    with store.transaction() as transaction:
        assert transaction.save_capture(head, CAPTURE) == 1
        longer = structs.replace(CAPTURE, bytes=20, source="\ud800")
        assert transaction.save_capture(head, longer) == 2
        assert transaction.save_capture(head, structs.replace(longer, capture=2, complete=True)) == 2
    assert [(found.capture, found.bytes, found.complete) for found in store.captures(head)] == [
        (1, 10, False),
        (2, 20, True),
    ]
    last = store.last_capture(head)
    assert last is not None
    assert (last.source, last.digest, last.recorded_at > 0) == (r"\ud800", b"d" * 32, True)
    assert store.captures(store.head("t")) == []


def test_the_newest_snapshot_at_or_before_an_event_is_found(store: Store) -> None:
    append(store, "s", events(1, 9))
    append(store, "t", [])
    head = store.head("s")
    with store.transaction() as transaction:
        for seq, reading_name, projection in ((2, "open", 1), (5, "open", 1), (5, "pairings", 1), (7, "open", 2)):
            transaction.save_snapshot(head, seq, reading_name, projection, b"%d %d" % (seq, projection))
        transaction.save_snapshot(head, 5, "open", 1, b"again")
        assert transaction.snapshot(head, 9, "open", 1) == (5, b"again")
    assert store.snapshot(head, 9, "open", 1) == (5, b"again")
    assert store.snapshot(head, 4, "open", 1) == (2, b"2 1")
    assert store.snapshot(head, 1, "open", 1) is None
    assert store.snapshot(head, 9, "open", 2) == (7, b"7 2")
    assert store.snapshot(store.head("t"), 9, "open", 1) is None
    assert store.snapshot(head, 9, "open") is None
    with store.transaction() as transaction:
        transaction.mark(head, stale=None, projection=2)
    assert store.snapshot(store.head("s"), 9, "open") == (7, b"7 2")
