"""Erasing: what was erased is gone, and all else is as it was."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from recorder.capture import capture_file
from recorder.errors import BadInput, DatabaseUnusable, IdentityClash, Unstorable
from recorder.events import Event
from recorder.ledger import Ledger, erasure
from recorder.ledger.erasure import erase
from recorder.ledger.verify import verify_all
from recorder.projections.fold import Fold
from recorder.store import Capture, Store, tables
from tests.capture.made import chunk, emitted
from tests.ledger.logs import is_whole, sample
from tests.ledger.planted import PLACES, dump, needle, planted
from tests.store.made import event, events, select
from tests.streams import CASSETTES, RECORDINGS, events_of

WHY = "asked for"


def rows_of(ledger: Ledger, stream: str) -> dict[str, list[dict[str, Any]]]:
    """All rows that the projections keep of a stream, by table."""
    head = ledger.head(stream)
    return {name: list(ledger.store.rows(head, name)) for name in tables.READ_MODEL}


@pytest.fixture
def ledger(store: Store) -> Ledger:
    return Ledger(store)


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
