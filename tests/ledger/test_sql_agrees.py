"""SQL and JSON never disagree: at every event the views say what the state says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recorder.events import jsontext
from recorder.ledger import Ledger
from tests.corpus import DUMPS, STREAMS, needs_corpus
from tests.ledger.logs import NAME, append, log, printed, sample
from tests.streams import RECORDINGS, Folding, events_of

CALLS = """
    SELECT call_ref, call_id, name, args, args_state, first_seq, last_seq, executor, legacy FROM tool_calls_all
    WHERE source = 'stream' ORDER BY message_ref, position
"""
MESSAGES = """
    SELECT message_ref, message_id, layer, run_id, choice, role, model, first_seq, last_seq, finish_reason, text,
        superseded, input_tokens, output_tokens
    FROM messages_all ORDER BY message_ref
"""
TOOL_MESSAGES = """
    SELECT seq, tool_call_id, name, status, content, content_is_json, artifact, message_id, source, run_id, executor
    FROM tool_messages ORDER BY seq, ordinal
"""
PAIRINGS = """
    SELECT call_ref, call_id, name, status, call_seq, answer_seq, answer_status, executor
    FROM pairings ORDER BY position
"""
# In a window some versions of SQLite give NULL for the concatenation of empty texts, as they do for that of none.
GATHERED = """
    WITH gathered AS (
        SELECT call_ref, call_index, seq, ordinal,
            max(call_id) OVER call AS call_id,
            group_concat(name, '') OVER call AS name,
            CASE WHEN count(args) OVER call > 0 THEN coalesce(group_concat(args, '') OVER call, '') END AS args,
            row_number() OVER (PARTITION BY call_ref ORDER BY seq, ordinal) AS place
        FROM tool_call_chunks_all WHERE stream = :stream AND seq <= :n
        WINDOW call AS (
            PARTITION BY call_ref ORDER BY seq, ordinal ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
        )
    )
    SELECT name, args, call_id, call_index FROM gathered WHERE place = 1 ORDER BY seq, ordinal
"""


def rows(ledger: Ledger, query: str, **parameters: Any) -> list[dict[str, Any]]:
    columns, found = ledger.sql(query, parameters)
    return [dict(zip(columns, row, strict=True)) for row in found]


def said_by_state(state: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The state in the columns of the queries above."""
    messages = sorted(state["messages"], key=lambda message: message["message_ref"])
    calls = [
        {
            "call_ref": call["call_ref"],
            "call_id": call["id"],
            "name": call["name"],
            "args": call["raw"],
            "args_state": call["state"],
            "first_seq": call["first_seq"],
            "last_seq": call["last_seq"],
            "executor": call["executor"],
            "legacy": int(call.get("legacy", False)),
        }
        for message in messages
        for call in message["calls"]
    ]
    plain = ("message_ref", "message_id", "layer", "run_id", "choice", "role", "model")
    shown = [
        {
            **{name: message[name] for name in (*plain, "first_seq", "last_seq", "finish_reason", "text")},
            "superseded": int(message.get("superseded", False)),
            "input_tokens": message["usage"].get("input_tokens"),
            "output_tokens": message["usage"].get("output_tokens"),
        }
        for message in messages
    ]
    answers = [
        {
            "seq": answer["seq"],
            "tool_call_id": answer["tool_call_id"],
            "name": answer["name"],
            "status": answer["status"],
            "content": answer["content"]
            if isinstance(answer["content"], str)
            else json.loads(jsontext.encode(answer["content"])),
            "artifact": answer["artifact"],
            "message_id": answer["id"],
            "source": answer["source"],
            "run_id": answer["run_id"],
            "executor": answer["executor"],
        }
        for answer in state["tool_messages"]
    ]
    columns = ("call_ref", "call_id", "name", "status", "call_seq", "answer_seq", "answer_status", "executor")
    pairings = [{column: row[column] for column in columns} for row in state["pairings"]]
    return {"calls": calls, "messages": shown, "tool_messages": answers, "pairings": pairings}


def said_by_sql(ledger: Ledger) -> dict[str, list[dict[str, Any]]]:
    answers = rows(ledger, TOOL_MESSAGES)
    for answer in answers:
        if answer.pop("content_is_json"):
            answer["content"] = json.loads(answer["content"])
        answer["artifact"] = None if answer["artifact"] is None else json.loads(answer["artifact"])
    return {
        "calls": rows(ledger, CALLS),
        "messages": rows(ledger, MESSAGES),
        "tool_messages": answers,
        "pairings": rows(ledger, PAIRINGS),
    }


