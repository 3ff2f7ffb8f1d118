from __future__ import annotations

from typing import Any

import pytest

from recorder.deltas import (
    BlockItem,
    Failure,
    Finding,
    History,
    HistoryCall,
    MessageClosed,
    MessageFinished,
    MessageStarted,
    RunEnded,
    TextChunk,
    ToolCallChunk,
    ToolMessage,
    Usage,
)
from recorder.dialects import get, recognise
from tests.dialects.exchanges import pairings, state
from tests.dialects.wire import decode_events, decode_frames, end, frame, of, request, rules

XAI = get("xai.grpc")


def chunk(delta: dict[str, Any], index: int = 0, *, finish: Any = None, **top: Any) -> dict[str, Any]:
    """A message as the printer writes it, which leaves defaults out."""
    output = {"delta": {"role": "ROLE_ASSISTANT", **delta}}
    if index:
        output["index"] = index
    if finish is not None:
        output["finish_reason"] = finish
    return {"id": "r1", "outputs": [output], "model": "m1", **top}


def call(id: str, name: str = "f", kind: str | None = None, **fields: Any) -> dict[str, Any]:
    typed = {} if kind is None else {"type": f"TOOL_CALL_TYPE_{kind}"}
    return {"id": id, **typed, "function": {"name": name, "arguments": '{"a":1}'}, **fields}


def result(
    called: dict[str, Any], index: int, status: Any = "TOOL_CALL_STATUS_COMPLETED", **delta: Any
) -> dict[str, Any]:
    told = {**called} if status is None else {**called, "status": status}
    return chunk({"role": "ROLE_TOOL", "tool_calls": [told], **delta}, index)


SEARCH = call("c1", "search", "WEB_SEARCH_TOOL")
SERVED = [chunk({"tool_calls": [SEARCH]}), result(SEARCH, 1, content="x")]
FINAL = [chunk({"content": "a"}, 2), chunk({}, 2, finish="REASON_STOP")]


def test_thinking_text_and_a_clients_call_are_gathered() -> None:
    frames = [chunk({"reasoning_content": "hm"}), chunk({"content": "a"}), chunk({"content": "b"})]
    called = chunk({"tool_calls": [call("c1", kind="CLIENT_SIDE_TOOL"), call("c2")]})
    deltas = decode_frames(XAI, *frames, called, chunk({}, finish="REASON_TOOL_CALLS"))
    (started,) = of(MessageStarted, deltas)
    assert (started.message_id, started.model, started.role, started.choice) == ("r1", "m1", "ai", 0)
    assert [(text.block, text.text) for text in of(TextChunk, deltas)] == [
        ("thinking", "hm"),
        ("text", "a"),
        ("text", "b"),
    ]
    assert [(each.id, each.args, each.executor) for each in of(ToolCallChunk, deltas)] == [
        ("c1", '{"a":1}', "client"),
        ("c2", '{"a":1}', "client"),
    ]
    assert [finished.truncating for finished in of(MessageFinished, deltas)] == [False]


def test_each_turn_of_the_model_is_a_message_and_a_servers_result_its_tool_message() -> None:
    found = state([*SERVED, *FINAL])
    assert [(message["choice"], message["text"]) for message in found["messages"]] == [(0, ""), (2, "a")]
    (called,) = found["messages"][0]["calls"]
    assert (called["id"], called["executor"], called["state"]) == ("c1", "server", "complete")
    (told,) = found["tool_messages"]
    assert (told["tool_call_id"], told["name"], told["content"], told["status"]) == ("c1", "search", "x", "success")
    assert [row["status"] for row in found["pairings"]] == ["answered"]
    assert found["findings"] == []


def test_a_call_that_its_result_restates_otherwise_is_a_finding() -> None:
    other = {**SEARCH, "function": {"name": "search", "arguments": '{"a":2}'}}
    found = state([SERVED[0], result(other, 1)])
    assert [finding["rule"] for finding in found["findings"]] == ["restatement-differs"]
    assert found["messages"][0]["calls"][0]["value"] == {"a": 1}


@pytest.mark.parametrize(
    ("status", "called", "told"),
    [
        ("TOOL_CALL_STATUS_COMPLETED", "complete", "success"),
        ("TOOL_CALL_STATUS_FAILED", "complete", "error"),
        ("TOOL_CALL_STATUS_INCOMPLETE", "open", "error"),
        ("TOOL_CALL_STATUS_IN_PROGRESS", "open", None),
        (1, "complete", "success"),
        (0, "open", None),
        (None, "open", None),
    ],
)
def test_a_turn_without_a_reason_is_finished_where_its_calls_ran(status: Any, called: str, told: str | None) -> None:
    """A status that is left out is the default, which is that the call is in progress."""
    found = state([SERVED[0], result(SEARCH, 1, status)])
    assert found["messages"][0]["calls"][0]["state"] == called
    assert [message["status"] for message in found["tool_messages"]] == ([told] if told else [])


