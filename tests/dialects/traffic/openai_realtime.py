"""A session's events with every field that the dialect reads; the request that opens it has none."""

from __future__ import annotations

from typing import Any

DIALECT = "openai.realtime"
CALL = {"id": "i2", "type": "function_call", "status": "completed", "call_id": "c1", "name": "f", "arguments": "{}"}
MCP = {"id": "i3", "type": "mcp_call", "name": "g", "arguments": "{}", "output": "x", "error": {"message": "m"}}
MESSAGE = {"id": "i1", "type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]}
ANSWER = {"id": "i4", "type": "function_call_output", "call_id": "c1", "output": "x"}
VERDICT = {"id": "i5", "type": "mcp_approval_response", "approval_request_id": "i6", "approve": True, "reason": "r"}


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "event_id": "e", **fields}


def of(item: str, index: int, **fields: Any) -> dict[str, Any]:
    return {"response_id": "r", "item_id": item, "output_index": index, "content_index": 0, **fields}


FRAMES: list[Any] = [
    event("session.created", session={"model": "m", "tool_choice": "required"}),
    event("conversation.item.added", item={"type": "message", "role": "user"}),
    event("response.created", response={"id": "r", "status": "in_progress"}),
    event("response.output_item.added", response_id="r", output_index=0, item={"id": "i1", "type": "message"}),
    event("response.content_part.added", **of("i1", 0, part={"type": "audio", "transcript": "a"})),
    event("response.output_text.delta", **of("i1", 0, delta="a")),
    event("response.audio_transcript.delta", **of("i1", 0, delta="a")),
    event("response.output_audio.delta", **of("i1", 0, delta="AAAA")),
    event("response.output_text.done", **of("i1", 0, text="ab")),
    event("response.output_item.done", response_id="r", output_index=0, item=MESSAGE),
    event("response.function_call_arguments.delta", **of("i2", 1, call_id="c1", delta="{")),
    event("response.function_call_arguments.done", **of("i2", 1, call_id="c1", name="f", arguments="{}")),
    event("response.mcp_call_arguments.delta", **of("i3", 2, delta="{")),
    event("response.output_item.done", response_id="r", output_index=2, item=MCP),
    event("response.output_item.done", response_id="r", output_index=3, item={"type": "new", "x": 1}),
    event("conversation.item.done", item=CALL),
    event(
        "response.done",
        usage={"input_tokens": 1},
        response={
            "id": "r",
            "status": "failed",
            "status_details": {"reason": "turn_detected", "error": {"message": "m"}},
            "output": [MESSAGE, CALL, MCP],
            "usage": {"input_tokens": 1, "input_token_details": {"cached_tokens": 1}},
        },
    ),
    event("response.output_text.delta", **of("i1", 0, delta="late")),
    event("conversation.item.added", item=ANSWER),
    event("conversation.item.done", item=ANSWER),
    {"type": "conversation.item.create", "item": VERDICT},
    {"type": "response.create", "response": {"tool_choice": {"type": "function", "name": "f"}}},
    event("error", error={"type": "invalid_request_error", "message": "m"}),
    event("conversation.item.input_audio_transcription.failed", error={"message": "m"}),
    event("response.hologram.delta", response_id="r2"),
]
REQUESTS: list[Any] = []
