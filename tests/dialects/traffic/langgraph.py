"""Parts of every stream mode, in every wrapping that the dialect reads."""

from __future__ import annotations

from typing import Any

DIALECT = "langgraph"
PLACE = {
    "langgraph_node": "model",
    "langgraph_step": 1,
    "langgraph_checkpoint_ns": "outer:t0|model:t1",
    "ls_model_name": "m",
    "tags": ["t"],
}
PIECE = {
    "lc": 1,
    "type": "constructor",
    "id": ["langchain", "schema", "messages", "AIMessageChunk"],
    "kwargs": {
        "content": "a",
        "id": "lc_run--01a22a02-1547-7241-99ca-b4e084888726",
        "tool_call_chunks": [{"name": "f", "args": "{", "id": "c1", "index": 0}],
    },
}
LAST = {"type": "AIMessageChunk", "content": "", "id": "lc_run--01a22a02-1547-7241-99ca-b4e084888726"}
AI = {
    "type": "ai",
    "content": "a",
    "id": "lc_run--01a22a02-1547-7241-99ca-b4e084888726",
    "tool_calls": [{"name": "f", "args": {"a": 1}, "id": "c1"}],
    "response_metadata": {"finish_reason": "stop"},
}
TOOL = {"type": "tool", "content": "x", "tool_call_id": "c1", "id": "a1", "status": "success"}
HUMAN = {"type": "human", "content": "q", "id": "h1"}

FRAMES: list[Any] = [
    {"event": "metadata", "data": {"run_id": "r", "attempt": 1}},
    ["values", {"messages": [HUMAN]}],
    ["tasks", {"id": "t1", "name": "model", "input": {"messages": [HUMAN]}, "triggers": ["x"], "metadata": {"a": 1}}],
    [["outer:t0"], "messages", [{**LAST, "id": "resp_1"}, PLACE]],
    [["outer:t0"], "messages", [PIECE, PLACE]],
    {"type": "messages", "ns": ["outer:t0"], "data": [{**LAST, "chunk_position": "last"}, PLACE]},
    ["messages", [{**LAST, "id": None}, {"langgraph_node": "model", "langgraph_step": 2}]],
    ["messages", [HUMAN, PLACE]],
    ["updates", {"model": {"messages": [AI]}, "__interrupt__": []}],
    ["tools", {"event": "tool-started", "tool_call_id": "c1", "tool_name": "f", "input": {"a": 1}}],
    ["tools", {"event": "tool-output-delta", "tool_call_id": "c1", "delta": "x"}],
    ["tools", {"event": "tool-finished", "tool_call_id": "c1", "output": {**TOOL, "id": None}}],
    ["tools", {"event": "on_tool_error", "toolCallId": "c1", "name": "f", "error": {"message": "no"}}],
    ["messages", [TOOL, {**PLACE, "langgraph_step": 2}]],
    ["messages", [AI, {**PLACE, "langgraph_step": 3}]],
    ["tasks", {"id": "t1", "name": "model", "error": "no", "result": {"messages": [AI]}, "interrupts": []}],
    {"step": 1, "timestamp": "2026-01-01T00:00:00Z", "type": "task", "payload": {"id": "t2", "name": "n", "input": {}}},
    ["debug", {"type": "task_result", "payload": {"id": "t2", "name": "n", "result": [["messages", [AI]]]}}],
    ["debug", {"type": "checkpoint", "payload": {"values": {"messages": [AI, TOOL]}}}],
    {"config": {}, "metadata": {}, "values": {"messages": [AI]}, "next": []},
    ["lifecycle", {"event": "started", "namespace": ["outer:t0", "inner:t3"], "graph_name": "g"}],
    ["lifecycle", {"event": "failed", "namespace": ["outer:t0", "inner:t3"], "error": "no"}],
    ["custom", {"a": 1}],
    ["custom:mine", 1],
    {"event": "messages|outer:t0", "data": [PIECE, PLACE], "id": "1"},
    ["values|outer:t0", {"messages": [HUMAN, AI, TOOL]}, None],
    {"event": "messages/partial", "data": [{"type": "ai", "content": "ab", "id": "p1", "tool_calls": []}]},
    {"event": "events", "data": {"event": "on_chain_start", "run_id": "r1", "name": "n", "data": {"input": 1}}},
    {"event": "error", "data": {"error": "E", "message": "m"}},
    [["outer:t0"], {"model": {"messages": [AI]}}],
    {"type": "error", "id": 1, "error": "unknown_error", "message": "no"},
]
REQUESTS: list[Any] = []
