"""The read model computed again is the one that was written while appending; what fails is marked, and mends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

import recorder
from recorder import dialects
from recorder.capture import capture_file
from recorder.deltas import AnyDelta
from recorder.errors import BadInput, ProjectionFailed
from recorder.events import Event, NewEvent
from recorder.ledger import Ledger, projector, writer
from recorder.ledger import ledger as ledger_module
from recorder.projections.rows import RowCollector
from tests.corpus import DUMPS, STREAMS, needs_corpus
from tests.ledger.logs import NAME, VCR, append, log, printed, read_model, sample, snapshots_at_every_append
from tests.streams import CASSETTES, RECORDINGS, events_of, state_of


def hold(ledger: Ledger, stream: str) -> None:
    """A rebuild gives the rows that are there, and a second one does too."""
    before = read_model(ledger, stream)
    for _ in range(2):
        assert ledger.rebuild(stream) == ledger.head(stream).last_seq
        after = read_model(ledger, stream)
        for table, rows in before.items():
            assert after[table] == rows, table


@pytest.mark.parametrize("batch", [1, 7])
@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_rebuilt_rows_of_a_recording(path: Path, batch: int, tmp_path: Path) -> None:
    with log(tmp_path, events_of(path), batch=batch) as ledger:
        hold(ledger, NAME)


@needs_corpus
@pytest.mark.parametrize("path", [*sample(STREAMS, 30), *sample(DUMPS, 10)], ids=lambda path: path.name)
def test_rebuilt_rows_of_real_traffic(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshots_at_every_append(monkeypatch)
    with log(tmp_path, events_of(path), batch=11) as ledger:
        hold(ledger, NAME)


@needs_corpus
def test_rebuilt_rows_of_cassettes(tmp_path: Path) -> None:
    captured = 0
    with recorder.open(tmp_path / "log.db") as ledger:
        for path in sample(VCR, 40):
            try:
                stream = capture_file(ledger, path).stream
            except BadInput:
                continue
            captured += 1
            hold(ledger, stream)
    assert captured >= 30


def test_a_rebuild_leaves_other_streams_alone(tmp_path: Path) -> None:
    with recorder.open(tmp_path / "log.db") as ledger:
        for name in ("weather.sse", "thinking.sse"):
            capture_file(ledger, CASSETTES / name)
        before = read_model(ledger, "thinking")
        ledger.rebuild("weather")
        assert read_model(ledger, "thinking") == before


# Another version of the projections


def new_version(monkeypatch: pytest.MonkeyPatch) -> int:
    version = projector.VERSION + 1
    for module in (projector, writer, ledger_module):
        monkeypatch.setattr(module, "VERSION", version)
    monkeypatch.setattr("recorder.ledger.last_message.VERSION", version)
    return version


def test_a_new_version_reads_without_the_old_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events = events_of(CASSETTES / "agent.jsonl")
    with log(tmp_path, events[:-3], batch=5) as ledger:
        new_version(monkeypatch)
        with ledger.store.transaction() as transaction:
            head = ledger.head(NAME)
            version = head.projection
            transaction.clear_read_model(head)
            transaction.mark(head, stale=None, projection=version)
        assert printed(ledger) == state_of(events[:-3])
        assert printed(ledger, last_message=True)["messages"] == state_of(events[:-3])["messages"][-1:]


def test_a_new_version_rebuilds_the_stream_that_it_writes_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events = events_of(CASSETTES / "agent.jsonl")
    with log(tmp_path, events[:40], batch=5) as ledger:
        version = new_version(monkeypatch)
        append(ledger, events[40:60])
        assert ledger.head(NAME).projection == version
        append(ledger, events[60:])
        rows, state = read_model(ledger), printed(ledger)
    (tmp_path / "one").mkdir()
    with log(tmp_path / "one", events) as whole:
        assert rows == read_model(whole)
        assert state == printed(whole)


# A projection that fails


class Planted:
    """A dialect that raises at one event until it is mended."""

    def __init__(self, name: str, at: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bad = at
        sound = dialects.DIALECTS[name]
        self._step: Callable[[Any, Event | NewEvent], tuple[Any, list[AnyDelta]]] = sound.step
        planted = structs.replace(sound, step=self.step, piece=None)
        monkeypatch.setattr(dialects, "get", lambda asked: planted if asked == name else dialects.DIALECTS[asked])

    def step(self, state: Any, event: Event | NewEvent) -> tuple[Any, list[AnyDelta]]:
        if isinstance(event, Event) and event.seq == self.bad:
            raise RuntimeError("planted")
        return self._step(state, event)


FINDINGS = "SELECT seq, severity, detail FROM findings WHERE rule = 'projection-failed'"


@pytest.mark.parametrize("batch", [1, 4, 100])
def test_a_failing_projection_stops_no_append(batch: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events = events_of(CASSETTES / "weather.sse")
    planted = Planted("openai.chat", 6, monkeypatch)
    with log(tmp_path, events, batch=batch) as ledger:
        assert [event.body for event in ledger.events(NAME)] == [event.body for event in events]
        head = ledger.head(NAME)
        assert head.stale is not None
        assert "event 6" in head.stale
        assert "planted" in head.stale
        (seq, severity, detail), *more = ledger.sql(FINDINGS)[1]
        assert (seq, severity, more) == (6 - (6 - 1) % batch, "error", [])
        assert head.stale in detail

        # What comes before the bad event can still be read; behind it the error says where it is.
        assert printed(ledger, 5) == state_of(events, 5)
        assert printed(ledger, 5, last_message=True)["messages"] == state_of(events, 5)["messages"][-1:]
        with pytest.raises(ProjectionFailed, match="event 6 cannot be projected: RuntimeError: planted"):
            ledger.state(NAME)
        before = read_model(ledger)
        with pytest.raises(ProjectionFailed):
            ledger.rebuild(NAME)
        assert read_model(ledger) == before

        planted.bad = 0
        # Stale still: folded from the start, right all the same.
        assert printed(ledger) == state_of(events)
        ledger.rebuild(NAME)
        assert ledger.head(NAME).stale is None
        assert list(ledger.sql(FINDINGS)[1]) == []
        rebuilt = read_model(ledger)
    (tmp_path / "one").mkdir()
    with log(tmp_path / "one", events) as whole:
        assert rebuilt == read_model(whole)


def test_rows_that_cannot_be_written_are_taken_back_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events = events_of(CASSETTES / "weather.sse")
    take = RowCollector.take

    def with_a_bad_row(collector: RowCollector) -> tuple[Mapping[str, Sequence[dict[str, Any]]], list[str]]:
        rows, dropped = take(collector)
        return {**rows, "no such table": [{"seq": 1}]}, dropped

    with log(tmp_path, events[:8]) as ledger:
        before = read_model(ledger)
        monkeypatch.setattr(RowCollector, "take", with_a_bad_row)
        append(ledger, events[8:])
        monkeypatch.undo()
        assert "no such table" in (ledger.head(NAME).stale or "")
        changed = {table for table, rows in read_model(ledger).items() if rows != before[table]}
        assert changed == {"findings"}
        assert printed(ledger) == state_of(events)
        ledger.rebuild(NAME)
        assert ledger.head(NAME).stale is None
        assert list(ledger.sql(FINDINGS)[1]) == []


def test_a_new_version_tries_a_stale_stream_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events = events_of(CASSETTES / "weather.sse")
    planted = Planted("openai.chat", 6, monkeypatch)
    with log(tmp_path, events[:8]) as ledger:
        assert ledger.head(NAME).stale is not None
        planted.bad = 0
        append(ledger, events[8:9])
        assert ledger.head(NAME).stale is not None
        new_version(monkeypatch)
        append(ledger, events[9:])
        assert ledger.head(NAME).stale is None
        rows = read_model(ledger)
    (tmp_path / "one").mkdir()
    with log(tmp_path / "one", events) as whole:
        assert rows == read_model(whole)
