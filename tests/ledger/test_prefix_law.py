"""The prefix law: the state of the full log at N is that of a log cut after N, resumed from any snapshot or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from recorder.dialects import base
from recorder.events import Event
from recorder.ledger.projector import RowProjector
from recorder.projections.readings import Gathering
from tests.corpus import DUMPS, STREAMS, needs_corpus
from tests.streams import CASSETTES, RECORDINGS, Folding, events_of, state_of

EVERY_N = 300
"""Streams up to this length are looked at after every event, longer ones at about this many."""


def hold(path: Path, gathering: Gathering = "default") -> None:
    events = events_of(path)
    step = max(1, len(events) // EVERY_N)
    full = Folding(gathering)
    resumed = Folding(gathering)
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
            assert state_of(events, n, gathering) == states[n - 1], f"{path.name}: cut after event {n}"


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_prefix_law_over_the_recordings(path: Path) -> None:
    hold(path)


@pytest.mark.parametrize("gathering", ["langchain", "langchainjs"])
@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_prefix_law_over_the_recordings_in_langchains_readings(path: Path, gathering: Gathering) -> None:
    hold(path, gathering)


@needs_corpus
@pytest.mark.parametrize("path", DUMPS, ids=lambda path: path.name)
def test_prefix_law_over_framework_dumps(path: Path) -> None:
    hold(path)


@needs_corpus
@pytest.mark.parametrize("path", DUMPS, ids=lambda path: path.name)
def test_prefix_law_over_framework_dumps_in_javascripts_reading(path: Path) -> None:
    hold(path, "langchainjs")


@needs_corpus
@pytest.mark.parametrize("part", range(8))
def test_prefix_law_over_provider_streams(part: int) -> None:
    for path in STREAMS[part::8]:
        hold(path)


@needs_corpus
def test_prefix_law_over_provider_streams_in_javascripts_reading() -> None:
    for path in STREAMS[::12]:
        hold(path, "langchainjs")


def cut_anywhere(data: bytes) -> list[list[Event]]:
    """The events of the recording's first bytes, cut at every 97th byte."""
    return [events_of(data[:end]) for end in range(400, len(data), 97)]


FINISHES = {
    "weather.sse": b'"finish_reason":"tool_calls"',
    "thinking.sse": b'"stop_reason":"tool_use"',
    "responses.sse": b'"type":"response.completed"',
    "converse.bin": b'"stopReason"',
    "truncated.sse": b"no finish but one that truncates",
    "seed003.sse": b'"finish_reason":"tool_calls"',
    "cohere.sse": b'"finish_reason":"TOOL_CALL"',
    "cohere-v1.jsonl": b'"finish_reason":"COMPLETE"',
    "ollama.jsonl": b'"done":true',
    "realtime.jsonl": b'"type":"response.done"',
    "xai.jsonl": b'"TOOL_CALL_STATUS_COMPLETED"',
    "gemini.sse": b'"finishReason"',
    "gemini-array.json": b'"finishReason"',
    "gemini-interaction.sse": b'"interaction.completed"',
}
"""What finishes the first call of each recording."""


@pytest.mark.parametrize("name", FINISHES)
def test_a_cut_recording_has_no_complete_call(name: str) -> None:
    data = (CASSETTES / name).read_bytes()
    end = data.find(FINISHES[name])
    cuts = [state_of(events)["messages"] for events in cut_anywhere(data[: end if end > 0 else len(data)])]
    states = {call["state"] for messages in cuts for message in messages for call in message["calls"]}
    assert states
    assert states <= {"open", "truncated"}


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
