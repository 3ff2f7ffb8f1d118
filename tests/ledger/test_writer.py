"""Writers: resumed in the middle of a message, in conflict with each other, and unsure whether a commit happened."""

from __future__ import annotations

from pathlib import Path

import pytest

import recorder
from recorder.errors import Conflict, IdentityClash, UnknownStream
from recorder.events import Event
from tests.ledger.logs import NAME, log, printed, read_model, snapshots_at_every_append
from tests.streams import CASSETTES, RECORDINGS, events_of, state_of

PIECES = "SELECT message_ref, seq, text FROM rm_message_pieces ORDER BY message_ref, seq, ordinal"
TEXTS = "SELECT message_ref, text FROM messages_all ORDER BY message_ref"


@pytest.fixture
def events() -> list[Event]:
    """An answer in text and a tool call."""
    return events_of(CASSETTES / "thinking.sse")


@pytest.mark.parametrize("often", [False, True], ids=["from the start", "from a snapshot"])
@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_writers_that_take_turns_leave_what_one_leaves(
    path: Path, often: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = events_of(path)
    if often:
        snapshots_at_every_append(monkeypatch)
    step = max(1, len(events) // 25)
    for start in range(0, len(events), step):
        with recorder.open(tmp_path / "log.db") as ledger:
            ledger.writer(NAME).append(events[start : start + step], expected=start)
    (tmp_path / "one").mkdir()
    with recorder.open(tmp_path / "log.db") as ledger, log(tmp_path / "one", events) as whole:
        assert read_model(ledger) == read_model(whole)
        assert printed(ledger) == printed(whole)


def test_pieces_of_a_message_go_when_a_resumed_writer_sees_it_close(events: list[Event], tmp_path: Path) -> None:
    text = state_of(events)["messages"][0]["text"]
    grown = [len(state_of(events, n)["messages"][0]["text"]) if n > 1 else 0 for n in range(len(events) + 1)]
    middle = next(n for n, length in enumerate(grown) if 0 < length < len(text))
    with log(tmp_path, events[:middle]) as ledger:
        pieces = list(ledger.sql(PIECES)[1])
        assert "".join(row[2] for row in pieces) == text[: grown[middle]]
        assert [row[1] for row in ledger.sql(TEXTS)[1]] == [text[: grown[middle]]]
    with recorder.open(tmp_path / "log.db") as ledger:
        ledger.writer(NAME).append(events[middle:], expected=middle)
        assert list(ledger.sql(PIECES)[1]) == []
        assert [row[1] for row in ledger.sql(TEXTS)[1]] == [text]


def test_the_second_of_two_writers_reads_again_and_goes_on(events: list[Event], tmp_path: Path) -> None:
    with log(tmp_path) as ledger, recorder.open(tmp_path / "log.db") as other:
        first, second = ledger.writer(NAME), other.writer(NAME)
        first.append(events[:3], expected=0)
        with pytest.raises(Conflict) as refused:
            second.append(events[3:5], expected=0)
        assert refused.value.actual == 3
        assert len(list(other.events(NAME))) == 3
        second.append(events[3:5], expected=refused.value.actual)
        # The first one's fold is behind by now; it must notice by itself.
        first.append(events[5:6])
        second.append(events[6:])
        assert printed(ledger) == state_of(events)
    (tmp_path / "one").mkdir()
    with recorder.open(tmp_path / "log.db") as ledger, log(tmp_path / "one", events) as whole:
        assert read_model(ledger) == read_model(whole)


def test_the_same_events_again_change_nothing(events: list[Event], tmp_path: Path) -> None:
    with log(tmp_path, events[:4]) as ledger:
        before = read_model(ledger)
        for writer in (ledger.writer(NAME), ledger.writer(NAME)):
            receipt = writer.append(events[:4], expected=0)
            assert (receipt.status, receipt.first_seq, receipt.last_seq, receipt.events) == ("known", 1, 4, [])
        assert read_model(ledger) == before


def test_a_retry_whose_first_half_had_arrived_stores_the_rest(events: list[Event], tmp_path: Path) -> None:
    with log(tmp_path, events[:4]) as ledger:
        receipt = ledger.writer(NAME).append(events, expected=0)
        assert (receipt.status, receipt.first_seq, len(receipt.events)) == ("stored", 1, len(events) - 4)
        assert printed(ledger) == state_of(events)


def test_an_append_that_is_refused_leaves_log_and_read_model_as_they_were(events: list[Event], tmp_path: Path) -> None:
    with log(tmp_path, events[:4]) as ledger:
        writer = ledger.writer(NAME)
        before = read_model(ledger)
        other = Event(**{**{name: getattr(events[3], name) for name in Event.__struct_fields__}, "body": b"{}"})
        with pytest.raises(IdentityClash):
            writer.append([*events[4:6], other])
        assert read_model(ledger) == before
        assert ledger.head(NAME).last_seq == 4
        writer.append(events[4:])
        assert printed(ledger) == state_of(events)


def test_a_transaction_of_the_callers_that_fails_takes_events_and_rows_back(
    events: list[Event], tmp_path: Path
) -> None:
    with log(tmp_path, events[:4]) as ledger:
        before = read_model(ledger)

        def fail_behind_the_append() -> None:
            with ledger.store.transaction() as transaction:
                ledger.writer(NAME).append_in(transaction, events[4:])
                raise RuntimeError

        with pytest.raises(RuntimeError):
            fail_behind_the_append()
        assert read_model(ledger) == before
        assert ledger.head(NAME).last_seq == 4


def test_a_writer_makes_its_stream_with_the_first_append(events: list[Event], tmp_path: Path) -> None:
    with log(tmp_path) as ledger:
        writer = ledger.writer(NAME, parent="an agent", parent_seq=7)
        assert ledger.find(NAME) is None
        with pytest.raises(UnknownStream):
            _ = writer.required_head
        writer.append(events[:2])
        head = ledger.head(NAME)
        assert (head.uuid, head.last_seq, head.parent, head.parent_seq) == (writer.uuid, 2, "an agent", 7)


def test_a_writer_stays_with_a_stream_that_is_renamed(events: list[Event], tmp_path: Path) -> None:
    with log(tmp_path, []) as ledger:
        writer = ledger.writer("x")
        writer.append(events[:3])
        ledger.rename("x", "y")
        ledger.writer("x").append(events[:1])
        writer.append(events[3:])
        assert [(head.name, head.last_seq) for head in ledger.streams()][-2:] == [("y", len(events)), ("x", 1)]
        assert writer.required_head.name == "y"
        assert writer.uuid == ledger.head("y").uuid


def test_a_writer_whose_first_append_failed_makes_the_stream_with_the_next(events: list[Event], tmp_path: Path) -> None:
    with log(tmp_path, []) as ledger:
        writer = ledger.writer("x")
        with pytest.raises(Conflict):
            writer.append(events[:1], expected=5)
        assert writer.head is None
        assert writer.append(events[:1]).last_seq == 1


def test_a_stream_reopened_for_every_event_still_gets_snapshots(
    events: list[Event], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else every append would fold the whole stream again."""
    monkeypatch.setattr("recorder.ledger.snapshots.Pace.FLOOR", sum(len(event.body) for event in events) // 4)
    monkeypatch.setattr("recorder.ledger.snapshots.Pace.RATIO", 0)
    with log(tmp_path) as ledger:
        for event in events:
            ledger.writer(NAME).append([event])
        (taken,) = next(ledger.sql("SELECT count(*) FROM log_snapshots WHERE reading = 'open'")[1])
        assert 3 <= taken <= 4
