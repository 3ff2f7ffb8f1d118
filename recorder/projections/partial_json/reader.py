"""The incremental reader: text in, value and changes out."""

from __future__ import annotations

from io import StringIO
from typing import Final

from recorder.projections.partial_json.brackets import Brackets
from recorder.projections.partial_json.changes import ABSENT, INVALID, Absent, Change, Invalid, Json, Path
from recorder.projections.partial_json.containers import OpenContainer, copy_around
from recorder.projections.partial_json.strings import PLAIN, OpenString
from recorder.projections.partial_json.words import (
    WORD,
    WORD_END,
    WORD_RUN,
    WORD_START,
    OpenWord,
    Word,
    may_grow,
    read_word,
)
from recorder.projections.partial_json.wreck import Wreck

DEPTH_LIMIT: Final = 900
"""Containers within each other; leaves LangChain's caller a hundred frames of Python 3.11's thousand."""

# What the next character can be. Below _IN_KEY it is structure; from there on it belongs to a token, or to nothing.
_VALUE, _VALUE_OR_END, _KEY, _KEY_OR_END, _COLON, _COMMA, _NOTHING, _IN_KEY, _IN_STRING, _IN_WORD, _WRECKED, _DEAD = (
    range(12)
)
_WHITESPACE = " \t\n\r"


