"""Erasing: what was erased is nowhere any more, and all else is as it was."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import psycopg
import pytest

from recorder.capture import capture_file, capture_pipe
from recorder.errors import BadInput, DatabaseUnusable, IdentityClash, Unstorable
from recorder.events import Event, NewEvent
from recorder.ledger import Ledger, erasure
from recorder.ledger.erasure import erase
from recorder.ledger.verify import strays, verify_all
from recorder.projections.fold import Fold
from recorder.store import Capture, Store, open_store, tables
from tests.capture.made import captures, chunk, emitted, sse
from tests.ledger.logs import sample, snapshots_at_every_append
from tests.store.made import event, events, select
from tests.streams import CASSETTES, RECORDINGS, events_of

WHY = "asked for"


def is_whole(store: Store) -> bool:
    """Chain, ends and read models."""
    found = {each.stream: each.problem for each in verify_all(store, store.streams(), projections=True)}
    assert found == dict.fromkeys(found)
    return strays(store) == []


@pytest.fixture
def ledger(store: Store) -> Ledger:
    return Ledger(store)


def rows_of(ledger: Ledger, stream: str) -> dict[str, list[dict[str, Any]]]:
    """All rows that the projections keep of a stream, by table."""
    head = ledger.head(stream)
    return {name: list(ledger.store.rows(head, name)) for name in tables.READ_MODEL}


# Nowhere any more


def needle(number: int, place: str) -> str:
    return f"needle-{number}-{place}-needle"


def planted(numbers: range, *, size: int = 0) -> list[bytes]:
    """For each number an answer that says it in its text, a call's id and arguments, and in what cannot be read."""
    frames: list[str] = []
    for number in numbers:
        frames += [
            chunk(content=needle(number, "text") + " " * size),
            chunk(id=needle(number, "id"), name="add", args='{"a": "'),
            chunk(args=needle(number, "args") + "x" * size),
            chunk(args='"}'),
            f'{{"broken {needle(number, "broken")}',
        ]
    return [frame.encode() for frame in [*frames, chunk(finish="tool_calls")]]


PLACES = ("text", "id", "args", "broken")
EACH = 5
"""Events for each number."""


def agents_run() -> bytes:
    """The recorded run of an agent, in which a tool was given, and gave, something that stands nowhere else."""
    text = (CASSETTES / "agent.jsonl").read_bytes()
    return text.replace("Almería".encode(), needle(0, "city").encode()).replace(
        b"Almer\\u00eda", b"needle-0-city-needle"
    )


