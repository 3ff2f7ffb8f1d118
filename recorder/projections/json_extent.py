"""How far a growing text is as one JSON value: only its brackets and strings are looked at, each character once."""

from __future__ import annotations

import json
import re

from msgspec import Struct

_NEXT = re.compile(r'["{}\[\]]')
_STRING_END = re.compile(r'["\\]')


class JsonExtent(Struct):
    """Tells when an object or array that began has closed, so that what follows is not part of it.

    Scalars never count as complete: `12` may go on as `123`. A string does, once closed: a restatement that is encoded
    twice is one. Says nothing of validity between the brackets.
    """

    depth: int = 0
    in_string: bool = False
    escaped: bool = False
    begun: bool = False
    complete: bool = False
    length: int = 0
    """Characters fed so far."""

    def feed(self, text: str) -> None:
        """Takes the next piece of the text."""
        position, end = 0, len(text)
        self.length += end
        while position < end:
            if self.in_string:
                if self.escaped:
                    self.escaped = False
                    position += 1
                    continue
                match = _STRING_END.search(text, position)
                if match is None:
                    return
                position = match.end()
                if match[0] == "\\":
                    self.escaped = True
                else:
                    self.in_string = False
                    self.complete = self.depth == 0
                continue
            match = _NEXT.search(text, position)
            if match is None:
                return
            position = match.end()
            if match[0] == '"':
                self.in_string, self.begun = True, True
                if self.depth == 0:
                    self.complete = False
            elif match[0] in "{[":
                self.depth += 1
                self.begun, self.complete = True, False
            else:
                self.depth -= 1
                self.complete = self.depth == 0 and self.begun


def is_whole(text: str) -> bool:
    """Whether the text is one object, array or string that has closed."""
    extent = JsonExtent()
    extent.feed(text)
    return extent.complete


def same_json(gathered: str, restated: str) -> bool:
    """Whether both texts hold the same value; a restatement may be JSON-encoded twice."""
    if gathered == restated:
        return True
    try:
        left, right = json.loads(gathered), json.loads(restated)
        if isinstance(right, str) and not isinstance(left, str):
            right = json.loads(right)
    except (ValueError, RecursionError):
        return False
    return bool(left == right)
