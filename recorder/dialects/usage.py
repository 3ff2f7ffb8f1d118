"""Token counts under LangChain's names, for providers that give each count a name of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recorder.dialects.values import dict_of, int_of


def counts_of(
    usage: object, totals: Mapping[str, str], details: Mapping[str, tuple[str, str]] | None = None
) -> dict[str, Any]:
    """A provider's counts → the keys of LangChain's UsageMetadata; empty where it has none.

    `totals`: the provider's name → LangChain's (`input_tokens`, …). `details`: the provider's name → the group
    (`input_token_details`, …) and LangChain's name in it. What is no whole number, or is not named, is no count.
    """
    counts: dict[str, Any] = {}
    for name, value in dict_of(usage).items():
        if (number := int_of(value)) is None:
            continue
        if name in totals:
            counts[totals[name]] = number
        elif details and name in details:
            group, key = details[name]
            counts.setdefault(group, {})[key] = number
    return counts


def whole_counts(usage: object) -> dict[str, Any]:
    """Counts that have LangChain's names already, and their details; what is no whole number is no count."""
    counts: dict[str, Any] = {}
    for name, value in dict_of(usage).items():
        count: int | dict[str, int] | None = int_of(value)
        if count is None and isinstance(value, dict):
            count = {key: number for key, item in value.items() if (number := int_of(item)) is not None}
        if count is not None:
            counts[name] = count
    return counts
