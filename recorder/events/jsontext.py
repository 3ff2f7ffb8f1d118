"""JSON as it occurs in recordings: msgspec where it can, the standard library where msgspec refuses.

Real traffic holds lone surrogates (`"\\ud83d"` cut from its other half), `NaN` and numbers beyond a double, which RFC
8259 leaves open or forbids. They must be read and shown without an exception, and stored in databases that take UTF-8
only.
"""

from __future__ import annotations

import json
import math
import re
from functools import partial
from itertools import accumulate
from typing import Any

import msgspec

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_decoder = msgspec.json.Decoder()

DEPTH_LIMIT = 200
"""Containers within containers that are read. No recorded protocol nests a tenth of it, and within it every reader,
whatever the depth of its own stack, can walk a value: beyond, what could be read would depend on who reads."""
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
_MAY_BE_INFINITE = re.compile(rb"NaN|Infinity|[eE]\+?[0-9]{3}")
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")
_STEPS = [1 if byte in b"[{" else -1 for byte in range(256)]


class NotJson(ValueError):
    """The bytes are not JSON; the message says why, in the parser's words."""


def decode(data: bytes) -> Any:
    """JSON bytes → Python values.

    Accepts, beyond RFC 8259: lone surrogate escapes (kept as lone code units), `NaN`, `Infinity`, integers of any
    size. Raises `NotJson`, never anything else; so too where containers are nested beyond `DEPTH_LIMIT`.
    """
    if _is_deep(data):
        raise NotJson(f"nested deeper than {DEPTH_LIMIT}")
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


def _is_deep(data: bytes) -> bool:
    """Whether containers are nested beyond the limit: strings are cut out first, for brackets in them nest nothing."""
    if data.count(b"[") + data.count(b"{") <= DEPTH_LIMIT:
        return False
    brackets = _STRING.sub(b"", data).translate(None, _NO_BRACKETS)
    return max(accumulate(map(_STEPS.__getitem__, brackets)), default=0) > DEPTH_LIMIT


def decode_leniently(data: bytes) -> tuple[Any, str | None]:
    """As `decode`, but invalid UTF-8 reads as U+FFFD: gives the value and what was wrong with the bytes, or None."""
    try:
        return decode(data), None
    except NotJson as error:
        reason = str(error)
        if not reason.startswith("invalid UTF-8"):
            raise
    return decode(data.decode("utf-8", "replace").encode()), reason


def has_lone_surrogate(data: bytes, value: Any) -> bool:
    """Whether the value that was read from these bytes holds half of a surrogate pair."""
    return _SURROGATE_ESCAPE.search(data) is not None and not is_clean(json.dumps(value, ensure_ascii=False))


def has_no_spelling(data: bytes, value: Any) -> bool:
    """Whether the value that was read from these bytes holds a number that JSON cannot write: NaN, an infinity."""
    if _MAY_BE_INFINITE.search(data) is None:
        return False
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return True
    return False


def is_clean(text: str) -> bool:
    """Whether any UTF-8 database takes the text as it is."""
    return _LONE_SURROGATE.search(text) is None


def clean(text: str) -> str:
    r"""Text that any UTF-8 database takes: a lone surrogate becomes the six characters `\udXXX`."""
    return _LONE_SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def cleaned(text: str | None) -> str | None:
    """`clean`, where there is a text."""
    return None if text is None else clean(text)


def encode(value: Any, *, indent: int | None = None) -> str:
    r"""Python values → one JSON text for people and machines, always valid JSON and valid UTF-8.

    A lone surrogate is written as its escape `\udXXX`; a number that JSON has no spelling for is tagged
    `{"$number": "NaN"}`, a value of another type `{"$repr": "…"}`, and `{"$deep": N}` stands where a value that is
    nested too deeply to be written was cut.
    """
    separators = None if indent else (", ", ": ")
    dump = partial(json.dumps, ensure_ascii=False, indent=indent, separators=separators, default=_tagged)
    try:
        text = dump(value, allow_nan=False)
    except (ValueError, RecursionError):
        text = dump(_writable(value, 0))
    return _LONE_SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _tagged(value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        return msgspec.to_builtins(value)
    if isinstance(value, bytes):
        return {"$bytes": value.hex()}
    return {"$repr": repr(value)}


def _writable(value: Any, depth: int) -> Any:
    """The same value with non-finite floats tagged and the deepest parts cut off."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"$number": str(value).replace("inf", "Infinity").replace("nan", "NaN")}
    if not isinstance(value, dict | list | tuple):
        return value
    if depth == DEPTH_LIMIT:
        return {"$deep": depth}
    if isinstance(value, dict):
        return {key: _writable(item, depth + 1) for key, item in value.items()}
    return [_writable(item, depth + 1) for item in value]
