"""The sink: what is put in is in the log, in its order, whatever becomes of the database meanwhile."""

from __future__ import annotations

import errno
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import recorder
from recorder.capture.live import sink as sinks
from recorder.capture.live import spool as spools
from recorder.capture.live.intake import take_in
from recorder.capture.live.sink import Sink
from recorder.ledger.verify import verify_all
from tests.capture.live.words import Word
from tests.databases import made


def words(database: Path, stream: str = "s") -> list[str]:
    with recorder.open(database, readonly=True) as ledger:
        return [event.body.decode()[9:-2] for event in ledger.events(stream)]


def whole(database: Path) -> None:
    with recorder.open(database, readonly=True) as ledger:
        found = list(verify_all(ledger.store, ledger.streams(), projections=True))
        assert [verdict.problem for verdict in found] == [None] * len(found)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return made(tmp_path / "runs.db")


def sink(database: Path) -> Sink:
    return Sink(database, "s", spool=database.parent / "s.spool")


def test_what_is_put_is_stored_in_its_order(database: Path) -> None:
    target = sink(database)
    for number in range(1000):
        target.put(Word(str(number)))
    counts = target.close()
    assert (counts.stored, counts.spooled, counts.lost, counts.failures) == (1000, 0, 0, 0)
    assert words(database) == [str(number) for number in range(1000)]
    assert not target.spool_path.exists()
    whole(database)


def test_a_flush_returns_when_all_is_stored(database: Path) -> None:
    target = sink(database)
    for number in range(10):
        target.put(Word(str(number)))
    assert target.flush()
    assert words(database) == [str(number) for number in range(10)]
    target.put(Word("more"))
    target.close()
    assert words(database)[-1] == "more"


def test_events_are_stored_while_nobody_asks(database: Path) -> None:
    target = sink(database)
    target.put(Word("a"))
    deadline = time.monotonic() + 20
    while target.counts.stored == 0:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert words(database) == ["a"]
    target.close()


