"""Pairings of LangChain's events and of what goes wrong in agents; those of exchanges are beside it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recorder
from recorder.capture import capture_file
from recorder.events import Event, NewEvent
from recorder.ledger import Ledger
from tests.corpus import CORPUS, DUMPS, needs_corpus
from tests.ledger.logs import NAME, log
from tests.streams import CASSETTES, events_of


def value_of(event: Event) -> Any:
    try:
        return json.loads(event.body)
    except ValueError:
        return None


def tool_messages_in(value: Any) -> Iterator[Counter[str]]:
    """The ids of the ToolMessages of every list in the value, and of every message that stands alone."""
    if isinstance(value, list):
        yield Counter(id for id in map(answered_by, value) if id is not None)
        for item in value:
            if answered_by(item) is None:
                yield from tool_messages_in(item)
    elif (id := answered_by(value)) is not None:
        yield Counter([id])
    elif isinstance(value, dict):
        for item in value.values():
            yield from tool_messages_in(item)


def ids_called(value: Any) -> Iterator[str]:
    """The ids in every `tool_calls` and `tool_call_chunks` of the value."""
    if isinstance(value, dict):
        for name in ("tool_calls", "tool_call_chunks"):
            yield from (call["id"] for call in value.get(name) or [] if call.get("id"))
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from ids_called(item)


def answered_by(value: Any) -> str | None:
    """The call's id where the value is a ToolMessage: plain, `dumpd`, or JavaScript's."""
    if not isinstance(value, dict):
        return None
    fields = value.get("kwargs") if value.get("lc") else value
    named = value.get("type") == "tool" or "ToolMessage" in (value.get("id") or [])
    return fields.get("tool_call_id") if named and isinstance(fields, dict) else None


@needs_corpus
@pytest.mark.parametrize("path", DUMPS, ids=lambda path: path.name)
def test_each_tool_message_of_a_dump_is_there_once(path: Path, tmp_path: Path) -> None:
    events = events_of(path)
    expected: Counter[str] = Counter()
    for event in events:
        for found in tool_messages_in(value_of(event)):
            expected |= found
    with log(tmp_path, events) as ledger:
        _, rows = ledger.sql("SELECT tool_call_id, count(*) FROM tool_messages GROUP BY tool_call_id")
        assert dict(rows) == dict(expected)
        _, left = ledger.sql("SELECT call_id FROM pairings WHERE status IN ('orphan', 'duplicate')")
        called = {id for event in events for id in ids_called(value_of(event))}
        assert {id for (id,) in left} == expected.keys() - called


def statuses(ledger: Ledger) -> dict[str, str]:
    _, rows = ledger.sql("SELECT call_id, status FROM pairings WHERE call_id IS NOT NULL ORDER BY position")
    return dict(rows)


@needs_corpus
def test_a_tool_that_raised_is_answered_with_an_error(tmp_path: Path) -> None:
    """Its ToolMessage comes with the chain's events only: `divide` has no `on_tool_end`."""
    with log(tmp_path, events_of(CORPUS / "langchain_events" / "py_agent_subgraph_v2.jsonl")) as ledger:
        found = statuses(ledger)
        assert found.pop("call_d") == "error"
        assert set(found.values()) == {"answered"}
        (row,) = ledger.sql("SELECT status, source FROM tool_messages WHERE tool_call_id = 'call_d'")[1]
        assert row == ("error", "event")


# What goes wrong in agents (the tool call ids that Anthropic refuses)


def event(kind: str, run_id: str, **data: Any) -> bytes:
    fields = {"event": kind, "run_id": run_id, "name": "n", "tags": [], "metadata": {}, "parent_ids": [], "data": data}
    return json.dumps(fields).encode() + b"\n"


def chunk(*calls: dict[str, Any], **fields: Any) -> dict[str, Any]:
    shown = {"content": "", "type": "AIMessageChunk", "tool_call_chunks": list(calls) or None, **fields}
    return {"chunk": shown}


def call_chunk(index: int, id: str | None = None, name: str | None = None, args: str | None = None) -> dict[str, Any]:
    return {"index": index, "id": id, "name": name, "args": args, "type": "tool_call_chunk"}


def answer(id: str, content: str = "ok", **fields: Any) -> dict[str, Any]:
    return {"output": {"type": "tool", "content": content, "tool_call_id": id, "name": "get", **fields}}


