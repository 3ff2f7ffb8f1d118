r"""The string at the end of a partial JSON text, as Python's `json` with `strict=False` reads it."""

from __future__ import annotations

import json
import re
from typing import Literal

from recorder.projections.partial_json.changes import Change, Path, hide

_HEX = "[0-9a-fA-F]"
_HIGH = rf"\\u[dD][89abAB]{_HEX}{{2}}"
# All that is decided. An escaped high surrogate is, once it is known whether the next escape is its other half.
_CONTENT = re.compile(
    rf'(?:[^"\\]++|\\["\\/bfnrt]|(?!{_HIGH})\\u{_HEX}{{4}}|{_HIGH}(?:(?=[^\\]|\\[^u])|(?=\\u{_HEX}{{4}})))*+'
)
_UNDECIDED = re.compile(rf"{_HIGH}(?:\\(?:u{_HEX}{{0,3}})?)?|\\(?:u{_HEX}{{0,3}})?")
_CONTROL = re.compile("[\x00-\x1f]")
PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
"""A run of string content that stands for itself, in RFC 8259 too."""

_decode = json.JSONDecoder(strict=False).decode


class OpenString:
    """The string at the end of the text: what it holds so far, and how much of that has been told as changes."""

    __slots__ = ("_lone", "_state", "_told", "held", "pieces", "status", "strict")

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.held = ""
        """Raw text at the end that is not decided: a half-written escape, an escaped high surrogate, or both."""
        self.strict = True
        """No raw control character, which RFC 8259 forbids."""
        self.status: Literal["open", "closed", "broken"] = "open"
        self._state: Literal["new", "shown", "hidden"] = "new"
        self._told = 0
        self._lone = ""

    def take(self, text: str, at: int) -> int:
        """Reads `text[at:]`, which begins with what was held; gives the index of the first character not taken.

        `status` says why it stopped there: the text's end, past the closing quote, or before an escape that JSON does
        not know.
        """
        self.held = ""
        end = PLAIN.match(text, at).end()  # type: ignore[union-attr]
        if end < len(text) and text[end] != '"':
            end = _CONTENT.match(text, at).end()  # type: ignore[union-attr]
            if self.strict and _CONTROL.search(text, at, end):
                self.strict = False
        if end > at:
            raw = text[at:end]
            self.pieces.append(_decode(f'"{raw}"') if "\\" in raw else raw)
        if end == len(text):
            return end
        if text[end] == '"':
            self.status = "closed"
            return end + 1
        undecided = _UNDECIDED.match(text, end)
        if undecided is None or undecided.end() < len(text):
            self.status = "broken"
            return end
        self.held = text[end:]
        return len(text)

    @property
    def hidden(self) -> bool:
        """Whether the string is no value at this moment: a `\\u` lacks digits, or an escape is wrong."""
        # A high surrogate's escape is six characters; `\` alone is dropped by LangChain, `\u` is not.
        return self.status == "broken" or 2 <= len(self.held) < 6 or len(self.held) >= 8

    @property
    def text(self) -> str:
        """The string so far; a high surrogate that waits for its other half is shown alone."""
        return "".join(self.pieces) + self._waiting()

    def _waiting(self) -> str:
        return chr(int(self.held[2:6], 16)) if len(self.held) >= 6 else ""

    def tell(self, log: list[Change], path: Path, covers: bool) -> None:
        """Adds to `log` what changed since the last time. `covers`: another value stood at `path` before."""
        if self.hidden:
            if self._state == "shown":
                log.append(hide(path, covers))
                self._state = "hidden"
            return
        told, self._told = self._told, len(self.pieces)
        if self._state == "shown" and not self.held and not self._lone:
            if told < self._told:
                new = self.pieces[told] if told + 1 == self._told else "".join(self.pieces[told:])
                log.append(Change("append", path, new))
            return
        waiting = self._waiting()
        new = "".join(self.pieces[told:]) + waiting
        lone, self._lone = self._lone, waiting
        if self._state == "new":
            log.append(Change("set", path, new))
        else:
            if self._state == "hidden":
                log.append(Change("restore", path))
            if new.startswith(lone):
                new = new[len(lone) :]
            else:
                log.append(Change("trim", path, len(lone)))
            if new:
                log.append(Change("append", path, new))
        self._state = "shown"
