"""xAI's protocol buffers as JSON, written by hand."""

from __future__ import annotations

from typing import Any

from recordings.frames import MODEL, lines


def agent() -> bytes:
    """`xai.grpc`: a search that the server runs, its result, then a sentence and a call of the client's own tool."""
    search = _call("call_rec0301", "web_search", '{"query":"snow in Oulu"}', "WEB_SEARCH_TOOL")
    result = {"role": "ROLE_TOOL", "content": "Snow until noon.", "tool_calls": [_done(search)]}
    frames = [
        _chunk(0, {"reasoning_content": "I should search."}),
        _chunk(0, {"tool_calls": [search]}),
        _chunk(1, result),
        _chunk(2, {"content": "It snows; "}),
        _chunk(2, {"content": "I will tell them."}),
        _chunk(2, {"tool_calls": [_call("call_rec0302", "send_mail", '{"to":"all"}', "CLIENT_SIDE_TOOL")]}),
        _chunk(2, {}, "REASON_TOOL_CALLS"),
    ]
    return lines(frames)


def _chunk(index: int, delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    """A message; what has its default is left out, as the printer does."""
    output: dict[str, Any] = {"delta": {"role": "ROLE_ASSISTANT", **delta}}
    if reason is not None:
        output["finish_reason"] = reason
    if index:
        output["index"] = index
    counts = {"completion_tokens": 19, "prompt_tokens": 61, "total_tokens": 84, "reasoning_tokens": 4}
    return {"id": "rec-0004", "outputs": [output], "model": MODEL, "usage": counts}


def _call(id: str, name: str, arguments: str, kind: str) -> dict[str, Any]:
    return {"id": id, "type": f"TOOL_CALL_TYPE_{kind}", "function": {"name": name, "arguments": arguments}}


def _done(call: dict[str, Any]) -> dict[str, Any]:
    return {**call, "status": "TOOL_CALL_STATUS_COMPLETED"}
