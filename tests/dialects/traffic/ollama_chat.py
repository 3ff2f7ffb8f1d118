"""Lines and a request with every field that the dialect reads."""

from __future__ import annotations

from typing import Any

DIALECT = "ollama.chat"
CALL = {"id": "c1", "function": {"index": 0, "name": "f", "arguments": {"a": 1}}}
FRAMES: list[Any] = [
    {"model": "m", "message": {"role": "assistant", "content": "", "thinking": "a"}, "done": False},
    {"model": "m", "message": {"role": "assistant", "content": "a", "tool_calls": [CALL]}, "done": False},
    {
        "model": "m",
        "message": {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f"}}], "images": ["i"]},
        "done": False,
    },
    {
        "model": "m",
        "message": {"role": "assistant", "content": ""},
        "done": True,
        "done_reason": "stop",
        "prompt_eval_count": 1,
        "eval_count": 2,
    },
    {"error": "out of memory"},
    {"model": "m", "response": "a", "thinking": "b", "done": True, "done_reason": "length", "context": [1]},
]
REQUESTS: list[Any] = [
    {
        "messages": [
            {"role": "assistant", "content": "", "tool_calls": [CALL, {"function": {"name": "f"}}]},
            {"role": "tool", "tool_name": "f", "content": "x"},
            {"role": "tool", "tool_call_id": "c1", "name": "f", "content": "x"},
        ]
    }
]
