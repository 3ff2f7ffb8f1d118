from __future__ import annotations

from typing import Any

import pytest

from recorder.deltas import (
    BlockItem,
    History,
    HistoryCall,
    MessageClosed,
    MessageFinished,
    MessageStarted,
    RunEnded,
    TextChunk,
    ToolCallChunk,
    Usage,
)
from recorder.dialects import get
from tests.dialects.exchanges import pairings, state
from tests.dialects.wire import decode_events, decode_frames, end, frame, of, request, rules

COHERE = get("cohere.v1")
CALL = {"name": "f", "parameters": {"a": 1}}


def said(kind: str, **fields: Any) -> dict[str, Any]:
    return {"is_finished": kind == "stream-end", "event_type": kind, **fields}


def piece(**delta: Any) -> dict[str, Any]:
    return said("tool-calls-chunk", tool_call_delta={"index": 0, **delta})


def stop(reason: str = "COMPLETE", **response: Any) -> dict[str, Any]:
    return said("stream-end", finish_reason=reason, response={"generation_id": "g1", "text": "", **response})


START = said("stream-start", generation_id="g1")
STREAMED = [START, piece(name="f"), piece(parameters='{"a": '), piece(parameters="1}")]


def test_text_is_gathered_and_the_answer_at_the_end_is_not_appended() -> None:
    text = [said("text-generation", text=part) for part in ("Arr", ", matey")]
    meta = {"tokens": {"input_tokens": 69, "output_tokens": 116}, "billed_units": {"input_tokens": 7}}
    deltas = decode_frames(COHERE, START, *text, stop(text="Arr, matey", meta=meta))
    (started,) = of(MessageStarted, deltas)
    assert (started.message_id, started.role) == ("g1", "ai")
    assert [chunk.text for chunk in of(TextChunk, deltas)] == ["Arr", ", matey"]
    assert [usage.counts for usage in of(Usage, deltas)] == [{"input_tokens": 69, "output_tokens": 116}]
    assert len(of(MessageClosed, deltas)) == len(of(RunEnded, deltas)) == 1


def test_what_was_not_streamed_is_taken_from_the_answer_at_the_end() -> None:
    deltas = decode_frames(COHERE, START, stop(text="Arr", citations=[{"start": 0}], documents=[{"id": "d"}]))
    assert [chunk.text for chunk in of(TextChunk, deltas)] == ["Arr"]
    assert [(item.field, item.value) for item in of(BlockItem, deltas)] == [
        ("citations", {"start": 0}),
        ("documents", {"id": "d"}),
    ]


@pytest.mark.parametrize(
    ("frames", "raw"),
    [
        ([*STREAMED, said("tool-calls-generation", tool_calls=[CALL]), stop(tool_calls=[CALL])], '{"a": 1}'),
        ([START, said("tool-calls-generation", tool_calls=[CALL]), stop(tool_calls=[CALL])], '{"a":1}'),
        ([START, stop(tool_calls=[CALL])], '{"a":1}'),
        ([*STREAMED, stop()], '{"a": 1}'),
    ],
    ids=["in pieces", "at once", "at the end", "never whole"],
)
def test_a_call_is_one_however_often_it_is_said(frames: list[Any], raw: str) -> None:
    found = state(frames)
    (message,) = found["messages"]
    assert [(call["id"], call["name"], call["raw"], call["state"]) for call in message["calls"]] == [
        (None, "f", raw, "complete")
    ]
    assert found["findings"] == []


def test_a_call_that_the_end_says_otherwise_is_a_finding() -> None:
    other = {"name": "f", "parameters": {"a": 2}}
    found = state([*STREAMED, stop(tool_calls=[other])])
    assert [finding["rule"] for finding in found["findings"]] == ["restatement-differs"]
    assert found["messages"][0]["calls"][0]["value"] == {"a": 1}


def test_the_plan_of_a_call_is_a_block_of_its_own_and_said_once() -> None:
    plan = [said("tool-calls-chunk", text=part) for part in ("I will ", "look.")]
    whole = said("tool-calls-generation", text="I will look.", tool_calls=[CALL])
    deltas = decode_frames(COHERE, START, *plan, whole, stop(text="I will look.", tool_calls=[CALL]))
    assert [(chunk.block, chunk.text) for chunk in of(TextChunk, deltas)] == [
        ("tool_plan", "I will "),
        ("tool_plan", "look."),
    ]


def test_a_text_that_was_streamed_is_no_plan_at_the_end() -> None:
    deltas = decode_frames(COHERE, START, said("text-generation", text="a"), stop(text="a", tool_calls=[CALL]))
    assert [(chunk.block, chunk.text) for chunk in of(TextChunk, deltas)] == [("text", "a")]


