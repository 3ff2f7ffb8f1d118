"""Cohere's streams, written by hand: both versions of its API."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from recordings.frames import lines, sse


def v2() -> bytes:
    """`cohere.v2`: a plan and two calls, and the answer to the next request, which cites their results."""
    calls = [*_call(0, "get_weather_rec01", '{"city"', ': "Oulu"}'), *_call(1, "get_time_rec02", "{}")]
    usage = {"billed_units": {"input_tokens": 30, "output_tokens": 12}}
    asked = [_start("rec-0001"), *_plan("I will ", "look up both."), *calls, _end("TOOL_CALL", usage, 40, 21)]
    source = {"type": "tool", "id": "get_weather_rec01:0", "tool_output": {"sky": "snow"}}
    cited = {"start": 3, "end": 8, "text": "snows", "sources": [source], "type": "TEXT_CONTENT", "content_index": 1}
    answer = [
        *_content(0, "thinking", "Both are ", "there."),
        *_content(1, "text", "It snows", ", at noon."),
        _said("citation-start", 0, citations=cited),
        {"type": "citation-end", "index": 0},
    ]
    answered = [_start("rec-0002"), *answer, _end("COMPLETE", usage, 90, 15)]
    return sse([*asked, "[DONE]", *answered, "[DONE]"], named=True)


def v1() -> bytes:
    """`cohere.v1`: a call without an id, in pieces, then at once, then in the answer at the end."""
    call = {"name": "get_weather", "parameters": {"city": "Oulu"}}
    frames: list[dict[str, Any]] = [
        {"event_type": "stream-start", "generation_id": "rec-0003"},
        *({"event_type": "tool-calls-chunk", "text": text} for text in ("I will ", "look.")),
        {"event_type": "tool-calls-chunk", "tool_call_delta": {"index": 0, "name": "get_weather"}},
        *(
            {"event_type": "tool-calls-chunk", "tool_call_delta": {"index": 0, "parameters": piece}}
            for piece in ('{\n    "city": ', '"Ou', 'lu"\n}')
        ),
        {"event_type": "tool-calls-generation", "text": "I will look.", "tool_calls": [call]},
    ]
    whole = {"text": "I will look.", "generation_id": "rec-0003", "tool_calls": [call], "finish_reason": "COMPLETE"}
    meta = {"api_version": {"version": "1"}, "tokens": {"input_tokens": 44, "output_tokens": 18}}
    end = {"event_type": "stream-end", "finish_reason": "COMPLETE", "response": {**whole, "meta": meta}}
    return lines({"is_finished": frame is end, **frame} for frame in [*frames, end])


def _said(kind: str, index: int | None = None, **message: Any) -> dict[str, Any]:
    place = {} if index is None else {"index": index}
    return {"type": kind, **place, "delta": {"message": message}}


def _start(id: str) -> dict[str, Any]:
    return {"id": id, **_said("message-start", role="assistant", content=[], tool_plan="", tool_calls=[], citations=[])}


def _plan(*pieces: str) -> Iterable[dict[str, Any]]:
    return (_said("tool-plan-delta", tool_plan=piece) for piece in pieces)


def _content(index: int, kind: str, *pieces: str) -> list[dict[str, Any]]:
    return [
        _said("content-start", index, content={"type": kind, kind: ""}),
        *(_said("content-delta", index, content={kind: piece}) for piece in pieces),
        {"type": "content-end", "index": index},
    ]


def _call(index: int, id: str, *pieces: str) -> list[dict[str, Any]]:
    function = {"name": id.rpartition("_")[0], "arguments": ""}
    return [
        _said("tool-call-start", index, tool_calls={"id": id, "type": "function", "function": function}),
        *(_said("tool-call-delta", index, tool_calls={"function": {"arguments": piece}}) for piece in pieces),
        {"type": "tool-call-end", "index": index},
    ]


def _end(reason: str, usage: dict[str, Any], read: int, written: int) -> dict[str, Any]:
    tokens = {"input_tokens": read, "output_tokens": written}
    return {"type": "message-end", "delta": {"finish_reason": reason, "usage": {**usage, "tokens": tokens}}}
