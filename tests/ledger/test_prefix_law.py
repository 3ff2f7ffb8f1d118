"""The prefix law: the state of the full log at N is that of a log cut after N, resumed from any snapshot or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from recorder.dialects import base
from recorder.errors import NotAStream
from recorder.events import Event
from recorder.ledger.projector import RowProjector
from tests.corpus import CORPUS, needs_corpus
from tests.streams import CASSETTES, Folding, events_of, state_of

EVERY_N = 300
"""Streams up to this length are looked at after every event, longer ones at about this many."""

RECORDINGS = sorted(path for path in CASSETTES.iterdir() if path.suffix in (".sse", ".jsonl"))
CORPUS_STREAMS = [*sorted((CORPUS / "streams").glob("*.sse")), *sorted((CORPUS / "streams").glob("*.ndjson"))]
CORPUS_DUMPS = sorted(path for path in (CORPUS / "langchain_events").glob("*") if "stream_modes" not in path.name)


def hold(path: Path) -> None:
    try:
        events = events_of(path)
    except NotAStream:
        pytest.skip("a format that is not read yet")
    step = max(1, len(events) // EVERY_N)
    full = Folding()
    resumed = Folding()
    states = []
    for event in events:
        full.advance(event)
        states.append(full.state if event.seq % step == 0 else None)
        resumed = resumed.resumed() if event.seq % step == 0 else resumed
        resumed.advance(event)
        if states[-1] is not None:
            assert resumed.state == states[-1], f"{path.name}: resumed before event {event.seq}"
    for n in {1, len(events) // 3, len(events) // 2, len(events) - 1} - {0}:
        if states[n - 1] is not None:
            assert state_of(events, n) == states[n - 1], f"{path.name}: cut after event {n}"


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_prefix_law_over_the_recordings(path: Path) -> None:
    hold(path)


@needs_corpus
@pytest.mark.parametrize("path", CORPUS_DUMPS, ids=lambda path: path.name)
def test_prefix_law_over_framework_dumps(path: Path) -> None:
    hold(path)


@needs_corpus
@pytest.mark.parametrize("part", range(8))
def test_prefix_law_over_provider_streams(part: int) -> None:
    for path in CORPUS_STREAMS[part::8]:
        hold(path)


def cut_anywhere(data: bytes) -> list[list[Event]]:
    """The events of the recording's first bytes, cut at every 97th byte."""
    return [events_of(data[:end]) for end in range(200, len(data), 97)]


@pytest.mark.parametrize("name", ["weather.sse", "thinking.sse", "truncated.sse", "seed003.sse"])
def test_a_cut_recording_has_no_complete_call(name: str) -> None:
    data = (CASSETTES / name).read_bytes()
    finish = {"weather.sse": b'"finish_reason":"tool_calls"', "thinking.sse": b'"stop_reason":"tool_use"'}
    end = data.find(finish.get(name, b'"finish_reason": "tool_calls"'))
    for events in cut_anywhere(data[: end if end > 0 else len(data)]):
        for message in state_of(events)["messages"]:
            assert {call["state"] for call in message["calls"]} <= {"open", "truncated"}


def test_a_call_stopped_at_length_is_truncated_even_where_its_text_is_whole() -> None:
    frame = (
        b'data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a",'
        b'"function":{"name":"f","arguments":"{\\"a\\":1}"}}]},"finish_reason":null}]}\n\n'
        b'data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"length"}]}\n\n'
        b"data: [DONE]\n\n"
    )
    events = events_of(frame)
    states = [state_of(events, n)["messages"][0]["calls"][0]["state"] for n in (1, 2, 3)]
    assert states == ["open", "truncated", "truncated"]
    assert events[-1].kind == base.DONE


def test_events_caught_up_with_give_no_rows() -> None:
    events = events_of(CASSETTES / "weather.sse")
    projector = RowProjector()
    projector.catch_up(events[:10])
    assert projector.take_rows() == ({}, [])
    projector.advance(events[10:12])
    rows, _ = projector.take_rows()
    assert {row["seq"] for row in rows["tool_call_chunks"]} == {11, 12}