def test_many_threads_put_at_once(database: Path) -> None:
    target = sink(database)

    def put(thread: int) -> None:
        for number in range(50):
            target.put(Word(str(number), run=str(thread)))

    threads = [threading.Thread(target=put, args=(thread,)) for thread in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert target.close().stored == 2500
    with recorder.open(database, readonly=True) as ledger:
        runs: dict[str, list[str]] = {}
        for event in ledger.events("s"):
            runs.setdefault(event.run_id or "", []).append(event.body.decode()[9:-2])
    assert runs == {str(thread): [str(number) for number in range(50)] for thread in range(50)}
    whole(database)


def test_an_item_that_fails_costs_itself_only(database: Path) -> None:
    target = sink(database)
    for text in ("a", "bad", "b"):
        target.put(Word(text))
    counts = target.close()
    assert (counts.stored, counts.lost, counts.failures) == (2, 1, 1)
    assert counts.reason is not None
    assert "planted" in counts.reason
    assert words(database) == ["a", "b"]


# The database is away


def test_while_the_file_is_locked_events_are_spooled_and_taken_in_later(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sinks, "PATIENCE_SECONDS", 0.05)
    monkeypatch.setattr(sinks, "RETRY_SECONDS", 0.1)
    target = sink(database)
    target.put(Word("before"))
    target.flush()
    other = sqlite3.connect(database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    for number in range(300):
        target.put(Word(str(number)))
    assert target.flush()
    assert target.counts.spooled == 300
    assert target.spool_path.exists()
    other.execute("ROLLBACK")
    other.close()
    deadline = time.monotonic() + 20
    while target.counts.spooled:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    target.put(Word("after"))
    counts = target.close()
    assert (counts.stored, counts.lost) == (302, 0)
    assert words(database) == ["before", *map(str, range(300)), "after"]
    assert not target.spool_path.exists()
    whole(database)


def test_what_is_left_in_the_spool_is_taken_in_by_another_process(tmp_path: Path) -> None:
    folder = tmp_path / "away"
    target = Sink(folder / "runs.db", "s", spool=tmp_path / "s.spool")
    for number in range(700):
        target.put(Word(str(number)))
    counts = target.close()
    assert (counts.stored, counts.spooled, counts.lost) == (0, 700, 0)
    folder.mkdir()
    for again in (False, True):
        saved = target.spool_path.read_bytes()
        with recorder.open(folder / "runs.db") as ledger:
            assert take_in(ledger, target.spool_path) == ("s", 0 if again else 700)
        assert not target.spool_path.exists()
        target.spool_path.write_bytes(saved)
    assert words(folder / "runs.db") == [str(number) for number in range(700)]
    whole(folder / "runs.db")


def test_a_spool_whose_last_line_a_crash_cut_off_is_taken_in_without_it(tmp_path: Path, database: Path) -> None:
    target = Sink(tmp_path / "none" / "runs.db", "s", spool=tmp_path / "s.spool")
    for number in range(3):
        target.put(Word(str(number)))
    target.close()
    target.spool_path.write_bytes(target.spool_path.read_bytes()[:-7])
    with recorder.open(database) as ledger:
        assert take_in(ledger, target.spool_path) == ("s", 2)
    assert words(database) == ["0", "1"]


def test_an_end_that_cannot_wait_leaves_a_spool_of_its_own(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The writer's thread is inside the database with the first words when the process ends, others are behind them."""
    monkeypatch.setattr(sinks, "PATIENCE_SECONDS", 30.0)
    target = sink(database)
    target.put(Word("before"))
    target.flush()
    target._drop_ledger()
    other = sqlite3.connect(database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    target.put(Word("0"))
    assert not target.flush(0.5)
    target.put(Word("1"))
    began = time.monotonic()
    target.leave()
    assert time.monotonic() - began < 5
    assert (target.counts.stored, target.counts.spooled, target.counts.lost) == (1, 2, 0)
    other.execute("ROLLBACK")
    other.close()
    # What the thread was writing it writes after all; a process that had ended would not have.
    assert target._thread is not None
    target._thread.join(60)
    assert words(database) == ["before", "0"]
    with recorder.open(database) as ledger:
        assert take_in(ledger, target.end_path) == ("s", 1)
    assert words(database) == ["before", "0", "1"]
    whole(database)


@pytest.mark.parametrize("taken", [0, 2])
def test_where_the_disk_is_full_another_place_takes_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken: int
) -> None:
    """The first place takes `taken` batches, then nothing, then all again; the order is that of the program."""
    away, full = tmp_path / "away", tmp_path / "full"
    target = Sink(away / "runs.db", "s", spool=full / "s.spool", otherwise=[tmp_path / "other" / "s.spool"])
    write, batches = spools._write, 0

    def limited(file: int, data: bytes) -> None:
        nonlocal batches
        batches += 1
        if batches == taken + 1:
            write(file, data[:10])
            raise OSError(errno.ENOSPC, "No space left on device")
        write(file, data)

    monkeypatch.setattr(spools, "_write", limited)
    for number in range(5):
        target.put(Word(str(number)))
        assert target.flush()
    assert (target.counts.stored, target.counts.spooled, target.counts.lost) == (0, 5, 0)
    target.close()
    assert (len(list(full.iterdir())), len(list((tmp_path / "other").iterdir()))) == (1 if taken else 0, 1)
    database = made(tmp_path / "runs.db")
    with recorder.open(database) as ledger:
        for place in target.places:
            if place.exists():
                take_in(ledger, place)
    assert words(database) == ["0", "1", "2", "3", "4"]
    whole(database)


def test_what_waits_in_two_places_is_taken_in_when_the_database_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    away, first, second = tmp_path / "away", tmp_path / "first" / "s.spool", tmp_path / "second" / "s.spool"
    target = Sink(away / "runs.db", "s", spool=first, otherwise=[second])
    target.put(Word("0"))
    assert target.flush()

    def refused(events: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(target._spools[0], "add", refused)
    target.put(Word("1"))
    assert target.flush()
    assert (first.exists(), second.exists()) == (True, True)
    away.mkdir()
    target.put(Word("2"))
    assert target.close().stored == 3
    assert (first.exists(), second.exists()) == (False, False)
    assert words(away / "runs.db") == ["0", "1", "2"]


def test_what_can_be_kept_nowhere_is_counted(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"")
    target = Sink(file / "runs.db", "s", spool=file / "s.spool")
    for number in range(5):
        target.put(Word(str(number)))
    counts = target.close()
    assert (counts.stored, counts.spooled, counts.lost) == (0, 0, 5)
    assert counts.reason is not None


def test_a_full_queue_makes_the_program_wait_no_longer_than_it_says(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sinks, "MOST_ITEMS", 5)
    monkeypatch.setattr(Sink, "_start", lambda self: None)
    target = sink(database)
    began = time.monotonic()
    for number in range(7):
        target.put(Word(str(number)))
    assert time.monotonic() - began < 20 * sinks.WAIT_SECONDS
    assert target.counts.lost == 2
    target.close()
    assert words(database) == ["0", "1", "2", "3", "4"]


# Processes


PROGRAM = """
import os, sys, time
from pathlib import Path
from recorder.capture.live.session import Session, current
from tests.capture.live.words import Word
session = Session("s", database=sys.argv[1]).start()
{body}
"""


def run(database: Path, body: str, *, check: bool = True) -> subprocess.CompletedProcess[str]:
    program = PROGRAM.format(body=body)
    return subprocess.run(
        [sys.executable, "-c", program, str(database)],
        capture_output=True,
        text=True,
        check=check,
        cwd=Path(__file__).parents[3],
        timeout=120,
    )


def test_a_session_is_written_out_at_exit(database: Path) -> None:
    done = run(database, "for n in range(500): current().put(Word(str(n)))")
    assert (done.stdout, done.stderr) == ("", "")
    assert words(database) == [str(number) for number in range(500)]


def test_a_forked_child_has_a_stream_of_its_own(database: Path) -> None:
    body = """
for n in range(300): current().put(Word(f"parent {n}"))
child = os.fork()
if child == 0:
    for n in range(200): current().put(Word(f"child {n}"))
    sys.exit(7)
current().put(Word("parent after"))
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
print(child)
"""
    done = run(database, body)
    assert done.stderr == ""
    child = f"s/{done.stdout.strip()}"
    assert words(database) == [*(f"parent {number}" for number in range(300)), "parent after"]
    assert words(database, child) == [f"child {number}" for number in range(200)]
    with recorder.open(database, readonly=True) as ledger:
        assert ledger.head(child).parent == "s"
    whole(database)


def test_a_fork_while_the_writer_wants_the_lock_of_logging(database: Path) -> None:
    """`logging` holds its lock over a fork, as the session does the writer's: first the writer's, then that."""
    body = """
import logging
class Logging(Word):
    def events(self, *given):
        time.sleep(0.5)
        logging.getLogger("a new one")
        return super().events(*given)
current().put(Logging("0"))
time.sleep(0.3)
child = os.fork()
if child == 0: os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
    run(database, body)
    assert words(database) == ["0"]


def test_forks_while_threads_record(database: Path) -> None:
    body = """
import threading
stop = threading.Event()
def go():
    n = 0
    while not stop.is_set():
        current().put(Word(str(n))); n += 1; time.sleep(0.005)
threads = [threading.Thread(target=go) for _ in range(4)]
for t in threads: t.start()
for round in range(8):
    child = os.fork()
    if child == 0:
        current().put(Word("child"))
        session.stop()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
stop.set()
for t in threads: t.join()
"""
    done = run(database, body)
    assert done.stderr == ""
    with recorder.open(database, readonly=True) as ledger:
        assert len(ledger.streams()) == 9
    whole(database)


def test_what_is_older_than_the_flush_interval_survives_a_kill(database: Path) -> None:
    body = """
n = 0
while True:
    current().put(Word(str(n))); n += 1
    print(n, flush=True)
    time.sleep(0.001)
"""
    program = PROGRAM.format(body=body)
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(database)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    )
    assert process.stdout is not None
    seen = 0
    for line in process.stdout:
        seen = int(line)
        if seen == 2000:
            time.sleep(2)  # no reading: the pipe fills, and the program goes on until it must wait
            break
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    stored = words(database)
    assert stored == [str(number) for number in range(len(stored))]
    assert len(stored) >= 2000
    whole(database)


def test_a_fork_waits_for_a_writer_that_is_stuck_no_longer_than_it_says(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sinks, "FORK_SECONDS", 0.1)
    target = sink(database)
    target.put(Word("before"))
    assert target.flush()
    with target._storing:  # as the writer holds it while it waits for what the fork holds
        began = time.monotonic()
        target.before_fork()
        assert time.monotonic() - began < 5
        target.after_fork_in_parent()
    target.put(Word("after"))
    assert target.close().stored == 2
    assert words(database) == ["before", "after"]
