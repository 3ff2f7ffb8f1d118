"""Live Python objects as JSON bytes, as the dialects of LangChain read them.

LangChain's own objects are written as `langchain_core.load.dumpd` writes them, `{"lc": 1, "type": "constructor", …}`;
JSON's own values as themselves, tuples as arrays. All else has a tag, and nothing fails:

| what | form |
|---|---|
| NaN, infinities | `{"$number": "NaN"}` |
| bytes | `{"$bytes": "<hexadecimal>"}` |
| sets, deques | `{"$type": …, "$items": […]}` |
| dictionaries with keys that are no texts | `{"$type": …, "$items": [[<key>, <value>], …]}` |
| dataclasses, pydantic's models, named tuples, LangGraph's `Send` | `{"$type": …, "<field>": …}` |
| enumerations, dates, UUIDs, decimals, paths | `{"$type": …, "$value": …}` |
| exceptions | `{"$type": …, "$repr": …, "$message": …}` |
| anything else, iterators too, which are never advanced | `{"$type": …, "$repr": …}`; a `$repr` that failed is null |
| an object inside of itself | `{"$cycle": "<type>"}` |
| what is nested too deeply | `{"$deep": <levels>}` |
| what is beyond the limit of size | `{"$left_out": {…}}`, with its type and length, or how many items |

Of an object's own code only this is called: `__repr__` (of what has no other form), `__str__` of exceptions, and what
`dumpd` calls of LangChain's objects. Fields are read without properties. Nothing live is kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from recorder.capture.live.value_types import type_name, writer_of
from recorder.events import jsontext

LIMIT = 4 * 1024 * 1024
"""Bytes of one value, roughly: what escapes in JSON is counted as it is in the text."""
MOST_LEVELS = jsontext.DEPTH_LIMIT - 20
"""Containers within containers that are written: an event's body puts some more around the value."""
_FEW_LEVELS = 16
"""As many where the program has left too little of Python's stack."""
_MOST_REPR = 10_000
"""Characters that are kept of a repr."""
_MOST_SHOWN = 1_000
"""Characters that are kept of a text that is beyond the limit."""
_MOST_BITS = 4096
"""Integers beyond it are written in hexadecimal: Python reads none of more than 4,300 digits."""
_ESCAPED = "__lc_escaped__"
"""How `dumpd` marks a dictionary of the user's that looks like one of its own forms."""

_encode = msgspec.json.encode


def encode(value: object, limit: int = LIMIT) -> bytes:
    """The value as JSON in UTF-8, of `limit` bytes, roughly. Raises nothing but `KeyboardInterrupt`."""
    try:
        return _bytes_of(_tree(value, limit))
    except RecursionError:
        return b'{"$deep":0}'


def _tree(value: object, limit: int) -> Any:
    for levels in (MOST_LEVELS, _FEW_LEVELS):
        try:
            return Walk(limit, levels).value(value, 0)
        except KeyboardInterrupt:
            raise
        except RecursionError:
            continue
        except BaseException as error:
            return {"$type": type_name(type(value)), "$repr": None, "$error": type_name(type(error))}
    return {"$deep": 0}


def _bytes_of(tree: Any) -> bytes:
    try:
        return _encode(tree)
    except Exception:
        # A lone surrogate, which msgspec refuses.
        return jsontext.encode(tree).encode()


