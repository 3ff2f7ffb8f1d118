"""JSON as it occurs in recordings: msgspec where it can, the standard library where msgspec refuses.

Real traffic holds lone surrogates (`"\\ud83d"` cut from its other half), `NaN` and numbers beyond a double, which RFC
8259 leaves open or forbids. They must be read and shown without an exception, and stored in databases that take UTF-8
only.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

import msgspec

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_decoder = msgspec.json.Decoder()


class NotJson(ValueError):
    """The bytes are not JSON; the message says why, in the parser's words."""


def decode(data: bytes) -> Any:
    """JSON bytes → Python values.

    Accepts, beyond RFC 8259: lone surrogate escapes (kept as lone code units), `NaN`, `Infinity`, integers of any
    size. Raises `NotJson`, never anything else.
    """
    try:
        return _decoder.decode(data)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        return json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise NotJson(f"invalid UTF-8 at byte {error.start}") from None
    except RecursionError:
        raise NotJson("nested too deeply") from None
    except ValueError as error:
        raise NotJson(str(error)) from None


def decode_leniently(data: bytes) -> tuple[Any, str | None]:
    """As `decode`, but invalid UTF-8 reads as U+FFFD: gives the value and what was wrong with the bytes, or None."""
    try:
        return decode(data), None
    except NotJson as error:
        reason = str(error)
        if not reason.startswith("invalid UTF-8"):
            raise
    return decode(data.decode("utf-8", "replace").encode()), reason


def clean(text: str) -> str:
    r"""Text that any UTF-8 database takes: a lone surrogate becomes the six characters `\udXXX`."""
    return _LONE_SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def encode(value: Any, *, indent: int | None = None) -> str:
    r"""Python values → one JSON text for people and machines, always valid JSON and valid UTF-8.

    A lone surrogate is written as its escape `\udXXX`; a number that JSON has no spelling for is tagged
    `{"$number": "NaN"}`; a value of another type is tagged `{"$repr": "…"}`.
    """
    text = json.dumps(
        _finite(value), ensure_ascii=False, indent=indent, separators=None if indent else (", ", ": "), default=_tagged
    )
    return _LONE_SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _tagged(value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        return msgspec.to_builtins(value)
    if isinstance(value, bytes):
        return {"$bytes": value.hex()}
    return {"$repr": repr(value)}


def _finite(value: Any) -> Any:
    """The same value with non-finite floats tagged; containers are copied only where one is inside."""
    if isinstance(value, float):
        return (
            value if math.isfinite(value) else {"$number": str(value).replace("inf", "Infinity").replace("nan", "NaN")}
        )
    if isinstance(value, dict):
        items = {key: _finite(item) for key, item in value.items()}
        return items if any(items[key] is not value[key] for key in value) else value
    if isinstance(value, list | tuple):
        elements = [_finite(item) for item in value]
        return elements if any(new is not old for new, old in zip(elements, value, strict=True)) else value
    return value
