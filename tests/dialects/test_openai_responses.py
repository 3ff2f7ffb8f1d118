"""How a response begins, ends, fails, is begun again; and which frames are this dialect's."""

from __future__ import annotations

from typing import Any

import pytest

from recorder.deltas import Failure, MessageClosed, MessageFinished, MessageStarted, RunEnded, Usage
from recorder.dialects import get, recognise
from tests.dialects.responses import CREATED, added, arguments, call, calls, done, ended, event, message, state, text
from tests.dialects.wire import decode_events, decode_frames, end, frame, of, request, response, rules

RESPONSES = get("openai.responses")
PROGRESS = {"type": "response.in_progress", "response": {"id": "resp_1"}}


def whole(*output: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"id": "resp_1", "object": "response", "status": "completed", "model": "m1", "output": [*output], **fields}


@pytest.mark.parametrize(
    "value",
    [
        CREATED,
        event("output_text.delta", 0, "m", delta="a"),
        event("shell_call_command.delta", 0, delta="a"),
        whole(),
        {"object": "response.compaction", "output": []},
    ],
)
def test_its_own_frames_are_recognised(value: dict[str, Any]) -> None:
    assert recognise(value, None) is RESPONSES


def test_an_event_that_only_sse_names_is_recognised() -> None:
    value = {"item_id": "m", "output_index": 0, "delta": "a"}
    assert recognise(value, "response.output_text.delta") is RESPONSES
    assert RESPONSES.envelope(value, "response.output_text.delta").kind == "response.output_text.delta"


@pytest.mark.parametrize(
    "value",
    [
        {"type": "response.created", "event_id": "e1", "response": {"object": "realtime.response"}},
        {"type": "response.text.delta", "event_id": "e1", "item_id": "i", "output_index": 0, "delta": "a"},
        {"type": "response.unheard"},
        {"type": "error", "message": "m"},
        {"object": "response"},
        {"type": "message", "role": "assistant", "content": []},
    ],
)
def test_frames_of_others_and_of_nobody_are_not(value: dict[str, Any]) -> None:
    assert not RESPONSES.recognises(value, None)


def test_a_message_starts_with_the_head_of_the_response_once() -> None:
    (started,) = of(MessageStarted, decode_frames(RESPONSES, CREATED, PROGRESS, ended()))
    assert (started.message_id, started.model, started.role, started.restart) == ("resp_1", "m1", "ai", False)


def test_what_the_head_lacked_is_taken_later() -> None:
    bare = {"type": "response.created", "response": {"id": "resp_1"}}
    later = {"type": "response.in_progress", "response": {"id": "other", "model": "m2"}}
    started = of(MessageStarted, decode_frames(RESPONSES, bare, later))
    assert [(each.message_id, each.model) for each in started] == [("resp_1", None), (None, "m2")]


def test_a_completed_response_closes_its_message_and_the_run_and_the_terminator_adds_nothing() -> None:
    deltas = decode_frames(RESPONSES, CREATED, ended(), "[DONE]")
    assert [type(delta) for delta in deltas[-3:]] == [MessageFinished, MessageClosed, RunEnded]
    assert rules(deltas) == []


@pytest.mark.parametrize(
    ("last", "reason", "truncating"),
    [
        (ended(), "completed", False),
        (ended(status="in_progress"), "completed", False),
        (ended(status="incomplete", incomplete_details={"reason": "max_output_tokens"}), "max_output_tokens", True),
        (ended(kind="incomplete", incomplete_details={"reason": "content_filter"}), "content_filter", True),
        (ended(kind="incomplete", status="completed"), "incomplete", True),
        (ended(kind="cancelled"), "cancelled", True),
        (ended(kind="failed", error={"code": "server_error", "message": "m"}), "failed", True),
        (whole(), "completed", False),
        (whole(status="queued"), "queued", True),
        (whole(status="incomplete", incomplete_details=None), "incomplete", True),
        ({"object": "response.compaction", "output": []}, "completed", False),
    ],
)
def test_how_a_response_ends(last: dict[str, Any], reason: str, truncating: bool) -> None:
    (finished,) = of(MessageFinished, decode_frames(RESPONSES, last))
    assert (finished.finish_reason, finished.truncating) == (reason, truncating)


def test_a_failure_is_told_once_though_two_events_say_it() -> None:
    error = {"type": "error", "error": {"code": "insufficient_quota", "message": "no more"}}
    failed = ended(kind="failed", error={"code": "insufficient_quota", "message": "no more"})
    deltas = decode_frames(RESPONSES, CREATED, error, failed)
    assert [each.error for each in of(Failure, deltas)] == ["insufficient_quota: no more"]
    (run,) = of(RunEnded, deltas)
    assert (run.status, run.error) == ("error", "insufficient_quota: no more")


def test_an_error_event_has_its_fields_beside_its_type_too() -> None:
    deltas = decode_frames(RESPONSES, CREATED, {"type": "error", "code": "rate_limit", "message": "slow"})
    assert [each.error for each in of(Failure, deltas)] == ["rate_limit: slow"]


