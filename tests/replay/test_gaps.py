"""A frame that could not be read inside a call's arguments: the text may be whole, and still lack a piece."""

from __future__ import annotations

import json

from tests.streams import events_of, state_of


def chunk(arguments: str, **fields: object) -> str:
    call = {"index": 0, "function": {"arguments": arguments}, **fields}
    return json.dumps({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})


END = '{"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}'


def test_a_call_names_the_events_in_it_that_could_not_be_read() -> None:
    frames = [chunk('{"path": "/tmp', id="a"), '{"object": "chat.comp', chunk('"}'), '{"torn', END]
    events = events_of("".join(f"data: {frame}\n\n" for frame in frames).encode())
    state = state_of(events)
    (call,) = state["messages"][0]["calls"]
    assert (call["raw"], call["gaps"]) == ('{"path": "/tmp"}', [2])
    assert [(row["seq"], row["rule"], row["severity"]) for row in state["findings"]] == [
        (2, "not-json", "warning"),
        (4, "not-json", "warning"),
    ]
    assert "gaps" not in state_of(events, 2)["messages"][0]["calls"][0]
