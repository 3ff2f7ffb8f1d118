r"""The string at the end of a partial JSON text, as LangChain.js reads it: an escape shows while it is half written."""

from __future__ import annotations

import json
import re
from typing import Literal

from recorder.projections.javascript_values import halves_meet, joined
from recorder.projections.partial_json.changes import Change, Path

_HEX = "[0-9a-fA-F]"
_CONTENT = re.compile(rf'(?:[^"\\]++|\\["\\/bfnrt]|\\u{_HEX}{{4}})*+')
_HALF = re.compile(rf"\\(?:u{_HEX}{{0,3}})?")
_CONTROL = re.compile("[\x00-\x1f]")

_decode = json.JSONDecoder(strict=False).decode


class OpenString:
    """What the string holds so far, and how much of that has been told as changes."""

    __slots__ = ("_last", "_pieces", "_shown", "_told", "held", "status", "strict")

    def __init__(self) -> None:
        self.held = ""
        r"""Raw text at the end that is not decided: `\`, or `\u` and fewer than four digits."""
        self.strict = True
        """No raw control character, which RFC 8259 forbids."""
        self.status: Literal["open", "closed", "broken"] = "open"
        self._pieces: list[str] = []
        self._last = ""
        self._told: int | None = None
        self._shown = ""

    def take(self, text: str, at: int) -> int:
        """Reads `text[at:]`, which begins with what was held; gives the index of the first character not taken.

        `status` says why it stopped there: the text's end, past the closing quote, or before an escape that JSON does
        not know.
        """
        self.held = ""
        end = _CONTENT.match(text, at).end()  # type: ignore[union-attr]
        if end > at:
            raw = text[at:end]
            self.strict = self.strict and _CONTROL.search(raw) is None
            self._add(_decode(f'"{raw}"') if "\\" in raw else raw)
        if end == len(text):
            return end
        if text[end] == '"':
            self.status = "closed"
            return end + 1
        half = _HALF.match(text, end)
        if half is None or half.end() < len(text):
            self.status = "broken"
            return end
        self.held = text[end:]
        return len(text)

    @property
    def text(self) -> str:
        """The string so far, with what shows of an escape that is half written: `\\`, `u`, `u00`."""
        return "".join(self._pieces) + self._half

    @property
    def _half(self) -> str:
        return self.held[1:] if len(self.held) > 1 else self.held

    def _add(self, piece: str) -> None:
        piece = joined(piece)
        if halves_meet(self._last, piece):
            # Both halves in one piece of their own: what was told of the first one is taken back as one character.
            piece = joined(self._last + piece[0]) + piece[1:]
            self._pieces[-1] = self._pieces[-1][:-1]
            if self._told is not None and self._told == len(self._pieces):
                self._shown = self._last + self._shown
        self._pieces.append(piece)
        self._last = piece[-1]

    def tell(self, log: list[Change], path: Path) -> None:
        """Adds to `log` what changed since the last time."""
        if self._told is None:
            log.append(Change("set", path, self.text))
        else:
            new = "".join(self._pieces[self._told :]) + self._half
            if new.startswith(self._shown):
                new = new[len(self._shown) :]
            else:
                log.append(Change("trim", path, len(self._shown)))
            if new:
                log.append(Change("append", path, new))
        self._told, self._shown = len(self._pieces), self._half
