"""Frames with every field that the dialect reads; a request has none."""

from __future__ import annotations

from typing import Any

DIALECT = "openai.completions"
FRAMES: list[Any] = [
    {"id": "c", "object": "text_completion", "model": "m", "choices": [{"index": 0, "text": "a"}]},
    {"choices": [{"index": 1, "text": "b", "finish_reason": "length"}]},
    {"object": "text_completion", "choices": [{"delta": {}, "finish_reason": "stop"}]},
    {"object": "text_completion", "choices": [], "usage": {"prompt_tokens": 1}},
    {
        "id": "d",
        "object": "text_completion",
        "choices": [{"index": 0, "text": "a", "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1},
    },
    {"error": {"message": "m"}},
]
REQUESTS: list[Any] = []