class PartialJson:
    """Reads a growing JSON text. To rebuild one, feed the text again: how it was cut into pieces makes no difference.

    `track=False` saves the memory of changes that nobody will ask for; `changes()` then gives none.
    """

    __slots__ = (
        "_covers",
        "_fragile_until",
        "_log",
        "_mode",
        "_open",
        "_path",
        "_root",
        "_source",
        "_strict",
        "_string",
        "_track",
        "_word",
        "_wreck",
    )

    def __init__(self, *, track: bool = True) -> None:
        self._mode = _VALUE
        self._source = StringIO()
        self._open: list[OpenContainer] = []
        self._root: Json | Invalid = INVALID
        self._strict = True
        self._string = OpenString()
        self._word = OpenWord()
        # Where the open string or word goes, and whether another value stood there.
        self._path: Path = ()
        self._covers = False
        self._fragile_until = -1
        self._wreck: Wreck | None = None
        self._track = track
        self._log: list[Change] = []

    def feed(self, text: str) -> None:
        """Takes the next piece of the text, of any length."""
        mode = self._mode
        if mode < _WRECKED:
            self._source.write(text)
        if mode in (_IN_STRING, _IN_KEY):
            string = self._string
            if not string.held and PLAIN.match(text).end() == len(text):  # type: ignore[union-attr]
                string.pieces.append(text)
                return
            text = string.held + text
        at, end = 0, len(text)
        while at < end:
            mode = self._mode
            if mode < _IN_KEY:
                at = self._read_structure(text, at)
            elif mode == _IN_WORD:
                at = self._read_word(text, at)
            elif mode < _IN_WORD:
                at = self._read_string(text, at)
            else:
                if self._wreck and not self._wreck.brackets.take(text, at):
                    self._die(None)
                return

    @property
    def value(self) -> Json | Invalid:
        """What the library gives for the text so far; None also where it gives None for a closer that does not match.

        Costs a copy of each open container and of an open string; closed containers are shared between all values and
        the reader, so treat it as read-only.
        """
        if self._wreck:
            return self._wreck.value
        leaf: Json | Invalid | Absent = ABSENT
        if self._mode == _IN_STRING and not self._string.hidden:
            leaf = self._string.text
        elif self._mode == _IN_WORD:
            leaf = read_word(self._word.text).value
        if leaf is INVALID:
            return INVALID
        if self._open:
            return copy_around(self._open[:-1], self._open[-1].copy_with(leaf))
        return self._root if leaf is ABSENT else leaf

    @property
    def is_complete(self) -> bool:
        """Whether the text so far is one whole JSON value by RFC 8259, white space around it allowed.

        False for what Python cannot read: an INVALID integer, nesting beyond `DEPTH_LIMIT`. O(1), but for a number that
        is the whole text.
        """
        if self._mode == _IN_WORD and not self._open:
            word = read_word(self._word.text)
            return word.strict and word.value is not INVALID and word.length == len(self._word.text)
        return self._mode == _NOTHING and self._strict

    def changes(self) -> list[Change]:
        """What changed in `value` since the last call, or since the start, when it was INVALID.

        Applied in order (see `Follower`) to the value of then they give the value of now, the order of keys too. The
        size of all of them together is linear in the text (counting a path as one), with two exceptions:

        * After the first error in the text, a bracket can make the library fall back to a container closed long before
          (see `brackets`). Unless only brackets closed since, that value is set whole, at most once a call. It takes an
          error or a second value, and then brackets nested by kind as in the first: concatenated objects do that, and
          they mostly fall back to the last containers closed, which is no change.
        * A number is read again from its beginning each time it is told. Integers are INVALID before that matters.
        """
        if self._track:
            if self._mode == _IN_STRING:
                self._string.tell(self._log, self._path, self._covers)
            elif self._mode == _IN_WORD:
                self._word.tell(self._log, self._path, read_word(self._word.text))
            elif self._wreck:
                self._wreck.tell(self._log)
        log, self._log = self._log, []
        return log

    def _read_structure(self, text: str, at: int) -> int:
        character, mode = text[at], self._mode
        if character in _WHITESPACE:
            return at + 1
        if character == "," and mode == _COMMA:
            self._mode = _KEY if self._open[-1].is_object else _VALUE
            return at + 1
        if character == ":" and mode == _COLON:
            self._mode = _VALUE
            return at + 1
        if character == '"' and mode in (_KEY, _KEY_OR_END):
            self._string = OpenString()
            self._mode = _IN_KEY
            return at + 1
        if mode <= _VALUE_OR_END:
            begun = self._begin_value(text, at)
            if begun >= 0:
                return begun
        if (
            character in "}]"
            and mode in (_COMMA, _VALUE_OR_END, _KEY_OR_END)
            and self._open
            and self._open[-1].is_object == (character == "}")
        ):
            self._open.pop()
            self._mode = _COMMA if self._open else _NOTHING
            return at + 1
        self._break(text, at)
        return at

    def _begin_value(self, text: str, at: int) -> int:
        """Reads a value's beginning, and a whole word; gives where to go on, -1 where no value begins."""
        character = text[at]
        covered: Json | Absent = ABSENT
        if self._open:
            self._path = self._open[-1].next_path()
            covered = self._open[-1].next_covered()
        if character in WORD_START:
            match = WORD.match(text, at)
            if match and match.end() < len(text) and text[match.end()] in WORD_END:
                self._word = OpenWord()
                self._end_word(read_word(match[0]), len(text) - match.end())
                return match.end()
            self._word = OpenWord()
            self._mode = _IN_WORD
            return at
        if character == '"':
            self._string = OpenString()
            self._covers = covered is not ABSENT
            self._mode = _IN_STRING
            return at + 1
        if character in "{[":
            self._open_container({} if character == "{" else [], covered)
            return at + 1
        return -1

    def _open_container(self, node: dict[str, Json] | list[Json], covered: Json | Absent) -> None:
        if len(self._open) == DEPTH_LIMIT:
            self._die(INVALID)
            return
        if self._track:
            self._log.append(Change("set", self._path, node.copy()))
        self._settle(node)
        self._open.append(OpenContainer(node, self._path, covered))
        self._mode = _KEY_OR_END if isinstance(node, dict) else _VALUE_OR_END

    def _read_string(self, text: str, at: int) -> int:
        string = self._string
        at = string.take(text, at)
        if string.status == "open":
            return at
        self._strict = self._strict and string.strict
        if self._mode == _IN_STRING and self._track:
            string.tell(self._log, self._path, self._covers)
        if string.status == "broken":
            self._break(text, at, in_string=True)
        elif self._mode == _IN_KEY:
            self._open[-1].key = string.text
            self._mode = _COLON
        else:
            self._settle(string.text)
        return at

    def _read_word(self, text: str, at: int) -> int:
        end = WORD_RUN.match(text, at).end()  # type: ignore[union-attr]
        self._word.text += text[at:end]
        if end == len(text) and may_grow(self._word.text):
            return end
        word = read_word(self._word.text)
        if word.value is not ABSENT:
            self._end_word(word, len(text) - end)
        if word.length < len(self._word.text) and self._mode != _DEAD:
            self._break(text, end)
        return end

    def _end_word(self, word: Word, behind: int) -> None:
        """Takes a word as a value; `behind` characters follow it in the text so far."""
        assert word.value is not ABSENT
        if word.value is INVALID:
            self._die(INVALID)
            return
        if self._track:
            self._word.tell(self._log, self._path, word)
        self._strict = self._strict and word.strict
        if word.fragile:
            self._fragile_until = self._source.tell() - behind
            for container in self._open:
                container.fragile = True
        self._settle(word.value)

    def _settle(self, value: Json) -> None:
        """Puts a value that is whole, or a container that begins, where it belongs."""
        if self._open:
            self._open[-1].put(value)
            self._mode = _COMMA
        else:
            self._root = value
            self._mode = _NOTHING

    def _break(self, text: str, at: int, *, in_string: bool = False) -> None:
        """The first error: nothing from `text[at]` on can be part of a value."""
        source = self._source.getvalue()
        good = source[: len(source) - (len(text) - at)]
        kinds = "".join("{" if container.is_object else "[" for container in self._open)
        brackets = Brackets(good, kinds, in_string)
        self._wreck = Wreck(self._root, self._open, brackets, self._fragile_until, parse_partial)
        self._source = StringIO()
        self._mode = _WRECKED

    def _die(self, verdict: Invalid | None) -> None:
        """Whatever follows, the library gives None, or raises."""
        if self._track:
            self._log.append(Change("set", (), verdict))
        self._root = verdict
        self._open = []
        self._wreck = None
        self._source = StringIO()
        self._mode = _DEAD


def parse_partial(text: str) -> Json | Invalid:
    """What `parse_partial_json` gives for `text`; INVALID where it raises."""
    reader = PartialJson(track=False)
    reader.feed(text)
    return reader.value
