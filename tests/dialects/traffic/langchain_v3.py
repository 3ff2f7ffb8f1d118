"""Events of a model's and of a graph's stream of version v3."""

from __future__ import annotations

from typing import Any

DIALECT = "langchain.v3"
META = {"langgraph_node": "model", "langgraph_step": 1, "langgraph_checkpoint_ns": "model:t1", "run_id": "r1"}


def block(event: str, index: Any, **fields: Any) -> dict[str, Any]:
    return {"event": f"content-block-{event}", "index": index, **fields}


def graph(method: str, data: Any, *namespace: str) -> dict[str, Any]:
    params = {"namespace": list(namespace), "timestamp": 1700000000000, "data": data}
    return {"type": "event", "seq": 1, "method": method, "params": params}


CALL = {"type": "tool_call_chunk", "id": "c1", "name": "f", "args": "", "index": 0}
SERVER = {"type": "server_tool_call_chunk", "id": "s1", "name": "search", "args": ""}
FRAMES: list[Any] = [
    {"event": "message-start", "role": "ai", "id": "m1", "metadata": {"provider": "p", "model": "m"}},
    block("start", 0, content={"type": "text", "text": "", "id": "b0"}),
    block("delta", 0, delta={"type": "text-delta", "text": "ab"}),
    block("start", 1, content={"type": "reasoning", "reasoning": ""}),
    block("delta", 1, delta={"type": "reasoning-delta", "reasoning": "r"}),
    block("delta", 1, delta={"type": "block-delta", "fields": {"type": "reasoning", "extras": {"signature": "s"}}}),
    block("start", 2, content=CALL),
    block("delta", 2, delta={"type": "tool-call-delta", "args": '{"a"'}),
    block("delta", 2, delta={"type": "block-delta", "fields": {**CALL, "args": '{"a": 1}'}}),
    block("delta", 2, content_block={"type": "tool_call_chunk", "args": " "}),
    block("start", 3, content=SERVER),
    block("delta", 3, delta={"type": "tool-call-delta", "args": "{}"}),
    block("start", 4, content={"type": "image", "mime_type": "image/png"}),
    block("delta", 4, delta={"type": "data-delta", "data": "AA", "encoding": "base64"}),
    block("delta", 9, delta={"type": "new-delta", "new": 1}),
    block("finish", 0, content={"type": "text", "text": "abc", "annotations": [{"type": "citation"}]}),
    block("finish", 2, content={"type": "tool_call", "id": "c1", "name": "f", "args": {"a": 1}}),
    block("finish", 3, content={"type": "invalid_tool_call", "id": "s1", "name": "s", "args": "{", "error": "no"}),
    block("finish", 4, content={"type": "image", "base64": "AA"}),
    block("start", 0, content={"type": "text", "text": ""}),
    block("finish", 5, content={"type": "server_tool_result", "tool_call_id": "s1", "status": "error", "output": [1]}),
    {"event": "usage", "usage": {"input_tokens": 1}},
    {
        "event": "message-finish",
        "usage": {"output_tokens": 1},
        "metadata": {"finish_reason": "length", "model_name": "m"},
    },
    graph("lifecycle", {"event": "running", "graph_name": "root"}),
    graph("messages", [{"event": "message-start", "role": "ai", "id": "m2"}, META]),
    graph("messages", [block("delta", 0, delta={"type": "text-delta", "text": "a"}), META]),
    graph("messages", [{"event": "error", "message": "no", "code": "c"}, META]),
    graph("messages", {"event": "message-start", "role": "tool", "id": "m3", "run_id": "r3"}, "model:t1"),
    graph("messages", {"event": "message-finish", "reason": "stop", "run_id": "r3"}, "model:t1"),
    graph("messages", [{"type": "ai", "content": "whole", "id": "m4"}, META]),
    graph("tools", {"event": "tool-started", "tool_call_id": "c1", "tool_name": "f", "input": {"a": 1}}),
    graph("tools", {"event": "tool-error", "tool_call_id": "c1", "message": "no"}),
    graph("updates", {"node": "model", "values": {"messages": [{"type": "ai", "content": "b", "id": "m5"}]}}),
    graph("checkpoints", {"id": "k", "step": 0, "source": "loop"}),
    graph("input.requested", {"interrupt_id": "i", "payload": {}}),
    graph("custom:mine", {"a": 1}),
    graph("news", {"a": 1}),
]
REQUESTS: list[Any] = []
