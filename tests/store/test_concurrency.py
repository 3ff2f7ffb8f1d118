"""Several writers at once: threads of one store, stores of one process, processes."""

from __future__ import annotations

import multiprocessing
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from recorder.errors import Conflict, DatabaseUnusable
from recorder.store import Store, open_store
from tests.store.made import append, bodies, chain_is_whole, event, events, raw

BATCHES, SIZE = 12, 7


def _write(path: Path, writer: int, stream: str) -> None:
    with open_store(path) as store:
        _append_batches(store, writer, stream)


def _append_batches(store: Store, writer: int, stream: str) -> None:
    for batch in range(BATCHES):
        first = writer * 1000 + batch * SIZE
        append(store, stream, [event(first + place, b"%d" % (first + place)) for place in range(SIZE)])


def _check(store: Store, stream: str, writers: range) -> None:
    assert [found.seq for found in store.events(store.head(stream))] == list(
        range(1, BATCHES * SIZE * len(writers) + 1)
    )
    assert chain_is_whole(store, stream)
    written = [int(body) for body in bodies(store, stream)]
    for writer in writers:
        own = [number for number in written if number // 1000 == writer]
        assert own == list(range(writer * 1000, writer * 1000 + BATCHES * SIZE))


def test_threads_of_one_store_leave_no_gap(store: Store) -> None:
    append(store, "s", [])
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda writer: _append_batches(store, writer, "s"), range(1, 5)))
    _check(store, "s", range(1, 5))


def test_processes_that_also_make_the_database_leave_no_gap(path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_write, args=(path, writer, "s")) for writer in range(1, 5)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0] * 4
    with open_store(path) as store:
        _check(store, "s", range(1, 5))


def test_of_two_that_expect_the_same_version_one_wins(store: Store) -> None:
    append(store, "s", events(1, 1))
    barrier = threading.Barrier(4)

    def attempt(writer: int) -> str:
        barrier.wait()
        try:
            return f"stored {append(store, 's', [event(writer * 10)], 1).last_seq}"
        except Conflict as conflict:
            return f"conflict at {conflict.actual}"

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(attempt, range(1, 5))) == ["conflict at 2"] * 3 + ["stored 2"]
    assert store.head("s").last_seq == 2


def test_a_reader_is_not_kept_waiting_by_a_writer(store: Store) -> None:
    append(store, "s", events(1, 3))
    with store.transaction() as transaction:
        transaction.append(store.head("s"), events(4, 5))
        assert store.head("s").last_seq == 3
        assert len(bodies(store, "s")) == 3
    assert store.head("s").last_seq == 5


def test_a_half_read_stream_holds_up_no_checkpoint(store: Store, path: Path) -> None:
    append(store, "s", events(1, 1200))
    reading = store.events(store.head("s"))
    assert next(reading).seq == 1
    append(store, "s", events(1201, 1300))
    with raw(path) as other:
        assert other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() == (0, 0, 0)
    assert sum(1 for _ in reading) == 1199


def test_a_second_transaction_of_the_same_thread_is_refused_instead_of_waiting_for_ever(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recorder.store.sqlite.backend.BUSY_SECONDS", 0.05)
    with store.transaction(), pytest.raises(DatabaseUnusable, match="locked"), store.transaction():
        pass
