"""Real traffic: every frame of every provider given to every dialect, and what ours make of their own."""

from __future__ import annotations

import json
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
from tests.corpus import CORPUS, needs_corpus
from tests.dialects.wire import decode_events, frame, of, sse

pytestmark = needs_corpus

OURS = {"openai-chat": "openai.chat", "anthropic": "anthropic.messages"}


def expected(folder: str = ".") -> list[dict[str, Any]]:
    path = CORPUS / folder / "expected.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def stream_file(row: dict[str, Any], folder: str = ".") -> Path:
    return CORPUS / folder / "streams" / str(row["stream"])


ALL = [row for row in expected() if not row["stream"].endswith(".bin")]
STREAMS = [(row, ".") for row in ALL if row["api"] in OURS]
REPORTED = [(row, "reported") for row in expected("reported") if row["api"] in OURS]


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
    dialect = DIALECTS[OURS[row["api"]]]
    return decode_events(dialect, [frame(dialect, data, name) for name, data in sse(stream_file(row, folder))])


def test_no_frame_of_any_provider_makes_any_dialect_raise() -> None:
    for row in ALL:
        frames = list(sse(stream_file(row)))[:40]
        for dialect in DIALECTS.values():
            decode_events(dialect, [frame(dialect, data, name) for name, data in frames])


def test_ours_recognise_their_own_streams_and_no_others() -> None:
    ours = [DIALECTS[name] for name in ("openai.chat", "anthropic.messages", "langchain.v2")]
    for row in ALL:
        claims = {
            dialect.name
            for name, data in sse(stream_file(row))
            for dialect in ours
            if dialect.recognises(value_of(data), name)
        }
        assert claims == ({OURS[row["api"]]} if row["api"] in OURS else set()), row["stream"]


@pytest.mark.parametrize(
    ("row", "folder"), STREAMS + REPORTED, ids=lambda value: value.get("stream") if isinstance(value, dict) else value
)
def test_a_stream_holds_the_calls_that_are_known_of_it(row: dict[str, Any], folder: str) -> None:
    deltas = decoded(row, folder)
    finishes = [finished.finish_reason for finished in of(MessageFinished, deltas)]
    if row.get("end"):
        assert row["end"] in finishes
    restarted = [at for at, delta in enumerate(deltas) if isinstance(delta, MessageStarted) and delta.restart]
    chunks = of(ToolCallChunk, deltas[restarted[-1] :] if restarted else deltas)
    clients = [chunk for chunk in chunks if chunk.executor == "client"]
    assert {chunk.id for chunk in clients if chunk.id} == {call["id"] for call in row["calls"] if call.get("id")}
    assert {chunk.name for chunk in clients if chunk.name} == {call["name"] for call in row["calls"]}
    if folder == ".":
        assert arguments((chunk.choice, chunk.index, chunk.args) for chunk in clients) == arguments(
            (call.get("choice", 0), call["index"], call["args"]) for call in row["calls"]
        )
    # The corpus counts blocks that are no client's: a server's calls, their results, compactions and fallbacks.
    servers = [chunk for chunk in chunks if chunk.executor == "server" and chunk.id]
    others = [block for block in of(BlockStarted, deltas) if block.kind in ("compaction", "fallback")]
    assert len(servers) + len(of(ToolMessage, deltas)) + len(others) == row.get("server_calls", 0)
    assert of(Finding, deltas) == []


def test_most_text_of_the_streams_is_read() -> None:
    by_kind: Counter[str] = Counter()
    failures = 0
    for row, folder in STREAMS:
        deltas = decoded(row, folder)
        failures += len(of(Failure, deltas))
        by_kind.update(text.kind for text in of(TextChunk, deltas))
    assert by_kind["text"] > 5000
    assert by_kind["thinking"] > 2500
    assert failures == 1


LANGCHAIN = sorted((CORPUS / "langchain_events").glob("*_v2.*")) if CORPUS.is_dir() else []


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
