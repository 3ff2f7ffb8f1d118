"""Token counts: a provider says them as a running total, so that the latest value of each key holds."""

from __future__ import annotations

from typing import Any


def replace_counts(counts: dict[str, Any], newer: dict[str, Any]) -> None:
    """Takes the newer values into `counts`, detail by detail; keeps `total_tokens` the sum where nobody said it."""
    for key, value in newer.items():
        held = counts.get(key)
        if isinstance(held, dict) and isinstance(value, dict):
            held.update(value)
        elif value is not None:
            counts[key] = dict(value) if isinstance(value, dict) else value
    if "total_tokens" not in newer:
        parts = counts.get("input_tokens"), counts.get("output_tokens")
        if all(isinstance(part, int) for part in parts):
            counts["total_tokens"] = sum(part for part in parts if isinstance(part, int))