def test_a_result_of_one_of_two_calls_finishes_nothing() -> None:
    both = chunk({"tool_calls": [SEARCH, {**SEARCH, "id": "c2"}]})
    assert of(MessageFinished, decode_frames(XAI, both, result(SEARCH, 1))) == []


def test_an_error_message_is_the_answer_of_a_call_that_failed() -> None:
    failed = result({**SEARCH, "error_message": "no route"}, 1, "TOOL_CALL_STATUS_FAILED")
    (told,) = of(ToolMessage, decode_frames(XAI, SERVED[0], failed))
    assert (told.content, told.status) == ("no route", "error")


def test_encrypted_results_and_thoughts_are_kept_beside_what_they_are_of() -> None:
    thought = chunk({"content": "a", "encrypted_content": "eA=="}, 2)
    deltas = decode_frames(XAI, SERVED[0], result(SEARCH, 1, encrypted_content="eB=="), thought)
    assert [told.additional_kwargs for told in of(ToolMessage, deltas)] == [{"encrypted_content": "eB=="}]
    assert ("thinking", "encrypted_content", "eA==") in [
        (text.block, text.field, text.text) for text in of(TextChunk, deltas)
    ]


@pytest.mark.parametrize(
    ("reason", "name", "truncating"),
    [
        ("REASON_STOP", "REASON_STOP", False),
        ("REASON_TOOL_CALLS", "REASON_TOOL_CALLS", False),
        ("REASON_MAX_LEN", "REASON_MAX_LEN", True),
        ("REASON_MAX_CONTEXT", "REASON_MAX_CONTEXT", True),
        ("REASON_TIME_LIMIT", "REASON_TIME_LIMIT", True),
        (1, "REASON_MAX_LEN", True),
        (3, "REASON_STOP", False),
    ],
)
def test_a_finish_reason_says_whether_output_was_cut_off(reason: Any, name: str, truncating: bool) -> None:
    (finished,) = of(MessageFinished, decode_frames(XAI, chunk({"content": "a"}, finish=reason)))
    assert (finished.finish_reason, finished.truncating) == (name, truncating)


@pytest.mark.parametrize("reason", ["REASON_INVALID", 0, None])
def test_the_reason_that_is_the_default_is_none(reason: Any) -> None:
    assert of(MessageFinished, decode_frames(XAI, chunk({"content": "a"}, finish=reason))) == []


def test_both_spellings_of_a_name_are_one() -> None:
    camel = {
        "id": "r1",
        "outputs": [
            {
                "delta": {"role": 2, "reasoningContent": "hm", "toolCalls": [call("c1")]},
                "finishReason": "REASON_MAX_LEN",
            }
        ],
        "usage": {"promptTokens": 3, "cachedPromptTextTokens": 2},
    }
    deltas = decode_frames(XAI, camel)
    assert [text.block for text in of(TextChunk, deltas)] == ["thinking"]
    assert [each.id for each in of(ToolCallChunk, deltas)] == ["c1"]
    assert [finished.truncating for finished in of(MessageFinished, deltas)] == [True]
    assert [usage.counts for usage in of(Usage, deltas)] == [
        {"input_tokens": 3, "input_token_details": {"cache_read": 2}}
    ]


def ended(*frames: dict[str, Any]) -> bool:
    """Whether an exchange that ends behind these frames is a proper one."""
    deltas = decode_events(XAI, [*(frame(XAI, each) for each in frames), end(XAI)])
    return of(RunEnded, deltas)[0].terminated


def test_an_answer_ends_with_the_last_turn_and_not_before() -> None:
    assert ended(*SERVED, *FINAL)
    assert not ended(*SERVED, FINAL[0])
    assert not ended(*SERVED)
    assert not ended(chunk({"tool_calls": [SEARCH]}, finish="REASON_TOOL_CALLS"))
    assert ended(chunk({"tool_calls": [call("c1")]}, finish="REASON_TOOL_CALLS"))
    assert not ended(chunk({"content": "a"}, finish="REASON_STOP"), chunk({"content": "b"}, 1))


