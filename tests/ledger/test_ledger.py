"""The state at N out of a database is the state of a fold from the start, whatever was cached on the way."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

import recorder
from recorder.errors import OutOfRange, UnknownStream
from recorder.events import Event
from recorder.ledger.last_message import narrowed
from tests.corpus import DUMPS, STREAMS, needs_corpus
from tests.ledger.logs import NAME, append, log, printed, read_model, sample, shown, snapshots_at_every_append
from tests.streams import RECORDINGS, Folding, events_of, state_of

LOOKED_AT = 60
"""Streams up to this length are looked at after every event, longer ones at about this many."""


def looked_at(events: list[Event]) -> list[int]:
    step = max(1, len(events) // LOOKED_AT)
    return sorted({*range(0, len(events) + 1, step), len(events)})


def folded(events: list[Event]) -> dict[int, dict[str, Any]]:
    """The state at every number that is looked at, folded without a database."""
    fold = Folding()
    states = {0: fold.state}
    wanted = set(looked_at(events))
    for event in events:
        fold.advance(event)
        if event.seq in wanted:
            states[event.seq] = fold.state
    return states


def hold(folder: Path, events: list[Event], *batches: int) -> None:
    """Whole states, and those of the last message only, against the fold and against each other."""
    states = folded(events)
    for batch in batches:
        (folder / str(batch)).mkdir()
        with log(folder / str(batch), events, batch=batch) as ledger:
            for n, expected in states.items():
                whole, last = ledger.state(NAME, n), ledger.state(NAME, n, last_message=True)
                assert shown(whole) == expected, (batch, n)
                assert shown(last)["messages"] == expected["messages"][-1:], (batch, n)
                assert last == narrowed(whole), (batch, n)


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_state_at_every_event_of_a_recording_however_it_was_appended(path: Path, tmp_path: Path) -> None:
    hold(tmp_path, events_of(path), 1, 7, 100_000)


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_state_with_a_snapshot_at_every_event(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshots_at_every_append(monkeypatch)
    hold(tmp_path, events_of(path), 1)


@needs_corpus
@pytest.mark.parametrize("path", [*sample(STREAMS, 40), *sample(DUMPS, 8)], ids=lambda path: path.name)
def test_state_of_real_traffic_with_a_snapshot_every_seven_events(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshots_at_every_append(monkeypatch)
    hold(tmp_path, events_of(path), 7)


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_rows_do_not_depend_on_the_batches(path: Path, tmp_path: Path) -> None:
    events = events_of(path)
    found = []
    for place, batch in enumerate((1, 7, len(events))):
        folder = tmp_path / str(place)
        folder.mkdir()
        with log(folder, events, batch=batch) as ledger:
            found.append(read_model(ledger))
    assert found[0] == found[1] == found[2]


@needs_corpus
@pytest.mark.parametrize("path", [*sample(STREAMS, 20), *sample(DUMPS, 6)], ids=lambda path: path.name)
def test_rows_of_real_traffic_do_not_depend_on_the_batches(path: Path, tmp_path: Path) -> None:
    test_rows_do_not_depend_on_the_batches(path, tmp_path)


@pytest.mark.parametrize("parts", ["reading = 'open'", "reading = 'pairings'", "reading = 'open' AND seq > 9", "1"])
def test_any_snapshot_may_be_deleted(parts: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshots_at_every_append(monkeypatch)
    events = events_of(RECORDINGS[0])
    with log(tmp_path, events, batch=5) as ledger:
        with sqlite3.connect(tmp_path / "log.db") as behind_its_back:
            deleted = behind_its_back.execute(f"DELETE FROM log_snapshots WHERE {parts}").rowcount
        behind_its_back.close()
        assert deleted > 2
        for n in looked_at(events):
            assert printed(ledger, n) == state_of(events, n)
            assert printed(ledger, n, last_message=True)["messages"] == state_of(events, n)["messages"][-1:]


def test_a_snapshot_of_another_program_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshots_at_every_append(monkeypatch)
    events = events_of(RECORDINGS[0])
    with log(tmp_path, events, batch=5) as ledger:
        with sqlite3.connect(tmp_path / "log.db") as behind_its_back:
            behind_its_back.execute("UPDATE log_snapshots SET body = x'00c1'")
        behind_its_back.close()
        assert printed(ledger) == state_of(events)
        assert printed(ledger, last_message=True)["messages"] == state_of(events)["messages"][-1:]


def test_the_two_readings_of_one_log(tmp_path: Path) -> None:
    events = events_of(next(path for path in RECORDINGS if path.name == "seed003.jsonl"))
    with log(tmp_path, events) as ledger:
        for n in looked_at(events):
            assert printed(ledger, n, gather="wire") == state_of(events, n, "wire")
            assert printed(ledger, n, gather="langchain") == state_of(events, n, "langchain")
        assert ledger.state(NAME).gather == "langchain"
        assert ledger.state(NAME, gather="wire").gather == "wire"


def test_numbers_outside_the_stream_are_refused(tmp_path: Path) -> None:
    events = events_of(RECORDINGS[0])
    with log(tmp_path, events) as ledger:
        assert printed(ledger, 0) == {"messages": [], "tool_messages": [], "pairings": [], "findings": []}
        for n in (-1, len(events) + 1):
            with pytest.raises(OutOfRange, match=f"events 1 to {len(events)}"):
                ledger.state(NAME, n)
        with pytest.raises(UnknownStream):
            ledger.state("another")


def test_a_reader_sees_what_a_writer_appends_meanwhile(tmp_path: Path) -> None:
    events = events_of(RECORDINGS[0])
    with log(tmp_path) as writing, recorder.open(tmp_path / "log.db", readonly=True) as reading:
        for n in range(1, len(events) + 1):
            append(writing, events[n - 1 : n])
            assert printed(reading) == state_of(events, n)
