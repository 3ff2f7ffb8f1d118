from __future__ import annotations

from typing import Any

import pytest

from recorder.deltas import (
    Failure,
    MessageClosed,
    MessageFinished,
    MessageStarted,
    RunEnded,
    TextChunk,
    ToolCallChunk,
    Usage,
)
from recorder.dialects import get
from tests.dialects.wire import decode_events, decode_frames, end, frame, of, rules

MESSAGES = get("anthropic.messages")
TEXT = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
STOP = {"type": "message_stop"}


def start(id: str = "msg_1", **fields: Any) -> dict[str, Any]:
    message = {"id": id, "type": "message", "role": "assistant", "model": "m1", "content": [], **fields}
    return {"type": "message_start", "message": message}


def stop_reason(reason: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, **fields}


def test_a_message_starts_with_its_head() -> None:
    (started,) = of(MessageStarted, decode_frames(MESSAGES, start(), TEXT))
    assert (started.message_id, started.role, started.model, started.restart) == ("msg_1", "ai", "m1", False)


def test_a_second_start_in_one_answer_supersedes_the_open_message() -> None:
    frames = [start(), TEXT, start("msg_2"), TEXT]
    deltas = decode_frames(MESSAGES, *frames)
    assert [(each.message_id, each.restart) for each in of(MessageStarted, deltas)] == [
        ("msg_1", False),
        ("msg_2", True),
    ]
    assert rules(deltas) == []


def test_a_start_after_the_end_is_a_new_message() -> None:
    started = of(MessageStarted, decode_frames(MESSAGES, start(), STOP, start("msg_2")))
    assert [each.restart for each in started] == [False, False]


def test_content_without_a_start_is_read_with_a_finding() -> None:
    deltas = decode_frames(MESSAGES, TEXT)
    assert rules(deltas) == ["message-without-start"]
    assert of(MessageStarted, deltas)[0].role == "ai"


@pytest.mark.parametrize(
    ("reason", "truncating"),
    [
        ("end_turn", False),
        ("tool_use", False),
        ("stop_sequence", False),
        ("pause_turn", False),
        ("max_tokens", True),
        ("refusal", True),
        ("model_context_window_exceeded", True),
    ],
)
def test_a_stop_reason_says_whether_output_was_cut_off(reason: str, truncating: bool) -> None:
    (finished,) = of(MessageFinished, decode_frames(MESSAGES, start(stop_reason=None), stop_reason(reason)))
    assert (finished.finish_reason, finished.truncating) == (reason, truncating)


def test_message_stop_closes_the_message_and_the_run() -> None:
    deltas = decode_events(MESSAGES, [*(frame(MESSAGES, each) for each in (start(), STOP)), end(MESSAGES)])
    assert [type(delta) for delta in deltas[-2:]] == [MessageClosed, RunEnded]


def test_an_answer_without_stop_reason_or_stop_is_not_whole() -> None:
    deltas = decode_events(MESSAGES, [frame(MESSAGES, start()), frame(MESSAGES, TEXT), end(MESSAGES)])
    assert of(RunEnded, deltas)[0].terminated is False


def test_a_restart_takes_the_earlier_stop_reason_back() -> None:
    frames = [start(), stop_reason("end_turn"), start("msg_2"), TEXT]
    deltas = decode_events(MESSAGES, [*(frame(MESSAGES, each) for each in frames), end(MESSAGES)])
    assert of(RunEnded, deltas)[0].terminated is False


def test_usage_comes_at_the_start_and_grows() -> None:
    first = {"input_tokens": 20, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 0, "output_tokens": 1}
    last = {"output_tokens": 9, "output_tokens_details": {"thinking_tokens": 4}, "server_tool_use": {"x": 1}}
    deltas = decode_frames(MESSAGES, start(usage=first), stop_reason("end_turn", usage=last))
    assert [usage.counts for usage in of(Usage, deltas)] == [
        {
            "input_tokens": 20,
            "output_tokens": 1,
            "input_token_details": {"cache_read": 5, "cache_creation": 0},
        },
        {"output_tokens": 9, "output_token_details": {"reasoning": 4}},
    ]


def test_pings_say_nothing_and_errors_fail_the_run() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    deltas = decode_events(
        MESSAGES, [*(frame(MESSAGES, each) for each in (start(), {"type": "ping"}, error)), end(MESSAGES)]
    )
    assert [failure.error for failure in of(Failure, deltas)] == ["overloaded_error: Overloaded"]
    assert of(RunEnded, deltas)[0].status == "error"
    assert of(MessageClosed, deltas) == []


def test_a_whole_answer_closes_with_its_event() -> None:
    answer = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m1",
        "content": [
            {"type": "text", "text": "Let me see.", "citations": None},
            {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {"a": 1}},
            {"type": "tool_use", "id": "toolu_2", "name": "now", "input": {}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 1, "output_tokens": 2},
    }
    deltas = decode_events(MESSAGES, [frame(MESSAGES, answer), end(MESSAGES)])
    calls = [(chunk.id, chunk.args, chunk.block) for chunk in of(ToolCallChunk, deltas)]
    assert calls == [("toolu_1", '{"a":1}', 1), ("toolu_2", "{}", 2)]
    assert of(TextChunk, deltas) == []
    assert [type(delta).__name__ for delta in deltas[-4:]] == ["MessageFinished", "Usage", "MessageClosed", "RunEnded"]


def test_a_frame_of_another_type_is_a_finding() -> None:
    deltas = decode_frames(MESSAGES, {"type": "message_hologram"}, 4)
    assert rules(deltas) == ["unknown-frame", "unknown-frame"]


def test_every_message_of_a_dump_is_closed_by_its_own_end() -> None:
    frames = [each for number in range(3) for each in (start(f"msg_{number}"), TEXT, stop_reason("end_turn"), STOP)]
    deltas = decode_frames(MESSAGES, *frames)
    kinds = [type(delta) for delta in deltas if isinstance(delta, MessageStarted | MessageClosed)]
    assert kinds == [MessageStarted, MessageClosed] * 3
    assert [started.restart for started in of(MessageStarted, deltas)] == [False] * 3


def test_a_start_after_a_stop_reason_is_another_message() -> None:
    deltas = decode_frames(MESSAGES, start(), TEXT, stop_reason("end_turn"), start("msg_2"), TEXT)
    assert [started.restart for started in of(MessageStarted, deltas)] == [False, False]
    assert len(of(MessageClosed, deltas)) == 1


def test_content_after_the_end_is_a_message_that_must_end_too() -> None:
    frames = [frame(MESSAGES, each) for each in (start(), TEXT, stop_reason("end_turn"), STOP, TEXT)]
    deltas = decode_events(MESSAGES, [*frames, end(MESSAGES)])
    assert rules(deltas) == ["message-without-start"]
    assert len(of(MessageStarted, deltas)) == 2
    assert [ended.terminated for ended in of(RunEnded, deltas)] == [True, False]


def test_a_delta_of_a_message_that_ended_begins_none() -> None:
    deltas = decode_frames(MESSAGES, start(), TEXT, stop_reason("end_turn"), STOP, stop_reason("end_turn"))
    assert rules(deltas) == ["message-without-start"]
    assert len(of(MessageStarted, deltas)) == 1
