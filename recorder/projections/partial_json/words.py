"""Words (numbers and literals) of a partial JSON text, as Python's `json` reads them."""

from __future__ import annotations

import math
import re
import sys
from typing import NamedTuple

from recorder.projections.partial_json.changes import ABSENT, INVALID, Absent, Change, Invalid, Json, Path

WORD_START = frozenset("-0123456789tfnNI")
WORD_RUN = re.compile(r"[-+.0-9A-Za-z]*")
WORD_END = frozenset(" \t\n\r,]}")
WORD = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][-+]?[0-9]+)?|true|false|null|NaN|-?Infinity")
"""A whole number or literal; its longest match at the start of a word is what Python's scanner takes of it."""
_HALF_NUMBER = re.compile(r"\.|[eE][-+]?")
_LITERALS: dict[str, Json] = {
    "true": True,
    "false": False,
    "null": None,
    "NaN": math.nan,
    "Infinity": math.inf,
    "-Infinity": -math.inf,
}
_HALF_LITERALS = frozenset(word[:length] for word in _LITERALS for length in range(1, len(word)))


class Word(NamedTuple):
    """What a word is worth."""

    value: Json | Invalid | Absent
    """ABSENT: not yet, or not at all. INVALID: an integer of more digits than `int` reads
    (`sys.get_int_max_str_digits`, 4300), at which the library raises."""
    length: int
    """How much of the word the value stands for; 0 where it is ABSENT."""
    strict: bool
    """Whether RFC 8259 knows it."""
    fragile: bool
    """A float whose integer part alone would be INVALID: the library raises if it has to cut back through it."""


def read_word(word: str) -> Word:
    """Reads the longest beginning of `word` that is a number or a literal."""
    match = WORD.match(word)
    if match is None:
        return Word(ABSENT, 0, False, False)
    whole, fraction, exponent = match.groups()
    if whole is None:
        literal = match[0]
        return Word(_LITERALS[literal], match.end(), literal in ("true", "false", "null"), False)
    if fraction or exponent:
        limit = sys.get_int_max_str_digits()
        return Word(float(match[0]), match.end(), True, 0 < limit < len(whole.lstrip("-")))
    try:
        return Word(int(whole), match.end(), True, False)
    except ValueError:
        return Word(INVALID, match.end(), True, False)


def may_grow(word: str) -> bool:
    """False: no more text can make all of `word` part of one value. True says only that it looks as if it could."""
    match = WORD.match(word)
    if match is None:
        return word in _HALF_LITERALS
    return match.end() == len(word) or (match[1] is not None and bool(_HALF_NUMBER.fullmatch(word, match.end())))


class OpenWord:
    """The word at the end of the text, and how much of it has been told as changes."""

    __slots__ = ("_told", "_voided", "text")

    def __init__(self) -> None:
        self.text = ""
        self._told: Json | Absent = ABSENT
        self._voided = False

    def tell(self, log: list[Change], path: Path, word: Word) -> None:
        """Adds to `log` what changed since the last time; `word` is what `read_word` makes of `text`."""
        value, told = word.value, self._told
        if value is ABSENT:
            return
        if value is INVALID:
            if not self._voided:
                log.append(Change("set", (), INVALID))
                self._voided = True
            return
        if self._voided:
            # An integer too long to read went on as a float.
            self._voided = False
            if path:
                log.append(Change("restore", ()))
        # NaN equals nothing, but there is only one object of it; 1 and 1.0 are equal, and differ.
        if value is not told and (type(value) is not type(told) or value != told):
            log.append(Change("set", path, value))
            self._told = value