def hold(path: Path, folder: Path, looks: int) -> None:
    events = events_of(path)
    step = max(1, len(events) // looks)
    fold = Folding()
    with log(folder) as ledger:
        writer = ledger.writer(NAME)
        for start in range(0, len(events), step):
            writer.append(events[start : start + step])
            fold.advance(*events[start : start + step])
            assert said_by_sql(ledger) == said_by_state(fold.state), start + step
        assert printed(ledger) == fold.state


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_views_say_what_the_state_says_at_every_event(path: Path, tmp_path: Path) -> None:
    hold(path, tmp_path, looks=100_000)


@needs_corpus
@pytest.mark.parametrize("path", [*sample(STREAMS, 80), *DUMPS], ids=lambda path: path.name)
def test_views_say_what_the_state_says_of_real_traffic(path: Path, tmp_path: Path) -> None:
    hold(path, tmp_path, looks=12)


@pytest.mark.parametrize("path", [path for path in RECORDINGS if path.suffix == ".sse"], ids=lambda path: path.name)
def test_gathered_state_in_pure_sql_at_every_event(path: Path, tmp_path: Path) -> None:
    events = events_of(path)
    fold = Folding("wire")
    with log(tmp_path, events) as ledger:
        for n in range(len(events) + 1):
            fold.advance(*events[n - 1 : n] if n else ())
            chunks = [chunk for message in fold.state["messages"] for chunk in message["tool_call_chunks"]]
            expected = [(chunk["name"], chunk["args"], chunk["id"], chunk["index"]) for chunk in chunks]
            _, found = ledger.sql(GATHERED, {"stream": NAME, "n": n})
            assert list(found) == expected, n


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_a_chunk_says_whose_it_is(path: Path, tmp_path: Path) -> None:
    whose = "layer, run_id, choice, message_ref"
    with log(tmp_path, events_of(path), batch=3) as ledger:
        calls = {row["call_ref"]: row for row in rows(ledger, f"SELECT call_ref, {whose} FROM tool_calls_all")}
        for chunk in rows(ledger, f"SELECT call_ref, {whose} FROM tool_call_chunks_all"):
            assert chunk == calls[chunk["call_ref"]]


def anthropic(*payloads: dict[str, Any]) -> bytes:
    return b"".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n".encode() for each in payloads)


def text_delta(index: int, text: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": text}}


def text_start(index: int, text: str = "") -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": text}}


def streamed(*contents: Any) -> bytes:
    """LangChain events of one model run whose chunks have these contents."""
    head = {"run_id": "r", "name": "m", "tags": [], "metadata": {}, "parent_ids": []}
    lines = [{**head, "event": "on_chat_model_start", "data": {"input": {"messages": [[]]}}}]
    for content in contents:
        lines.append(
            {**head, "event": "on_chat_model_stream", "data": {"chunk": {"content": content, "type": "AIMessageChunk"}}}
        )
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


MESSAGE_START = {"type": "message_start", "message": {"id": "m", "role": "assistant", "model": "c", "usage": {}}}
STARTED = (text_start(0), text_start(1))


def block(kind: str, index: int, text: str | None = None) -> list[dict[str, Any]]:
    return [{"type": kind, "index": index, **({"text": text} if text is not None else {})}]


OUT_OF_ORDER = {
    "wire": (anthropic(MESSAGE_START, *STARTED, text_delta(0, "a"), text_delta(1, "b"), text_delta(0, "c")), "acb"),
    "wire, twice": (
        anthropic(MESSAGE_START, text_start(0, "a"), text_delta(1, "b"), text_start(0, "c")),
        "abc",
    ),
    "langchain": (streamed(block("text", 0, "a"), block("text", 1, "b"), block("text", 0, "c")), "acb"),
    "lost": (streamed([], "gone"), ""),
    "absorbed": (streamed(block("text", 0, "a"), block("other", 0, "b"), "c"), "abc"),
    "hidden": (streamed(block("other", 0), block("text", 0, "a")), ""),
    "of another type": (streamed(block("text", 0, "a"), block("text", 0, "b"), block("other", 0, "c")), "abc"),
    "of another type, second": (streamed(block("text", 0, "a"), block("other", 0, "b")), "ab"),
}


@pytest.mark.parametrize(("recording", "text"), OUT_OF_ORDER.values(), ids=OUT_OF_ORDER)
def test_text_that_came_out_of_order_is_the_same_in_sql(recording: bytes, text: str, tmp_path: Path) -> None:
    events = events_of(recording)
    with log(tmp_path) as ledger:
        for n in range(1, len(events) + 1):
            append(ledger, events[n - 1 : n])
            assert said_by_sql(ledger) == said_by_state(printed(ledger, n)), n
        assert [message["text"] for message in rows(ledger, MESSAGES)] == [text]
