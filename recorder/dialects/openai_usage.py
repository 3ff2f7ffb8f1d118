"""Token counts as OpenAI's API (and those who speak it) reports them, under LangChain's names."""

from __future__ import annotations

from typing import Any

from recorder.dialects.values import dict_of, int_of

_TOTALS = {
    "input_tokens": "input_tokens",
    "prompt_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "completion_tokens": "output_tokens",
    "total_tokens": "total_tokens",
}
_DETAILS = {
    "prompt_tokens_details": "input_token_details",
    "prompt_token_details": "input_token_details",
    "input_tokens_details": "input_token_details",
    "input_token_details": "input_token_details",
    "completion_tokens_details": "output_token_details",
    "completion_token_details": "output_token_details",
    "output_tokens_details": "output_token_details",
    "output_token_details": "output_token_details",
}
_NAMES = {
    "cached_tokens": "cache_read",
    "cache_write_tokens": "cache_creation",
    "reasoning_tokens": "reasoning",
    "audio_tokens": "audio",
}


def openai_counts(usage: object) -> dict[str, Any]:
    """`usage` → the keys of LangChain's UsageMetadata; empty where it holds no count.

    Details keep the provider's names where LangChain has none for them. Costs and times are no counts.
    """
    counts: dict[str, Any] = {}
    for key, value in dict_of(usage).items():
        if key in _TOTALS:
            if (number := int_of(value)) is not None:
                counts[_TOTALS[key]] = number
        elif key in _DETAILS:
            details = {_NAMES.get(name, name): int_of(count) for name, count in dict_of(value).items()}
            if known := {name: count for name, count in details.items() if count is not None}:
                counts.setdefault(_DETAILS[key], {}).update(known)
        elif key == "prompt_cache_hit_tokens" and (hits := int_of(value)) is not None:
            counts.setdefault("input_token_details", {}).setdefault("cache_read", hits)
    return counts
