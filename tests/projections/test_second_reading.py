"""Where the wire's reading of a message's chunks and LangChain's part, the event is named, once; nowhere else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.corpus import CORPUS, needs_corpus
from tests.streams import CASSETTES, Folding, events_of, state_of

Call = dict[str, Any]


def chunk(index: object, id: str | None = None, name: str | None = None, arguments: str | None = None) -> Call:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return {key: value for key, value in (("index", index), ("id", id), ("function", function)) if value is not None}


def stream(*calls: Call) -> bytes:
    """A chat completion: its role, a tool call chunk an event, its end."""
    deltas: list[dict[str, Any]] = [{"role": "assistant"}, *({"tool_calls": [call]} for call in calls)]
    frames = [{"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    end = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
    return b"".join(b"data: %s\n\n" % json.dumps(each).encode() for each in [*frames, end]) + b"data: [DONE]\n\n"


def parted(recording: bytes) -> list[tuple[int, str]]:
    """Events and details at which the readings part."""
    found = state_of(events_of(recording))["findings"]
    return [(row["seq"], row["detail"]) for row in found if row["rule"] == "readings-part"]


HOSTILE = {
    "every call at index 0": (
        [chunk(0, "a", "f", '{"x": 1}'), chunk(0, "b", "g", "{}"), chunk(0, None, None, "!")],
        4,
        "a piece of call 'b' goes to call 'a' in LangChain",
    ),
    "no index": (
        [chunk(None, "a", "f", ""), chunk(None, None, None, "{}")],
        3,
        "the wire goes on with call 'a', LangChain makes another call of the chunk",
    ),
    "a name that is repeated": (
        [chunk(0, "a", "f", ""), chunk(0, "a", "f", "{}")],
        3,
        "call 'a' is 'f' on the wire and 'ff' in LangChain",
    ),
    "another call without an id at the same index": (
        [chunk(0, None, "f", "{}"), chunk(0, None, "g", "{}")],
        3,
        "the wire opens call of 'g' without an id, LangChain adds it to call of 'fg' without an id",
    ),
    "arguments so far with every chunk": (
        [chunk(0, "a", "f", '{"x": "'), chunk(0, None, None, '{"x": "y')],
        3,
        "LangChain adds arguments to call 'a' that the wire only repeats",
    ),
    "a placeholder before the arguments": (
        [chunk(0, "a", "f", "{}"), chunk(0, None, None, '{"x": 1}')],
        3,
        "LangChain adds arguments to call 'a' that the wire only repeats",
    ),
}


@pytest.mark.parametrize(("calls", "seq", "detail"), HOSTILE.values(), ids=HOSTILE)
def test_where_the_readings_part_is_told_once(calls: list[Call], seq: int, detail: str) -> None:
    assert parted(stream(*calls, chunk(0, None, None, " "), chunk(0, None, None, " "))) == [(seq, detail)]


def test_a_stream_that_keeps_to_the_protocol_has_one_reading() -> None:
    calls = [chunk(0, "a", "f", ""), chunk(1, "b", "g", ""), chunk(0, None, None, "{"), chunk(1, "", "", "{}")]
    assert parted(stream(*calls, chunk(0, None, None, "}"))) == []


@pytest.mark.parametrize("name", ["weather.sse", "thinking.sse", "agent.jsonl", "responses.sse", "gemini.sse"])
def test_the_shipped_recordings_have_one_reading(name: str) -> None:
    assert parted((CASSETTES / name).read_bytes()) == []


def test_what_langchain_built_wrongly_is_told_from_its_own_events() -> None:
    """Two calls at index 0, as LangChain's events show them: it adds the id-less piece of the second to the first."""
    pieces = [("a", "f", '{"x": 1}'), ("b", "g", "{}"), (None, None, " ")]
    events = [
        {
            "event": "on_chat_model_stream",
            "run_id": "r",
            "name": "m",
            "data": {"chunk": {"type": "AIMessageChunk", "content": "", "tool_call_chunks": chunks}},
        }
        for chunks in [
            [],
            *([{"id": id, "name": name, "args": args, "index": 0}] for id, name, args in pieces),
        ]
    ]
    recording = b"".join(json.dumps(event).encode() + b"\n" for event in events)
    assert parted(recording) == [(4, "a piece of call 'b' goes to call 'a' in LangChain")]


@pytest.mark.parametrize("calls", [calls for calls, *_ in HOSTILE.values()], ids=HOSTILE)
def test_it_is_told_the_same_after_a_snapshot(calls: list[Call]) -> None:
    events = events_of(stream(*calls))
    folding = Folding()
    for event in events:
        folding = folding.advance(event).resumed()
    assert folding.state == state_of(events)


@needs_corpus
def test_of_the_reported_streams_those_part_that_langchain_1_8_adds_up_wrongly() -> None:
    """The others harm other gatherers: since 1.8 LangChain keeps calls at one index apart by their ids."""
    streams = sorted((CORPUS / "reported" / "streams").iterdir())
    assert {path.stem for path in streams if parted(path.read_bytes())} == {
        "langchain-index-none",
        "langchain-name-repeated",
        "litellm-summary-chunk",
    }
