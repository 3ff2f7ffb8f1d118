"""The global tail: every event once, those of a stream in order, and on from any cursor."""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from recorder.errors import BadInput, DatabaseUnusable
from recorder.ledger.tailing import position_of, tail
from recorder.store import Position, Store, open_store
from tests.store.made import append, behind, erase, event, events


def told(store: Store, **options: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in tail(store, **options)]


def places(found: list[dict[str, Any]]) -> list[tuple[str, int]]:
    return [(each["stream"], each["seq"]) for each in found]


@pytest.fixture
def filled(store: Store) -> Store:
    """Three streams, appended to in turns: one event, or several, at a time."""
    append(store, "a", events(1, 3))
    append(store, "empty", [])
    append(store, "b", events(1, 1))
    append(store, "a", events(4, 4))
    append(store, "b", events(2, 6))
    append(store, "c", events(1, 2))
    append(store, "a", events(5, 7))
    return store


ALL = [
    *(("a", seq) for seq in (1, 2, 3)),
    ("b", 1),
    ("a", 4),
    *(("b", seq) for seq in range(2, 7)),
    *(("c", seq) for seq in (1, 2)),
    *(("a", seq) for seq in (5, 6, 7)),
]


def test_events_come_in_the_order_of_their_commits(filled: Store) -> None:
    assert places(told(filled)) == ALL


def test_a_line_says_what_an_event_is(store: Store) -> None:
    append(
        store,
        "s",
        [event(1, b'{"half": "\\ud83d"}', name="node"), event(2, b"\xff"), event(3, "é\0\u2028".encode()), event(4)],
    )
    erase(store, "s", 4, 4)
    with store.transaction() as transaction:
        transaction.rename(store.head("s"), "renamed")
    lines = list(tail(store))
    assert all(line.endswith("\n") and line.count("\n") == 1 for line in lines)
    found = told(store)
    assert found[0].keys() == {
        *("cursor", "stream", "seq", "kind", "dialect", "run_id", "name", "recorded_at", "text"),
    }
    assert {**found[0], "cursor": "", "recorded_at": ""} == {
        "cursor": "",
        "stream": "renamed",
        "seq": 1,
        "kind": "chunk",
        "dialect": "openai.chat",
        "run_id": "run-1",
        "name": "node",
        "recorded_at": "",
        "text": '{"half": "\\ud83d"}',
    }
    assert [each["text"] for each in found[1:]] == [None, "é\0\u2028", None]


@pytest.mark.parametrize("page", [1, 2, 200])
def test_from_every_cursor_on_comes_the_rest(filled: Store, monkeypatch: pytest.MonkeyPatch, page: int) -> None:
    monkeypatch.setattr("recorder.ledger.tailing._PAGE", page)
    found = told(filled)
    assert places(found) == ALL
    assert len({each["cursor"] for each in found}) == len(found)
    for number, each in enumerate(found, 1):
        assert told(filled, after=position_of(each["cursor"])) == found[number:], each["cursor"]


def test_the_last_ones_come_alone(filled: Store) -> None:
    found = told(filled)
    for number in range(len(ALL) + 3):
        assert told(filled, last=number) == (found[-number:] if number else []), number


def test_the_last_ones_behind_a_cursor_are_no_earlier_ones(filled: Store) -> None:
    found = told(filled)
    for number, each in enumerate(found, 1):
        for last in (0, 1, 3, 5, 99):
            rest = found[number:]
            after = position_of(each["cursor"])
            assert told(filled, after=after, last=last) == (rest[-last:] if last else []), (number, last)


def test_of_nothing_nothing_comes(store: Store) -> None:
    assert told(store) == told(store, last=5) == told(store, last=0) == []
    append(store, "empty", [])
    assert told(store) == []


def test_a_cursor_holds_while_events_come(filled: Store) -> None:
    cursor = position_of(told(filled)[-1]["cursor"])
    assert told(filled, after=cursor) == []
    append(filled, "b", events(7, 8))
    append(filled, "new", events(1, 1))
    found = told(filled, after=cursor)
    assert places(found) == [("b", 7), ("b", 8), ("new", 1)]


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "1",
        "1.2.3",
        "1.2.3.4.5",
        "a.b.c.d",
        "1.2.3.-4",
        "1.2.3.4 ",
        "1.2.3.",
        "\u0661.\u0662.\u0663.\u0664",
        "1.2.3.1234567890123456789",
    ],
)
def test_what_is_no_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(BadInput, match="is no cursor: give one that rec tail printed"):
        position_of(cursor)


def test_a_cursor_is_a_position() -> None:
    assert position_of("0.1042.7.88") == Position(0, 1042, 7, 88)


