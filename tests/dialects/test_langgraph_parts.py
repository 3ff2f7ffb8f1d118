from __future__ import annotations

from typing import Any

import pytest

from recorder.dialects import get, recognise
from recorder.dialects.langgraph_parts import Part, part_of, task_of
from tests.dialects.wire import frame

CHUNK = {"type": "AIMessageChunk", "content": "a"}
PAIR = [CHUNK, {"langgraph_node": "model", "langgraph_step": 1}]
STATE = {"messages": [{"type": "human", "content": "q"}]}
START = {"event": "message-start", "role": "ai", "id": "m"}
TASK = {"id": "t", "name": "n", "input": {}, "triggers": []}
V3 = {"type": "event", "seq": 1, "method": "values", "params": {"namespace": ["a:1"], "timestamp": 5, "data": STATE}}


@pytest.mark.parametrize(
    ("value", "event_name", "part"),
    [
        (["values", STATE], None, Part("values", STATE, (), "$[1]")),
        ([["a:1", "b:2"], "values", STATE], None, Part("values", STATE, ("a:1", "b:2"), "$[2]")),
        ([[], "messages", PAIR], None, Part("messages", PAIR, (), "$[2]")),
        (["values|a:1", STATE, "7"], None, Part("values", STATE, ("a:1",), "$[1]")),
        ({"type": "values", "ns": ["a:1"], "data": STATE}, None, Part("values", STATE, ("a:1",), "$.data")),
        ({"event": "values|a:1", "data": STATE}, None, Part("values", STATE, ("a:1",), "$.data")),
        (V3, None, Part("values", STATE, ("a:1",), "$.params.data", 5)),
        (STATE, "values|a:1|b:2", Part("values", STATE, ("a:1", "b:2"))),
        (STATE, "custom:mine", Part("custom:mine", STATE)),
        (PAIR, None, Part("messages", PAIR)),
        ([["a:1"], PAIR], None, Part("messages", PAIR, ("a:1",), "$[1]")),
        (STATE, None, Part("values", STATE)),
        ([[], STATE], None, Part("values", STATE, (), "$[1]")),
        ({"n": STATE}, None, Part("updates", {"n": STATE})),
        ({"__interrupt__": []}, None, Part("updates", {"__interrupt__": []})),
        (TASK, None, Part("tasks", TASK)),
        (
            {"step": 1, "type": "task", "payload": TASK},
            None,
            Part("debug", {"step": 1, "type": "task", "payload": TASK}),
        ),
        (START, None, Part("messages", START)),
        (START, "message-start", Part("messages", START)),
        (START, "messages|a:1", Part("messages", START, ("a:1",))),
    ],
)
def test_a_part_is_read_in_every_wrapping(value: Any, event_name: str | None, part: Part) -> None:
    assert part_of(value, event_name) == part


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        ["values"],
        ["dreams", {}],
        [["a:1"], "dreams", {}],
        [[1], "values", {}],
        {"event": "dreams", "data": {}},
        {"event": ["values"], "data": {}},
        {"messages": [{"role": "user", "content": "everybody's"}]},
        {"messages": []},
        {"n": {"messages": [{"role": "user", "content": "everybody's"}]}},
        [CHUNK, {"node": "not LangGraph's"}],
    ],
)
def test_what_is_no_part(value: Any) -> None:
    assert part_of(value, None) is None


@pytest.mark.parametrize(
    ("value", "event_name", "dialect"),
    [
        (["values", STATE], None, "langgraph"),
        (["updates", {}], None, "langgraph"),
        (["custom", 1], None, "langgraph"),
        (PAIR, "messages", "langgraph"),
        ({}, "values", "langgraph"),
        ({"run_id": "r", "attempt": 1}, "metadata", "langgraph"),
        ({"event": "on_chain_start", "run_id": "r", "data": {}}, "events", "langgraph"),
        ({"event": "on_chain_start", "run_id": "r", "data": {}}, "data", "langchain.v2"),
        (V3, None, "langchain.v3"),
        (START, "messages|a:1", "langchain.v3"),
        (["messages", [START, PAIR[1]]], None, "langchain.v3"),
        ({"event": "running", "graph_name": "root"}, "lifecycle", "langchain.v3"),
        ({"a": 1}, "custom", None),
        ([1, 2], "messages", None),
        ({"type": "message-start", "delta": {"message": {"role": "assistant"}}}, "message-start", "cohere.v2"),
    ],
)
def test_whose_frame_it_is(value: Any, event_name: str | None, dialect: str | None) -> None:
    found = recognise(value, event_name)
    assert (found.name if found is not None else None) == dialect


@pytest.mark.parametrize(
    ("value", "kind", "run", "parent", "name"),
    [
        (["values", STATE], "values", None, None, None),
        ([["a:1"], "updates", {}], "updates", None, "1", None),
        (["tasks", TASK], "tasks", "t", None, "n"),
        (["debug", {"type": "task", "payload": TASK}], "debug", "t", None, "n"),
        (
            ["messages", [CHUNK, {"langgraph_checkpoint_ns": "a:1|m:2", "langgraph_node": "m"}]],
            "messages",
            "2",
            None,
            "m",
        ),
        (["messages", [START, {"langgraph_checkpoint_ns": "m:2", "run_id": "r"}]], "message-start", "r", "2", None),
        (["tools", {"event": "tool-started", "tool_call_id": "c", "tool_name": "f"}], "tool-started", "c", None, "f"),
        (["tools", {"event": "on_tool_end", "toolCallId": "c", "name": "f"}], "on_tool_end", "c", None, "f"),
        (START, "message-start", None, None, None),
        ({"event": "metadata", "data": {"run_id": "r"}}, "metadata", "r", None, None),
    ],
)
def test_the_envelope(value: Any, kind: str, run: str | None, parent: str | None, name: str | None) -> None:
    found = frame(get("langgraph"), value)
    envelope = get("langgraph").envelope(value, None)
    assert (envelope.kind, envelope.run_id, envelope.parent_run_id, envelope.name) == (kind, run, parent, name)
    assert found.kind == kind


@pytest.mark.parametrize(("timestamp", "at"), [(5, 5000), (-1, None), (1 << 52, None), ("5", None)])
def test_version_3_has_a_clock(timestamp: Any, at: int | None) -> None:
    value = {**V3, "params": {**V3["params"], "timestamp": timestamp}}  # type: ignore[dict-item]
    assert get("langchain.v3").envelope(value, None).occurred_at == at


@pytest.mark.parametrize(
    ("segment", "task"), [("model:1-2", "1-2"), ("model:1:0", "1"), ("model", None), (":1", None), ("", None)]
)
def test_a_namespace_names_tasks(segment: str, task: str | None) -> None:
    assert task_of(segment) == task
