"""Token counts as Cohere's API reports them, in either version, under LangChain's names."""

from __future__ import annotations

from typing import Any

from recorder.dialects.values import dict_of, int_of


def cohere_counts(usage: object) -> dict[str, Any]:
    """`usage` (v2) or `meta` (v1) → the keys of LangChain's UsageMetadata; empty where it holds no count.

    `tokens` is what the model read and wrote, `billed_units` what is paid for: it counts where nothing else does.
    """
    fields = dict_of(usage)
    tokens = dict_of(fields.get("tokens")) or dict_of(fields.get("billed_units"))
    counts: dict[str, Any] = {}
    for name in ("input_tokens", "output_tokens"):
        if (number := int_of(tokens.get(name))) is not None:
            counts[name] = number
    if (cached := int_of(fields.get("cached_tokens"))) is not None:
        counts["input_token_details"] = {"cache_read": cached}
    if (reasoning := int_of(tokens.get("reasoning_tokens"))) is not None:
        counts["output_token_details"] = {"reasoning": reasoning}
    return counts
