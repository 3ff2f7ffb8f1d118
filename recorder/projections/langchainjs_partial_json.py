r"""What LangChain.js makes of JSON that is still being written, without reading any of it twice.

After every piece of text the reader's value is what `parsePartialJson` of @langchain/core 1.4 (`utils/json.ts`) gives
for all the text so far; the library is the oracle of the tests. It is another language than Python's (`partial_json`):
white space at the end is cut off first, inside a string too; half an escape shows as it is written, half a literal is
the whole one, half a number what can be read of it; and what is wrong anywhere makes nothing of the whole, for good.

Where the library's own outcome depends on the process (how deep it can recurse), nesting beyond `DEPTH_LIMIT` is
INVALID here. Null stands for that in the library; so here `null` and INVALID differ, there they do not.
"""

from __future__ import annotations

from typing import Any

from recorder.projections.javascript_values import WHITE_SPACE, in_key_order
from recorder.projections.langchainjs_number import NUMBER_START, OpenNumber
from recorder.projections.langchainjs_string import OpenString
from recorder.projections.partial_json import DEPTH_LIMIT
from recorder.projections.partial_json.changes import ABSENT, INVALID, Absent, Change, Invalid, Json, Path
from recorder.projections.partial_json.containers import OpenContainer

# What the next character can be. Below _IN_KEY it is structure; from there on it belongs to a token, or to nothing.
(
    _VALUE,
    _VALUE_OR_END,
    _KEY,
    _KEY_OR_END,
    _COLON,
    _COMMA,
    _NOTHING,
    _IN_KEY,
    _IN_STRING,
    _IN_NUMBER,
    _IN_LITERAL,
    _DEAD,
) = range(12)
_SPACE = frozenset(WHITE_SPACE)
_SPACE_OF_JSON = " \t\n\r"
_LITERALS: dict[str, tuple[str, Json]] = {"n": ("null", None), "t": ("true", True), "f": ("false", False)}
_PROTOTYPE = "__proto__"
"""The key with which an assignment sets an object's prototype, and no member. `JSON.parse` takes it for a member."""


