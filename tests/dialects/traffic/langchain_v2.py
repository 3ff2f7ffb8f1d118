"""Events with every field that the dialect reads."""

from __future__ import annotations

from typing import Any

DIALECT = "langchain.v2"
CALL = {"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
AI = {
    "lc": 1,
    "type": "constructor",
    "id": ["langchain", "schema", "messages", "AIMessage"],
    "kwargs": {
        "content": [{"type": "text", "text": "a"}],
        "tool_calls": [{"name": "f", "args": {"a": 1}, "id": "c1"}],
        "invalid_tool_calls": [{"name": "f", "args": "{", "id": "c2"}],
        "additional_kwargs": {"function_call": {"name": "f", "arguments": "{}"}, "tool_calls": [CALL]},
        "response_metadata": {"finish_reason": "stop", "status": "incomplete", "incomplete_details": {"reason": "x"}},
        "usage_metadata": {"input_tokens": 1},
    },
}
PIECE = {
    "type": "AIMessageChunk",
    "content": "a",
    "tool_call_chunks": [{"name": "f", "args": "", "id": "c", "index": 0}],
}
JAVASCRIPT = {
    "lc": 1,
    "type": "constructor",
    "id": ["langchain_core", "messages", "AIMessageChunk"],
    "kwargs": {
        "content_blocks": [{"type": "text", "index": 0, "text": "a"}],
        "tool_call_chunks": [{"index": "0", "id": "c3", "args": "x", "isCustomTool": True, "more": {"n": 1}}],
        "additional_kwargs": {"function_call": {"name": "f", "arguments": "{"}},
        "usage_metadata": None,
    },
}
TOOL = {
    "type": "tool",
    "content": "x",
    "tool_call_id": "c1",
    "name": "f",
    "artifact": [1],
    "additional_kwargs": {"a": 1},
}


def langchain(kind: str, data: Any) -> dict[str, Any]:
    head = {"run_id": "r1", "name": "n", "tags": ["t"], "metadata": {"ls_model_name": "m"}, "parent_ids": ["p"]}
    return {"event": kind, **head, "data": data}


FRAMES: list[Any] = [
    langchain("on_chat_model_start", {"input": {"messages": [[AI, TOOL]]}}),
    langchain("on_chat_model_stream", {"chunk": PIECE}),
    langchain("on_chat_model_end", {"output": AI, "input": {}}),
    langchain("on_chat_model_start", {"input": {"messages": [[JAVASCRIPT]]}}),
    langchain("on_chat_model_stream", {"chunk": JAVASCRIPT}),
    langchain("on_chat_model_end", {"output": JAVASCRIPT, "input": {}}),
    langchain("on_llm_stream", {"chunk": {"text": "a", "generation_info": {"finish_reason": "stop"}}}),
    langchain("on_llm_end", {"output": {"generations": [[{"text": "a", "message": AI, "generation_info": {}}]]}}),
    langchain("on_tool_start", {"input": {}}),
    langchain("on_tool_end", {"output": [TOOL, {"__command__": {"update": {"messages": [TOOL]}, "goto": []}}]}),
    langchain("on_tool_error", {"error": {"__exc__": "a.B", "str": "s"}, "tool_call_id": "c1"}),
    langchain("on_chain_stream", {"chunk": {"n": {"messages": [AI, TOOL]}}}),
    {"event": "events", "data": langchain("on_chain_end", {"output": [AI], "input": [TOOL]})},
    {"event": "error", "data": {"error": "e", "message": "m"}},
]
REQUESTS: list[Any] = []
