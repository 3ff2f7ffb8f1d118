"""How @langchain/core 1.4 adds the fields of two message chunks, its surprises included.

The rules are those of `_mergeDicts`, `_mergeLists` and `mergeContent` (`messages/base.ts`) and of `mergeUsageMetadata`
(`messages/metadata.ts`); the tests hold them against the library. They work on growing values, so that a text of n
pieces costs O(n). What the library refuses raises `TypeError`; of a refused addition the left may be half changed until
`Undo.back`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from recorder.projections.growing import Array, Leaf, Node, Object, Undo, array_of, member, object_of, plain
from recorder.projections.javascript_values import halves_meet, joined, number
from recorder.projections.rope import Rope

KEPT = frozenset({"index", "created", "timestamp"})
"""Texts and numbers of which the first one stays."""
REPLACED = frozenset({"id", "name", "output_version", "model_provider"})
"""Texts of which the last one that is not empty stays; any other text is added to."""
INHERITED = frozenset(
    {
        "__defineGetter__",
        "__defineSetter__",
        "__lookupGetter__",
        "__lookupSetter__",
        "constructor",
        "hasOwnProperty",
        "isPrototypeOf",
        "propertyIsEnumerable",
        "toLocaleString",
        "toString",
        "valueOf",
    }
)
"""What every object of JavaScript has: the library takes it for a member of the left, of another type."""
_COUNTS = ("input_tokens", "output_tokens", "total_tokens")
_MODALITIES = ("audio", "image", "video", "document", "text")
_INPUT_DETAILS = (*_MODALITIES, "cache_read", "cache_creation")
_OUTPUT_DETAILS = (*_MODALITIES, "reasoning")
_DATA_SOURCES = frozenset({"url", "base64", "text", "id"})


def add_object(left: Object, right: dict[str, Any], undo: Undo) -> None:
    """Adds each member of `right`: null says nothing, two types that differ are refused."""
    for key, value in right.items():
        old = left.items.get(key)
        if old is None and key in INHERITED:
            if value is not None:
                raise TypeError(f"{key!r} is a member that every object has, of another type")
        elif old is None or (isinstance(old, Leaf) and old.value is None):
            undo.put(left.items, key, Leaf(value))
        elif value is not None and (node := _add_member(key, old, value, undo)) is not old:
            undo.put(left.items, key, node)


def add_array(left: Array, right: Iterable[Any], undo: Undo) -> list[int | None]:
    """Adds each element of `right` to the one that it belongs to, or appends it; gives where each of them went.

    One that is dropped has no place.
    """
    places: list[int | None] = []
    for element in right:
        place = target_of(left, element)
        if place is not None:
            add_element(left, place, element, undo)
        elif not is_dropped(element):
            place = len(left.items)
            undo.push(left, Leaf(element), key_of)
        places.append(place)
    return places


def add_element(left: Array, place: int, element: dict[str, Any], undo: Undo) -> None:
    """Adds an object to the one at a place."""
    target = left.items[place]
    if not isinstance(target, Object):
        target = object_of(plain(target))
        undo.replace(left.items, place, target)
    add_object(target, element, undo)


def is_dropped(element: Any) -> bool:
    """Whether the library drops an element that belongs to no other: one with an empty text."""
    return isinstance(element, dict) and element.get("text") == ""


def target_of(array: Array, element: Any) -> int | None:
    """The position of the first element that `element` is added to, None where it would be appended.

    Two elements with an index must agree in it, in type and, where both have one, in their id; of two without an index
    the ids count. An index is a number or any text, and 0 is not "0".
    """
    if not isinstance(element, dict):
        return None
    key = key_of(Leaf(element))
    if key is not None:
        found = iter(array.by_index.get(key, ()))
        by_id = not _has_index(Leaf(element))
        return next((place for place in found if by_id or _agree(array.items[place], element)), None)
    if not _has_id(id := element.get("id")):
        return None
    items = enumerate(array.items)
    return next((place for place, left in items if same(member(left, "id"), id) and not _has_index(left)), None)


def key_of(node: Node) -> str | None:
    """What an element is found by: its index, else the text that is its id."""
    index = member(node, "index")
    if isinstance(index, str):
        return f"={index}"
    if _is_number(index):
        return f"#{number(index)}"
    id = member(node, "id")
    return f"@{id}" if isinstance(id, str) and id else None


def list_of(items: Iterable[Any]) -> Array:
    """A list that can grow by `add_array`."""
    return array_of(map(Leaf, items), key_of)


def add_usage(left: dict[str, Any] | None, right: dict[str, Any] | None) -> dict[str, Any] | None:
    """Token counts added, those that the library knows; None where neither side has any. Raises `TypeError`."""
    if left is None and right is None:
        return None
    sides = left or {}, right or {}
    total: dict[str, Any] = {name: _sum(name, *sides) for name in _COUNTS}
    for part, names in (("input_token_details", _INPUT_DETAILS), ("output_token_details", _OUTPUT_DETAILS)):
        details = [found if isinstance(found := side.get(part), dict) else {} for side in sides]
        total[part] = {name: _sum(name, *details) for name in names if any(name in found for found in details)}
    return total


def identity(value: Any) -> tuple[str, Any] | None:
    """What is equal for two values out of two JSON texts that are `===` to JavaScript; None, for objects never are."""
    if isinstance(value, dict | list):
        return None
    return _kind(value), number(value) if _is_number(value) else value


def same(left: Any, right: Any) -> bool:
    """JavaScript's `===` of two values out of two JSON texts."""
    return (found := identity(left)) is not None and found == identity(right)


