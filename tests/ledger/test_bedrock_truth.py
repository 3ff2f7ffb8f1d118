"""Bedrock's calls are complete only where the stop was seen, wherever the recording is cut."""

from __future__ import annotations

import json
from typing import Any

import pytest

from recorder.events import eventstream
from recorder.events.framing import frame_of
from tests.dialects.traffic.bedrock_invoke import chunk
from tests.streams import CASSETTES, events_of, state_of


def call_states(state: dict[str, Any]) -> list[str]:
    return [call["state"] for message in state["messages"] for call in message["calls"]]


@pytest.mark.parametrize(("name", "stop"), [("converse.bin", "messageStop"), ("invoke.bin", "message_delta")])
def test_a_call_is_complete_from_its_messages_stop_on(name: str, stop: str) -> None:
    events = events_of(CASSETTES / name)
    finish = next(event.seq for event in events if event.kind == stop)
    for n in range(1, len(events) + 1):
        assert call_states(state_of(events, n)) in (["complete"] if n >= finish else ["open"], [])
    assert call_states(state_of(events, finish)) == ["complete"]


@pytest.mark.parametrize(("name", "stop"), [("converse.bin", "messageStop"), ("invoke.bin", "message_delta")])
def test_a_file_cut_at_any_byte_before_the_stop_has_no_complete_call(name: str, stop: str) -> None:
    data = (CASSETTES / name).read_bytes()
    events = events_of(data)
    finish = next(event.seq for event in events if event.kind == stop)
    whole = sum(len(frame_of(event)) for event in events[:finish])
    for cut in range(eventstream.PRELUDE_BYTES, whole, 7):
        assert call_states(state_of(events_of(data[:cut]))) in ([], ["open"]), cut
    assert call_states(state_of(events_of(data[: whole - 1]))) == ["open"]
    assert call_states(state_of(events_of(data[:whole]))) == ["complete"]


@pytest.mark.parametrize(
    ("reason", "state"),
    [
        ("tool_use", "complete"),
        ("max_tokens", "truncated"),
        ("guardrail_intervened", "truncated"),
        ("content_filtered", "truncated"),
        ("malformed_tool_use", "truncated"),
        ("model_context_window_exceeded", "truncated"),
    ],
)
@pytest.mark.parametrize("wrap", [lambda value: value, chunk], ids=["converse", "invoke"])
def test_a_call_stopped_for_any_other_reason_is_truncated_though_its_text_is_whole(
    reason: str, state: str, wrap: Any
) -> None:
    frames = [
        {"messageStart": {"role": "assistant"}},
        {"contentBlockStart": {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "t", "name": "f"}}}},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolUse": {"input": '{"a":1}'}}}},
        {"contentBlockStop": {"contentBlockIndex": 0}},
        {"messageStop": {"stopReason": reason}},
        {"metadata": {"usage": {"inputTokens": 1}}},
    ]
    events = events_of("".join(json.dumps(wrap(each)) + "\n" for each in frames).encode())
    assert [call_states(state_of(events, n)) for n in (4, 5, 6)] == [["open"], [state], [state]]


def test_an_exception_cuts_off_what_is_open() -> None:
    *events, _, _, _ = events_of(CASSETTES / "converse.bin")
    failure = {"modelStreamErrorException": {"message": "gone"}}
    failed = events_of(
        "".join(json.dumps({event.kind: json.loads(event.body)}) + "\n" for event in events).encode()
        + json.dumps(failure).encode()
        + b"\n"
    )
    assert call_states(state_of(failed)) == ["truncated"]
    assert [found["rule"] for found in state_of(failed)["findings"]] == ["failure"]
