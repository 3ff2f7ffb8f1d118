"""The truth-state of a tool call's arguments: a call that was cut off must never look finished."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any, Literal

CallState = Literal["open", "complete", "truncated", "invalid", "empty", "erased"]


def call_state(
    raw: str | None, *, finished: bool, cut_off: bool, free_text: bool = False, erased: bool = False
) -> CallState:
    """The state of a call with the arguments `raw`.

    `cut_off`: an event said that the message was truncated. `finished`: an event said that it was finished. Neither:
    the call is open, however complete its text looks, for more of it may come. A finished call's text must be one JSON
    object in the strict sense (no NaN, no raw control characters); no text at all is `empty`, which tools take as `{}`.
    `free_text`: the tool takes text as it is, so that any text will do. `erased`: a piece of it may have been erased,
    and nothing can be said of the rest.
    """
    if erased:
        return "erased"
    if cut_off:
        return "truncated"
    if not finished:
        return "open"
    if not raw:
        return "empty"
    return "complete" if free_text or isinstance(strict_value(raw), dict) else "invalid"


def strict_value(raw: str) -> Any:
    """The JSON value of `raw` by RFC 8259, or None where it is none (or nested beyond what can be read)."""
    try:
        return json.loads(raw, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def args_key(raw: str | None) -> str:
    """A short digest under which two spellings of the same arguments are equal."""
    value = strict_value(raw) if raw else {}
    text = json.dumps(value, sort_keys=True) if isinstance(value, dict) else raw or ""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")