class LangChainJsJson:
    """Reads a growing JSON text; how it is cut into pieces makes no difference.

    `blank`: what nothing but white space stands for. `track=False` saves the memory of changes that nobody asks for.
    """

    __slots__ = (
        "_blank",
        "_literal",
        "_log",
        "_mode",
        "_number",
        "_open",
        "_path",
        "_prototype",
        "_root",
        "_spaces",
        "_strict",
        "_string",
        "_told_blank",
        "_track",
    )

    def __init__(self, *, blank: Json | Invalid = INVALID, track: bool = True) -> None:
        self._blank = blank
        self._told_blank = blank is INVALID
        self._mode = _VALUE
        self._open: list[OpenContainer] = []
        self._root: Json | Invalid = INVALID
        # White space at the end counts for nothing until something follows it.
        self._spaces: list[str] = []
        self._string = OpenString()
        self._number = OpenNumber()
        # What has not come yet of the open literal.
        self._literal = ""
        # Where the open string or number goes.
        self._path: Path = ()
        self._prototype = False
        # Nothing but what `JSON.parse` takes.
        self._strict = True
        self._track = track
        self._log: list[Change] = []

    def feed(self, text: str) -> None:
        """Takes the next piece of the text, of any length."""
        if not text or self._mode == _DEAD:
            return
        end = len(text.rstrip(WHITE_SPACE))
        if not end:
            self._spaces.append(text)
            return
        spaces, self._spaces = self._spaces, [text[end:]]
        text = "".join([*spaces, text[:end]])
        if self._mode in (_IN_STRING, _IN_KEY):
            text = self._string.held + text
        at, end = 0, len(text)
        while at < end:
            mode = self._mode
            if mode < _IN_KEY:
                at = self._read_structure(text, at)
            elif mode < _IN_NUMBER:
                at = self._read_string(text, at)
            elif mode == _IN_NUMBER:
                at = self._read_number(text, at)
            elif mode == _IN_LITERAL:
                at = self._read_literal(text, at)
            else:
                return

    @property
    def value(self) -> Json | Invalid:
        """What the library gives for the text so far; INVALID where that is null without a `null` in the text.

        Costs a copy of each open container and of an open string; closed containers are shared between all values and
        the reader, so treat it as read-only.
        """
        leaf: Json | Invalid | Absent = ABSENT
        if self._mode == _IN_STRING:
            leaf = self._string.text
        elif self._mode == _IN_NUMBER:
            leaf = self._number.value
        elif self._mode == _VALUE and not self._open:
            leaf = self._blank
        if leaf is INVALID:
            return INVALID
        value = self._copy_with(leaf) if self._open else self._root if leaf is ABSENT else leaf
        return _without_prototypes(value) if self._prototype and not self._is_whole else value

    def changes(self) -> list[Change]:
        """What changed in `value` since the last call, or since the start, when it was INVALID.

        Applied in order (see `partial_json.Follower`) to the value of then they give the value of now, but for the
        order of keys that read as an array's index. The size of all of them together is linear in the text, a path
        counting as one, unless a key is `__proto__`: then the whole is told each time.
        """
        if not self._track:
            return []
        if self._mode == _IN_STRING:
            self._string.tell(self._log, self._path)
        elif self._mode == _IN_NUMBER:
            self._number.tell(self._log, self._path)
        elif self._mode == _VALUE and not self._open and self._spaces and not self._told_blank:
            self._told_blank = True
            self._tell(Change("set", (), self._blank))
        log, self._log = self._log, []
        return [Change("set", (), self.value)] if self._prototype else log

    @property
    def _is_whole(self) -> bool:
        """Whether the text is one value to `JSON.parse`."""
        return self._mode == _NOTHING and self._strict

    def _copy_with(self, leaf: Json | Absent) -> Json:
        """A copy of the open containers, with one more value at the end of the innermost."""
        inner = _in_order(self._open[-1].copy_with(leaf))
        for container in reversed(self._open[:-1]):
            node = container.node.copy()
            if isinstance(node, dict):
                node[container.key] = inner
            else:
                node[-1] = inner
            inner = _in_order(node)
        return inner

    def _read_structure(self, text: str, at: int) -> int:
        character, mode = text[at], self._mode
        if character in _SPACE:
            self._strict = self._strict and character in _SPACE_OF_JSON
        elif character == "," and mode == _COMMA:
            self._mode = _KEY if self._open[-1].is_object else _VALUE
        elif character == ":" and mode == _COLON:
            self._mode = _VALUE
        elif character == '"' and mode in (_KEY, _KEY_OR_END):
            self._string, self._mode = OpenString(), _IN_KEY
        elif mode in (_VALUE, _VALUE_OR_END) and self._begin_value(character):
            # A number is read from its first character on.
            return at if self._mode == _IN_NUMBER else at + 1
        elif mode in (_COMMA, _VALUE_OR_END, _KEY_OR_END) and self._closes(character):
            _reorder(self._open.pop().node)
            self._mode = _COMMA if self._open else _NOTHING
        else:
            self._die()
        return at + 1

    def _closes(self, character: str) -> bool:
        return bool(self._open) and character == ("}" if self._open[-1].is_object else "]")

    def _begin_value(self, character: str) -> bool:
        """Begins the value that begins so; false where none does."""
        self._path = self._open[-1].next_path() if self._open else ()
        if character == '"':
            self._string, self._mode = OpenString(), _IN_STRING
        elif character in "{[":
            self._begin_container({} if character == "{" else [])
        elif character in NUMBER_START:
            self._number, self._mode = OpenNumber(), _IN_NUMBER
        elif character in _LITERALS:
            name, value = _LITERALS[character]
            self._tell(Change("set", self._path, value))
            self._settle(value)
            self._literal, self._mode = name[1:], _IN_LITERAL
        else:
            return False
        return True

    def _begin_container(self, node: dict[str, Json] | list[Json]) -> None:
        if len(self._open) == DEPTH_LIMIT:
            self._die()
            return
        self._tell(Change("set", self._path, node.copy()))
        self._settle(node)
        self._open.append(OpenContainer(node, self._path, ABSENT))
        self._mode = _KEY_OR_END if isinstance(node, dict) else _VALUE_OR_END

    def _read_string(self, text: str, at: int) -> int:
        string = self._string
        at = string.take(text, at)
        if string.status == "open":
            return at
        self._strict = self._strict and string.strict
        if string.status == "broken":
            self._die()
        elif self._mode == _IN_KEY:
            self._open[-1].key = string.text
            self._prototype = self._prototype or string.text == _PROTOTYPE
            self._mode = _COLON
        else:
            if self._track:
                string.tell(self._log, self._path)
            self._settle(string.text)
        return at

    def _read_number(self, text: str, at: int) -> int:
        number = self._number
        at = number.take(text, at)
        if at < len(text):
            self._strict = self._strict and number.strict
            value = number.value
            if value is INVALID:
                self._die()
            else:
                if self._track:
                    number.tell(self._log, self._path)
                self._settle(value)
        return at

    def _read_literal(self, text: str, at: int) -> int:
        """Reads on in a literal, which counts as its whole since its first letter."""
        come = text[at : at + len(self._literal)]
        if not self._literal.startswith(come):
            self._die()
        elif come == self._literal:
            self._mode = _COMMA if self._open else _NOTHING
        else:
            self._literal = self._literal[len(come) :]
        return at + len(come)

    def _settle(self, value: Json) -> None:
        """Puts a value that is whole, or a container that begins, where it belongs."""
        if self._open:
            self._open[-1].put(value)
            self._mode = _COMMA
        else:
            self._root = value
            self._mode = _NOTHING

    def _die(self) -> None:
        """Whatever follows, the library gives null."""
        self._log.clear()
        self._tell(Change("set", (), INVALID))
        self._root = INVALID
        self._open = []
        self._prototype = False
        self._mode = _DEAD

    def _tell(self, change: Change) -> None:
        if self._track:
            self._log.append(change)


def parse_partial(text: str, blank: Json | Invalid = INVALID) -> Json | Invalid:
    """What `parsePartialJson` gives for `text`; INVALID where that is null for want of a value."""
    reader = LangChainJsJson(blank=blank, track=False)
    reader.feed(text)
    return reader.value


def _in_order(node: dict[str, Json] | list[Json]) -> dict[str, Json] | list[Json]:
    return in_key_order(node) if isinstance(node, dict) else node


def _reorder(node: dict[str, Json] | list[Json]) -> None:
    """Puts a container's keys in order, in place: it sits in others already."""
    if isinstance(node, dict) and (ordered := in_key_order(node)) is not node:
        node.clear()
        node.update(ordered)


def _without_prototypes(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_prototypes(item) for key, item in value.items() if key != _PROTOTYPE}
    return [_without_prototypes(item) for item in value] if isinstance(value, list) else value
