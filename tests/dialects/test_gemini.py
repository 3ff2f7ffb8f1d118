from __future__ import annotations

from typing import Any

import pytest

from recorder.deltas import (
    BlockItem,
    Failure,
    MessageClosed,
    MessageFinished,
    MessageStarted,
    RunEnded,
    RunStarted,
    TextChunk,
    ToolCallChunk,
    Usage,
)
from recorder.dialects import get, recognise
from tests.dialects.wire import decode_events, decode_frames, end, frame, of, response, rules

GEMINI = get("gemini")


def chunk(
    text: str | None = None, finish: str | None = None, *, index: int | None = None, **fields: Any
) -> dict[str, Any]:
    candidate: dict[str, Any] = {}
    if text is not None:
        candidate["content"] = {"role": "model", "parts": [{"text": text}]}
    candidate |= {} if finish is None else {"finishReason": finish}
    candidate |= {} if index is None else {"index": index}
    return {"candidates": [candidate], **fields}


@pytest.mark.parametrize(
    "value",
    [
        chunk("a"),
        chunk(finish="STOP"),
        {"candidates": [{"content": {"role": "model"}, "index": 0}]},
        {"promptFeedback": {"blockReason": "SAFETY"}},
        {"usageMetadata": {}, "modelVersion": "m"},
        {"candidates": [{"content": {"parts": []}, "finish_reason": "STOP"}], "usage_metadata": {}},
        [chunk("a"), chunk("b")],
        {"response": chunk("a"), "traceId": "t"},
    ],
)
def test_its_frames_are_recognised(value: Any) -> None:
    assert recognise(value, None) is GEMINI
    assert GEMINI.envelope(value, None).kind == "GenerateContentResponse"


@pytest.mark.parametrize(
    "value",
    [
        {"candidates": []},
        {"candidates": [{"name": "Ann", "votes": 3}]},
        {"candidates": [{"output": "PaLM's"}]},
        {"usageMetadata": {}},
        {"error": {"code": 429, "message": "m", "status": "RESOURCE_EXHAUSTED"}},
        {"response": {"status": 200}},
        [],
        [1],
        "candidates",
    ],
)
def test_others_frames_are_not(value: Any) -> None:
    assert not GEMINI.recognises(value, None)


def test_a_message_has_the_responses_id_and_the_models_version() -> None:
    deltas = decode_frames(
        GEMINI, chunk("a"), chunk("b", responseId="r1", modelVersion="m1"), chunk("c", responseId="r1")
    )
    assert [(each.message_id, each.role, each.model) for each in of(MessageStarted, deltas)] == [
        (None, "ai", None),
        ("r1", None, "m1"),
    ]


@pytest.mark.parametrize(
    ("reason", "truncating"),
    [
        ("STOP", False),
        ("MAX_TOKENS", True),
        ("SAFETY", True),
        ("RECITATION", True),
        ("MALFORMED_FUNCTION_CALL", True),
        ("UNEXPECTED_TOOL_CALL", True),
        ("OTHER", True),
        ("ADDED_NEXT_YEAR", True),
    ],
)
def test_only_stop_means_that_nothing_was_cut_off(reason: str, truncating: bool) -> None:
    (finished,) = of(MessageFinished, decode_frames(GEMINI, chunk("a", reason)))
    assert (finished.finish_reason, finished.truncating) == (reason, truncating)


@pytest.mark.parametrize("reason", ["FINISH_REASON_UNSPECIFIED", "", None])
def test_an_unspecified_reason_is_none(reason: Any) -> None:
    deltas = decode_frames(GEMINI, {"candidates": [{"content": {"parts": [{"text": "a"}]}, "finishReason": reason}]})
    assert of(MessageFinished, deltas) == []


def test_a_reason_in_every_candidate_is_the_end() -> None:
    frames = [chunk("a", index=0), chunk("b", "STOP", index=1), chunk("c", "STOP", index=0)]
    for count, terminated in ((2, False), (3, True)):
        deltas = decode_events(GEMINI, [*(frame(GEMINI, each) for each in frames[:count]), end(GEMINI)])
        assert [each.terminated for each in of(RunEnded, deltas)] == [terminated]
        assert len(of(MessageClosed, deltas)) == terminated
    assert [(each.choice, each.text) for each in of(TextChunk, deltas)] == [(0, "a"), (1, "b"), (0, "c")]


def test_a_dump_that_merely_ends_ends_nothing() -> None:
    deltas = decode_frames(GEMINI, chunk("a", "STOP"))
    assert of(RunEnded, deltas) == of(MessageClosed, deltas) == []


def test_another_response_in_the_same_dump_is_another_message() -> None:
    frames = [
        chunk("a", "STOP", responseId="r1"),
        {"usageMetadata": {"totalTokenCount": 1}, "responseId": "r1"},
        chunk("b", "STOP", responseId="r2"),
    ]
    deltas = decode_frames(GEMINI, *frames)
    kinds = [type(each) for each in deltas if isinstance(each, MessageStarted | MessageClosed | Usage)]
    assert kinds == [MessageStarted, Usage, MessageClosed, MessageStarted]
    assert len(of(RunStarted, deltas)) == 1


def test_a_reason_in_every_chunk_ends_nothing_before_the_last() -> None:
    """As the first Gemini models had it."""
    deltas = decode_frames(GEMINI, chunk("a", "STOP"), chunk("b", "STOP"))
    assert len(of(MessageStarted, deltas)) == 1


