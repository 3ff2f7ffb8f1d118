from __future__ import annotations

from typing import Any

import pytest

from recorder.deltas import (
    Failure,
    History,
    HistoryAnswer,
    HistoryCall,
    MessageClosed,
    MessageFinished,
    MessageStarted,
    RunEnded,
    RunStarted,
    TextChunk,
    ToolCallChunk,
    ToolMessage,
    Usage,
)
from recorder.dialects import get, recognise
from recorder.dialects.base import Dialect
from tests.dialects.wire import decode_events, decode_frames, end, event, frame, of, request, response, rules

CONVERSE = get("bedrock.converse")
START = {"messageStart": {"role": "assistant"}}
TEXT = {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "hi"}}}
COUNTS = {"inputTokens": 9, "outputTokens": 4, "totalTokens": 13}
METADATA = {"metadata": {"usage": COUNTS, "metrics": {"latencyMs": 5}}}
URL = "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.anthropic.claude-x-v1%3A0/converse-stream"


def stop(reason: Any = "end_turn") -> dict[str, Any]:
    return {"messageStop": {"stopReason": reason}}


def kinds(deltas: list[Any]) -> list[str]:
    shown = (MessageStarted, TextChunk, MessageFinished, MessageClosed, RunEnded)
    return [type(delta).__name__ for delta in deltas if isinstance(delta, shown)]


def test_a_message_is_over_with_the_counts_that_follow_its_stop() -> None:
    deltas = decode_frames(CONVERSE, START, TEXT, stop(), METADATA)
    assert kinds(deltas) == ["MessageStarted", "TextChunk", "MessageFinished", "MessageClosed", "RunEnded"]
    assert of(RunEnded, deltas)[0].terminated is True
    assert of(Usage, deltas)[0].counts == {"input_tokens": 9, "output_tokens": 4, "total_tokens": 13}


def test_counts_before_the_stop_end_nothing_but_the_stop_then_does() -> None:
    deltas = decode_frames(CONVERSE, START, TEXT, METADATA, stop())
    assert kinds(deltas) == ["MessageStarted", "TextChunk", "MessageFinished", "MessageClosed", "RunEnded"]
    assert decode_frames(CONVERSE, START, TEXT, METADATA)[-1] == of(Usage, deltas)[0]


def test_a_dump_that_ends_with_the_stop_leaves_the_message_finished_and_open() -> None:
    assert kinds(decode_frames(CONVERSE, START, TEXT, stop())) == ["MessageStarted", "TextChunk", "MessageFinished"]


def test_an_exchange_that_ends_with_the_stop_ended_properly() -> None:
    deltas = decode_events(CONVERSE, [*(frame(CONVERSE, each) for each in (START, TEXT, stop())), end(CONVERSE)])
    assert of(RunEnded, deltas)[0].terminated is True


def test_an_exchange_that_ends_before_the_stop_was_broken_off() -> None:
    deltas = decode_events(CONVERSE, [*(frame(CONVERSE, each) for each in (START, TEXT, METADATA)), end(CONVERSE)])
    assert of(RunEnded, deltas)[0].terminated is False
    assert of(MessageFinished, deltas) == []


@pytest.mark.parametrize(
    ("reason", "truncating"),
    [
        ("end_turn", False),
        ("tool_use", False),
        ("stop_sequence", False),
        ("max_tokens", True),
        ("guardrail_intervened", True),
        ("content_filtered", True),
        ("malformed_model_output", True),
        ("malformed_tool_use", True),
        ("model_context_window_exceeded", True),
    ],
)
def test_reasons_to_stop(reason: str, truncating: bool) -> None:
    (finished,) = of(MessageFinished, decode_frames(CONVERSE, START, TEXT, stop(reason)))
    assert (finished.finish_reason, finished.truncating) == (reason, truncating)


def test_a_stop_without_a_reason_ends_the_message_all_the_same() -> None:
    deltas = decode_frames(CONVERSE, START, TEXT, stop(None), METADATA)
    assert of(MessageFinished, deltas) == []
    assert kinds(deltas)[-2:] == ["MessageClosed", "RunEnded"]


