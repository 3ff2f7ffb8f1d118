"""Erasing while others write: nothing comes back, and nobody is harmed."""

from __future__ import annotations

import threading
import time
from io import BytesIO
from typing import Any

import pytest

from recorder.capture import capture_pipe
from recorder.ledger import Ledger, erasure
from recorder.ledger.erasure import erase
from recorder.store import Store, open_store
from tests.capture.made import captures, chunk, sse
from tests.ledger.logs import is_whole, snapshots_at_every_append
from tests.ledger.planted import PLACES, dump, needle, planted, read_sse
from tests.store.made import event, events

WHY = "asked for"


@pytest.fixture
def ledger(store: Store) -> Ledger:
    return Ledger(store)


def test_a_writer_that_goes_on_brings_nothing_back(
    ledger: Ledger, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its fold holds what was erased, in what is open: a text, arguments, a decoder's state."""
    snapshots_at_every_append(monkeypatch)
    given = read_sse(sse(*planted(range(2))))
    with Ledger.open(database) as other:
        writer = ledger.writer("s")
        for start in range(8):
            writer.append(given[start : start + 1])
        assert needle(1, "args") in dump(ledger.store)
        erase(other.store, other.head("s"), first=1, last=8, reason=WHY)
        writer.append(given[8:])
        # And once more, by the program that writes.
        erase(ledger.store, ledger.head("s"), first=9, last=10, reason=WHY)
        writer.append([event(1000, chunk(content="behind it").encode())])
    held = dump(ledger.store)
    assert [each for number in (0, 1) for place in PLACES if (each := needle(number, place)) in held] == []
    assert "behind it" in held
    assert is_whole(ledger.store)


class Pipe(BytesIO):
    """Does something when so many reads were done."""

    def __init__(self, pieces: list[bytes], at: int, does: Any) -> None:
        super().__init__()
        self._pieces, self._at, self._does = pieces, at, does

    def read1(self, size: int | None = -1) -> bytes:
        self._at -= 1
        if self._at == 0:
            self._does()
        return self._pieces.pop(0) if self._pieces else b""


def test_a_capture_that_goes_on_keeps_no_digest(ledger: Ledger, database: str) -> None:
    frames = [sse(payload) for payload in planted(range(3))]
    with open_store(database) as other:
        pipe = Pipe(list(frames), 8, lambda: erase(other, other.head("p"), first=1, last=5, reason=WHY))
        capture_pipe(ledger, pipe, "p")
    head = ledger.head("p")
    assert head.last_seq == len(frames)
    assert [(each.digest, each.bytes) for each in ledger.store.captures(head)] == [(b"", 0)]
    assert captures(ledger, "p") == [(1, len(frames), 0, True)]
    held = dump(ledger.store)
    assert [place for place in PLACES if needle(0, place) in held] == []
    assert all(needle(2, place) in held for place in PLACES)
    assert is_whole(ledger.store)


def test_a_thread_that_writes_is_left_alone_by_what_follows_an_erasure(ledger: Ledger) -> None:
    ledger.writer("s").append(events(1, 2))
    begun = threading.Event()
    stored: list[int] = []

    def write() -> None:
        with ledger.store.transaction() as transaction:
            begun.set()
            time.sleep(0.1)
            stored.append(transaction.append(ledger.store.head("s"), events(3, 4)).last_seq)

    thread = threading.Thread(target=write)
    thread.start()
    begun.wait()
    ledger.store.scrub()
    thread.join()
    assert stored == [ledger.head("s").last_seq] == [4]


def test_an_erasure_among_writers_keeps_all_whole(ledger: Ledger, database: str) -> None:
    stop = threading.Event()
    wrong: list[BaseException] = []

    def write(stream: str) -> None:
        try:
            with Ledger.open(database) as other:
                writer, number = other.writer(stream), 0
                while not stop.is_set() and number < 2000:
                    payloads = planted(range(number, number + 1))
                    writer.append([event(number * 100 + place, each) for place, each in enumerate(payloads)])
                    number += 1
                    # A writer that never rests lets nobody else in, as SQLite waits.
                    time.sleep(0.01)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=write, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    erased = 0
    while erased < 8 and not wrong:
        for name in ("a", "b"):
            head = ledger.find(name)
            if head is not None and head.last_seq > erased * 6 + 6:
                erase(ledger.store, head, first=head.last_seq - 5, last=head.last_seq, reason=WHY)
                erased += 1
    stop.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert is_whole(ledger.store)
    for name in ("a", "b"):
        recorded = sum(
            last - first + 1 for first, last in erasure.erased_ranges(ledger.store, ledger.head(name), 1, 10**9)
        )
        assert sum(each.erased for each in ledger.events(name)) == recorded