def test_a_blocked_prompt_is_an_answer_that_was_cut_off() -> None:
    blocked = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "responseId": "r1"}
    deltas = decode_events(GEMINI, [frame(GEMINI, blocked), end(GEMINI)])
    (finished,) = of(MessageFinished, deltas)
    assert (finished.finish_reason, finished.truncating) == ("PROHIBITED_CONTENT", True)
    assert [item.value for item in of(BlockItem, deltas)] == [{"blockReason": "PROHIBITED_CONTENT"}]
    assert [each.terminated for each in of(RunEnded, deltas)] == [True]


def test_ratings_of_a_prompt_that_was_let_through_are_kept() -> None:
    deltas = decode_frames(GEMINI, chunk("a", promptFeedback={"safetyRatings": [{"probability": "LOW"}]}))
    assert [(item.block, item.field) for item in of(BlockItem, deltas)] == [("non_standard", "promptFeedback")]
    assert of(MessageFinished, deltas) == []


def test_what_a_candidate_says_of_itself_is_kept_once_each_time_that_it_differs() -> None:
    def said(**fields: Any) -> dict[str, Any]:
        return {"candidates": [{"content": {"parts": [{"text": "a"}]}, **fields}]}

    frames = [
        said(groundingMetadata={"webSearchQueries": ["q"]}, safetyRatings=[1], tokenCount=1),
        said(groundingMetadata={"webSearchQueries": ["q"]}, safetyRatings=[1], tokenCount=2),
        said(groundingMetadata={"groundingChunks": []}, safetyRatings=[], citationMetadata={}, avgLogprobs=None),
    ]
    items = of(BlockItem, decode_frames(GEMINI, *frames))
    assert [(item.field, item.value, item.replace) for item in items] == [
        ("groundingMetadata", {"webSearchQueries": ["q"]}, False),
        ("safetyRatings", [1], True),
        ("tokenCount", 1, True),
        ("tokenCount", 2, True),
        ("groundingMetadata", {"groundingChunks": []}, False),
    ]


def test_counts() -> None:
    (usage,) = of(
        Usage, decode_frames(GEMINI, chunk("a", usageMetadata={"promptTokenCount": 3, "thoughtsTokenCount": 2}))
    )
    assert usage.counts == {"input_tokens": 3, "output_token_details": {"reasoning": 2}}
    assert usage.choice is None


ERROR = {"code": 429, "message": "Quota exceeded", "status": "RESOURCE_EXHAUSTED"}


@pytest.mark.parametrize("body", [{"error": ERROR}, [{"error": ERROR}]])
def test_an_error_fails_the_run(body: Any) -> None:
    assert GEMINI.envelope(body, None).kind == "error"
    deltas = decode_events(GEMINI, [frame(GEMINI, chunk("a")), frame(GEMINI, body), end(GEMINI)])
    assert [each.error for each in of(Failure, deltas)] == ["429: Quota exceeded"]
    assert [each.status for each in of(RunEnded, deltas)] == ["error"]
    refused = decode_events(GEMINI, [response(GEMINI, 429), frame(GEMINI, body), end(GEMINI)])
    assert [each.error for each in of(Failure, refused)] == ["HTTP 429 Too Many Requests: 429: Quota exceeded"]


def test_an_answer_after_a_failure_is_another_message() -> None:
    frames = [chunk("a", responseId="r1"), {"error": ERROR}, chunk("b", "STOP", responseId="r2")]
    deltas = decode_frames(GEMINI, *frames)
    assert [each.message_id for each in of(MessageStarted, deltas)] == ["r1", "r2"]


def test_an_array_in_one_frame_is_all_its_chunks() -> None:
    deltas = decode_frames(GEMINI, [chunk("a"), chunk("b", "STOP")])
    assert [each.text for each in of(TextChunk, deltas)] == ["a", "b"]


def test_code_assists_wrapper_is_taken_off() -> None:
    call = {"candidates": [{"content": {"parts": [{"functionCall": {"name": "f"}}]}}], "responseId": "r1"}
    deltas = decode_frames(GEMINI, {"response": call, "traceId": "t"})
    assert [each.name for each in of(ToolCallChunk, deltas)] == ["f"]
    assert of(MessageStarted, deltas)[0].message_id == "r1"


@pytest.mark.parametrize("value", [{"modelVersion": "m"}, {"usageMetadata": {}}, {"candidates": []}])
def test_a_chunk_without_an_answer_says_nothing(value: Any) -> None:
    assert [type(each) for each in decode_frames(GEMINI, value)] == [RunStarted]


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        ({"candidates": 1}, "malformed-field"),
        ({"candidates": [1]}, "malformed-field"),
        ({"candidates": [{"content": 1}]}, "malformed-field"),
        ({"candidates": [{"content": {"parts": 1}}]}, "malformed-field"),
        ({"candidates": [{"content": {"parts": []}, "index": 1 << 40}]}, "malformed-field"),
        ({"other": 1}, "unknown-frame"),
        ([], "unknown-frame"),
        (7, "unknown-frame"),
    ],
)
def test_what_cannot_be_read_is_a_finding(value: Any, rule: str) -> None:
    assert rule in rules(decode_frames(GEMINI, value))


def test_a_candidate_that_begins_after_another_one_stopped_is_still_to_end() -> None:
    frames = [chunk("a", "STOP", index=0, responseId="r"), chunk("b", index=1, responseId="r")]
    deltas = decode_events(GEMINI, [*(frame(GEMINI, each) for each in frames), end(GEMINI)])
    assert of(RunEnded, deltas)[0].terminated is False


def test_what_stands_in_an_event_named_error_is_the_error() -> None:
    deltas = decode_events(GEMINI, [frame(GEMINI, {"code": 503, "message": "overloaded"}, "error")])
    assert [each.error for each in of(Failure, deltas)] == ["503: overloaded"]


def test_a_terminator_that_a_gateway_adds_is_one() -> None:
    assert GEMINI.envelope("[DONE]", None).kind == "done"