FIRST, SECOND = call_chunk(0, "toolu_01AbC", "get", ""), call_chunk(1, "toolu_02", "get")
ASKED = b"".join(
    [
        event("on_chat_model_start", "m", input={"messages": [[]]}),
        event("on_chat_model_stream", "m", **chunk(content="Two calls.")),
        event("on_chat_model_stream", "m", **chunk(FIRST, SECOND)),
        event("on_chat_model_stream", "m", **chunk()),
        event("on_chat_model_stream", "m", **chunk(call_chunk(1, args="{}"), call_chunk(0, args='{"a":'))),
        event("on_chat_model_stream", "m", **chunk(call_chunk(0, args="1}"))),
        event("on_chat_model_stream", "m", **chunk(response_metadata={"stop_reason": "tool_use"})),
        event("on_chat_model_end", "m"),
    ]
)
"""Two calls whose pieces interleave, between chunks whose `tool_call_chunks` is None."""


def recorded(tmp_path: Path, *answers: bytes) -> Ledger:
    ledger = recorder.open(tmp_path / "log.db")
    ledger.writer(NAME).append(events_of(ASKED + b"".join(answers)))
    return ledger


def test_chunks_without_tool_calls_disturb_nothing(tmp_path: Path) -> None:
    with recorded(tmp_path) as ledger:
        _, rows = ledger.sql("SELECT call_id, name, args, args_state FROM tool_calls ORDER BY first_seq, position")
        assert list(rows) == [("toolu_01AbC", "get", '{"a":1}', "complete"), ("toolu_02", "get", "{}", "complete")]


def test_an_id_in_another_case_leaves_the_call_open_and_the_answer_an_orphan(tmp_path: Path) -> None:
    with recorded(tmp_path, event("on_tool_end", "t", **answer("toolu_01abc"))) as ledger:
        assert statuses(ledger) == {"toolu_01AbC": "open", "toolu_02": "open", "toolu_01abc": "orphan"}


def test_a_skipped_call_stays_open(tmp_path: Path) -> None:
    with recorded(tmp_path, event("on_tool_end", "t", **answer("toolu_02"))) as ledger:
        assert statuses(ledger) == {"toolu_01AbC": "open", "toolu_02": "answered"}


def test_answers_in_another_order_than_the_calls_go_to_the_right_ones(tmp_path: Path) -> None:
    answers = [
        event("on_tool_end", "t2", **answer("toolu_02", "two")),
        event("on_tool_end", "t1", **answer("toolu_01AbC", "Error: no", status="error")),
    ]
    with recorded(tmp_path, *answers) as ledger:
        assert statuses(ledger) == {"toolu_01AbC": "error", "toolu_02": "answered"}
        query = """
            SELECT t.content FROM pairings p JOIN tool_messages t ON t.stream = p.stream AND t.seq = p.answer_seq
            WHERE p.call_ref = '3:0'
        """
        (row,) = ledger.sql(query)[1]
        assert row == ("Error: no",)


def test_a_second_answer_from_another_run_is_a_duplicate(tmp_path: Path) -> None:
    first = event("on_tool_end", "t1", **answer("toolu_02", "two"))
    with recorded(tmp_path, first, event("on_tool_end", "t2", **answer("toolu_02", "three"))) as ledger:
        _, rows = ledger.sql("SELECT status, answer_seq FROM pairings WHERE call_id = 'toolu_02' ORDER BY position")
        assert list(rows) == [("answered", 9), ("duplicate", 10)]


def test_the_shipped_cassette_pairs_a_call_with_the_result_in_the_next_request(tmp_path: Path) -> None:
    with recorder.open(tmp_path / "log.db") as ledger:
        capture_file(ledger, CASSETTES / "weather-agent.yaml")
        _, rows = ledger.sql("SELECT status, call_seq < answer_seq FROM pairings")
        assert set(rows) == {("answered", 1)}
        _, rows = ledger.sql("SELECT DISTINCT source FROM tool_messages")
        assert list(rows) == [("request",)]


def test_tool_messages_of_a_request_keep_its_order(tmp_path: Path) -> None:
    """Not that of the calls: Anthropic refuses answers that stand in another one, and an audit must see it."""
    results = [{"type": "tool_result", "tool_use_id": id, "content": "ok"} for id in ("toolu_2", "toolu_1")]
    calls = [{"type": "tool_use", "id": id, "name": "get", "input": {}} for id in ("toolu_1", "toolu_2")]
    messages = [{"role": "assistant", "content": calls}, {"role": "user", "content": results}]
    request = NewEvent(
        event_id=bytes(16),
        dialect="anthropic.messages",
        layer="wire",
        kind="http.request",
        body=json.dumps({"messages": messages}).encode(),
        framing="",
        arrived_at=0,
        run_id="r",
    )
    with log(tmp_path, [request]) as ledger:
        _, rows = ledger.sql("SELECT tool_call_id FROM tool_messages ORDER BY seq, ordinal")
        assert [id for (id,) in rows] == ["toolu_2", "toolu_1"]
        assert statuses(ledger) == {"toolu_1": "answered", "toolu_2": "answered"}
