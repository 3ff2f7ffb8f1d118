"""A stream of legacy completions, written by hand."""

from __future__ import annotations

from typing import Any

from recordings.frames import CREATED, MODEL, sse


def text() -> bytes:
    """`openai.completions`: two choices side by side, one of them stopped at the length limit."""
    frames = [
        _chunk(0, "Once upon"),
        _chunk(1, "It was a dark"),
        _chunk(0, " a time."),
        _chunk(1, " and stormy"),
        _chunk(0, "", "stop"),
        _chunk(1, "", "length"),
    ]
    return sse([*frames, "[DONE]"])


def _chunk(index: int, piece: str, reason: str | None = None) -> dict[str, Any]:
    choice = {"index": index, "text": piece, "logprobs": None, "finish_reason": reason}
    head = {"id": "cmpl-rec0001", "object": "text_completion", "created": CREATED, "model": MODEL}
    return {**head, "choices": [choice]}