def test_counts_are_under_langchains_names() -> None:
    usage = {
        "input_tokens": 9,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 3},
        "total_tokens": 14,
    }
    (counted,) = of(Usage, decode_frames(RESPONSES, CREATED, ended(usage=usage)))
    assert counted.counts == {
        "input_tokens": 9,
        "input_token_details": {"cache_read": 4},
        "output_tokens": 5,
        "output_token_details": {"reasoning": 3},
        "total_tokens": 14,
    }


def test_a_response_that_begins_again_supersedes_what_it_had() -> None:
    frames = [CREATED, added(0, call("a")), *arguments(0, "a", '{"x"'), CREATED, added(0, call("b"))]
    found = state(*frames)
    assert [(each.get("superseded"), [made["id"] for made in each["calls"]]) for each in found["messages"]] == [
        (True, ["a"]),
        (None, ["b"]),
    ]
    assert [finding["rule"] for finding in found["findings"]] == ["message-restarted"]


def test_a_start_that_is_only_said_twice_is_one() -> None:
    assert len(state(CREATED, CREATED, added(0, message()), *text(0, "hi"))["messages"]) == 1


@pytest.mark.parametrize("first", [ended(), {"type": "error", "message": "m"}])
def test_a_start_behind_an_end_or_a_failure_is_another_message(first: dict[str, Any]) -> None:
    found = state(CREATED, added(0, message()), *text(0, "one"), first, CREATED, added(0, message()), *text(0, "two"))
    assert [each["text"] for each in found["messages"]] == ["one", "two"]
    assert "message-restarted" not in [finding["rule"] for finding in found["findings"]]


def test_content_before_a_start_is_read_with_a_finding() -> None:
    deltas = decode_frames(RESPONSES, *text(0, "late"))
    assert rules(deltas) == ["message-without-start", "block-without-start"]
    assert state(*text(0, "late"))["messages"][0]["text"] == "late"


def test_an_end_that_is_said_again_says_nothing_and_one_of_another_response_is_another_message() -> None:
    deltas = decode_frames(RESPONSES, CREATED, ended(message("a")), ended(message("a")))
    assert rules(deltas) == ["event-repeated"]
    other = {"type": "response.completed", "response": whole(message("b"), id="resp_2")}
    assert [each["text"] for each in state(CREATED, ended(message("a")), other)["messages"]] == ["a", "b"]


def test_progress_pings_and_late_events_open_no_message() -> None:
    late = [event("web_search_call.searching", 0, "ws"), {"type": "keepalive"}, {"type": "ping"}]
    deltas = decode_frames(RESPONSES, CREATED, ended(), *late)
    assert len(of(MessageStarted, deltas)) == 1
    assert rules(deltas) == []


def test_an_event_of_an_unknown_kind_is_a_finding() -> None:
    assert rules(decode_frames(RESPONSES, CREATED, event("riddle.delta", 0, "x", delta="?"))) == ["unknown-frame"]


def test_a_whole_response_is_read_like_a_streamed_one() -> None:
    output = [message("hi"), call("a", '{"x":1}', status="completed")]
    frames = [CREATED, added(0, message()), *text(0, "hi"), done(0, output[0])]
    frames += [added(1, call("a")), *arguments(1, "a", '{"x":1}'), done(1, output[1]), ended(*output)]
    streamed, given = state(*frames)["messages"], state(whole(*output))["messages"]
    for name in ("message_id", "text", "tool_calls", "tool_call_chunks", "finish_reason"):
        assert streamed[0][name] == given[0][name], name
    assert calls(*frames) == calls(whole(*output)) == [("a", "get", '{"x":1}', "complete")]


def test_whole_responses_one_after_the_other_are_messages_of_their_own() -> None:
    found = state(whole(message("one")), whole(message("two"), id="resp_2"))
    assert [(each["message_id"], each["text"]) for each in found["messages"]] == [("resp_1", "one"), ("resp_2", "two")]


def test_an_exchange_that_breaks_off_truncates_its_calls() -> None:
    frames = [CREATED, added(0, call("a")), *arguments(0, "a", '{"x":1}'), done(0, call("a", '{"x":1}'))]
    events = [request(RESPONSES, {"input": "hi"}), response(RESPONSES), *(frame(RESPONSES, each) for each in frames)]
    (run,) = of(RunEnded, decode_events(RESPONSES, [*events, end(RESPONSES)]))
    assert not run.terminated


@pytest.mark.parametrize(
    ("end", "told"),
    [
        (ended(kind="failed"), "the response failed"),
        (ended(kind="failed", error={"code": "server_error", "message": "sorry"}), "server_error: sorry"),
        (ended(kind="incomplete", error={"code": "server_error", "message": "sorry"}), "server_error: sorry"),
    ],
)
def test_a_failure_is_told_with_the_words_that_there_are(end: dict[str, Any], told: str) -> None:
    assert [each.error for each in of(Failure, decode_frames(RESPONSES, CREATED, end))] == [told]


@pytest.mark.parametrize("kind", ["response.created", "response.completed"])
def test_a_response_of_another_type_is_told(kind: str) -> None:
    deltas = decode_frames(RESPONSES, CREATED, *text(0, "a"), {"type": kind, "response": "r"})
    assert "malformed-field" in rules(deltas)
