"""JSON values that grow in place, at a cost linear in what is added, and that can take a half-done addition back.

LangChain copies a message for every chunk that is added to it. Here a value is unfolded only where something is added
to it: a `Leaf` is any JSON value as it came, and is never changed, for the delta that brought it may be read again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from msgspec import Struct, field

from recorder.projections.rope import Rope


class Leaf(Struct, tag="leaf"):
    """A JSON value to which nothing was added yet."""

    value: Any


class Object(Struct, tag="object"):
    """A JSON object that grows."""

    items: dict[str, Object | Array | Rope | Leaf] = field(default_factory=dict)


class Array(Struct, tag="array"):
    """A JSON array that grows. Elements are never removed nor moved."""

    items: list[Object | Array | Rope | Leaf] = field(default_factory=list)
    by_index: dict[str, list[int]] = field(default_factory=dict)
    """The positions of the elements to which something can be added, in order, under what it is found by."""


Node = Object | Array | Rope | Leaf
KeyOf = Callable[[Node], str | None]
"""Under what an element of an array is found, None where nothing is ever added to it."""


def object_of(value: dict[str, Any]) -> Object:
    """An object that can grow; `value` stays as it is."""
    return Object({key: Leaf(item) for key, item in value.items()})


def array_of(nodes: Iterable[Node], key_of: KeyOf | None = None) -> Array:
    """An array that can grow, from its elements; without `key_of` they are found by their `index_key`."""
    array = Array()
    for node in nodes:
        _register(array, node, key_of or _index_key_of)
        array.items.append(node)
    return array


def plain(node: Node) -> Any:
    """The JSON value. Its inner parts may be those of the deltas that brought them: not to be changed."""
    match node:
        case Leaf():
            return node.value
        case Rope():
            return node.text
        case Object():
            return {key: plain(item) for key, item in node.items.items()}
        case Array():
            return [plain(item) for item in node.items]


def member(node: Node, key: str) -> Any:
    """The value that an object has under `key`; None where it has none, or is no object."""
    if isinstance(node, Leaf):
        return node.value.get(key) if isinstance(node.value, dict) else None
    if isinstance(node, Object) and (found := node.items.get(key)) is not None:
        return plain(found)
    return None


def index_key(index: object) -> str | None:
    """What an index is found under, where LangChain adds by it: integers (True is 1) and texts that begin with `lc_`.

    A text, for a snapshot may be JSON, whose keys are.
    """
    if isinstance(index, int):
        return str(int(index))
    return index if isinstance(index, str) and index.startswith("lc_") else None


class Undo:
    """Changes to growing values, and the way back: a value that LangChain refuses must leave no trace."""

    def __init__(self) -> None:
        self._steps: list[Callable[[], object]] = []

    def put(self, items: dict[str, Node], key: str, node: Node) -> None:
        """Sets a member of an object."""
        old = items.get(key)
        self._steps.append(partial(items.pop, key) if old is None else partial(items.__setitem__, key, old))
        items[key] = node

    def replace(self, items: list[Node], position: int, node: Node) -> None:
        """Sets an element of an array that has the same index as the old one."""
        self._steps.append(partial(items.__setitem__, position, items[position]))
        items[position] = node

    def push(self, array: Array, node: Node, key_of: KeyOf | None = None) -> None:
        """Appends an element to an array, as `array_of` does."""
        positions = _register(array, node, key_of or _index_key_of)
        if positions is not None:
            self._steps.append(positions.pop)
        self._steps.append(array.items.pop)
        array.items.append(node)

    def grow(self, rope: Rope, text: str) -> None:
        """Appends to a text."""
        self._steps.append(partial(_cut, rope, rope.parts, len(rope.parts)))
        rope.append(text)

    def mend(self, rope: Rope, end: str) -> None:
        """Puts another end in the place of a text's last character."""
        parts = rope.parts
        self._steps.append(partial(parts.__setitem__, -1, parts[-1]))
        parts[-1] = parts[-1][:-1] + end

    def back(self) -> None:
        """Takes all changes back."""
        for step in reversed(self._steps):
            step()


def _index_key_of(node: Node) -> str | None:
    index = member(node, "index")
    return index_key(int(index) if isinstance(index, float) and index.is_integer() else index)


def _register(array: Array, node: Node, key_of: KeyOf) -> list[int] | None:
    """Notes an element that is about to be appended under its key; gives the positions that it was added to."""
    key = key_of(node)
    if key is None:
        return None
    positions = array.by_index.setdefault(key, [])
    positions.append(len(array.items))
    return positions


def _cut(rope: Rope, parts: list[str], length: int) -> None:
    del parts[length:]
    rope.parts = parts