def fill(ledger: Ledger, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Streams of small and large events, appended in small parts, with as many snapshots as there can be."""
    snapshots_at_every_append(monkeypatch)
    files = {}
    contents = {
        "agent.jsonl": agents_run(),
        "small.sse": sse(*planted(range(100, 120))),
        "large.sse": sse(*planted(range(200, 206), size=20_000)),
        "kept.sse": sse(*planted(range(300, 310))),
    }
    monkeypatch.setattr("recorder.capture.files.BATCH_EVENTS", 7)
    for name, content in contents.items():
        path = folder / name
        path.write_bytes(content)
        capture_file(ledger, path)
        files[path.stem] = path
    return files


def erase_much(ledger: Ledger) -> list[str]:
    """Erases all of one stream, and parts of others; gives what must be nowhere any more."""
    store = ledger.store
    erase(store, store.head("agent"), reason=WHY)
    erase(store, store.head("small"), first=3 * EACH + 1, last=10 * EACH, reason=WHY)
    erase(store, store.head("large"), first=1, last=4 * EACH, reason=WHY)
    gone = [*range(103, 110), *range(200, 204)]
    return [needle(0, "city"), *(needle(number, place) for number in gone for place in PLACES)]


def kept() -> list[str]:
    numbers = [*range(100, 103), *range(110, 120), *range(204, 206), *range(301, 310)]
    return [needle(number, place) for number in numbers for place in PLACES]


def held_by(path: Path) -> bytes:
    """All bytes of a SQLite database, of its WAL and its shared memory."""
    names = (path.name, f"{path.name}-wal", f"{path.name}-shm")
    return b"\0".join((path.parent / name).read_bytes() for name in names if (path.parent / name).exists())


def digests(files: dict[str, Path]) -> list[bytes]:
    found = [sha256(files[name].read_bytes()) for name in ("agent", "small", "large")]
    return [spelling for each in found for spelling in (each.digest(), each.hexdigest().encode())]


def in_it(needles: list[str], held: bytes) -> list[str]:
    return [each for each in needles if each.encode() in held]


@pytest.mark.parametrize("reader", [None, "idle", "reading"])
def test_what_was_erased_is_nowhere_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: str | None
) -> None:
    path = tmp_path / "runs.db"
    # Nobody waits here for a reader that does not go.
    monkeypatch.setattr("recorder.store.sqlite.backend.SCRUB_SECONDS", 0.05)
    with Ledger.open(path) as ledger, closing(sqlite3.connect(path, isolation_level=None)) as other:
        files = fill(ledger, tmp_path, monkeypatch)
        held = held_by(path)
        assert in_it(kept(), held) == kept()
        assert all(digest in held for digest in digests(files)[::2])
        if reader == "reading":
            other.execute("BEGIN")
        if reader is not None:
            other.execute("SELECT count(*) FROM log_events").fetchone()
        gone = erase_much(ledger)
        said = erase(ledger.store, ledger.head("kept"), first=1, last=1, reason=WHY).remains
        if reader == "reading":
            assert said == f"another program reads {path}: it and its -wal keep the old bytes until nobody has it open"
            assert in_it(gone, held_by(path)) == gone
            other.close()
            ledger.close()
        else:
            assert said is None
        held = held_by(path)
        assert in_it(gone, held) == []
        assert in_it(kept(), held) == kept()
        assert [digest for digest in digests(files) if digest in held] == []
    with open_store(path) as store:
        assert is_whole(store)
    assert in_it(gone, held_by(path)) == []


def texts_of_all_tables(connection: psycopg.Connection[Any]) -> Iterator[tuple[str, bytes]]:
    """Every column of every table, the server's own ones too."""
    tables = connection.execute(
        "SELECT c.oid::regclass::text FROM pg_class c WHERE c.relkind IN ('r', 't', 'm', 'p')"
        " AND has_table_privilege(c.oid, 'SELECT')"
    ).fetchall()
    for (table,) in tables:
        with connection.cursor().copy(f"COPY (SELECT * FROM {table}) TO STDOUT") as copy:
            rows = b"".join(bytes(data) for data in copy)
        # COPY writes bytea in hexadecimal, and a backslash twice.
        yield table, rows


def test_what_was_erased_is_in_no_table_of_a_server(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Ledger.open(url) as ledger, psycopg.connect(url, autocommit=True) as connection:
        files = fill(ledger, tmp_path, monkeypatch)
        connection.execute("ANALYZE")
        gone = erase_much(ledger)
        found = dict(texts_of_all_tables(connection))
        assert {"log_events", "rm_messages", "pg_statistic"} <= found.keys()
        held = b"\n".join(found.values())
        for needles, expected in ((gone, []), (kept(), kept())):
            in_hexadecimal = [each for each in needles if each.encode().hex().encode() in held]
            assert sorted({*in_it(needles, held), *in_hexadecimal}) == sorted(expected)
        assert [digest for digest in digests(files) if digest in held or digest.hex().encode() in held] == []
        assert is_whole(ledger.store)
        connection.execute("VACUUM FULL")
        connection.execute("CHECKPOINT")
        held = held_by_server(connection)
        assert in_it(gone, held) == []
        assert len(in_it(kept(), held)) > len(kept()) / 2, "that which was not compressed"


def held_by_server(connection: psycopg.Connection[Any]) -> bytes:
    """The files of the connection's database, without the server's log of writes."""
    row = connection.execute(
        "SELECT current_setting('data_directory'), oid FROM pg_database WHERE datname = current_database()"
    ).fetchone()
    assert row is not None
    folder = Path(row[0]) / "base" / str(row[1])
    if not folder.is_dir():
        pytest.skip("the server's files are elsewhere")
    return b"\0".join(path.read_bytes() for path in sorted(folder.iterdir()))


def test_statistics_of_a_server_hold_nothing_of_what_was_recorded(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are samples, and stay as they are until the table is analysed again."""
    with Ledger.open(url) as ledger, psycopg.connect(url, autocommit=True) as connection:
        fill(ledger, tmp_path, monkeypatch)
        connection.execute("ANALYZE")
        rows = connection.execute(
            "SELECT tablename, attname, most_common_vals::text, histogram_bounds::text FROM pg_stats"
        ).fetchall()
        assert {"log_events", "rm_tool_calls"} <= {row[0] for row in rows}
        hexadecimal = b"needle-".hex()
        assert [row for row in rows if "needle-" in str(row) or hexadecimal in str(row)] == []


# What stays


def test_envelope_and_hashes_stay(ledger: Ledger) -> None:
    capture_file(ledger, CASSETTES / "agent.jsonl")
    before = list(ledger.events("agent"))
    done = erase(ledger.store, ledger.head("agent"), first=5, last=7, reason=WHY)
    assert (done.stream, done.erasure.first_seq, done.erasure.last_seq, done.erasure.reason) == ("agent", 5, 7, WHY)
    after = list(ledger.events("agent"))
    blanked = {"body": b"", "frame": None, "cuts": None, "meta": None, "salt": None, "erased": True}
    for old, new in zip(before, after, strict=True):
        expected = {name: getattr(old, name) for name in Event.__struct_fields__}
        if 5 <= old.seq <= 7:
            expected |= blanked
        assert {name: getattr(new, name) for name in Event.__struct_fields__} == expected
    rows = select(
        ledger.store, "SELECT seq, text, length(body), erased FROM events WHERE seq BETWEEN 4 AND 8 ORDER BY 1"
    )
    assert [row[3] for row in rows] == [0, 1, 1, 1, 0]
    assert [(row[1], row[2]) for row in rows[1:4]] == [(None, 0)] * 3
    (row,) = select(ledger.store, "SELECT stream, erasure, first_seq, last_seq, reason FROM erasures")
    assert row == ("agent", 1, 5, 7, WHY)


def test_a_read_model_is_that_of_what_is_left(ledger: Ledger) -> None:
    """As if the erased events had never said anything."""
    capture_file(ledger, CASSETTES / "weather.sse")
    (call,) = ledger.calls("weather")[:1]
    middle = (call["first_seq"] + call["last_seq"]) // 2
    erased = next(iter(ledger.events("weather", middle, middle)))
    assert erased.body
    before = call["raw"]
    erase(ledger.store, ledger.head("weather"), first=middle, last=middle, reason=WHY)
    left = ledger.calls("weather")[0]["raw"]
    assert left != before
    assert len(left) < len(before)
    assert is_whole(ledger.store)


@pytest.mark.parametrize("path", sample(RECORDINGS, 6), ids=lambda path: path.name)
def test_whatever_is_erased_of_a_recording_the_rest_verifies(path: Path, tmp_path: Path) -> None:
    events = events_of(path)
    with Ledger.open(tmp_path / "log.db") as ledger:
        ledger.writer("log").append(events)
        head = ledger.head("log")
        for first in range(2, len(events), max(2, len(events) // 6)):
            erase(ledger.store, head, first=first, last=first, reason=WHY)
        assert is_whole(ledger.store)
        erase(ledger.store, head, reason=WHY)
        assert is_whole(ledger.store)
        assert {name for name, rows in rows_of(ledger, "log").items() if rows} <= {"runs"}


def test_erasures_may_overlap_and_be_repeated(ledger: Ledger) -> None:
    ledger.writer("s").append(events(1, 10))
    head = ledger.head("s")
    for first, last in ((3, 5), (5, 8), (3, 5), (4, 4), (10, 10), (1, 10)):
        assert erase(ledger.store, head, first=first, last=last, reason=WHY).erasure.last_seq == last
    assert is_whole(ledger.store)
    assert [(each.erasure, each.first_seq) for each in ledger.store.erasures(head)] == [
        (1, 3),
        (2, 5),
        (3, 3),
        (4, 4),
        (5, 10),
        (6, 1),
    ]
    assert erasure.erased_ranges(ledger.store, head, 1, 10) == [(1, 10)]


def test_ranges_of_erased_events_do_not_touch(ledger: Ledger) -> None:
    ledger.writer("s").append(events(1, 20))
    head = ledger.head("s")
    for first, last in ((8, 9), (3, 5), (6, 6), (15, 17), (16, 16)):
        erase(ledger.store, head, first=first, last=last, reason=WHY)
    assert erasure.erased_ranges(ledger.store, head, 1, 20) == [(3, 6), (8, 9), (15, 17)]
    assert erasure.erased_ranges(ledger.store, head, 5, 15) == [(5, 6), (8, 9), (15, 15)]
    assert erasure.erased_ranges(ledger.store, head, 10, 14) == []
    ranges = [(3, 6), (8, 9), (15, 17)]
    assert [seq for seq in range(20) if erasure.is_within(seq, ranges)] == [3, 4, 5, 6, 8, 9, 15, 16, 17]


@pytest.mark.parametrize(("first", "last"), [(0, 2), (-1, 1), (3, 2), (1, 6), (6, 6), (6, None)])
def test_events_that_there_are_not_cannot_be_erased(ledger: Ledger, first: int, last: int | None) -> None:
    ledger.writer("s").append(events(1, 5))
    with pytest.raises(BadInput, match="stream 's' has events 1 to 5"):
        erase(ledger.store, ledger.head("s"), first=first, last=last, reason=WHY)
    assert ledger.store.erasures(ledger.head("s")) == []
    assert all(not each.erased for each in ledger.events("s"))


# Names


def test_a_stream_that_gives_its_name_up_can_be_captured_anew(ledger: Ledger) -> None:
    path = CASSETTES / "weather.sse"
    capture_file(ledger, path)
    before = ledger.head("weather")
    done = erase(ledger.store, before, reason="the wrong dialect", retire=True)
    assert done.stream == f"weather~erased-{before.uuid.hex()[-8:]}"
    assert ledger.find("weather") is None
    retired = ledger.head(done.stream)
    assert (retired.uuid, retired.head_hash, retired.last_seq) == (before.uuid, before.head_hash, before.last_seq)
    assert capture_file(ledger, path).status == "stored"
    assert emitted(ledger, "weather", "raw") == path.read_bytes()
    assert ledger.head("weather").uuid != before.uuid
    # Again, and of one that has given its name up.
    assert erase(ledger.store, retired, reason=WHY, retire=True).stream == done.stream
    assert erase(ledger.store, ledger.head("weather"), reason=WHY, retire=True).stream != done.stream
    assert is_whole(ledger.store)


def test_what_came_meanwhile_is_erased_too_where_all_is(ledger: Ledger, database: str) -> None:
    ledger.writer("s").append(events(1, 5))
    head = ledger.head("s")
    with Ledger.open(database) as other:
        other.writer("s").append(events(6, 9))
        other.rename("s", "t")
    done = erase(ledger.store, head, reason=WHY, retire=True)
    assert (done.erasure.last_seq, done.stream[:9]) == (9, "t~erased-")
    assert all(each.erased for each in ledger.events(done.stream))


# Events that come again


def test_an_erased_event_that_is_appended_again_is_known(ledger: Ledger) -> None:
    given = events(1, 6)
    writer = ledger.writer("s")
    writer.append(given)
    erase(ledger.store, ledger.head("s"), first=2, last=4, reason=WHY)
    for again in (writer, ledger.writer("s")):
        receipt = again.append(given, expected=0)
        assert (receipt.status, receipt.first_seq, receipt.last_seq, receipt.erased) == ("known", 1, 6, 3)
    other = [given[0], event(2, b"other"), *given[2:]]
    assert ledger.writer("s").append(other, expected=0).status == "known", "nothing is left to compare it with"
    with pytest.raises(IdentityClash):
        ledger.writer("s").append([*given[:4], event(5, b"other")], expected=0)
    receipt = writer.append([*given[2:], event(7)], expected=2)
    assert (receipt.status, receipt.first_seq, receipt.last_seq, receipt.erased) == ("stored", 3, 7, 2)
    assert [each.erased for each in ledger.events("s")] == [False, True, True, True, False, False, False]
    assert is_whole(ledger.store)


@pytest.mark.parametrize("name", ["weather.sse", "agent.jsonl", "weather-agent.yaml", "browser.har", "converse.bin"])
@pytest.mark.parametrize("longer", [False, True])
def test_a_recording_of_which_something_was_erased_is_not_taken_again(
    ledger: Ledger, tmp_path: Path, name: str, longer: bool
) -> None:
    path = tmp_path / name
    content = (CASSETTES / name).read_bytes()
    path.write_bytes(content)
    stream = capture_file(ledger, path).stream
    assert capture_file(ledger, path).status == "known"
    erase(ledger.store, ledger.head(stream), first=2, last=2, reason=WHY)
    before = rows_of(ledger, stream)
    if longer and name.endswith(("sse", "jsonl")):
        path.write_bytes(content + content)
    with pytest.raises(BadInput) as refused:
        capture_file(ledger, path)
    assert str(refused.value) == (
        f"{path}: of the stream {stream!r} something was erased, so that it cannot be compared with this recording;"
        " capture it under another name with --name, or give the stream's up with rec erase --all"
    )
    assert rows_of(ledger, stream) == before
    assert capture_file(ledger, path, name="anew").status == "stored"
    assert is_whole(ledger.store)


# While others write


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


def read_sse(content: bytes) -> list[NewEvent]:
    from tests.streams import events_of

    return list(events_of(content))


def dump(store: Store) -> str:
    """Everything that a query gives."""
    tables = ["events", "messages_all", "tool_calls_all", "tool_call_chunks_all", "pairings", "findings", "runs"]
    tables += ["rm_message_states", "log_snapshots", "log_captures"]
    rows = [row for table in tables for row in select(store, f"SELECT * FROM {table}")]
    return "\n".join(
        " ".join(each.decode("utf-8", "replace") if isinstance(each, bytes) else str(each) for each in row)
        for row in rows
    )


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


# Where something fails


def _failing(seq: int, error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    apply = Fold.apply

    def fail(self: Fold, at: int, *rest: Any) -> None:
        if at == seq:
            raise error
        apply(self, at, *rest)

    monkeypatch.setattr(Fold, "apply", fail)


@pytest.mark.parametrize(
    "error",
    [ValueError("planted"), OverflowError("planted"), RecursionError("planted")],
    ids=lambda each: type(each).__name__,
)
def test_what_cannot_be_projected_is_erased_all_the_same(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    ledger.writer("s").append([event(n, each) for n, each in enumerate(planted(range(3)), 1)])
    with monkeypatch.context() as patch:
        _failing(12, error, patch)
        erase(ledger.store, ledger.head("s"), first=1, last=5, reason=WHY)
        head = ledger.head("s")
        assert head.stale is not None
        assert "planted" in head.stale
        held = dump(ledger.store)
        assert [place for place in PLACES if needle(0, place) in held] == []
        assert [row[:2] for row in select(ledger.store, "SELECT rule, seq FROM findings")] == [("projection-failed", 1)]
    ledger.rebuild("s")
    assert is_whole(ledger.store)


def test_rows_that_a_database_cannot_hold_do_not_keep_an_erasure_from_it(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    from recorder.store import Transaction

    ledger.writer("s").append([event(n, each) for n, each in enumerate(planted(range(3)), 1)])
    write_rows = Transaction.write_rows

    def refuse(self: Transaction, head: Any, rows: Any) -> None:
        if any(name != "findings" for name in rows):
            raise Unstorable("an id that is longer than an index entry")
        write_rows(self, head, rows)

    with monkeypatch.context() as patch:
        patch.setattr(Transaction, "write_rows", refuse)
        erase(ledger.store, ledger.head("s"), first=1, last=5, reason=WHY)
    assert ledger.head("s").stale == "Unstorable: an id that is longer than an index entry"
    assert [each.erased for each in ledger.events("s", 4, 6)] == [True, True, False]


def test_a_stream_whose_read_model_does_not_fit_is_erased(url: str) -> None:
    """An id that is longer than an index entry of Postgres: the stream is stale from the start."""
    long = "".join(sha256(b"%d" % n).hexdigest() for n in range(200))
    with Ledger.open(url) as ledger:
        ledger.writer("s").append([event(1, chunk(content="x").encode(), run_id=long), event(2), event(3)])
        assert ledger.head("s").stale is not None
        erase(ledger.store, ledger.head("s"), first=2, last=2, reason=WHY)
        assert [each.erased for each in ledger.events("s")] == [False, True, False]
        assert ledger.head("s").stale is not None
        (found,) = verify_all(ledger.store, ledger.streams())
        assert (found.problem, found.erased) == (None, 1)


def test_a_database_that_fails_takes_all_of_an_erasure_back(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger.writer("s").append([event(n, each) for n, each in enumerate(planted(range(3)), 1)])

    def fail(*_: object) -> None:
        raise DatabaseUnusable("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr("recorder.ledger.erasure.rebuild", fail)
        with pytest.raises(DatabaseUnusable, match="the disk is full"):
            erase(ledger.store, ledger.head("s"), first=1, last=5, reason=WHY)
    assert ledger.store.erasures(ledger.head("s")) == []
    assert not any(each.erased for each in ledger.events("s"))
    assert is_whole(ledger.store)


def test_a_note_of_a_capture_of_an_erased_stream_has_no_digest(ledger: Ledger) -> None:
    ledger.writer("s").append(events(1, 3))
    head = ledger.head("s")
    erase(ledger.store, head, first=1, last=1, reason=WHY)
    note = Capture(source="s.sse", format="sse", bytes=99, digest=b"d" * 32, first_seq=1, last_seq=3, complete=True)
    with ledger.store.transaction() as transaction:
        transaction.save_capture(head, note)
    (found,) = ledger.store.captures(head)
    assert (found.source, found.bytes, found.digest) == ("s.sse", 0, b"")
