from __future__ import annotations

from typing import Any

import pytest

from recorder.dialects.finish_reasons import is_truncating, reason_of


@pytest.mark.parametrize(
    "reason",
    [
        "length",
        "max_tokens",
        "MAX_TOKENS",
        "content_filter",
        "content-filter",
        "Content Filter",
        "cancelled",
        "canceled",
        "MAX_LEN",
        "max_context",
        "token_limit",
        "time_limit",
        "model_context_window_exceeded",
        "PROHIBITED_CONTENT",
        "BLOCKLIST",
        "SPII",
        "IMAGE_OTHER",
        "MISSING_THOUGHT_SIGNATURE",
        "CONTINUATION",
        "malformed_tool_use",
        "failed",
        "FAILURE",
        "lengthlength",
        "content_filtercontent_filtercontent_filter",
    ],
)
def test_reasons_that_mean_a_cut_off_answer(reason: str) -> None:
    assert is_truncating(reason)


@pytest.mark.parametrize(
    "reason",
    ["stop", "stopstop", "tool_calls", "end_turn", "pause_turn", "STOP", "stop_sequence", "eos_token", "ll", ""],
)
def test_reasons_that_mean_a_whole_answer(reason: str) -> None:
    assert not is_truncating(reason)


@pytest.mark.parametrize("value", [None, "", " ", "null", "None", "NULL"])
def test_a_reason_that_is_written_as_missing_is_missing(value: Any) -> None:
    assert reason_of(value) is None


@pytest.mark.parametrize(("value", "reason"), [("stop", "stop"), (0, "0"), ({"a": 1}, '{"a":1}')])
def test_a_reason_is_kept_as_it_was_sent(value: Any, reason: str) -> None:
    assert reason_of(value) == reason