@pytest.mark.parametrize(
    ("reason", "truncating"), [("COMPLETE", False), ("MAX_TOKENS", True), ("ERROR_LIMIT", True), ("ERROR_TOXIC", True)]
)
def test_a_finish_reason_says_whether_output_was_cut_off(reason: str, truncating: bool) -> None:
    (finished,) = of(MessageFinished, decode_frames(COHERE, START, stop(reason)))
    assert (finished.finish_reason, finished.truncating) == (reason, truncating)


def test_a_whole_answer_closes_with_its_event() -> None:
    answer = {"text": "a", "generation_id": "g1", "finish_reason": "COMPLETE", "tool_calls": [CALL], "meta": {}}
    deltas = decode_events(COHERE, [frame(COHERE, answer), end(COHERE)])
    assert [chunk.args for chunk in of(ToolCallChunk, deltas)] == ['{"a":1}']
    assert [(text.block, text.text) for text in of(TextChunk, deltas)] == [("tool_plan", "a")]
    assert [type(delta) for delta in deltas[-2:]] == [MessageClosed, RunEnded]


def test_a_stream_without_its_end_is_cut_off() -> None:
    deltas = decode_events(COHERE, [*(frame(COHERE, each) for each in STREAMED), end(COHERE)])
    assert of(RunEnded, deltas)[0].terminated is False


def test_every_answer_of_a_dump_is_a_message_of_its_own() -> None:
    deltas = decode_frames(COHERE, *STREAMED, stop(), *STREAMED, stop())
    assert [started.restart for started in of(MessageStarted, deltas)] == [False, False]
    assert len(of(MessageClosed, deltas)) == 2


def test_a_frame_of_another_type_is_a_finding() -> None:
    assert rules(decode_frames(COHERE, said("debug", prompt="p"), said("hologram"), [])) == [
        "unknown-frame",
        "unknown-frame",
    ]


def history(body: dict[str, Any]) -> list[tuple[str | None, Any]]:
    """The history's entries: a call's name and arguments, an answer's name and content."""
    entries = [
        entry for found in of(History, decode_events(COHERE, [request(COHERE, body)])) for entry in found.entries
    ]
    return [(each.name, each.args if isinstance(each, HistoryCall) else each.content) for each in entries]


def result(number: int) -> dict[str, Any]:
    return {"call": {"name": "f", "parameters": {"a": number}}, "outputs": [{"r": number}]}


def test_results_are_given_in_the_order_of_their_calls() -> None:
    calls = [{"name": "f", "parameters": {"a": number}} for number in (1, 2)]
    turns = [{"role": "CHATBOT", "tool_calls": calls}, {"role": "TOOL", "tool_results": [result(2), result(1)]}]
    assert history({"chat_history": turns}) == [
        ("f", '{"a":1}'),
        ("f", '{"a":2}'),
        ("f", [{"r": 1}]),
        ("f", [{"r": 2}]),
    ]


def test_a_call_that_only_its_result_shows_is_a_call_too() -> None:
    assert history({"tool_results": [result(1)]}) == [("f", '{"a":1}'), ("f", [{"r": 1}])]


def test_a_result_answers_the_call_that_was_streamed() -> None:
    answered = {"message": "go on", "tool_results": [result(1)]}
    asked = [*STREAMED, stop()]
    assert pairings(COHERE, ({"message": "go"}, asked), (answered, [START, stop(text="done")])) == [
        (None, "f", "answered", [{"r": 1}])
    ]


def test_items_that_were_streamed_are_not_taken_again_from_the_answer_at_the_end() -> None:
    cited = said("citation-generation", citations=[{"start": 0}])
    deltas = decode_frames(COHERE, START, said("text-generation", text="a"), cited, stop(citations=[{"start": 0}]))
    assert [(item.field, item.value) for item in of(BlockItem, deltas)] == [("citations", {"start": 0})]


def test_an_error_in_place_of_a_frame_fails_the_run() -> None:
    found = state([*STREAMED, {"error": {"message": "overloaded"}}])
    assert [call["state"] for message in found["messages"] for call in message["calls"]] == ["truncated"]
    assert [(row["rule"], row["detail"]) for row in found["findings"]] == [("failure", "overloaded")]


@pytest.mark.parametrize(
    "value",
    [
        {"event_type": "text-generation", "text": "a"},
        {"is_finished": False, "event_type": "delta"},
        {"text": "a", "generation_id": "g"},
        {"text": "a", "meta": {}},
    ],
)
def test_what_others_may_say_too_is_not_recognised(value: Any) -> None:
    assert not COHERE.recognises(value, None)