class Walk:
    """One value on its way to a tree of what JSON has."""

    __slots__ = ("_escaped", "_levels", "_path", "left")

    def __init__(self, limit: int, levels: int) -> None:
        self.left = limit
        """Bytes that may still be written."""
        self._levels = levels
        self._path: set[int] = set()
        """Identities of the containers around the value."""
        self._escaped = 0
        """How many escaped dictionaries are around the value: in there nothing is escaped again."""

    def value(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind is str:
            return self.text(value)
        if value is None or kind is bool:
            self.left -= 5
            return value
        if kind is int:
            return self.integer(value)
        if kind is float:
            return self.number(value)
        writer = writer_of(kind)
        if writer is None:
            return self.tagged(value)
        if depth >= self._levels:
            return {"$deep": depth}
        identity = id(value)
        if identity in self._path:
            return {"$cycle": type_name(kind)}
        self._path.add(identity)
        try:
            return writer(self, value, depth + 1)
        except RecursionError:
            raise
        except Exception:
            return self.tagged(value)
        finally:
            self._path.discard(identity)

    def text(self, value: str) -> Any:
        size = len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass"))
        if size > self.left:
            return _left_out("builtins.str", length=len(value), begins=value[:_MOST_SHOWN])
        self.left -= size + 3
        return value

    def integer(self, value: int) -> Any:
        if value.bit_length() > _MOST_BITS:
            return {"$type": "builtins.int", "$value": self.text(hex(value))}
        self.left -= 2 + value.bit_length() // 3
        return value

    def number(self, value: float) -> Any:
        self.left -= 18
        if math.isfinite(value):
            return value
        return {"$number": "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"}

    def binary(self, kind: type, value: bytes | bytearray | memoryview) -> Any:
        size = value.nbytes if isinstance(value, memoryview) else len(value)
        if 2 * size > self.left:
            return _left_out(type_name(kind), length=size)
        self.left -= 2 * size + 12
        return {"$bytes": value.hex()}

    def array(self, items: Iterable[Any], length: int, depth: int) -> list[Any]:
        out: list[Any] = []
        for item in items:
            if self.left <= 0:
                out.append(_left_out(items=length - len(out)))
                break
            self.left -= 1
            out.append(self.value(item, depth))
        return out

    def fields(self, pairs: Iterable[tuple[str, Any]], depth: int, out: dict[str, Any]) -> dict[str, Any]:
        """Fields of an object, or a dictionary's items of which every key is a text."""
        pairs = list(pairs)
        for position, (key, value) in enumerate(pairs):
            self.left -= len(key) + 4
            if self.left <= 0:
                return {**out, **_left_out(items=len(pairs) - position)}
            out[key] = self.value(value, depth)
        return out

    def dictionary(self, value: dict[Any, Any], depth: int) -> Any:
        pairs = list(dict.items(value))
        if not all(type(key) is str for key, _ in pairs):
            return self.pairs(type(value), pairs, depth)
        if "lc" in (keys := [key for key, _ in pairs]) or keys == [_ESCAPED]:
            return self.escaped(pairs, depth)
        return self.fields(pairs, depth, {})

    def pairs(self, kind: type, pairs: list[tuple[Any, Any]], depth: int) -> Any:
        """A dictionary with keys that are no texts; those that JSON would write as the same text stay apart."""
        if all(isinstance(key, str) for key, _ in pairs):
            return self.fields(((str.__str__(key), value) for key, value in pairs), depth, {})
        return {"$type": type_name(kind), "$items": self.array(map(list, pairs), len(pairs), depth + 1)}

    def escaped(self, pairs: list[tuple[str, Any]], depth: int) -> Any:
        if self._escaped:
            return self.fields(pairs, depth, {})
        self._escaped += 1
        try:
            return {_ESCAPED: self.fields(pairs, depth + 1, {})}
        finally:
            self._escaped -= 1

    def constructor(self, id: list[str], kwargs: Iterable[tuple[str, Any]], depth: int) -> dict[str, Any]:
        """One of LangChain's objects. A tool's artifact may be anything, and gets half of the room at most."""
        escaped, self._escaped = self._escaped, 0
        try:
            self.left -= 80
            pairs = list(kwargs)
            artifact = [pair for pair in pairs if pair[0] == "artifact"]
            written = self.fields((pair for pair in pairs if pair[0] != "artifact"), depth + 1, {})
            spared = max(self.left, 0) // 2 if artifact else 0
            self.left -= spared
            written = self.fields(artifact, depth + 1, written)
            self.left += spared
            return {"lc": 1, "type": "constructor", "id": id, "kwargs": written}
        finally:
            self._escaped = escaped

    def tagged(self, value: Any) -> dict[str, Any]:
        """The last resort: the type, and the repr if it has one."""
        tag: dict[str, Any] = {"$type": type_name(type(value))}
        self.left -= 30
        shown = self.told(repr, value)
        if isinstance(shown, str):
            tag["$repr"] = self.text(shown)
        else:
            tag |= {"$repr": None, "$error": type_name(type(shown))}
        return tag

    @staticmethod
    def told(how: Callable[[Any], str], value: Any) -> str | BaseException:
        """What an object's own code says of it, its beginning where it is long; or what it raised."""
        try:
            shown = str.__str__(how(value))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return error
        return shown if len(shown) <= _MOST_REPR else f"{shown[:_MOST_REPR]}… ({len(shown)} characters)"


def _left_out(kind: str | None = None, **what: Any) -> dict[str, Any]:
    return {"$left_out": {**({} if kind is None else {"type": kind}), **what}}
