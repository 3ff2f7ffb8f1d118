"""Compares the partial-JSON reader with langchain-core on every beginning of a text. Imports langchain-core."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import pairwise

from langchain_core.utils.json import parse_partial_json
from msgspec import Struct

from recorder.projections.partial_json import DEPTH_LIMIT, INVALID, Follower, Invalid, Json, PartialJson


class Tally(Struct):
    """What was compared: beginnings of texts, and those left out because their outcome depends on the stack."""

    prefixes: int = 0
    left_out: int = 0


class Expected(Struct, frozen=True):
    """What the libraries make of a text; `value` as `spelled` gives it."""

    value: str
    complete: bool


def library_value(text: str) -> Json | Invalid:
    try:
        value: Json = parse_partial_json(text)
    except (ValueError, RecursionError):
        return INVALID
    return value


def is_strictly_complete(text: str) -> bool:
    try:
        json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return False
    return True


def spelled(value: object) -> str:
    """Equal for equal values only: tells 1, 1.0 and True apart, 0.0 and -0.0, a pair and two halves, orders of keys."""
    return repr(value)


def expect(text: str, ends: Iterable[int]) -> dict[int, Expected]:
    """What the libraries make of each beginning of `text`, by its length."""
    return {end: Expected(spelled(library_value(text[:end])), is_strictly_complete(text[:end])) for end in ends}


def difference(text: str, cuts: Iterable[int], expected: Mapping[int, Expected], tally: Tally) -> str | None:
    """Feeds `text` cut at `cuts` and compares after each piece; gives the first difference in words.

    Where the library reads deeper than `DEPTH_LIMIT` (how deep depends on the stack), the beginning is counted apart.
    """
    reader, follower = PartialJson(), Follower()
    for start, end in pairwise(sorted({0, len(text), *cuts})):
        reader.feed(text[start:end])
        changes = reader.changes()
        follower.apply(changes)
        tally.prefixes += 1
        value, wanted = spelled(reader.value), expected[end]
        where = f"after {text[:end][-400:]!r} (piece {text[start:end][-400:]!r})"
        if spelled(follower.value) != value:
            return f"{where}: changes give {spelled(follower.value)}, the value is {value}; told {changes}"
        if reader.changes():
            return f"{where}: told twice"
        if value == wanted.value and reader.is_complete == wanted.complete:
            continue
        if text[:end].count("{") + text[:end].count("[") > DEPTH_LIMIT and value == spelled(INVALID):
            tally.left_out += 1
            continue
        return f"{where}: {value}, complete: {reader.is_complete}; the library gives {wanted}"
    return None


def _refuse(constant: str) -> None:
    raise ValueError(constant)
