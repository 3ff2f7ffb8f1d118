"""Token counts as Google's APIs report them, under LangChain's names.

Gemini counts thinking beside the output and the results of its own tools beside the prompt: the total holds all four.
Cached tokens are within the prompt. The counts stay as they came.
"""

from __future__ import annotations

from typing import Any

from recorder.dialects.gemini_names import named
from recorder.dialects.usage import counts_of
from recorder.dialects.values import cleaned, int_of, list_of, text_of

_TOTALS = {
    "promptTokenCount": "input_tokens",
    "candidatesTokenCount": "output_tokens",
    "responseTokenCount": "output_tokens",
    "totalTokenCount": "total_tokens",
    # The Interactions API's.
    "totalInputTokens": "input_tokens",
    "totalOutputTokens": "output_tokens",
    "totalTokens": "total_tokens",
}
_DETAILS = {
    "cachedContentTokenCount": ("input_token_details", "cache_read"),
    "toolUsePromptTokenCount": ("input_token_details", "tool_use"),
    "thoughtsTokenCount": ("output_token_details", "reasoning"),
    "totalCachedTokens": ("input_token_details", "cache_read"),
    "totalToolUseTokens": ("input_token_details", "tool_use"),
    "totalThoughtTokens": ("output_token_details", "reasoning"),
}
_BY_MODALITY = {
    "promptTokensDetails": "input_token_details",
    "candidatesTokensDetails": "output_token_details",
    "responseTokensDetails": "output_token_details",
    "inputTokensByModality": "input_token_details",
    "outputTokensByModality": "output_token_details",
}
"""Lists of a modality (`AUDIO`) and its count; those of cached and of tools' tokens divide what is a detail already."""


def google_counts(usage: object) -> dict[str, Any]:
    """`usageMetadata`, or an interaction's `usage` → the keys of LangChain's UsageMetadata; empty where it has none."""
    fields = named(usage)
    counts = counts_of(fields, _TOTALS, _DETAILS)
    for key, group in _BY_MODALITY.items():
        for each in map(named, list_of(fields.get(key))):
            modality = cleaned(text_of(each.get("modality")))
            number = int_of(each.get("tokenCount", each.get("tokens")))
            if modality and number is not None:
                counts.setdefault(group, {})[modality.lower()] = number
    return counts
