"""Ollama's lines, written by hand."""

from __future__ import annotations

from typing import Any

from recordings.frames import MODEL, lines

MOMENT = "2026-01-01T00:00:00.000000Z"


def chat() -> bytes:
    """`ollama.chat`: thinking, then two calls of one tool without ids, a line each."""
    frames = [
        _line(thinking="Two cities, "),
        _line(thinking="two calls."),
        *(_line(tool_calls=[_call({"city": city, "days": 1})]) for city in ("Cádiz", "Oulu")),
        {**_line(), "done": True, "done_reason": "stop", "prompt_eval_count": 52, "eval_count": 34},
    ]
    return lines(frames)


def _line(**message: Any) -> dict[str, Any]:
    said = {"role": "assistant", "content": "", **message}
    return {"model": MODEL, "created_at": MOMENT, "message": said, "done": False}


def _call(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"function": {"name": "get_weather", "arguments": arguments}}
