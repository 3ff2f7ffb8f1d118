"""Frames and a request with every field that the dialect reads."""

from __future__ import annotations

from typing import Any

DIALECT = "cohere.v2"
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
CITATION = {"start": 0, "end": 1, "text": "a", "sources": [], "type": "TEXT_CONTENT", "content_index": 1}
FRAMES: list[Any] = [
    {"type": "message-start", "id": "m", "delta": {"message": {"role": "assistant", "content": [], "tool_plan": ""}}},
    {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": "a"}}},
    {"type": "content-start", "index": 0, "delta": {"message": {"content": {"type": "thinking", "thinking": ""}}}},
    {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"thinking": "a"}}}},
    {"type": "content-end", "index": 0},
    {"type": "content-start", "index": 1, "delta": {"message": {"content": {"type": "text", "text": "a"}}}},
    {"type": "content-delta", "index": 1, "delta": {"message": {"content": {"type": "image", "url": "u"}}}},
    {"type": "citation-start", "index": 0, "delta": {"message": {"citations": CITATION}}},
    {"type": "citation-start", "index": 1, "delta": {"message": {"citations": {"type": "PLAN"}}}},
    {"type": "citation-end", "index": 0},
    {"type": "tool-call-start", "index": 0, "delta": {"message": {"tool_calls": CALL}}},
    {"type": "tool-call-delta", "index": 0, "delta": {"message": {"tool_calls": {"function": {"arguments": "{}"}}}}},
    {"type": "tool-call-end", "index": 0},
    {
        "type": "message-end",
        "delta": {
            "finish_reason": "TOOL_CALL",
            "error": "e",
            "usage": {
                "billed_units": {"input_tokens": 1},
                "tokens": {"input_tokens": 1.0, "output_tokens": 1, "reasoning_tokens": 1},
                "cached_tokens": 1,
            },
        },
    },
    {"message": "no", "error": {"message": "no"}},
    {
        "id": "m2",
        "finish_reason": "COMPLETE",
        "message": {
            "role": "assistant",
            "tool_plan": "a",
            "content": [{"type": "text", "text": "a"}, "b"],
            "tool_calls": [CALL],
            "citations": [CITATION],
        },
        "usage": {"billed_units": {"input_tokens": 1}},
    },
]
REQUESTS: list[Any] = [
    {
        "tool_choice": "REQUIRED",
        "messages": [
            {"role": "assistant", "tool_plan": "a", "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": [{"type": "document", "document": {"data": {"a": 1}}}]},
        ],
    }
]
