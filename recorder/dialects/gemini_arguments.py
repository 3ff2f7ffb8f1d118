"""Arguments that Gemini streams as single values with their paths, written as one JSON text that only grows.

A piece (`partialArgs`) names its value by a JSON path (RFC 9535: `$.rows[0].name`). The text is what a model writes
that fills the arguments from first to last: each piece closes what it leaves, opens what it enters, and appends. A
piece that goes back to a place that was left cannot be appended to such a text, and no piece can tell of an array's
element that was skipped: then the text stays as it is, unclosed, so that nobody takes it for whole.
"""

from __future__ import annotations

import json
import re
from typing import Any

from msgspec import Struct, field

from recorder.dialects.gemini_names import named
from recorder.dialects.values import compact
from recorder.events.jsontext import clean

Step = int | str
"""One step of a path: the name of a member, or the place of an element."""

OPENING = "{"
"""The text of arguments of which no value is known yet."""

_STEP = re.compile(
    r"""\.(?P<name>[^.\[\]\s'"]+)|\[(?P<place>[0-9]{1,9})\]|\[(?P<quoted>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\]"""
)
_NO_VALUE = frozenset({"jsonPath", "willContinue"})


class Container(Struct):
    """An object or an array that the text has opened."""

    at: Step
    """Where in it the latest value stands: in an object a name, in an array a place."""
    names: set[str] = field(default_factory=set)
    """An object's members so far."""


class Arguments(Struct):
    """How far the text is. What was written is not kept: only what is open."""

    open: list[Container] = field(default_factory=list)
    """From the arguments' own object down to the latest value."""
    in_string: bool = False
    """The latest value is a string, without its closing quote yet."""
    scalar: str = ""
    """The latest value, where it is no string."""
    broken: bool = False
    """A piece came that the text cannot be continued by."""

    def add(self, path: list[Step], value: Any) -> str | None:
        """The text that a value appends (a string goes on where the latest had its path), or None where none can."""
        added = None if self.broken else self._add(path, value)
        self.broken = added is None
        return added

    def close(self) -> str:
        """The text that ends the arguments."""
        return "" if self.broken else self._leave(0) + "}"

    def _add(self, path: list[Step], value: Any) -> str | None:
        shared = self._shared(path)
        if shared == len(path) == len(self.open) and path:
            return self._go_on(value)
        entered = path[shared + 1 :] if self.open else path
        if any(isinstance(step, int) and step > 0 for step in entered):
            return None
        if self.open:
            if shared in (len(path), len(self.open)) or not self._may_follow(self.open[shared], path[shared]):
                return None
            text = self._leave(shared) + "," + self._enter(self.open[shared], path[shared])
        elif path and isinstance(path[0], str):
            text = ""
        else:
            return None
        for step in entered:
            if self.open:
                text += "{" if isinstance(step, str) else "["
            self.open.append(Container(step))
            text += self._enter(self.open[-1], step)
        return text + self._begin(value)

    def _shared(self, path: list[Step]) -> int:
        """How many steps the path has in common with that of the latest value."""
        count = 0
        for step, container in zip(path, self.open, strict=False):
            if step != container.at or isinstance(step, int) != isinstance(container.at, int):
                break
            count += 1
        return count

    def _may_follow(self, container: Container, step: Step) -> bool:
        if isinstance(step, int):
            return isinstance(container.at, int) and step == container.at + 1
        return isinstance(container.at, str) and step not in container.names

    def _enter(self, container: Container, step: Step) -> str:
        container.at = step
        if isinstance(step, int):
            return ""
        container.names.add(step)
        return _text(step) + ":"

    def _leave(self, depth: int) -> str:
        """Closes what lies deeper than the container at this depth."""
        closed = '"' if self.in_string else ""
        for container in reversed(self.open[depth + 1 :]):
            closed += "}" if isinstance(container.at, str) else "]"
        self.in_string = False
        del self.open[depth + 1 :]
        return closed

    def _begin(self, value: Any) -> str:
        self.in_string = isinstance(value, str)
        if isinstance(value, str):
            self.scalar = ""
            return '"' + _text(value)[1:-1]
        self.scalar = clean(compact(value))
        return self.scalar

    def _go_on(self, value: Any) -> str | None:
        if self.in_string and isinstance(value, str):
            return _text(value)[1:-1]
        return "" if not self.in_string and clean(compact(value)) == self.scalar else None


def piece_of(value: object) -> tuple[list[Step] | None, bool, Any]:
    """A piece's path (None where it is none), whether it has a value, and the value.

    The value is that of the one field besides path and `willContinue`: `stringValue`, `numberValue`, `boolValue`, and
    `nullValue`, whose own value is the name of the enum's only one.
    """
    fields = named(value)
    for name, item in fields.items():
        if name == "nullValue":
            return path_of(fields.get("jsonPath")), True, None
        if name not in _NO_VALUE and item is not None:
            return path_of(fields.get("jsonPath")), True, item
    return path_of(fields.get("jsonPath")), False, None


def path_of(text: object) -> list[Step] | None:
    """`$.a['b c'][0]` → `["a", "b c", 0]`; None where it is no path to one value."""
    if not isinstance(text, str) or not text.startswith("$"):
        return None
    steps: list[Step] = []
    position = 1
    while position < len(text):
        match = _STEP.match(text, position)
        if match is None:
            return None
        position = match.end()
        if match["place"] is not None:
            steps.append(int(match["place"]))
        else:
            name = match["name"] if match["name"] is not None else _unquoted(match["quoted"])
            if name is None:
                return None
            steps.append(clean(name))
    return steps


def _unquoted(quoted: str) -> str | None:
    inner = quoted[1:-1]
    if quoted.startswith("'"):
        inner = re.sub(r"\\(.)|(\")", lambda match: '\\"' if match[2] else _in_double_quotes(match[1]), inner)
    try:
        return str(json.loads(f'"{inner}"', strict=False))
    except ValueError:
        return None


def _in_double_quotes(escaped: str) -> str:
    return "'" if escaped == "'" else "\\" + escaped


def _text(value: str) -> str:
    """A string as JSON; half of a surrogate pair as its escape, which its other half completes."""
    return clean(json.dumps(value, ensure_ascii=False))
