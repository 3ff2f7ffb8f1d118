"""How a partial JSON value changes while its text grows, as a list of steps whose whole size is linear in the text."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Final, Literal, TypeAlias

from msgspec import Struct

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
Path: TypeAlias = tuple[str | int, ...]


class Invalid(Enum):
    """The type of `INVALID`, and of nothing else."""

    INVALID = "INVALID"

    def __repr__(self) -> str:
        return self.value


class Absent(Enum):
    """The type of `ABSENT`, and of nothing else."""

    ABSENT = "ABSENT"


INVALID: Final = Invalid.INVALID
"""There is no value: `parse_partial_json` raises on this text."""
ABSENT: Final = Absent.ABSENT
"""Nothing stands at this place."""


class Change(Struct, frozen=True):
    """One step from a value to the next; `()` is the path of the whole value.

    | op | does |
    |---|---|
    | `set` | puts `value` at `path`: a scalar, an empty container, or (see `PartialJson.changes`) a whole root |
    | `append` | appends the text `value` to the string at `path` |
    | `trim` | takes the last `value` code points off the string at `path` |
    | `remove` | takes away what is at `path` |
    | `restore` | exchanges what is at `path` with what was there before the last `set` or `remove` of that path |

    `restore` and `trim` are what keeps the whole linear: LangChain's value loses a string while an escape in it is half
    written and has it back afterwards, in full; and half of a surrogate pair shows until the other half has come.
    """

    op: Literal["set", "append", "trim", "remove", "restore"]
    path: Path
    value: Json | Invalid = None


def hide(path: Path, covers: bool) -> Change:
    """The change that takes away what is at `path`, so that a later `restore` brings it back."""
    if not path:
        return Change("set", (), INVALID)
    return Change("restore" if covers else "remove", path)


class Follower:
    """Holds a value up to date by applying changes: the other end of `PartialJson.changes`.

    `value` is the live value: later changes mutate it. A container inside a change is copied, never mutated.
    """

    __slots__ = ("_before", "value")

    def __init__(self) -> None:
        self.value: Json | Invalid = INVALID
        # What the last `set` or `remove` at a depth displaced. One a depth is enough: only places on the open path are
        # ever restored, and such a place was the last to be set at its depth.
        self._before: dict[int, Json | Invalid | Absent] = {}

    def apply(self, changes: Iterable[Change]) -> None:
        """Applies changes in their order."""
        for change in changes:
            path, value = change.path, change.value
            if change.op == "append" or change.op == "trim":
                text = self._at(path)
                assert isinstance(text, str)
                self._put(path, text + value if isinstance(value, str) else text[: -_count(value)])
                continue
            displaced = self._at(path)
            if change.op == "set":
                self._put(path, value.copy() if isinstance(value, dict | list) else value)
            else:
                self._put(path, ABSENT if change.op == "remove" else self._before[len(path)])
            self._before[len(path)] = displaced

    def _at(self, path: Path) -> Json | Invalid | Absent:
        if not path:
            return self.value
        parent, last = self._parent(path), path[-1]
        if isinstance(parent, dict):
            return parent.get(str(last), ABSENT)
        return parent[_count(last)] if _count(last) < len(parent) else ABSENT

    def _put(self, path: Path, value: Json | Invalid | Absent) -> None:
        if not path:
            assert value is not ABSENT
            self.value = value
            return
        parent, last = self._parent(path), path[-1]
        assert value is not INVALID
        if isinstance(parent, dict):
            if value is ABSENT:
                del parent[str(last)]
            else:
                parent[str(last)] = value
        elif value is ABSENT:
            del parent[_count(last)]
        else:
            parent[_count(last) : _count(last) + 1] = [value]

    def _parent(self, path: Path) -> dict[str, Json] | list[Json]:
        at = self.value
        for step in path[:-1]:
            at = at[str(step)] if isinstance(at, dict) else at[_count(step)] if isinstance(at, list) else at
        assert isinstance(at, dict | list)
        return at


def _count(value: object) -> int:
    assert isinstance(value, int)
    return value
