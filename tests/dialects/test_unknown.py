from __future__ import annotations

from recorder.deltas import RunEnded
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
