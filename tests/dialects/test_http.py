from __future__ import annotations

from typing import Any

import pytest

from recorder.deltas import Failure, Finding, History, MessageClosed, RunEnded, RunStarted, TextChunk
from recorder.dialects import get
from recorder.dialects.base import COMMENT, DAMAGED, ERROR
from recorder.dialects.http import error_text
from recorder.events import Event
from tests.dialects.wire import (
    decode_events,
    decode_frames,
    end,
    event,
    frame,
    of,
    partial,
    request,
    response,
    rules,
)

CHAT = get("openai.chat")
TEXT = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "hi"}}]}
STOP = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


def test_a_request_starts_the_run_of_its_exchange() -> None:
    deltas = decode_events(CHAT, [request(CHAT, {}, "https://h/v1/chat/completions?x=1"), response(CHAT)])
    started, answered = of(RunStarted, deltas)
    assert (started.kind, started.name) == ("exchange", "/v1/chat/completions")
    assert started.metadata == {"method": "POST", "url": "https://h/v1/chat/completions?x=1"}
    assert answered.metadata == {"status": 200}


def test_a_raw_dump_starts_its_run_with_its_first_event() -> None:
    deltas = decode_frames(CHAT, TEXT, TEXT)
    assert [type(delta) for delta in deltas[:2]] == [RunStarted, type(deltas[1])]
    assert len(of(RunStarted, deltas)) == 1


def test_the_terminator_ends_the_exchange_once() -> None:
    deltas = decode_events(CHAT, [frame(CHAT, TEXT), frame(CHAT, "[DONE]"), frame(CHAT, "[DONE]"), end(CHAT)])
    assert [type(delta) for delta in deltas[-2:]] == [MessageClosed, RunEnded]
    (ended,) = of(RunEnded, deltas)
    assert (ended.status, ended.terminated) == ("ok", True)


def test_an_exchange_cut_off_before_its_terminator_is_not_closed() -> None:
    deltas = decode_events(CHAT, [frame(CHAT, TEXT), end(CHAT)])
    assert of(MessageClosed, deltas) == []
    assert of(RunEnded, deltas)[0].terminated is False


def test_a_finish_reason_is_a_terminator_where_a_server_sends_no_done() -> None:
    deltas = decode_events(CHAT, [frame(CHAT, TEXT), frame(CHAT, STOP), end(CHAT)])
    assert of(RunEnded, deltas)[0].terminated is True
    assert len(of(MessageClosed, deltas)) == 1


def call(args: str, finish_reason: str | None = None) -> dict[str, Any]:
    delta = {"tool_calls": [{"index": 0, "function": {"arguments": args}}]}
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return {"object": "chat.completion.chunk", "choices": [choice]}


@pytest.mark.parametrize(
    ("frames", "terminated"),
    [
        ([TEXT, STOP, call('{"a":')], False),
        ([TEXT, STOP, call('{"a":'), call("1}", "tool_calls")], True),
        ([TEXT, STOP, call('{"a":1}'), "[DONE]"], True),
        ([TEXT, STOP, call("")], True),
        ([TEXT, STOP, TEXT], True),
        ([call('{"a":1}', "tool_calls")], True),
        ([STOP, "[DONE]", call('{"a":')], True),
    ],
)
def test_a_reason_to_stop_says_nothing_of_arguments_that_follow_it(frames: list[Any], terminated: bool) -> None:
    deltas = decode_events(CHAT, [*(frame(CHAT, each) for each in frames), end(CHAT)])
    assert next(ended.terminated for ended in of(RunEnded, deltas)) is terminated


def test_a_connection_that_breaks_among_arguments_fails_whatever_was_said_before() -> None:
    broken = event(CHAT, ERROR, meta={"error": "ReadError"})
    deltas = decode_events(CHAT, [frame(CHAT, STOP), frame(CHAT, call('{"a":')), broken])
    assert [failure.error for failure in of(Failure, deltas)] == ["ReadError"]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            {"error": {"type": "rate_limit", "message": "slow down"}},
            "HTTP 429 Too Many Requests: rate_limit: slow down",
        ),
        ("<html>busy</html>", "HTTP 429 Too Many Requests: <html>busy</html>"),
    ],
)
def test_a_refused_request_is_one_failure_with_the_servers_words(body: Any, text: str) -> None:
    events = [request(CHAT, {}), response(CHAT, 429), frame(CHAT, body), frame(CHAT, body), end(CHAT)]
    deltas = decode_events(CHAT, events)
    assert [failure.error for failure in of(Failure, deltas)] == [text]
    (ended,) = of(RunEnded, deltas)
    assert (ended.status, ended.error) == ("error", text)
    assert of(TextChunk, deltas) == []


def test_a_refusal_without_a_body_is_told_at_its_end() -> None:
    deltas = decode_events(CHAT, [request(CHAT, {}), response(CHAT, 503), end(CHAT)])
    assert of(Failure, deltas)[0].error == "HTTP 503 Service Unavailable"


