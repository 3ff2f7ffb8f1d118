"""Frames as providers write them, with ids and dates that never change."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

CREATED = 1767225600
"""2026-01-01T00:00:00Z in seconds: when everything here was said."""
MODEL = "demo-1"

Piece = tuple[int, str]
"""A call's index, and the next piece of its arguments."""


def compact(value: Any) -> str:
    """JSON without spaces, ASCII only: what the providers' servers write."""
    return json.dumps(value, separators=(",", ":"))


def sse(values: Iterable[Any], *, named: bool = False) -> bytes:
    """One `data:` block a value, text as it is; `named` adds an `event:` line with the value's `type`."""
    blocks = []
    for value in values:
        head = f"event: {value['type']}\n" if named and not isinstance(value, str) else ""
        blocks.append(f"{head}data: {value if isinstance(value, str) else compact(value)}\n\n")
    return "".join(blocks).encode()


def lines(values: Iterable[Any]) -> bytes:
    """A line a value."""
    return "".join(f"{compact(value)}\n" for value in values).encode()


class ChatCompletion:
    """Builds the chunks of one `chat.completion.chunk` stream."""

    def __init__(self, completion_id: str) -> None:
        self.head = {"id": completion_id, "object": "chat.completion.chunk", "created": CREATED, "model": MODEL}

    def delta(self, delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return {**self.head, "choices": [choice]}

    def opening(self, content: str | None = "") -> dict[str, Any]:
        return self.delta({"role": "assistant", "content": content, "refusal": None})

    def text(self, *pieces: str) -> list[dict[str, Any]]:
        return [self.delta({"content": piece}) for piece in pieces]

    def call(self, index: int, call_id: str, name: str) -> dict[str, Any]:
        function = {"name": name, "arguments": ""}
        return self.delta({"tool_calls": [{"index": index, "id": call_id, "type": "function", "function": function}]})

    def arguments(self, *pieces: Piece) -> list[dict[str, Any]]:
        return [
            self.delta({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}) for index, piece in pieces
        ]

    def finish(self, reason: str) -> dict[str, Any]:
        return self.delta({}, reason)

    def usage(self, prompt: int, completion: int) -> dict[str, Any]:
        counts = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
        return {**self.head, "choices": [], "usage": counts}
