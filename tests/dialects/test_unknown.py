from __future__ import annotations

import msgspec
import pytest

from recorder.deltas import Failure, Finding, RunEnded
from recorder.dialects import get
from recorder.events import NewEvent
from tests.dialects.wire import decode_events, end, frame, of, request, response, rules

UNKNOWN = get("unknown")


def streamed(body: object) -> NewEvent:
    return msgspec.structs.replace(frame(UNKNOWN, body), framing="data: {body}\n\n")


def test_every_frame_of_a_stream_is_counted_and_the_exchange_ends_properly() -> None:
    events = [request(UNKNOWN, {"a": 1}), response(UNKNOWN), streamed({"type": "odd"}), streamed("no json")]
    deltas = decode_events(UNKNOWN, [*events, end(UNKNOWN)])
    assert rules(deltas) == ["unknown-frame", "unknown-frame"]
    assert of(RunEnded, deltas)[0].terminated is True


@pytest.mark.parametrize("body", [{"ok": True}, b"\x89PNG\r\n\x1a\n", "<html>", [1.0, 0.5]])
def test_a_whole_answer_of_no_model_is_no_finding(body: object) -> None:
    events = [request(UNKNOWN, {}, "https://h/search"), response(UNKNOWN), frame(UNKNOWN, body), end(UNKNOWN)]
    deltas = decode_events(UNKNOWN, events)
    assert rules(deltas) == []
    assert of(RunEnded, deltas)[0].status == "ok"


def test_a_whole_answer_in_a_dialect_of_another_program_is_one() -> None:
    answer = msgspec.structs.replace(frame(UNKNOWN, {"new": 1}), dialect="model.v9")
    assert rules(decode_events(UNKNOWN, [request(UNKNOWN, {}), response(UNKNOWN), answer])) == ["unknown-frame"]


def test_a_refusal_of_no_model_is_told_all_the_same() -> None:
    deltas = decode_events(UNKNOWN, [request(UNKNOWN, {}), response(UNKNOWN, 500), frame(UNKNOWN, "oops")])
    assert of(Failure, deltas)[0].error == "HTTP 500 Internal Server Error: oops"


def test_a_frame_shows_what_it_calls_itself() -> None:
    assert UNKNOWN.envelope({"type": "odd.thing"}, None).kind == "odd.thing"
    assert UNKNOWN.envelope({"type": 3, "object": "o"}, None).kind == "o"
    assert UNKNOWN.envelope({"type": "odd.thing"}, "named").kind == "named"
    assert UNKNOWN.envelope([1], None).kind == "unknown"


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ('{"a":1}', 'unknown: not in any known dialect: {"a":1}'),
        ("two\r\n  lines\x1b[2J\0", "unknown: not in any known dialect: two lines\ufffd[2J\ufffd"),
        (b"\xff\xfe", "unknown: not in any known dialect: \ufffd\ufffd"),
        ("€" * 60, f"unknown: not in any known dialect: {'€' * 60}"),
        ("€" * 61, f"unknown: not in any known dialect: {'€' * 60}…"),
        (" " * 1000, "unknown: not in any known dialect: nothing"),
        ("a" + " " * 1000 + "b", "unknown: not in any known dialect: a…"),
    ],
)
def test_the_finding_shows_how_the_frame_begins(body: str | bytes, detail: str) -> None:
    (finding,) = of(Finding, decode_events(UNKNOWN, [frame(UNKNOWN, body)]))
    assert finding.detail == detail
