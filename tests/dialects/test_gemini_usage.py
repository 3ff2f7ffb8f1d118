"""Google's counts under LangChain's names, as Google counts."""

from __future__ import annotations

from typing import Any

import pytest

from recorder.dialects.gemini_usage import google_counts


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        (
            {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 25, "trafficType": "ON_DEMAND"},
            {"input_tokens": 10, "output_tokens": 5, "total_tokens": 25},
        ),
        (
            {"cachedContentTokenCount": 4, "toolUsePromptTokenCount": 3, "thoughtsTokenCount": 2},
            {"input_token_details": {"cache_read": 4, "tool_use": 3}, "output_token_details": {"reasoning": 2}},
        ),
        (
            {
                "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 1}, {"modality": "AUDIO"}],
                "responseTokensDetails": [{"modality": "AUDIO", "tokenCount": 6}],
                "responseTokenCount": 6,
            },
            {
                "input_token_details": {"text": 1},
                "output_token_details": {"audio": 6},
                "output_tokens": 6,
            },
        ),
        ({"prompt_token_count": 1}, {"input_tokens": 1}),
        (
            {
                "total_input_tokens": 7,
                "total_output_tokens": 2,
                "total_tokens": 12,
                "total_cached_tokens": 1,
                "total_tool_use_tokens": 0,
                "total_thought_tokens": 3,
                "input_tokens_by_modality": [{"modality": "text", "tokens": 7}],
            },
            {
                "input_tokens": 7,
                "output_tokens": 2,
                "total_tokens": 12,
                "input_token_details": {"cache_read": 1, "tool_use": 0, "text": 7},
                "output_token_details": {"reasoning": 3},
            },
        ),
        ({"promptTokenCount": "10", "promptTokensDetails": [1, {"modality": 2}]}, {}),
        (None, {}),
        ([], {}),
    ],
)
def test_counts(usage: Any, counts: dict[str, Any]) -> None:
    assert google_counts(usage) == counts
