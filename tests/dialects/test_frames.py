"""What every dialect says of a frame that is odd as JSON, whatever it says."""

from __future__ import annotations

import pytest

from recorder.dialects import frames
from tests.streams import events_of, state_of


def rules(body: bytes) -> list[tuple[str, str]]:
    frame = b'data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":' + body + b"}}]}\n\n"
    return [(row["rule"], row["severity"]) for row in state_of(events_of(frame))["findings"]]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b'"plain"', []),
        (b'"\\ud83d\\ude00"', []),
        (b'"\\ud83d"', [("lone-surrogate", "info")]),
        (b'"\\\\ud83d"', []),
        (b'"NaN"', []),
        (b'"x", "logprob": NaN', [("non-finite-number", "info")]),
        (b'"x", "logprob": 1e999', [("non-finite-number", "info")]),
        (b'"x", "logprob": 1e100', []),
        (b'"\xff"', [("invalid-utf8", "warning")]),
    ],
)
def test_what_other_readers_may_refuse_is_a_finding(body: bytes, found: list[tuple[str, str]]) -> None:
    assert [each for each in rules(body) if each[0] != "malformed-field"] == found


def test_a_very_large_frame_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "LARGE_BYTES", 1000)
    assert rules(b'"' + b"x" * 500 + b'"') == []
    assert rules(b'"' + b"x" * 1000 + b'"') == [("large-frame", "info")]
