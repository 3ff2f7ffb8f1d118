"""Frames and requests with every field that the dialect reads."""

from __future__ import annotations

from typing import Any

DIALECT = "anthropic.messages"
FRAMES: list[Any] = [
    {
        "type": "message_start",
        "message": {"id": "m", "role": "assistant", "model": "m", "content": [], "usage": {"input_tokens": 1}},
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "a", "citations": []}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": {"a": 1}}},
    {"type": "content_block_stop", "index": 0},
    {
        "type": "content_block_start",
        "index": 1,
        "content_block": {"type": "tool_use", "id": "t", "name": "f", "input": {}},
    },
    {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{}"}},
    {"type": "content_block_delta", "index": 2, "delta": {"type": "new_delta", "new": "a", "other": 1}},
    {
        "type": "content_block_start",
        "index": 1,
        "content_block": {"type": "x_tool_result", "tool_use_id": "t", "content": []},
    },
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 1}},
    {"type": "error", "error": {"type": "t", "message": "m"}},
    {"type": "message_stop"},
]
REQUESTS: list[Any] = [
    {
        "messages": [
            {"role": "tool", "tool_call_id": "c", "content": "x"},
            {"content": [{"type": "tool_use", "input": {}}]},
        ]
    },
    {
        "messages": [
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": {"type": "e"}}]}
        ]
    },
]