def test_a_whole_answer_closes_with_its_event() -> None:
    answer = {
        "id": "r1",
        "model": "m1",
        "outputs": [
            {"message": {"role": "ROLE_ASSISTANT", "tool_calls": [SEARCH]}, "finish_reason": "REASON_TOOL_CALLS"},
            {"index": 1, "message": result(SEARCH, 1, content="x")["outputs"][0]["delta"]},
            {"index": 2, "message": {"role": "ROLE_ASSISTANT", "content": "a"}, "finish_reason": "REASON_STOP"},
        ],
    }
    found = state([answer, {**answer, "id": "r2"}])
    assert [(message["message_id"], message["choice"], message["text"]) for message in found["messages"]] == [
        ("r1", 0, ""),
        ("r1", 2, "a"),
        ("r2", 0, ""),
        ("r2", 2, "a"),
    ]
    assert len(of(MessageClosed, decode_frames(XAI, answer))) == 1


def test_answers_of_a_dump_are_told_apart_by_their_ids() -> None:
    first, second = chunk({"content": "a"}, finish="REASON_STOP"), chunk({"content": "b"}, finish="REASON_STOP")
    texts = [message["text"] for message in state([first, {**second, "id": "r2"}])["messages"]]
    assert texts == ["a", "b"]


def test_sources_and_inline_citations_belong_to_the_text() -> None:
    cited = chunk({"content": "a", "citations": [{"id": "1", "web_citation": {"url": "u"}}]}, citations=["u"])
    assert [(item.field, item.value) for item in of(BlockItem, decode_frames(XAI, cited))] == [
        ("citations", {"id": "1", "web_citation": {"url": "u"}}),
        ("sources", ["u"]),
    ]


def test_an_error_fails_the_run() -> None:
    assert [failure.error for failure in of(Failure, decode_frames(XAI, {"error": {"message": "busy"}}))] == ["busy"]


def test_other_messages_are_findings() -> None:
    frames = [{"id": "r1"}, {"id": "r1", "outputs": ["x"]}, chunk({"content": 3}), chunk({"tool_calls": ["x"]}), 7]
    assert rules(decode_frames(XAI, *frames)) == [
        "unknown-frame",
        "malformed-field",
        "malformed-field",
        "malformed-field",
        "unknown-frame",
    ]
    assert recognise({"outputs": [{"text": "a", "stop_reason": "stop"}]}, None) is not XAI


def test_a_request_restates_calls_and_answers() -> None:
    body = {
        "messages": [
            {"role": "ROLE_ASSISTANT", "toolCalls": [call("c1"), SEARCH | {"id": "c2"}]},
            {"role": "ROLE_TOOL", "content": [{"text": "x"}], "toolCallId": "c1"},
            {"role": "ROLE_TOOL", "content": [{"text": "y"}], "toolCalls": [SEARCH | {"id": "c2"}]},
        ]
    }
    assert pairings(XAI, (body, FINAL)) == [("c1", "f", "answered", "x"), ("c2", "search", "answered", "y")]


@pytest.mark.parametrize(
    ("choice", "told"),
    [
        ({"mode": "TOOL_MODE_REQUIRED"}, ["forced-tool-choice"]),
        ({"mode": 3}, ["forced-tool-choice"]),
        ({"function_name": "f"}, ["forced-tool-choice"]),
        ({"mode": "TOOL_MODE_AUTO"}, []),
        ({}, []),
    ],
)
def test_a_request_that_forces_a_tool_is_a_finding(choice: dict[str, Any], told: list[str]) -> None:
    assert rules(decode_events(XAI, [request(XAI, {"tool_choice": choice})])) == told


def test_what_is_not_known_of_a_delta_is_kept_under_its_name() -> None:
    (item,) = of(BlockItem, decode_frames(XAI, chunk({"content": "a", "moodRing": "blue", "refusal": None})))
    assert (item.block, item.field, item.value) == ("non_standard", "mood_ring", "blue")


def test_a_chunk_of_the_same_answer_after_a_reason_to_stop_is_no_answer_of_its_own() -> None:
    frames = [chunk({"content": "a"}, finish="REASON_STOP"), chunk({}, usage={"promptTokens": 3})]
    deltas = decode_frames(XAI, *frames)
    assert len(of(MessageStarted, deltas)) == 1
    assert of(MessageClosed, deltas) == []


def test_a_request_restates_calls_with_their_arguments_and_says_which_tool_it_forces() -> None:
    asked = {"role": "ROLE_ASSISTANT", "toolCalls": [call("c1")]}
    deltas = decode_events(XAI, [request(XAI, {"messages": [asked], "toolChoice": {"mode": "TOOL_MODE_REQUIRED"}})])
    assert [entry for history in of(History, deltas) for entry in history.entries] == [
        HistoryCall(id="c1", name="f", args='{"a":1}')
    ]
    assert [each.detail for each in of(Finding, deltas)] == ["the request forces tool 'any'"]