def is_data_block(node: Node) -> bool:
    """Whether an element of a content is a block of the old kind that holds data."""
    source = member(node, "source_type")
    return isinstance(member(node, "type"), str) and isinstance(source, str) and source in _DATA_SOURCES


def grown(old: Node, text: str, undo: Undo) -> Rope:
    """The text with more behind it: the same rope where it is one already."""
    if not isinstance(old, Rope):
        return Rope([joined(plain(old) + text)])
    last = old.parts[-1] if old.parts else ""
    if halves_meet(last, text):
        undo.mend(old, joined(last[-1] + text[0]))
        text = text[1:]
    undo.grow(old, text)
    return old


def _add_member(key: str, old: Node, value: Any, undo: Undo) -> Node:
    kind = _kind_of_node(old)
    if kind != _kind(value):
        raise TypeError(f"{key!r} is {kind}, to which {_kind(value)} cannot be added")
    if isinstance(value, str):
        if key in REPLACED:
            return Leaf(value) if value else old
        return old if key == "type" or key in KEPT else grown(old, value, undo)
    if isinstance(value, dict):
        target = old if isinstance(old, Object) else object_of(plain(old))
        add_object(target, value, undo)
        return target
    if isinstance(value, list):
        array = old if isinstance(old, Array) else list_of(plain(old))
        add_array(array, value, undo)
        return array
    # Of two truth values the library keeps the left one, and only warns where they differ.
    return old if isinstance(value, bool) or key in KEPT else Leaf(_added(plain(old), value))


def _agree(left: Node, element: dict[str, Any]) -> bool:
    kinds = member(left, "type"), element.get("type")
    if isinstance(kinds[0], str) and isinstance(kinds[1], str) and _base(kinds[0]) != _base(kinds[1]):
        return False
    ids = member(left, "id"), element.get("id")
    return not (_has_id(ids[0]) and _has_id(ids[1])) or same(*ids)


def _base(kind: str) -> str:
    return kind.removesuffix("_delta")


def _has_id(id: Any) -> bool:
    return id is not None and id != ""


def _has_index(node: Node) -> bool:
    index = member(node, "index")
    return isinstance(index, str) or _is_number(index)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _kind_of_node(node: Node) -> str:
    match node:
        case Rope():
            return "a text"
        case Object():
            return "an object"
        case Array():
            return "a list"
        case Leaf():
            return _kind(node.value)


def _kind(value: Any) -> str:
    match value:
        case str():
            return "a text"
        case bool():
            return "a truth value"
        case int() | float():
            return "a number"
        case dict():
            return "an object"
        case list():
            return "a list"
    return "null"


def _sum(name: str, left: dict[str, Any], right: dict[str, Any]) -> int | float:
    values = [0 if (value := side.get(name)) is None else value for side in (left, right)]
    if not all(isinstance(value, int | float) for value in values):
        raise TypeError(f"{name!r} is {values[0]!r} and {values[1]!r}, which are not two numbers")
    return _added(*values)


def _added(left: float, right: float) -> int | float:
    return number(float(number(left)) + float(number(right)))
