"""Several writers at once: threads of one store, stores of one process, processes."""

from __future__ import annotations

import multiprocessing
import threading
from concurrent.futures import ThreadPoolExecutor

from recorder.errors import Conflict, NameTaken
from recorder.store import Capture, Store, open_store
from tests.store.made import append, bodies, chain_is_whole, event, events

BATCHES, SIZE = 12, 7


def _write(database: str, writer: int, streams: list[str]) -> None:
    with open_store(database) as store:
        for stream in streams:
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


def test_threads_on_many_streams_leave_no_gap(store: Store) -> None:
    def write(writer: int) -> None:
        for stream in ("a", "b", "c", "d"):
            _append_batches(store, writer, stream)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(1, 5)))
    for stream in ("a", "b", "c", "d"):
        _check(store, stream, range(1, 5))
    assert len(store.streams()) == 4


def test_processes_that_also_make_the_database_leave_no_gap(empty_database: str) -> None:
    streams = ["s", "t"]
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_write, args=(empty_database, writer, streams)) for writer in range(1, 4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0] * 3
    with open_store(empty_database) as store:
        for stream in streams:
            _check(store, stream, range(1, 4))


def test_of_many_that_make_one_stream_all_write_to_the_same(store: Store) -> None:
    barrier = threading.Barrier(8)

    def write(writer: int) -> None:
        barrier.wait()
        append(store, "s", [event(writer, b"%d" % writer)])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(1, 9)))
    assert [head.last_seq for head in store.streams()] == [8]
    assert chain_is_whole(store, "s")


def test_of_many_that_give_a_stream_one_name_one_gets_it(store: Store) -> None:
    for name in "abcd":
        append(store, name, [])
    barrier = threading.Barrier(4)

    def rename(name: str) -> str:
        head = store.head(name)
        barrier.wait()
        try:
            with store.transaction() as transaction:
                transaction.rename(head, "wanted")
        except NameTaken:
            return "taken"
        return "renamed"

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(rename, "abcd")) == ["renamed"] + ["taken"] * 3


def test_writers_that_meet_new_types_in_another_order_do_not_wait_for_each_other(store: Store) -> None:
    kinds = [f"kind-{number}" for number in range(20)]
    barrier = threading.Barrier(4)

    def write(writer: int) -> None:
        ordered = kinds if writer % 2 else kinds[::-1]
        barrier.wait()
        append(store, f"s{writer}", [event(place, kind=kind) for place, kind in enumerate(ordered, 1)])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    for writer in range(4):
        ordered = kinds if writer % 2 else kinds[::-1]
        assert [found.kind for found in store.events(store.head(f"s{writer}"))] == ordered


def test_captures_of_two_writers_are_both_kept(store: Store) -> None:
    append(store, "s", events(1, 1))
    head = store.head("s")
    barrier = threading.Barrier(4)

    def note(writer: int) -> int:
        capture = Capture(source=f"{writer}", format="sse", bytes=1, digest=b"d" * 32, first_seq=1, last_seq=1)
        barrier.wait()
        with store.transaction() as transaction:
            return transaction.save_capture(head, capture)

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(note, range(4))) == [1, 2, 3, 4]
    assert {capture.source for capture in store.captures(head)} == {"0", "1", "2", "3"}


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


def test_readers_see_whole_appends_only_while_writers_write(store: Store) -> None:
    append(store, "s", [])
    done = threading.Event()

    def read() -> int:
        reads = 0
        while not done.is_set() or not reads:
            head = store.head("s")
            assert head.last_seq % SIZE == 0
            found = list(store.events(head))
            assert [each.seq for each in found] == list(range(1, head.last_seq + 1))
            assert (found[-1].hash if found else bytes(32)) == head.head_hash
            reads += 1
        return reads

    with ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        for writing in [pool.submit(_append_batches, store, writer, "s") for writer in (1, 2)]:
            writing.result()
        done.set()
        assert all(reader.result() for reader in readers)
    _check(store, "s", range(1, 3))
