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
    Usage,
)
from recorder.dialects import get, recognise
from tests.dialects.exchanges import state
from tests.dialects.wire import decode_events, decode_frames, end, frame, of, request, rules

COMPLETIONS = get("openai.completions")
USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}


def chunk(text: str, *, index: int = 0, finish: str | None = None, **top: Any) -> dict[str, Any]:
    choice = {"index": index, "text": text, "logprobs": None, "finish_reason": finish}
    return {"id": "cmpl-1", "object": "text_completion", "model": "m1", "choices": [choice], **top}


def test_the_text_of_the_chunks_is_the_message() -> None:
    deltas = decode_frames(COMPLETIONS, chunk("a"), chunk("b"), chunk("", finish="stop"), "[DONE]")
    (started,) = of(MessageStarted, deltas)
    assert (started.message_id, started.model, started.role) == ("cmpl-1", "m1", "ai")
    assert [(text.block, text.text) for text in of(TextChunk, deltas)] == [("text", "a"), ("text", "b")]
    assert [finished.finish_reason for finished in of(MessageFinished, deltas)] == ["stop"]
    assert len(of(MessageClosed, deltas)) == len(of(RunEnded, deltas)) == 1
    assert rules(deltas) == []


def test_choices_are_kept_apart() -> None:
    deltas = decode_frames(COMPLETIONS, chunk("a"), chunk("b", index=1), chunk("c"))
    assert [(text.choice, text.text) for text in of(TextChunk, deltas)] == [(0, "a"), (1, "b"), (0, "c")]


@pytest.mark.parametrize(("reason", "truncating"), [("stop", False), ("length", True), ("content_filter", True)])
def test_a_finish_reason_says_whether_output_was_cut_off(reason: str, truncating: bool) -> None:
    (finished,) = of(MessageFinished, decode_frames(COMPLETIONS, chunk("a", finish=reason)))
    assert finished.truncating is truncating


def test_a_last_chunk_may_have_a_chats_empty_delta() -> None:
    ending = {"object": "text_completion", "choices": [{"delta": {}, "finish_reason": "stop"}]}
    deltas = decode_frames(COMPLETIONS, chunk("a"), ending)
    assert [finished.finish_reason for finished in of(MessageFinished, deltas)] == ["stop"]
    assert rules(deltas) == []


def test_counts_come_with_a_chunk_of_their_own() -> None:
    deltas = decode_frames(COMPLETIONS, chunk("a", finish="stop"), chunk("", choices=[], usage=USAGE))
    assert [usage.counts for usage in of(Usage, deltas)] == [
        {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}
    ]


def test_a_whole_answer_closes_with_its_event() -> None:
    answers = [chunk("a", finish="stop", usage=USAGE), chunk("b", finish="stop", usage=USAGE, id="cmpl-2")]
    deltas = decode_events(COMPLETIONS, [*(frame(COMPLETIONS, each) for each in answers), end(COMPLETIONS)])
    assert [started.message_id for started in of(MessageStarted, deltas)] == ["cmpl-1", "cmpl-2"]
    assert len(of(MessageClosed, deltas)) == 2


def test_the_last_chunk_of_a_stream_is_no_whole_answer() -> None:
    deltas = decode_frames(COMPLETIONS, chunk("a"), chunk("b", finish="stop", usage=USAGE))
    assert of(MessageClosed, deltas) == []


def test_an_answer_without_its_end_is_cut_off() -> None:
    deltas = decode_events(COMPLETIONS, [frame(COMPLETIONS, chunk("a")), end(COMPLETIONS)])
    assert of(RunEnded, deltas)[0].terminated is False


def test_an_error_in_mid_stream_fails_the_run() -> None:
    deltas = decode_frames(COMPLETIONS, chunk("a"), {"error": {"message": "busy"}}, "[DONE]")
    assert [failure.error for failure in of(Failure, deltas)] == ["busy"]
    assert of(RunEnded, deltas)[0].status == "error"


@pytest.mark.parametrize("kind", ["text_completion", "text.completion", "", None])
def test_choices_with_a_text_are_its_own(kind: str | None) -> None:
    found = recognise(chunk("a", object=kind), None)
    assert found is COMPLETIONS
    assert COMPLETIONS.envelope(chunk("a", object=kind), None).kind == (kind or "text_completion")


def test_a_prompt_says_nothing_of_calls() -> None:
    deltas = decode_events(COMPLETIONS, [request(COMPLETIONS, {"prompt": "a"}), frame(COMPLETIONS, chunk("b"))])
    assert [type(delta).__name__ for delta in deltas] == ["RunStarted", "MessageStarted", "TextChunk"]


def test_answers_of_a_dump_are_messages_of_their_own() -> None:
    frames = [chunk("a", finish="stop"), chunk("b", id="cmpl-2"), chunk("", id="cmpl-2", finish="stop")]
    assert [message["text"] for message in state(frames)["messages"]] == ["a", "b"]
