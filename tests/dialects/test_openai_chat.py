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

CHAT = get("openai.chat")


def chunk(delta: object = None, *, index: object = 0, finish: object = None, **top: Any) -> dict[str, Any]:
    choice = {"index": index, "delta": {} if delta is None else delta, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "model": "m1", "choices": [choice], **top}


def test_a_message_starts_once_with_its_head() -> None:
    deltas = decode_frames(CHAT, chunk({"role": "assistant", "content": ""}), chunk({"content": "a"}))
    (started,) = of(MessageStarted, deltas)
    assert (started.message_id, started.model, started.role, started.restart) == ("c1", "m1", "ai", False)


def test_a_head_that_comes_in_two_chunks_is_completed() -> None:
    first = chunk({"content": "a"}, id="", model="")
    started = of(MessageStarted, decode_frames(CHAT, first, chunk({"content": "b"}), chunk({"content": "c"})))
    assert [(each.role, each.message_id, each.model) for each in started] == [("ai", None, None), (None, "c1", "m1")]


def test_an_id_that_changes_from_chunk_to_chunk_is_one_message() -> None:
    deltas = decode_frames(CHAT, chunk({"content": "a"}), chunk({"content": "b"}, id="c2"))
    assert len(of(MessageStarted, deltas)) == 1


def test_choices_are_kept_apart() -> None:
    deltas = decode_frames(CHAT, chunk({"content": "a"}), chunk({"content": "b"}, index=1), chunk({"content": "c"}))
    assert [(text.choice, text.text) for text in of(TextChunk, deltas)] == [(0, "a"), (1, "b"), (0, "c")]
    assert [started.choice for started in of(MessageStarted, deltas)] == [0, 1]


@pytest.mark.parametrize("index", [None, "x", {}, -1, 1 << 40])
def test_a_choice_without_a_proper_index_is_the_first(index: Any) -> None:
    assert of(TextChunk, decode_frames(CHAT, chunk({"content": "a"}, index=index)))[0].choice == 0


def test_the_message_so_far_beside_a_delta_is_not_read_again() -> None:
    both = {"index": 0, "delta": {"content": "b"}, "message": {"content": "ab"}}
    deltas = decode_frames(CHAT, chunk({"content": "a"}), {"object": "chat.completion.chunk", "choices": [both]})
    assert [text.text for text in of(TextChunk, deltas)] == ["a", "b"]
    assert of(RunEnded, deltas) == []


@pytest.mark.parametrize(
    ("reason", "truncating"),
    [
        ("stop", False),
        ("tool_calls", False),
        ("function_call", False),
        ("length", True),
        ("content_filter", True),
        ("MAX_TOKENS", True),
        ("insufficient_system_resource", True),
        ("error", True),
    ],
)
def test_a_finish_reason_says_whether_output_was_cut_off(reason: str, truncating: bool) -> None:
    (finished,) = of(MessageFinished, decode_frames(CHAT, chunk(finish=reason)))
    assert (finished.finish_reason, finished.truncating) == (reason, truncating)


def test_an_empty_finish_reason_is_none() -> None:
    assert of(MessageFinished, decode_frames(CHAT, chunk(finish=""))) == []


def test_one_unfinished_choice_leaves_the_exchange_unterminated() -> None:
    frames = [chunk({"content": "a"}), chunk({"content": "b"}, index=1), chunk(finish="stop")]
    deltas = decode_events(CHAT, [*(frame(CHAT, each) for each in frames), end(CHAT)])
    assert of(RunEnded, deltas)[0].terminated is False


USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
COUNTS = {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}


@pytest.mark.parametrize(
    "usage_frame",
    [
        chunk(choices=[], usage=USAGE),
        chunk({}, finish="stop", usage=USAGE),
        chunk({}, x_groq={"id": "r", "usage": USAGE}),
        {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "usage": USAGE}]},
    ],
    ids=["alone", "beside the choice", "x_groq", "in the choice"],
)
def test_usage_is_found_wherever_a_server_puts_it(usage_frame: Any) -> None:
    assert [usage.counts for usage in of(Usage, decode_frames(CHAT, usage_frame))] == [COUNTS]


def test_an_error_in_mid_stream_fails_the_run_and_done_ends_it() -> None:
    error = {"error": {"message": "no tool called", "code": "tool_use_failed"}}
    deltas = decode_frames(CHAT, chunk({"content": "a"}), error, "[DONE]")
    assert [failure.error for failure in of(Failure, deltas)] == ["tool_use_failed: no tool called"]
    assert of(MessageClosed, deltas) == []
    assert of(RunEnded, deltas)[0].status == "error"


def test_an_sse_event_named_error_is_a_failure_whatever_its_data() -> None:
    deltas = decode_events(CHAT, [frame(CHAT, {"message": "upstream died"}, "error")])
    assert [failure.error for failure in of(Failure, deltas)] == ["upstream died"]


def test_an_error_inside_a_choice_is_a_failure() -> None:
    choice = {"index": 0, "delta": {"content": ""}, "finish_reason": "error", "error": {"code": 502, "message": "bad"}}
    deltas = decode_frames(CHAT, {"object": "chat.completion.chunk", "choices": [choice]})
    assert of(Failure, deltas)[0].error == "502: bad"
    assert of(MessageFinished, deltas)[0].truncating


def test_a_whole_answer_closes_with_its_event() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "add", "arguments": '{"a":1}'}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    answer = {
        "id": "c1",
        "object": "chat.completion",
        "model": "m1",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
        "usage": USAGE,
    }
    deltas = decode_events(CHAT, [frame(CHAT, answer), end(CHAT)])
    names = [type(delta).__name__ for delta in deltas]
    assert names == [
        "RunStarted",
        "MessageStarted",
        "ToolCallChunk",
        "MessageFinished",
        "Usage",
        "MessageClosed",
        "RunEnded",
    ]
    (called,) = of(ToolCallChunk, deltas)
    assert (called.id, called.name, called.args, called.index) == ("call_1", "add", '{"a":1}', None)


def test_azures_filter_chunks_say_nothing() -> None:
    prompt = {"choices": [], "id": "", "model": "", "object": "", "prompt_filter_results": [{"prompt_index": 0}]}
    checked: dict[str, Any] = {
        "index": 0,
        "finish_reason": None,
        "content_filter_results": {},
        "content_filter_offsets": {},
    }
    deltas = decode_frames(CHAT, prompt, {"id": "", "object": "", "choices": [checked]})
    assert [type(delta).__name__ for delta in deltas] == ["RunStarted", "MessageStarted"]


def test_sources_beside_the_choices_are_said_once_and_again_when_they_grow() -> None:
    frames = [chunk({"content": "a"}, citations=["x"]), chunk({"content": "b"}, citations=["x"])]
    deltas = decode_frames(CHAT, *frames, chunk({"content": "c"}, citations=["x", "y"]))
    items = [delta for delta in deltas if type(delta).__name__ == "BlockItem"]
    assert [(item.block, item.field, item.value, item.replace) for item in items] == [  # type: ignore[union-attr]
        ("text", "citations", ["x"], True),
        ("text", "citations", ["x", "y"], True),
    ]


def test_a_frame_of_another_kind_is_a_finding() -> None:
    deltas = decode_frames(CHAT, {"object": "chat.completion.extra", "id": "c1"}, 7, {"choices": ["x"]})
    assert rules(deltas) == ["unknown-frame", "unknown-frame", "malformed-field"]
