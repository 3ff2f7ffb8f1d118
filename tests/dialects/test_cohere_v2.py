from __future__ import annotations

from typing import Any

import pytest

from recorder.deltas import (
    BlockItem,
    Failure,
    History,
    HistoryAnswer,
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
from tests.dialects.wire import decode_events, decode_frames, end, frame, of, request, rules

COHERE = get("cohere.v2")


def said(kind: str, index: int | None = None, **message: Any) -> dict[str, Any]:
    place = {} if index is None else {"index": index}
    return {"type": kind, **place, "delta": {"message": message}}


def content(index: int, kind: str, *texts: str) -> list[dict[str, Any]]:
    deltas = [said("content-delta", index, content={kind: text}) for text in texts]
    start = said("content-start", index, content={"type": kind, kind: ""})
    return [start, *deltas, {"type": "content-end", "index": index}]


def call(index: int, id: str, name: str, *pieces: str) -> list[dict[str, Any]]:
    head = {"id": id, "type": "function", "function": {"name": name, "arguments": ""}}
    deltas = [said("tool-call-delta", index, tool_calls={"function": {"arguments": piece}}) for piece in pieces]
    return [said("tool-call-start", index, tool_calls=head), *deltas, {"type": "tool-call-end", "index": index}]


START = {"id": "m1", **said("message-start", role="assistant", content=[], tool_plan="", tool_calls=[], citations=[])}


def finish(reason: str, **fields: Any) -> dict[str, Any]:
    return {"type": "message-end", "delta": {"finish_reason": reason, **fields}}


def test_a_plan_and_its_calls_are_one_message_with_a_block_for_the_plan() -> None:
    plan = [said("tool-plan-delta", tool_plan=text) for text in ("I will ", "look.")]
    frames = [START, *plan, *call(0, "c1", "f", '{"a"', ":1}"), *call(1, "c2", "g"), finish("TOOL_CALL"), "[DONE]"]
    deltas = decode_frames(COHERE, *frames)
    (started,) = of(MessageStarted, deltas)
    assert (started.message_id, started.role, started.restart) == ("m1", "ai", False)
    assert [(text.block, text.field, text.text) for text in of(TextChunk, deltas)] == [
        ("tool_plan", "tool_plan", "I will "),
        ("tool_plan", "tool_plan", "look."),
    ]
    assert [(chunk.index, chunk.id, chunk.name, chunk.args) for chunk in of(ToolCallChunk, deltas)] == [
        (0, "c1", "f", ""),
        (0, None, None, '{"a"'),
        (0, None, None, ":1}"),
        (1, "c2", "g", ""),
    ]
    assert len(of(MessageClosed, deltas)) == len(of(RunEnded, deltas)) == 1
    assert rules(deltas) == []


def test_thinking_and_text_are_blocks_of_their_own() -> None:
    frames = [START, *content(0, "thinking", "hm"), *content(1, "text", "a", "b"), *content(2, "text", "c")]
    assert [(text.block, text.kind, text.text) for text in of(TextChunk, decode_frames(COHERE, *frames))] == [
        ("thinking 0", "thinking", "hm"),
        ("text 1", "text", "a"),
        ("text 1", "text", "b"),
        ("text 2", "text", "c"),
    ]


@pytest.mark.parametrize(
    ("citation", "block"),
    [
        ({"type": "TEXT_CONTENT", "content_index": 1}, "text 1"),
        ({"type": "TEXT_CONTENT"}, "text 2"),
        ({}, "text 2"),
        ({"type": "THINKING_CONTENT", "content_index": 0}, "thinking 0"),
        ({"type": "PLAN"}, "tool_plan"),
    ],
)
def test_a_citation_goes_to_the_text_that_it_is_about(citation: dict[str, Any], block: str) -> None:
    """Its index is its own; where the server does not say which text it means, it is the latest."""
    text = [*content(0, "thinking", "hm"), *content(1, "text", "a"), *content(2, "text", "b")]
    cited = said("citation-start", 5, citations=citation)
    (item,) = of(BlockItem, decode_frames(COHERE, START, *text, cited, {"type": "citation-end", "index": 5}))
    assert (item.block, item.field, item.value) == (block, "citations", citation)


@pytest.mark.parametrize(
    ("reason", "truncating"),
    [
        ("COMPLETE", False),
        ("STOP_SEQUENCE", False),
        ("TOOL_CALL", False),
        ("MAX_TOKENS", True),
        ("ERROR", True),
        ("TIMEOUT", True),
    ],
)
def test_a_finish_reason_says_whether_output_was_cut_off(reason: str, truncating: bool) -> None:
    (finished,) = of(MessageFinished, decode_frames(COHERE, START, finish(reason)))
    assert (finished.finish_reason, finished.truncating) == (reason, truncating)


def test_counts_are_the_models_not_the_bills() -> None:
    tokens = {"input_tokens": 508.0, "output_tokens": 86, "reasoning_tokens": 28}
    usage = {"billed_units": {"input_tokens": 65, "output_tokens": 63}, "tokens": tokens, "cached_tokens": 144}
    (counted,) = of(Usage, decode_frames(COHERE, START, finish("COMPLETE", usage=usage)))
    assert counted.counts == {
        "input_tokens": 508,
        "output_tokens": 86,
        "input_token_details": {"cache_read": 144},
        "output_token_details": {"reasoning": 28},
    }
    (billed,) = of(Usage, decode_frames(COHERE, START, finish("COMPLETE", usage={"billed_units": {"input_tokens": 6}})))
    assert billed.counts == {"input_tokens": 6}


def test_an_error_at_the_end_fails_the_run() -> None:
    deltas = decode_frames(COHERE, START, finish("ERROR", error="out of luck"))
    assert [failure.error for failure in of(Failure, deltas)] == ["out of luck"]
    assert of(RunEnded, deltas)[0].status == "error"


def test_a_whole_answer_closes_with_its_event() -> None:
    answer = {
        "id": "m1",
        "finish_reason": "TOOL_CALL",
        "message": {
            "role": "assistant",
            "tool_plan": "I will look.",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}],
            "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}],
            "citations": [{"start": 0, "end": 1, "content_index": 1}],
        },
        "usage": {"tokens": {"input_tokens": 1, "output_tokens": 2}},
    }
    deltas = decode_events(COHERE, [frame(COHERE, answer), end(COHERE)])
    assert [type(delta).__name__ for delta in deltas] == [
        "RunStarted",
        "MessageStarted",
        "TextChunk",
        "TextChunk",
        "TextChunk",
        "ToolCallChunk",
        "BlockItem",
        "MessageFinished",
        "Usage",
        "MessageClosed",
        "RunEnded",
    ]
    assert [text.block for text in of(TextChunk, deltas)] == ["tool_plan", "thinking 0", "text 1"]
    assert of(BlockItem, deltas)[0].block == "text 1"


