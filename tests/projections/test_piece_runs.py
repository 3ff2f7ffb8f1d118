"""Runs of pieces leave what their pieces leave one by one: in the state, in the rows, in what is found."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from recorder.errors import BadInput, NotAStream
from recorder.events import Event
from recorder.ledger.projector import RowProjector
from recorder.projections.piece_runs import PieceRuns
from tests.corpus import STREAMS, needs_corpus
from tests.fuzzing import mutations
from tests.fuzzing.recordings import shipped
from tests.streams import RECORDINGS, events_of

Table = dict[tuple[Any, ...], Mapping[str, Any]]


def rows(events: Sequence[Event], batch: int) -> tuple[dict[str, Table], dict[str, bytes]]:
    """The last row of each key by table, and a snapshot, of events that are folded so many at a time."""
    projector = RowProjector()
    written: dict[str, Table] = {}
    for start in range(0, len(events), batch):
        projector.advance(events[start : start + batch])
        found, dropped = projector.take_rows()
        pieces = written.get("message_pieces", {})
        for key in [key for key in pieces if key[0] in dropped]:
            del pieces[key]
        for name, given in found.items():
            table = written.setdefault(name, {})
            for row in given:
                key = tuple(row[column] for column in _key_of(name, row))
                table[key] = {**table.get(key, {}), **row}
    return {name: table for name, table in written.items() if table}, projector.snapshot()


def _key_of(name: str, row: Mapping[str, Any]) -> list[str]:
    if name == "message_pieces":
        return ["message_ref", "seq", "ordinal"]
    first = next(iter(row))
    return ["seq", "ordinal"] if first == "seq" else [first]


def hold(events: Sequence[Event]) -> None:
    assert rows(events, len(events) or 1) == rows(events, 1)


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_recordings_of_the_project(path: Path) -> None:
    hold(events_of(path))


@needs_corpus
@pytest.mark.parametrize("part", range(4))
def test_real_traffic(part: int) -> None:
    for path in STREAMS[part::4]:
        hold(events_of(path))


def test_changed_recordings() -> None:
    own = [each for each in shipped() if each.format not in ("cassette", "har")]
    rng, held = random.Random(3), 0
    for number in range(150):
        changed = mutations.changed(rng, own[number % len(own)], own)
        try:
            events = events_of(changed.data)
        except (NotAStream, BadInput, AssertionError):  # no recording any more, or a document of exchanges
            continue
        hold(events)
        held += 1
    assert held > 75


def stream(*deltas: dict[str, Any]) -> list[Event]:
    head = {"id": "c", "model": "m", "object": "chat.completion.chunk"}
    chunks = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    return events_of("".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks).encode())


def test_an_index_that_is_used_again_parts_the_readings_within_a_run() -> None:
    """LangChain adds a fragment to the first call of its index, the wire to the last: the run must not hide that."""
    calls: list[dict[str, Any]] = [
        {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}},
        {"index": 0, "id": "b", "function": {"name": "g", "arguments": ""}},
        {"index": 0, "function": {"arguments": '{"x"'}},
        {"index": 0, "function": {"arguments": ":1}"}},
    ]
    events = stream(*({"tool_calls": [call]} for call in calls))
    found, _ = rows(events, len(events))
    parted = [row["seq"] for row in found["findings"].values() if row["rule"] == "readings-part"]
    assert parted == [3]
    hold(events)


def test_most_pieces_go_by_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    applied = 0
    apply = PieceRuns.apply

    def counted(self: PieceRuns, *given: Any) -> int:
        nonlocal applied
        done = apply(self, *given)
        applied += done
        return done

    monkeypatch.setattr(PieceRuns, "apply", counted)
    rows(stream(*({"content": f"word {number}"} for number in range(100))), 50)
    # All but the event that opens the message, and the first piece of either run.
    assert applied == 97
