"""The tail of a whole database: every append once, in an order that only grows."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from recorder.errors import BadInput
from recorder.store import Appended, Position, Store
from tests.store.made import append, erase, event, events, eventually

STREAMS = "abcde"


def all_appends(store: Store, after: Position | None = None, page: int = 7) -> list[Appended]:
    """Every append behind a position, read in pages."""
    place = after or Position()
    found: list[Appended] = []
    while batch := store.appended(place, page):
        assert len(batch) <= page
        found += batch
        place = batch[-1].position
    return found


def whole_tail(store: Store) -> list[Appended]:
    """Every append, as soon as they all come out: on Postgres a writer in another database holds them up too."""
    stored = sum(head.last_seq for head in store.streams())
    found: list[Appended] = []

    def is_whole() -> bool:
        found[:] = all_appends(store)
        return sum(each.last_seq - each.first_seq + 1 for each in found) >= stored

    assert eventually(is_whole)
    return found


def check(store: Store, found: list[Appended]) -> None:
    """Positions only grow, and the appends of each stream are its events, each once and in order."""
    positions = [each.position for each in found]
    assert positions == sorted(set(positions))
    for head in store.streams():
        ranges = [(each.first_seq, each.last_seq) for each in found if each.stream_id == head.stream_id]
        seqs = [seq for first, last in ranges for seq in range(first, last + 1)]
        assert seqs == list(range(1, head.last_seq + 1)), head.name


def followed(store: Store, found: list[Appended], count: int) -> list[Appended]:
    """What a follower gets until it has `count` appends, and a little longer."""
    deadline = time.monotonic() + 60
    while len(found) < count and time.monotonic() < deadline:
        found += all_appends(store, found[-1].position if found else None)
    return found + all_appends(store, found[-1].position)


def test_appends_come_in_the_order_of_their_commits(store: Store) -> None:
    assert store.appended() == []
    for stream, first, last in (("a", 1, 2), ("b", 1, 1), ("a", 3, 3), ("c", 1, 70), ("b", 2, 80)):
        append(store, stream, events(first, last))
    found = whole_tail(store)
    assert [(store.head_of(each).name, each.first_seq, each.last_seq) for each in found] == [
        ("a", 1, 2),
        ("b", 1, 1),
        ("a", 3, 3),
        ("c", 1, 70),
        ("b", 2, 80),
    ]
    for page in (1, 2, 4, 5, 6):
        assert all_appends(store, page=page) == found
    for place, each in enumerate(found, 1):
        assert store.appended(each.position) == found[place:]
    assert store.newest_appends(2) == found[-2:]
    assert store.newest_appends(99) == found


def test_what_stores_nothing_is_no_append(store: Store) -> None:
    append(store, "a", events(1, 2))
    append(store, "a", events(1, 2))
    append(store, "b", [])
    with suppress(RuntimeError), store.transaction() as transaction:
        transaction.append(store.head("a"), events(3, 4))
        raise RuntimeError
    with store.transaction() as transaction:
        with suppress(RuntimeError), transaction.nested():
            transaction.append(store.head("a"), events(3, 4))
            raise RuntimeError
        transaction.rename(store.head("b"), "c")
    erase(store, "a", 1, 1)
    assert [(each.first_seq, each.last_seq) for each in whole_tail(store)] == [(1, 2)]


def test_several_appends_in_one_transaction_are_each_given(store: Store) -> None:
    with store.transaction() as transaction:
        heads = {name: transaction.create_stream(name) for name in STREAMS}
        for first in (1, 3, 5):
            for name in reversed(STREAMS):
                transaction.append(heads[name], events(first, first + 1))
    found = whole_tail(store)
    assert all_appends(store, page=1) == found
    assert len(found) == 15
    check(store, found)


def test_a_transaction_sees_what_was_committed_before_it(store: Store) -> None:
    append(store, "a", events(1, 1))
    before = whole_tail(store)
    with store.transaction() as transaction:
        transaction.append(store.head("a"), events(2, 2))
        assert transaction.appended()[:1] == before
        assert store.appended() == before
    check(store, whole_tail(store))


def test_a_position_that_there_is_not_yet_is_refused(store: Store) -> None:
    for place in (Position(0, 1 << 40, 1, 1), Position(7, 1, 1, 1)):
        with pytest.raises(BadInput, match="is ahead of"):
            store.appended(place)
    append(store, "a", events(1, 2))
    (last,) = whole_tail(store)
    assert store.appended(last.position) == []
    with pytest.raises(BadInput, match="is ahead of"):
        store.appended(Position(0, last.position.position + 1_000, 1, 1))


def test_readers_get_every_append_once_while_writers_write(store: Store) -> None:
    for stream in STREAMS:
        append(store, stream, [])

    def write(writer: int) -> None:
        for number in range(15):
            append(store, STREAMS[(writer + number) % 5], [event(writer * 100 + number)])

    def read() -> list[Appended]:
        return followed(store, [], 60)

    with ThreadPoolExecutor(6) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        for writing in [pool.submit(write, writer) for writer in range(4)]:
            writing.result()
        for reader in readers:
            check(store, reader.result())
            assert len(reader.result()) == 60
