"""JSON values of unknown shape, read with a type in mind: what is not of the type reads as absent, nothing raises."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from recorder.events.jsontext import clean

ROLES = {"assistant": "ai", "model": "ai", "user": "human"}
"""Providers' words for LangChain's roles; any other role keeps its own."""

_LARGEST_INT = 1 << 53
"""Beyond it a number is no count and no index, and MessagePack or SQLite may refuse it."""


def dict_of(value: object) -> dict[str, Any]:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def list_of(value: object) -> list[Any]:
    """The array, or an empty one."""
    return value if isinstance(value, list) else []


def text_of(value: object) -> str | None:
    """The string, or None; an empty string is a string."""
    return value if isinstance(value, str) else None


def id_of(value: object) -> str | None:
    """An identifier: text as it is, a number as text, anything else is none."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if abs(value) < _LARGEST_INT else None
    return value if isinstance(value, str) else None


def int_of(value: object) -> int | None:
    """The whole number (`3`, `3.0`), or None; true and false are no numbers."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST_INT:
        return value
    return None


def index_of(value: object) -> int | str | None:
    """An index as it was sent: a number, text, None; what is neither is kept as JSON text."""
    if value is None or isinstance(value, str):
        return value
    number = int_of(value)
    return compact(value) if number is None else number


def position_of(index: object, missing: int | str = 0) -> int | str:
    """An index that tells places in an answer apart: clean, for it goes into states; `missing` where none was sent."""
    place = index_of(index)
    if place is None:
        return missing
    return clean(place) if isinstance(place, str) else place


def arguments_of(value: object) -> str | None:
    """A tool call's arguments as text: text as it was sent, an object or another value as compact JSON."""
    return value if value is None or isinstance(value, str) else compact(value)


def compact(value: object) -> str:
    """The value as JSON text without spaces, in its own key order; `NaN` and lone surrogates as they came."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=repr)
    except (RecursionError, ValueError):
        return '{"$repr":"nested too deeply"}'


def digest_of(value: object) -> str:
    """What stands in a decoder's state for a value that may be large: equal for values of the same JSON text."""
    return sha256(compact(value).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def cleaned(value: object) -> str | None:
    """Text for the envelope, for ids of runs and for a decoder's state, where a lone surrogate may not stand."""
    text = id_of(value)
    return None if text is None else clean(text)