def test_counts_of_the_cache_under_converses_names_and_under_novas() -> None:
    for read, written in (
        ("cacheReadInputTokens", "cacheWriteInputTokens"),
        ("cacheReadInputTokenCount", "cacheWriteInputTokenCount"),
    ):
        usage = {"inputTokens": 1, read: 2, written: 3, "serverToolUsage": {}, "cacheDetails": [{"ttl": "5m"}]}
        (counted,) = of(Usage, decode_frames(CONVERSE, START, {"metadata": {"usage": usage}}))
        assert counted.counts == {"input_tokens": 1, "input_token_details": {"cache_read": 2, "cache_creation": 3}}


# What an event is


def shapes(name: str, payload: dict[str, Any]) -> list[tuple[Any, str | None]]:
    """As the framing has it, as the SDKs give it out, and the payload alone."""
    return [(payload, name), ({name: payload}, None), (payload, None)]


@pytest.mark.parametrize("shape", range(3), ids=["beside its name", "under its name", "alone"])
def test_an_event_is_read_however_its_name_was_recorded(shape: int) -> None:
    events = [
        ("messageStart", {"role": "assistant", "p": "abc"}),
        (
            "contentBlockStart",
            {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "t", "name": "f"}}, "p": "a"},
        ),
        ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"toolUse": {"input": "{}"}}}),
        ("contentBlockStop", {"contentBlockIndex": 0}),
        ("messageStop", {"stopReason": "tool_use"}),
        ("metadata", {"usage": COUNTS, "metrics": {}}),
    ]
    frames = [frame(CONVERSE, *shapes(name, payload)[shape]) for name, payload in events]
    assert [each.kind for each in frames] == [name for name, _ in events]
    deltas = decode_events(CONVERSE, frames)
    assert rules(deltas) == []
    assert [(chunk.id, chunk.name, chunk.args) for chunk in of(ToolCallChunk, deltas)] == [
        ("t", "f", ""),
        (None, None, "{}"),
    ]
    assert len(of(MessageClosed, deltas)) == 1


@pytest.mark.parametrize(
    ("value", "event_name"),
    [
        ({"role": "assistant", "p": "abc"}, "messageStart"),
        ({"contentBlockIndex": 0, "p": "abc"}, "contentBlockStop"),
        ({"contentBlockIndex": 0, "delta": {"text": "a"}}, None),
        ({"messageStop": {"stopReason": "end_turn"}}, None),
        ({"metadata": {"usage": COUNTS}}, None),
        ({"output": {"message": {"role": "assistant", "content": []}}, "stopReason": "end_turn"}, None),
    ],
)
def test_its_frames_are_recognised(value: Any, event_name: str | None) -> None:
    assert recognise(value, event_name) is CONVERSE


@pytest.mark.parametrize(
    ("value", "event_name"),
    [
        ({"role": "assistant"}, None),
        ({"stopReason": "end_turn"}, None),
        ({"metadata": {"run_id": "1"}}, None),
        ({"run_id": "1"}, "metadata"),
        ({"usage": {}}, None),
        ({"output": [{"type": "message"}]}, None),
        ({"message": "slow down"}, "throttlingException"),
        ({"messageStart": "x"}, None),
        ([], "messageStart"),
    ],
)
def test_what_others_may_say_too_is_not(value: Any, event_name: str | None) -> None:
    assert not CONVERSE.recognises(value, event_name)


def test_a_frame_of_another_kind_is_a_finding() -> None:
    assert rules(decode_frames(CONVERSE, {"hologram": {}}, 4, "no JSON")) == [
        "unknown-frame",
        "unknown-frame",
        "not-json",
    ]


# Several messages


def test_every_message_of_a_dump_is_closed_by_its_own_end() -> None:
    deltas = decode_frames(CONVERSE, *(START, TEXT, stop(), METADATA) * 3)
    assert kinds(deltas).count("MessageClosed") == kinds(deltas).count("MessageStarted") == 3
    assert [started.restart for started in of(MessageStarted, deltas)] == [False] * 3


def test_a_start_after_a_stop_is_another_message() -> None:
    deltas = decode_frames(CONVERSE, START, TEXT, stop(), START, TEXT)
    assert [started.restart for started in of(MessageStarted, deltas)] == [False, False]
    assert len(of(MessageClosed, deltas)) == 1


