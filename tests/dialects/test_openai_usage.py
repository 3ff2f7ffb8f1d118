from __future__ import annotations

from typing import Any

import pytest

from recorder.dialects.openai_usage import openai_counts


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 5,
                "total_tokens": 14,
                "prompt_tokens_details": {"cached_tokens": 4, "audio_tokens": 0, "cache_write_tokens": 2},
                "completion_tokens_details": {"reasoning_tokens": 3, "accepted_prediction_tokens": None},
                "cost": 0.1,
            },
            {
                "input_tokens": 9,
                "output_tokens": 5,
                "total_tokens": 14,
                "input_token_details": {"cache_read": 4, "audio": 0, "cache_creation": 2},
                "output_token_details": {"reasoning": 3},
            },
        ),
        (
            {"input_tokens": 1, "output_tokens_details": {"reasoning_tokens": 2}},
            {"input_tokens": 1, "output_token_details": {"reasoning": 2}},
        ),
        (
            {"prompt_tokens": 1, "prompt_cache_hit_tokens": 1},
            {"input_tokens": 1, "input_token_details": {"cache_read": 1}},
        ),
        ({"prompt_tokens": "9", "prompt_tokens_details": [], "completion_tokens": None}, {}),
        (None, {}),
        ([1], {}),
    ],
)
def test_counts_have_langchains_names(usage: Any, counts: dict[str, Any]) -> None:
    assert openai_counts(usage) == counts
