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
from tests.streams import Folding, stored

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


def answer(number: int, *, id: str, done: bool) -> list[Any]:
    """The frames of an answer with a role, a text, a call and a reason to stop."""
    call = {"index": 0, "id": f"call_{number}", "function": {"name": "f", "arguments": "{}"}}
    frames: list[Any] = [
        chunk({"role": "assistant", "content": ""}, id=id),
        chunk({"content": f"text {number}"}, id=id),
        chunk({"tool_calls": [call]}, id=id),
        chunk(finish="tool_calls", id=id),
    ]
    return [*frames, "[DONE]"] if done else frames


def outline(deltas: list[Any]) -> list[Any]:
    """Where messages begin and end, and what stands in them."""
    shown: list[Any] = []
    for delta in deltas:
        if isinstance(delta, MessageStarted):
            shown.append(("start", delta.message_id))
        elif isinstance(delta, TextChunk):
            shown.append(delta.text)
        elif isinstance(delta, ToolCallChunk):
            shown.append(delta.id)
        elif isinstance(delta, MessageClosed):
            shown.append("closed")
    return shown


def test_every_answer_of_a_dump_is_a_message_of_its_own() -> None:
    deltas = decode_frames(
        CHAT, *[frame for number in range(4) for frame in answer(number, id=f"c{number}", done=True)]
    )
    assert outline(deltas) == [
        part for n in range(4) for part in (("start", f"c{n}"), f"text {n}", f"call_{n}", "closed")
    ]


def test_answers_without_terminators_are_told_apart_by_their_ids() -> None:
    frames = [frame for number in range(3) for frame in answer(number, id=f"c{number}", done=False)]
    deltas = decode_events(CHAT, [*(frame(CHAT, each) for each in frames), end(CHAT)])
    assert outline(deltas) == [
        part for n in range(3) for part in (("start", f"c{n}"), f"text {n}", f"call_{n}", "closed")
    ]
    assert len(of(RunEnded, deltas)) == 1


def test_whole_answers_in_one_dump_are_messages_of_their_own() -> None:
    whole = [
        {"id": f"c{n}", "object": "chat.completion", "choices": [{"index": 0, "message": {"content": text}}]}
        for n, text in enumerate(("a", "", "b"))
    ]
    assert outline(decode_frames(CHAT, *whole)) == [
        ("start", "c0"),
        "a",
        "closed",
        ("start", "c1"),
        "closed",
        ("start", "c2"),
        "b",
        "closed",
    ]


def test_an_answer_after_an_error_and_its_terminator_is_a_new_message() -> None:
    frames = [{"error": {"message": "busy"}}, "[DONE]", *answer(1, id="c1", done=True), *answer(2, id="c2", done=True)]
    deltas = decode_frames(CHAT, *frames)
    assert outline(deltas) == [
        ("start", "c1"),
        "text 1",
        "call_1",
        "closed",
        ("start", "c2"),
        "text 2",
        "call_2",
        "closed",
    ]
    assert [ended.status for ended in of(RunEnded, deltas)] == ["error", "ok", "ok"]


def test_a_gateway_that_asks_again_after_a_failure_begins_a_new_message() -> None:
    frames = [chunk({"content": "a"}), {"error": {"message": "busy"}}, chunk({"content": "b"}, id="c2")]
    assert outline(decode_frames(CHAT, *frames)) == [("start", "c1"), "a", "closed", ("start", "c2"), "b"]


def test_content_after_the_terminator_of_an_exchange_is_cut_off_where_it_has_no_end() -> None:
    frames = [chunk({"content": "a"}, finish="stop"), "[DONE]", chunk({"content": "b"})]
    deltas = decode_events(CHAT, [*(frame(CHAT, each) for each in frames), end(CHAT)])
    assert outline(deltas) == [("start", "c1"), "a", "closed", ("start", "c1"), "b"]
    assert [ended.terminated for ended in of(RunEnded, deltas)] == [True, False]


@pytest.mark.parametrize(
    "late",
    [
        chunk(finish="stop", id="c2"),
        chunk({"role": "assistant", "content": ""}, id="c2"),
        chunk({"content": None, "tool_calls": []}, id="c2"),
        {"id": "c2", "object": "chat.completion.chunk", "choices": [], "usage": {"prompt_tokens": 1}},
    ],
)
@pytest.mark.parametrize("done", [True, False])
def test_what_follows_an_answer_without_content_begins_no_message(late: Any, done: bool) -> None:
    frames = [chunk({"content": "a"}), chunk(finish="stop"), *(["[DONE]"] if done else []), late, "[DONE]"]
    assert outline(decode_frames(CHAT, *frames)) == [("start", "c1"), "a", "closed"]


def test_counts_in_a_frame_of_another_protocol_are_none_of_this_one() -> None:
    foreign = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}}
    deltas = decode_frames(CHAT, chunk({"content": "a"}), foreign)
    assert of(Usage, deltas) == []
    assert rules(deltas) == ["unknown-frame"]


@pytest.mark.parametrize("before", [True, False])
def test_counts_that_no_message_takes_are_told(before: bool) -> None:
    counts = chunk(choices=[], usage=USAGE)
    answer = [chunk({"content": "a"}, finish="stop"), "[DONE]"]
    fold = Folding()
    sse = [counts, *answer] if before else [*answer, counts]
    fold.advance(*(stored(frame(CHAT, each), seq) for seq, each in enumerate(sse, 1)))
    found = [(each["seq"], each["rule"]) for each in fold.state["findings"]]
    assert found == [(1 if before else 3, "usage-without-message")]


def test_content_after_a_reason_to_stop_belongs_to_its_message_where_no_id_says_otherwise() -> None:
    same = [chunk({"content": "a"}, finish="stop"), chunk({"content": "b"})]
    assert outline(decode_frames(CHAT, *same)) == [("start", "c1"), "a", "b"]
    varying = [chunk({"content": "a"}), chunk(id="c2", finish="stop"), chunk({"content": "b"}, id="c3")]
    assert outline(decode_frames(CHAT, *varying)) == [("start", "c1"), "a", "b"]


def test_a_choice_that_goes_on_keeps_the_answer_open() -> None:
    frames = [chunk({"content": "a"}), chunk({"content": "b"}, index=1), chunk(finish="stop")]
    assert of(MessageClosed, decode_frames(CHAT, *frames, chunk({"content": "c"}, index=1, id="c2"))) == []


@pytest.mark.parametrize("missing", ["null", "None", ""])
def test_a_reason_that_is_written_as_missing_finishes_nothing(missing: str) -> None:
    deltas = decode_events(CHAT, [frame(CHAT, chunk({"content": "a"}, finish=missing)), end(CHAT)])
    assert of(MessageFinished, deltas) == []
    assert of(RunEnded, deltas)[0].terminated is False


def test_a_failure_in_the_frame_that_begins_an_answer_is_that_answers() -> None:
    frames = [*answer(1, id="c1", done=True), chunk({"content": "b"}, id="c2", error={"message": "busy"}), "[DONE]"]
    deltas = decode_frames(CHAT, *frames)
    assert outline(deltas) == [("start", "c1"), "text 1", "call_1", "closed", ("start", "c2"), "b"]
    assert [ended.status for ended in of(RunEnded, deltas)] == ["ok", "error"]