def test_a_second_start_in_one_message_supersedes_it() -> None:
    assert [started.restart for started in of(MessageStarted, decode_frames(CONVERSE, START, TEXT, START))] == [
        False,
        True,
    ]


def test_content_without_a_start_begins_a_message_with_a_finding() -> None:
    deltas = decode_frames(CONVERSE, TEXT, TEXT)
    assert rules(deltas) == ["message-without-start"]
    assert kinds(deltas) == ["MessageStarted", "TextChunk", "TextChunk"]


@pytest.mark.parametrize("last", [[stop()], [stop(), METADATA]], ids=["stop", "stop and counts"])
def test_content_after_the_end_is_a_message_that_must_end_too(last: list[Any]) -> None:
    deltas = decode_events(CONVERSE, [*(frame(CONVERSE, each) for each in (START, TEXT, *last, TEXT)), end(CONVERSE)])
    assert rules(deltas) == ["message-without-start"]
    assert len(of(MessageStarted, deltas)) == 2
    assert of(RunEnded, deltas)[-1].terminated is False


def test_a_stop_after_the_end_says_nothing_new() -> None:
    deltas = decode_frames(CONVERSE, START, TEXT, stop(), METADATA, stop(), METADATA)
    assert rules(deltas) == ["message-without-start"]
    assert len(of(MessageStarted, deltas)) == len(of(MessageFinished, deltas)) == len(of(RunEnded, deltas)) == 1


# Exchanges


def test_the_model_is_the_urls() -> None:
    events = [request(CONVERSE, {}, URL), response(CONVERSE), frame(CONVERSE, START), frame(CONVERSE, TEXT)]
    (started,) = of(MessageStarted, decode_events(CONVERSE, events))
    assert started.model == "us.anthropic.claude-x-v1:0"


def test_an_arn_is_a_model_too() -> None:
    url = "https://h/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fp/converse"
    (started,) = of(MessageStarted, decode_events(CONVERSE, [request(CONVERSE, {}, url), frame(CONVERSE, START)]))
    assert started.model == "arn:aws:bedrock:us-east-1:1:inference-profile/p"


def failing(dialect: Dialect) -> list[Any]:
    """The ways in which a stream tells of an exception, and an error, which has no payload."""
    headers = {":message-type": "error", ":error-code": "InternalError", ":error-message": "Oh no"}
    return [
        frame(dialect, {"message": "Oh no"}, "modelStreamErrorException"),
        frame(dialect, {"modelStreamErrorException": {"message": "Oh no", "originalStatusCode": 500}}),
        frame(dialect, {"Message": "Oh no"}, "modelStreamErrorException"),
        event(dialect, "InternalError", b"", meta={"headers": headers}),
        event(dialect, "InternalError", b'{"message": "Oh no"}', meta={"headers": {":message-type": "exception"}}),
    ]


@pytest.mark.parametrize("way", range(5))
def test_an_exception_fails_the_run_and_takes_the_place_of_an_event(way: int) -> None:
    failure = failing(CONVERSE)[way]
    deltas = decode_events(CONVERSE, [frame(CONVERSE, START), frame(CONVERSE, TEXT), failure, end(CONVERSE)])
    assert [failed.error for failed in of(Failure, deltas)] == [f"{failure.kind}: Oh no"]
    assert (of(RunEnded, deltas)[0].status, rules(deltas)) == ("error", [])
    first = decode_events(CONVERSE, [failure])
    assert [type(delta) for delta in first] == [RunStarted, Failure]


@pytest.mark.parametrize("body", [b"", b"[]", b"oops", b'{"message": 4}'])
def test_an_exception_without_a_message_is_told_by_its_name(body: bytes) -> None:
    deltas = decode_events(CONVERSE, [event(CONVERSE, "throttlingException", body)])
    assert of(Failure, deltas)[0].error == "throttlingException"


def test_a_refusal_is_told_once_with_its_text() -> None:
    events = [request(CONVERSE, {}, URL), response(CONVERSE, 400), frame(CONVERSE, {"message": "Malformed"})]
    deltas = decode_events(CONVERSE, [*events, end(CONVERSE)])
    assert [failed.error for failed in of(Failure, deltas)] == ["HTTP 400 Bad Request: Malformed"]


