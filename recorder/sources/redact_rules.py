"""What the owner of a program calls a secret, beside what is one by itself: the variable `REC_REDACT`, and a hook.

`REC_REDACT` is a list, commas between: a name (`x-session`) is that of a header, a query key or a form's field, in any
case, whose value is replaced; `/regex/` is what is replaced wherever it occurs, in URLs, headers and bodies (in a
streamed answer: within one frame). A slash or a comma inside a regex is written as it is: the regex ends with a slash
before a comma or at the end.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from recorder.errors import BadInput

REDACTED = "[redacted]"
VARIABLE = "REC_REDACT"

Place = Literal["url", "header", "body"]
Hook = Callable[[Place, str, str], str]
"""`hook(place, name, value)` gives the value without its secrets. `name`: of a header, else empty. A body is a
request's, an answer's, or one frame of it. Where the hook raises, or gives no text, the whole value is replaced."""

_ITEM = re.compile(r"\s*(?:/(?P<regex>.+?)/|(?P<name>[^,]*?))\s*(?:,|$)", re.DOTALL)


class Rules(Struct, frozen=True):
    """`REC_REDACT`, read."""

    names: frozenset[str]
    """In lower case."""
    patterns: tuple[re.Pattern[str], ...]


_hook: Hook | None = None


def set_hook(hook: Hook | None) -> Hook | None:
    """Sets the process's hook (None: none), which is asked after everything else; gives the one before."""
    global _hook
    before, _hook = _hook, hook
    return before


@lru_cache(maxsize=8)
def parsed(text: str) -> Rules:
    """The rules that a text holds. Raises `BadInput` for a regex that is none."""
    names: set[str] = set()
    patterns: list[re.Pattern[str]] = []
    at = 0
    while at < len(text):
        item = _ITEM.match(text, at)
        if item is None:
            raise BadInput(f"{VARIABLE}: {len(text) - at} characters that are neither a name nor a /regex/")
        at = item.end()
        if (regex := item["regex"]) is not None:
            try:
                patterns.append(re.compile(regex))
            except re.error as error:
                # The regex itself may be what nobody should read.
                raise BadInput(f"{VARIABLE}: regex number {len(patterns) + 1} is wrong: {error.msg}") from None
        elif item["name"].startswith("/"):
            raise BadInput(f"{VARIABLE}: regex number {len(patterns) + 1} has no slash at its end")
        elif item["name"]:
            names.add(item["name"].lower())
    return Rules(frozenset(names), tuple(patterns))


def names(name: str) -> bool:
    """Whether this is the name of a secret. Raises `BadInput` where the variable is wrong."""
    return name.lower() in _rules().names


def read_bodies() -> bool:
    """Whether there is anything to look for in a body. Raises `BadInput` where the variable is wrong."""
    return _hook is not None or bool(_rules().patterns)


def apply(place: Place, name: str, value: str) -> str:
    """A value without what the rules find in it. Raises `BadInput` where the variable is wrong."""
    for pattern in _rules().patterns:
        value = pattern.sub(REDACTED, value)
    if _hook is None or not value:
        return value
    try:
        clean: object = _hook(place, name, value)
    except Exception:
        return REDACTED
    return clean if isinstance(clean, str) else REDACTED


def _rules() -> Rules:
    return parsed(os.environ.get(VARIABLE, ""))
