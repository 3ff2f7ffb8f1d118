from __future__ import annotations

import pytest

from recorder.deltas import Finding, RunEnded
from recorder.dialects import get
from tests.dialects.wire import decode_events, end, frame, of, request, response, rules

UNKNOWN = get("unknown")


def test_every_frame_is_counted_and_the_exchange_ends_properly() -> None:
    events = [request(UNKNOWN, {"a": 1}), response(UNKNOWN), frame(UNKNOWN, {"type": "odd"}), frame(UNKNOWN, "no json")]
    deltas = decode_events(UNKNOWN, [*events, end(UNKNOWN)])
    assert rules(deltas) == ["unknown-frame", "unknown-frame"]
    assert of(RunEnded, deltas)[0].terminated is True


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