def test_a_proxys_error_is_a_failure() -> None:
    deltas = decode_frames(CONVERSE, START, {"error": {"message": "upstream is gone"}})
    assert [failed.error for failed in of(Failure, deltas)] == ["upstream is gone"]


# Whole answers and requests


ANSWER = {
    "role": "assistant",
    "content": [
        {"text": "Let me see."},
        {"toolUse": {"toolUseId": "t1", "name": "add", "input": {"a": 1}}},
        {"toolUse": {"toolUseId": "t2", "name": "now", "input": {}}},
        {"toolUse": {"toolUseId": "t3", "name": "search", "input": {"q": "x"}, "type": "server_tool_use"}},
        {"toolResult": {"toolUseId": "t3", "content": [{"text": "no"}], "status": "error", "type": "search_result"}},
    ],
}


def test_a_whole_answer_closes_with_its_event() -> None:
    whole = {"output": {"message": ANSWER}, "stopReason": "tool_use", "usage": COUNTS, "metrics": {"latencyMs": 1}}
    events = [request(CONVERSE, {}, URL), response(CONVERSE), frame(CONVERSE, whole), end(CONVERSE)]
    assert events[2].kind == "message"
    deltas = decode_events(CONVERSE, events)
    assert rules(deltas) == []
    assert kinds(deltas) == ["MessageStarted", "TextChunk", "MessageFinished", "MessageClosed", "RunEnded"]
    calls = [(chunk.id, chunk.args, chunk.index, chunk.executor) for chunk in of(ToolCallChunk, deltas)]
    assert calls == [("t1", '{"a":1}', 1, "client"), ("t2", "{}", 2, "client"), ("t3", '{"q":"x"}', 3, "server")]
    (result,) = of(ToolMessage, deltas)
    assert (result.tool_call_id, result.status, result.executor) == ("t3", "error", "server")
    assert of(Usage, deltas)[0].counts["output_tokens"] == 4


def test_a_requests_history_is_told_in_order() -> None:
    answer = {"toolUseId": "t1", "content": [{"json": {"sum": 2}}]}
    failed = {"toolUseId": "t2", "content": [{"text": "no clock"}], "status": "error"}
    body = {"messages": [ANSWER, {"role": "user", "content": [{"toolResult": answer}, {"toolResult": failed}]}]}
    (history,) = of(History, decode_events(CONVERSE, [request(CONVERSE, body, URL)]))
    assert history.source == "request"
    assert history.entries == [
        HistoryCall(id="t1", name="add", args='{"a":1}'),
        HistoryCall(id="t2", name="now", args="{}"),
        HistoryCall(id="t3", name="search", args='{"q":"x"}', executor="server"),
        HistoryAnswer(tool_call_id="t3", content=[{"text": "no"}], status="error"),
        HistoryAnswer(tool_call_id="t1", content=[{"json": {"sum": 2}}]),
        HistoryAnswer(tool_call_id="t2", content=[{"text": "no clock"}], status="error"),
    ]


@pytest.mark.parametrize(
    ("choice", "told"),
    [
        ({"any": {}}, "the request forces tool 'any'"),
        ({"tool": {"name": "add"}}, "the request forces tool 'add'"),
        ({"auto": {}}, None),
        (None, None),
    ],
)
def test_a_forced_tool_is_a_finding(choice: Any, told: str | None) -> None:
    deltas = decode_events(CONVERSE, [request(CONVERSE, {"toolConfig": {"tools": [], "toolChoice": choice}}, URL)])
    assert [found.detail for found in deltas if getattr(found, "rule", None) == "forced-tool-choice"] == (
        [] if told is None else [told]
    )


def test_a_stop_without_anything_before_it_is_read_with_a_finding() -> None:
    deltas = decode_frames(CONVERSE, stop("max_tokens"), METADATA)
    assert rules(deltas) == ["message-without-start"]
    assert kinds(deltas) == ["MessageStarted", "MessageFinished", "MessageClosed", "RunEnded"]


def test_counts_of_another_type_are_told() -> None:
    assert rules(decode_frames(CONVERSE, START, TEXT, stop(), {"metadata": {"usage": 7}})) == ["malformed-field"]
