"""How JavaScript's numbers, texts and objects differ from Python's, where LangChain.js shows it."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

WHITE_SPACE = "\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
"""What `trim` takes off and `\\s` matches: ECMA-262's white space and line terminators, U+FEFF among them."""

_LARGEST_EXACT = 1 << 53
_EXPONENT_FROM = 1e21
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_HIGH, _LOW = ("\ud800", "\udbff"), ("\udc00", "\udfff")
_ARRAY_INDEX = re.compile("0|[1-9][0-9]{0,9}")
_MOST_INDEX = (1 << 32) - 2


def number(value: float) -> int | float:
    """A number as JavaScript has it, a double, in the spelling of `JSON.stringify`: `1` for 1.0, `0` for -0.

    A whole number beyond 2^53 gets the digits that JavaScript prints, which are the shortest that mean the same double.
    """
    if isinstance(value, int) and abs(value) <= _LARGEST_EXACT:
        return int(value)
    try:
        double = float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    if double.is_integer() and abs(double) < _EXPONENT_FROM:
        return int(Decimal(repr(double)))
    return double


def is_truthy(value: Any) -> bool:
    """Whether JavaScript takes a value out of a JSON text for true: every object is, an empty one too."""
    return isinstance(value, dict | list) or bool(value)


def joined(text: str) -> str:
    """The text with halves of surrogate pairs that meet made one character: JavaScript counts in halves."""
    return _PAIR.sub(lambda pair: pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le"), text)


def halves_meet(left: str, right: str) -> bool:
    """Whether the end of one text and the beginning of the next are the two halves of one character."""
    return bool(left and right) and _LOW[0] <= right[0] <= _LOW[1] and _HIGH[0] <= left[-1] <= _HIGH[1]


def in_key_order(items: dict[str, Any]) -> dict[str, Any]:
    """The object with its keys in JavaScript's order: those that read as an array's index first, by their number.

    It is the same object where it has none.
    """
    indexes = [key for key in items if _is_array_index(key)]
    if not indexes:
        return items
    rest = {key: value for key, value in items.items() if not _is_array_index(key)}
    return {**{key: items[key] for key in sorted(indexes, key=int)}, **rest}


def _is_array_index(key: str) -> bool:
    return "0" <= key[:1] <= "9" and _ARRAY_INDEX.fullmatch(key) is not None and int(key) <= _MOST_INDEX