def test_appends_of_one_transaction_come_one_behind_the_other(store: Store) -> None:
    with store.transaction() as transaction:
        a, b = transaction.create_stream("a"), transaction.create_stream("b")
        for first in (1, 3):
            transaction.append(a, events(first, first + 1))
            transaction.append(b, events(first, first + 1))
    found = told(store)
    for name in ("a", "b"):
        assert [each["seq"] for each in found if each["stream"] == name] == [1, 2, 3, 4]
    for number, each in enumerate(found, 1):
        assert told(store, after=position_of(each["cursor"])) == found[number:]
    for last in range(9):
        assert told(store, last=last) == (found[-last:] if last else [])


class Followed:
    """A tail that is followed in a thread, over a store of its own."""

    def __init__(self, database: str, **options: Any) -> None:
        self._lines: queue.Queue[dict[str, Any] | BaseException] = queue.Queue()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(database, options))
        self._thread.start()

    def _run(self, database: str, options: dict[str, Any]) -> None:
        try:
            with open_store(database, readonly=True) as store:
                wait = store.wait_for_append

                def stoppable(seconds: float = 30.0) -> None:
                    if self._stop.is_set():
                        raise KeyboardInterrupt
                    # Longer than a test lasts: what wakes it up earlier is the database.
                    wait(seconds)

                store.wait_for_append = stoppable  # type: ignore[method-assign]
                for line in tail(store, follow=True, **options):
                    self._lines.put(json.loads(line))
        except BaseException as error:
            self._lines.put(error)

    def next(self) -> tuple[str, int]:
        found = self._lines.get(timeout=20)
        assert isinstance(found, dict), found
        return found["stream"], found["seq"]

    def end(self, database: str) -> None:
        """Stops it; an append wakes it up."""
        self._stop.set()
        with open_store(database) as store:
            deadline = time.monotonic() + 20
            number = 1
            while self._thread.is_alive() and time.monotonic() < deadline:
                append(store, "end", [event(number)])
                number += 1
                self._thread.join(0.2)
        assert not self._thread.is_alive()


@pytest.fixture
def followed(database: str, filled: Store) -> Iterator[Followed]:
    found = Followed(database, last=1)
    yield found
    found.end(database)


def test_a_follower_is_told_at_once(followed: Followed, filled: Store) -> None:
    """Well before it would look by itself: its own looks are half a minute apart here."""
    assert followed.next() == ("a", 7)
    for number in range(8, 12):
        # Time for it to fall asleep, so that it must be woken up.
        time.sleep(0.15)
        before = time.monotonic()
        append(filled, "a", events(number, number))
        assert followed.next() == ("a", number)
        assert time.monotonic() - before < 5, "it was not woken up"


def test_a_follower_misses_nothing_of_a_burst(database: str, filled: Store) -> None:
    follower = Followed(database, last=0)

    def write(stream: str) -> None:
        with open_store(database) as store:
            for number in range(1, 21):
                append(store, stream, events(number * 2 - 1, number * 2))
                time.sleep(0.002)

    threads = [threading.Thread(target=write, args=(f"burst {number}",)) for number in range(3)]
    time.sleep(0.2)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    time.sleep(0.1)
    # Whatever it has not been told of by now it is told of with this one.
    append(filled, "a", events(8, 8))
    found: list[tuple[str, int]] = []
    while not found or found[-1] != ("a", 8):
        found.append(follower.next())
    follower.end(database)
    for number in range(3):
        assert [seq for stream, seq in found if stream == f"burst {number}"] == list(range(1, 41))


def test_the_stream_of_an_append_that_is_gone_is_told(filled: Store, database: str) -> None:
    with behind(database) as other:
        other.unguard("log_streams")
        other.run("DELETE FROM log_streams WHERE name = 'b'")
    with pytest.raises((BadInput, DatabaseUnusable), match="the stream of an append is gone"):
        told(filled)


def test_a_follower_shows_what_an_older_transaction_held_up_as_soon_as_that_is_over(
    url: str, request: pytest.FixtureRequest
) -> None:
    """Nobody tells it of that end: it is not to sleep until the next append, or for the half minute that it could."""
    with open_store(url) as store:
        append(store, "a", events(1, 1))
        append(store, "held", events(1, 1))
        found = Followed(url, last=1)
        request.addfinalizer(lambda: found.end(url))
        assert found.next() == ("held", 1)
        time.sleep(0.15)
        with store.transaction() as transaction:
            head = transaction.head("held")
            assert head is not None
            transaction.append(head, events(2, 2))
            with open_store(url) as other:
                append(other, "a", events(2, 2))
            # It is told of that append now, and may not show it.
            time.sleep(0.3)
        before = time.monotonic()
        assert {found.next(), found.next()} == {("a", 2), ("held", 2)}
        assert time.monotonic() - before < 10
