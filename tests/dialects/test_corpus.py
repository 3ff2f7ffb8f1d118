"""Real traffic: every frame of every provider given to every dialect, and what ours make of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from recorder.deltas import (
    AnyDelta,
    BlockStarted,
    Failure,
    Finding,
    MessageFinished,
    MessageStarted,
    TextChunk,
    ToolCallChunk,
    ToolMessage,
)
from recorder.dialects import DIALECTS, recognise
from recorder.events.jsontext import NotJson, decode
from tests import corpus
from tests.corpus import ARGUMENTS_AS_OBJECTS, DUMPS, expected, needs_corpus, stream_file
from tests.dialects.wire import decode_events, frame, of, rules, sse

pytestmark = needs_corpus

BY_ITEMS = {"openai-responses"}
"""Whose calls are looked at item by item in a test of their own."""
ENDS = {"response.done": {"completed"}, "interaction.completed": {"completed", "requires_action"}}
"""Where the corpus names the event that ends an answer: the reasons that it gives."""
WITHOUT_RESULTS = {"xai-grpc", "bedrock-converse"}
"""Where the corpus counts a server's calls only, not their results."""


def dialect_of(row: dict[str, Any]) -> str | None:
    """The corpus counts Bedrock's agents, who have an API of their own, among those who speak Converse."""
    return None if row["provider"].startswith("other:bedrock-agent-runtime") else corpus.DIALECTS[row["api"]]


ALL = expected()
STREAMS = [(row, ".") for row in ALL if dialect_of(row)]
REPORTED = [(row, "reported") for row in expected("reported")]


def value_of(text: str) -> Any:
    try:
        return decode(text.encode())
    except NotJson:
        return text


def arguments(pieces: Iterable[tuple[int, int | str | None, str | None]]) -> dict[tuple[int, int | str], str]:
    """The pieces joined by choice and index, which is right for servers that keep to the protocol; no text is `{}`."""
    joined: dict[tuple[int, int | str], str] = {}
    for choice, index, args in pieces:
        place = choice, 0 if index is None else index
        joined[place] = joined.get(place, "") + (args or "")
    return {place: text or "{}" for place, text in joined.items()}


def decoded(row: dict[str, Any], folder: str) -> list[AnyDelta]:
    dialect = DIALECTS[corpus.DIALECTS[row["api"]]]
    return decode_events(dialect, [frame(dialect, data, name) for name, data in sse(stream_file(row, folder))])


def test_every_api_of_the_corpus_is_one_of_ours() -> None:
    assert {row["api"] for row in ALL} == set(corpus.DIALECTS)
    assert {dialect_of(row) for row in ALL} - {None} == set(corpus.DIALECTS.values())


def shape(value: Any) -> Any:
    """What a decoder may stumble over: names and types, not texts; of a list its first elements."""
    if isinstance(value, dict):
        return tuple((key, shape(item)) for key, item in value.items())
    return tuple(map(shape, value[:3])) if isinstance(value, list) else type(value).__name__


def test_no_frame_of_any_provider_makes_any_dialect_raise() -> None:
    """Of every stream the first frame of each shape: a thousand frames of text are alike."""
    for row in ALL:
        frames = {(name, shape(value_of(data))): (name, data) for name, data in reversed(list(sse(stream_file(row))))}
        for dialect in DIALECTS.values():
            decode_events(dialect, [frame(dialect, data, name) for name, data in reversed(frames.values())])


def test_ours_recognise_their_own_streams_and_no_others() -> None:
    frameworks = ("langchain.v2", "langchain.v3", "langgraph")
    ours = [DIALECTS[name] for name in (*corpus.DIALECTS.values(), *frameworks)]
    for row in ALL:
        claims = {
            dialect.name
            for name, value in ((name, value_of(data)) for name, data in sse(stream_file(row)))
            for dialect in ours
            if dialect.recognises(value, name)
        }
        assert claims == {dialect_of(row)} - {None}, row["stream"]