def test_an_answer_without_its_end_is_cut_off() -> None:
    frames = [START, *call(0, "c1", "f", "{}")]
    deltas = decode_events(COHERE, [*(frame(COHERE, each) for each in frames), end(COHERE)])
    assert of(RunEnded, deltas)[0].terminated is False


def test_every_message_of_a_dump_is_closed_by_its_own_end() -> None:
    frames = [START, *content(0, "text", "a"), finish("COMPLETE"), "[DONE]"]
    deltas = decode_frames(COHERE, *frames, *frames)
    assert [started.restart for started in of(MessageStarted, deltas)] == [False, False]
    assert len(of(MessageClosed, deltas)) == 2


def test_a_second_start_in_one_answer_supersedes_the_open_message() -> None:
    deltas = decode_frames(COHERE, START, *content(0, "text", "a"), {**START, "id": "m2"})
    assert [started.restart for started in of(MessageStarted, deltas)] == [False, True]


def test_content_without_a_start_is_read_with_a_finding() -> None:
    deltas = decode_frames(COHERE, *content(0, "text", "a"))
    assert rules(deltas) == ["message-without-start"]
    assert [text.text for text in of(TextChunk, deltas)] == ["a"]


def test_an_end_that_comes_twice_closes_nothing_again() -> None:
    deltas = decode_frames(COHERE, START, finish("COMPLETE"), finish("COMPLETE"))
    assert rules(deltas) == ["message-without-start"]
    assert len(of(MessageClosed, deltas)) == 1


def test_a_frame_of_another_type_is_a_finding() -> None:
    assert rules(decode_frames(COHERE, {"type": "debug", "prompt": "p"}, {"type": "hologram"}, 3)) == [
        "unknown-frame",
        "unknown-frame",
    ]


def test_a_request_restates_calls_and_their_documents() -> None:
    body = {
        "tool_choice": "REQUIRED",
        "messages": [
            {
                "role": "assistant",
                "tool_plan": "I will look.",
                "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
            },
            {"role": "tool", "tool_call_id": "c1", "content": [{"type": "document", "document": {"data": "x"}}]},
        ],
    }
    deltas = decode_events(COHERE, [request(COHERE, body)])
    (history,) = of(History, deltas)
    called, answered = history.entries
    assert isinstance(called, HistoryCall)
    assert isinstance(answered, HistoryAnswer)
    assert (called.id, called.name, called.args) == ("c1", "f", "{}")
    assert (answered.tool_call_id, answered.content) == ("c1", [{"type": "document", "document": {"data": "x"}}])
    assert rules(deltas) == ["forced-tool-choice"]


def test_a_part_of_another_type_is_a_block_with_its_fields() -> None:
    parts = [said("content-start", 1, content={"type": "image", "url": "u", "alt": None})]
    (item,) = of(BlockItem, decode_frames(COHERE, START, *parts))
    assert (item.block, item.kind, item.field, item.value) == ("image 1", "image", "url", "u")


@pytest.mark.parametrize(
    "broken",
    [said("content-delta", 0, content="a"), said("tool-call-delta", 0, tool_calls=["f"])],
    ids=["content", "call"],
)
def test_a_field_of_another_type_is_told(broken: Any) -> None:
    assert rules(decode_frames(COHERE, START, broken)) == ["malformed-field"]


def test_an_end_without_anything_before_it_is_read_with_a_finding() -> None:
    deltas = decode_frames(COHERE, finish("COMPLETE"))
    assert rules(deltas) == ["message-without-start"]
    assert [each.finish_reason for each in of(MessageFinished, deltas)] == ["COMPLETE"]


@pytest.mark.parametrize(
    "value",
    [
        {"id": "m", "finish_reason": "COMPLETE", "message": {"content": []}},
        {"id": "m", "message": {"role": "assistant", "content": []}},
        {"finish_reason": "stop", "message": {"role": "assistant"}, "choices": []},
    ],
)
def test_what_others_may_say_too_is_not_recognised(value: Any) -> None:
    assert not COHERE.recognises(value, None)
