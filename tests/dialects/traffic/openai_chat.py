"""Frames and requests with every field that the dialect reads."""

from __future__ import annotations

from typing import Any

DIALECT = "openai.chat"
CALL = {"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
FRAMES: list[Any] = [
    {
        "id": "c",
        "object": "chat.completion.chunk",
        "model": "m",
        "citations": ["u"],
        "choices": [
            {
                "index": 0,
                "finish_reason": "length",
                "error": {"message": "m"},
                "usage": {"prompt_tokens": 1},
                "delta": {
                    "role": "assistant",
                    "content": [{"type": "text", "text": "a"}, {"type": "thinking", "thinking": [{"text": "b"}]}],
                    "reasoning": "a",
                    "reasoning_details": [{"type": "reasoning.text", "text": "a", "signature": "s"}],
                    "refusal": "no",
                    "tool_calls": [CALL],
                    "function_call": {"name": "f", "arguments": ""},
                    "annotations": [{"url": "u"}],
                    "images": [{"type": "image_url"}],
                    "audio": {"id": "a", "data": "d"},
                    "other": 1,
                },
            }
        ],
        "usage": {"prompt_tokens": 1, "prompt_tokens_details": {"cached_tokens": 1}},
        "error": {"message": "m", "type": "t", "code": 1},
    },
    {"object": "chat.completion", "choices": [{"message": {"content": "a", "tool_calls": [CALL]}}]},
]
REQUESTS: list[Any] = [
    {
        "tool_choice": {"type": "function", "function": {"name": "f"}},
        "messages": [{"role": "assistant", "tool_calls": [CALL]}],
    },
]
