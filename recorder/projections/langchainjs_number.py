"""The number at the end of a partial JSON text, as LangChain.js reads it: as far as it makes sense, at every digit."""

from __future__ import annotations

import re

from recorder.projections.javascript_values import number
from recorder.projections.partial_json.changes import ABSENT, INVALID, Absent, Change, Invalid, Path

NUMBER_START = frozenset("-0123456789")
_RUN = re.compile(r"[-+.0-9eE]*")
_TAKEN = re.compile(r"-?(?:0|[1-9][0-9]*)?(?:\.[0-9]*)?(?:[eE][+-]?[0-9]*)?")
_READABLE = re.compile(r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_STRICT = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


class OpenNumber:
    """What has come of the number, and how much of that has been told as changes."""

    __slots__ = ("_told", "_voided", "text")

    def __init__(self) -> None:
        self.text = ""
        self._told: int | float | Absent = ABSENT
        # It could not be read when it was told last, and with it the whole.
        self._voided = False

    def take(self, text: str, at: int) -> int:
        """Reads `text[at:]`; gives the index of the first character that is no part of the number."""
        had = len(self.text)
        word = self.text + text[at : _RUN.match(text, at).end()]  # type: ignore[union-attr]
        end = _TAKEN.match(word).end()  # type: ignore[union-attr]
        self.text = word[:end]
        return at + end - had

    @property
    def value(self) -> int | float | Invalid:
        """What `parseFloat` makes of it, a lone `-` being zero; INVALID where that is no number (`-.`)."""
        if self.text == "-":
            return 0
        match = _READABLE.match(self.text)
        return INVALID if match is None else number(float(match[0]))

    @property
    def strict(self) -> bool:
        """Whether RFC 8259 knows it."""
        return _STRICT.fullmatch(self.text) is not None

    def tell(self, log: list[Change], path: Path) -> None:
        """Adds to `log` what changed since the last time."""
        value = self.value
        if value is INVALID:
            if not self._voided:
                log.append(Change("set", (), INVALID))
                self._voided = True
            return
        if self._voided:
            self._voided = False
            if path:
                log.append(Change("restore", ()))
            else:
                self._told = ABSENT
        if value != self._told:
            log.append(Change("set", path, value))
            self._told = value