def test_a_broken_connection_fails_the_run() -> None:
    deltas = decode_events(CHAT, [frame(CHAT, TEXT), event(CHAT, ERROR, meta={"error": "ReadError"})])
    assert of(Failure, deltas)[0].error == "ReadError"
    assert of(RunEnded, deltas)[0].status == "error"


def test_an_error_after_the_terminator_takes_nothing_back() -> None:
    closed = event(CHAT, ERROR, meta={"error": "net::ERR_ABORTED"})
    deltas = decode_events(CHAT, [frame(CHAT, TEXT), frame(CHAT, STOP), frame(CHAT, "[DONE]"), closed])
    assert of(Failure, deltas) == []
    assert rules(deltas) == ["error-after-end"]
    assert [(ended.status, ended.terminated) for ended in of(RunEnded, deltas)] == [("ok", True)]


def test_an_answer_that_was_not_recorded_is_not_said_to_have_broken_off() -> None:
    nothing = event(CHAT, "http.end", meta={"unrecorded": "the recorder kept no body of the answer"})
    deltas = decode_events(CHAT, [request(CHAT, {}), response(CHAT), nothing])
    (found,) = of(Finding, deltas)
    assert (found.rule, found.severity) == ("answer-not-recorded", "warning")
    assert of(RunEnded, deltas)[0].terminated is True


def test_a_refusal_whose_body_was_not_recorded_is_a_failure() -> None:
    nothing = event(CHAT, "http.end", meta={"unrecorded": "…"})
    deltas = decode_events(CHAT, [request(CHAT, {}), response(CHAT, 429), nothing])
    assert rules(deltas) == []
    assert of(Failure, deltas)[0].error == "HTTP 429 Too Many Requests"


@pytest.mark.parametrize("status", [101, 307])
def test_another_protocol_and_another_address_refuse_nothing(status: int) -> None:
    deltas = decode_events(CHAT, [request(CHAT, {}), response(CHAT, status), end(CHAT)])
    assert of(Failure, deltas) == []


def test_a_comment_says_nothing_and_a_partial_frame_is_a_finding() -> None:
    deltas = decode_events(CHAT, [event(CHAT, COMMENT, b": hello"), partial(CHAT, b'data: {"ch')])
    assert rules(deltas) == ["partial-frame"]
    assert [type(delta) for delta in deltas] == [RunStarted, Finding]


def test_damage_in_a_stream_is_a_finding() -> None:
    deltas = decode_events(CHAT, [event(CHAT, DAMAGED, b"\0noise")])
    (found,) = of(Finding, deltas)
    assert (found.rule, found.severity) == ("damaged-frame", "warning")
    assert found.detail == "6 bytes are no message, or one whose checksum does not fit"


def test_a_frame_that_is_no_json_and_one_with_bad_utf8_are_findings() -> None:
    bad = b'{"object":"chat.completion.chunk","choices":[{"delta":{"content":"\xff"}}]}'
    deltas = decode_frames(CHAT, '{"object":', bad)
    assert rules(deltas) == ["not-json", "invalid-utf8"]
    detail = of(Finding, deltas)[0].detail
    assert detail.startswith("the frame is no JSON: ")
    assert detail.endswith(': {"object":')
    assert of(TextChunk, deltas)[0].text == "�"


def test_a_request_that_is_a_form_is_no_warning() -> None:
    deltas = decode_events(CHAT, [event(CHAT, "http.request", b"--boundary", meta={"url": "https://h/upload"})])
    assert [(finding.rule, finding.severity) for finding in of(Finding, deltas)] == [("not-json", "info")]
    assert of(History, deltas) == []


def test_an_erased_frame_says_nothing() -> None:
    new = frame(CHAT, TEXT)
    erased = Event(
        **{name: getattr(new, name) for name in new.__struct_fields__} | {"body": b""},
        seq=1,
        recorded_at=0,
        salt=None,
        body_hash=b"",
        hash=b"",
        erased=True,
    )
    assert [type(delta) for delta in decode_events(CHAT, [erased])] == [RunStarted]


@pytest.mark.parametrize(
    ("error", "text"),
    [
        ({"error": {"message": "no", "type": "invalid_request_error"}}, "invalid_request_error: no"),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}, "overloaded_error: busy"),
        ([{"error": {"code": 404, "message": "gone"}}], "404: gone"),
        ({"error": "ValueError", "message": "bad"}, "ValueError: bad"),
        ({"error": "plain"}, "plain"),
        ({"detail": "Not Found"}, "Not Found"),
        ({"odd": 1}, '{"odd":1}'),
        ("  text \n", "text"),
        ("", "an error without a message"),
        (None, "null"),
        ({"message": "\ud83d"}, "\\ud83d"),
    ],
)
def test_errors_of_every_shape_become_one_text(error: Any, text: str) -> None:
    assert error_text(error) == text


def test_a_frame_that_is_no_json_is_named_as_what_it_is() -> None:
    deltas = decode_events(CHAT, [request(CHAT, {}), frame(CHAT, "unknown {"), event(CHAT, "http.request", b"--form")])
    texts = [finding.detail for finding in of(Finding, deltas)]
    assert [text.partition(":")[0] for text in texts] == ["the frame is no JSON", "the request is no JSON"]
