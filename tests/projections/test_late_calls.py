"""A call that grows after its message was said to be finished waits until that is said again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.streams import Folding, events_of, state_of

DONE = b"data: [DONE]\n\n"


def sse(*frames: dict[str, Any]) -> bytes:
    return b"".join(b"data: " + json.dumps(frame).encode() + b"\n\n" for frame in frames)


def chunk(*calls: dict[str, Any], stop: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": {"tool_calls": list(calls)} if calls else {}, "finish_reason": stop}
    return {"object": "chat.completion.chunk", "choices": [choice]}


def call(index: int, args: str, id: str | None = None) -> dict[str, Any]:
    return {"index": index, "id": id, "function": {"name": "f" if id else None, "arguments": args}}


def block(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"content_block_{kind}", "index": index, **fields}


def tool_use(index: int) -> list[dict[str, Any]]:
    delta = {"type": "input_json_delta", "partial_json": "{}"}
    opened = {"type": "tool_use", "id": f"t{index}", "name": "f"}
    return [block(index, "start", content_block=opened), block(index, "delta", delta=delta), block(index, "stop")]


STOPPED = {"type": "message_delta", "delta": {"stop_reason": "tool_use"}}
FIRST, STOP = chunk(call(0, "{}", "a")), chunk(stop="tool_calls")
STARTED = {"type": "message_start", "message": {"id": "m", "role": "assistant"}}

CASES = {
    "chat, another call": (sse(FIRST, STOP, chunk(call(1, "{}", "b"))), ["complete", "open"]),
    "chat, the call goes on": (sse(FIRST, STOP, chunk(call(0, '{"x":1'))), ["open"]),
    "chat, terminated": (sse(FIRST, STOP, chunk(call(1, "{}", "b"))) + DONE, ["complete", "complete"]),
    "chat, finished again": (sse(FIRST, STOP, chunk(call(1, "{}", "b")), STOP), ["complete", "complete"]),
    "chat, cut off afterwards": (
        sse(FIRST, STOP, chunk(call(1, "{}", "b"), stop="length")),
        ["truncated", "truncated"],
    ),
    "chat, a reason with every chunk": (
        sse(chunk(call(0, '{"x"', "a"), stop="tool_calls"), chunk(call(0, ":1}"), stop="tool_calls")),
        ["complete"],
    ),
    "chat, said again": (sse(chunk(call(0, '{"x":1}', "a")), STOP, chunk(call(0, '{"x": 1}', "a"))), ["complete"]),
    "anthropic, another block": (sse(STARTED, *tool_use(0), STOPPED, *tool_use(1)), ["complete", "open"]),
    "anthropic, terminated": (
        sse(STARTED, *tool_use(0), STOPPED, *tool_use(1), {"type": "message_stop"}),
        ["complete", "complete"],
    ),
}


@pytest.mark.parametrize(("recording", "states"), CASES.values(), ids=CASES)
def test_only_what_was_there_when_the_end_was_said_is_complete(recording: bytes, states: list[str]) -> None:
    events = events_of(recording)
    assert [call["state"] for call in state_of(events)["messages"][0]["calls"]] == states
    folding = Folding()
    for event in events:
        folding = folding.advance(event).resumed()
    assert folding.state == state_of(events)