@pytest.mark.parametrize(
    ("row", "folder"),
    [(row, folder) for row, folder in STREAMS + REPORTED if row["api"] not in BY_ITEMS],
    ids=lambda value: value.get("stream") if isinstance(value, dict) else value,
)
def test_a_stream_holds_the_calls_that_are_known_of_it(row: dict[str, Any], folder: str) -> None:
    deltas = decoded(row, folder)
    finishes = [finished.finish_reason for finished in of(MessageFinished, deltas)]
    if row.get("end"):
        assert ENDS.get(row["end"], {row["end"]}) & set(finishes)
    restarted = [at for at, delta in enumerate(deltas) if isinstance(delta, MessageStarted) and delta.restart]
    said = of(ToolCallChunk, deltas[restarted[-1] :] if restarted else deltas)
    chunks = [chunk for chunk in said if not chunk.restated]
    clients = [chunk for chunk in chunks if chunk.executor == "client"]
    assert {chunk.id for chunk in clients if chunk.id} == {call["id"] for call in row["calls"] if call.get("id")}
    assert {chunk.name for chunk in clients if chunk.name} == {call["name"] for call in row["calls"]}
    if folder == ".":
        found = arguments((chunk.choice, chunk.index, chunk.args) for chunk in clients)
        listed = [(call.get("choice", 0), call.get("index", place), call) for place, call in enumerate(row["calls"])]
        known = arguments((choice, index, call.get("args")) for choice, index, call in listed)
        for choice, index, call in listed:
            if "args" not in call:
                # The corpus does not say what Gemini's arguments in pieces come to.
                assert isinstance(decode(found.pop((choice, index)).encode()), dict)
                del known[choice, index]
        if row["api"] in ARGUMENTS_AS_OBJECTS:
            assert {place: decode(text.encode()) for place, text in found.items()} == {
                place: decode(text.encode()) for place, text in known.items()
            }
        else:
            assert found == known
    # The corpus counts blocks that are no client's: a server's calls, their results, compactions and fallbacks.
    servers = [chunk for chunk in chunks if chunk.executor == "server" and (chunk.id or row["api"] == "gemini")]
    others = [block for block in of(BlockStarted, deltas) if block.kind in ("compaction", "fallback")]
    # Of code that Gemini runs it counts no results.
    results = [told for told in of(ToolMessage, deltas) if told.executor == "server" and told.name != "code_execution"]
    counted = [*servers, *others, *([] if row["api"] in WITHOUT_RESULTS else results)]
    assert len(counted) == row.get("server_calls", 0)
    # Converse without its framing was written down by hand, without a start.
    by_hand = row["api"] == "bedrock-converse" and row["stream"].endswith(".ndjson")
    assert rules(deltas) == (["message-without-start"] if by_hand else [])


def test_most_text_of_the_streams_is_read() -> None:
    by_kind: Counter[str] = Counter()
    failures = 0
    for row, folder in STREAMS:
        deltas = decoded(row, folder)
        failures += len(of(Failure, deltas))
        by_kind.update(text.kind for text in of(TextChunk, deltas))
    assert by_kind["text"] > 5000
    assert by_kind["thinking"] > 2500
    assert failures == 2


LANGCHAIN = [path for path in DUMPS if path.stem.endswith("_v2")]


@pytest.mark.parametrize("path", LANGCHAIN, ids=lambda path: path.stem)
def test_langchains_events_are_all_known(path: Path) -> None:
    dialect = DIALECTS["langchain.v2"]
    frames = list(sse(path))
    assert all(recognise(value_of(data), name) is dialect for name, data in frames)
    deltas = decode_events(dialect, [frame(dialect, data, name) for name, data in frames])
    assert of(Finding, deltas) == []
    assert of(ToolMessage, deltas)
    assert of(ToolCallChunk, deltas)
    assert all(message.tool_call_id for message in of(ToolMessage, deltas))
