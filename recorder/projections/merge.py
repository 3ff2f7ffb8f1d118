"""How langchain-core 1.8 adds the fields of two message chunks, its surprises included.

The rules are those of `merge_dicts` and `merge_lists` (`langchain_core/utils/_merge.py`), `merge_content`
(`messages/base.py`), `add_usage` and `add_ai_message_chunks` (`messages/ai.py`); the tests hold them against the
library. They work on growing values, so that a text of n pieces costs O(n); `merge_dicts`, `merge_lists` and
`merge_content` below are the same on plain values.

What the library refuses raises `TypeError`, or `ValueError` for token counts. Of a refused addition the left may be
half changed until `Undo.back`.
"""

from __future__ import annotations

from typing import Any

from recorder.projections.growing import Array, Leaf, Node, Object, Undo, array_of, index_key, member, object_of, plain
from recorder.projections.rope import Rope

KEPT_IF_EQUAL = frozenset({"id", "output_version", "model_provider"})
"""Texts that are not doubled where both sides say the same; any other text is."""
LAST_WINS = frozenset({"index", "created", "timestamp"})
"""Numbers that are replaced; any other is summed."""
MAX_USAGE_DEPTH = 100
_NO_ID = frozenset({None, ""})


def merge_dicts(left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    """Two JSON objects added; neither is changed. Raises `TypeError`."""
    node = object_of(left)
    add_object(node, right, Undo())
    merged: dict[str, Any] = plain(node)
    return merged


def merge_lists(left: list[Any], right: list[Any]) -> list[Any]:
    """Two JSON arrays added; neither is changed. Raises `TypeError`."""
    node = array_of(map(Leaf, left))
    add_array(node, right, Undo())
    merged: list[Any] = plain(node)
    return merged


def merge_content(left: str | list[Any], right: str | list[Any]) -> str | list[Any]:
    """Two message contents added; neither is changed. Raises `TypeError`."""
    merged: str | list[Any] = plain(add_content(Leaf(left), right, Undo()))
    return merged


def add_object(left: Object, right: dict[str, Any], undo: Undo) -> None:
    """Adds each member of `right`: None says nothing, two types that differ are refused."""
    for key, value in right.items():
        old = left.items.get(key)
        if old is None:
            undo.put(left.items, key, Leaf(value))
        elif value is None:
            continue
        elif isinstance(old, Leaf) and old.value is None:
            undo.put(left.items, key, Leaf(value))
        elif (node := _add_member(key, old, value, undo)) is not old:
            undo.put(left.items, key, node)


def add_array(left: Array, right: list[Any], undo: Undo) -> None:
    """Adds each element of `right` to the first object with its index and no other id; appends it where none is."""
    for element in right:
        key = index_key(element.get("index")) if isinstance(element, dict) else None
        position = _find(left, key, element) if key is not None else None
        if position is None:
            undo.push(left, Leaf(element))
            continue
        target = left.items[position]
        grown = target if isinstance(target, Object) else object_of(plain(target))
        if grown is not target:
            undo.replace(left.items, position, grown)
        add_object(grown, _without_type(grown, element), undo)


def add_content(left: Node, right: str | list[Any], undo: Undo) -> Node:
    """Adds to a content, text or list; gives the sum, which may be `left` itself, grown.

    Text after an empty list is lost, as in the library.
    """
    if _type_of(left) is str:
        return _grown(left, right, undo) if isinstance(right, str) else array_of([left, *map(Leaf, right)])
    array = left if isinstance(left, Array) else array_of(map(Leaf, plain(left)))
    if isinstance(right, list):
        add_array(array, right, undo)
    elif array.items and _type_of(last := array.items[-1]) is str:
        undo.replace(array.items, len(array.items) - 1, _grown(last, right, undo))
    elif right and array.items:
        undo.push(array, Leaf(right))
    return array


def add_usage(left: dict[str, Any] | None, right: dict[str, Any] | None) -> dict[str, Any]:
    """Token counts summed key by key. Raises `ValueError` where a count is no integer."""
    if not (left or right):
        return {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
    if not (left and right):
        return left or right or {}
    return _sum_counts(left, right, 0)


def better_id(left: str | None, right: str | None) -> str | None:
    """The sum's id: a provider's, else a run's (`lc_run-…`), else a made up one (`lc_…`); the first of equals."""
    best: str | None = None
    for id in (left, right):
        if id and (best is None or _rank(id) > _rank(best)):
            best = id
    return best


def _rank(id: str) -> int:
    return 1 if id.startswith("lc_run-") else 0 if id.startswith("lc_") else 2


def _sum_counts(left: dict[str, Any], right: dict[str, Any], depth: int) -> dict[str, Any]:
    if depth >= MAX_USAGE_DEPTH:
        raise ValueError(f"token counts are nested {depth} deep")
    counts: dict[str, Any] = {}
    for key in left | right:
        if isinstance(left.get(key, 0), int) and isinstance(right.get(key, 0), int):
            counts[key] = left.get(key, 0) + right.get(key, 0)
        elif isinstance(left.get(key, {}), dict) and isinstance(right.get(key, {}), dict):
            counts[key] = _sum_counts(left.get(key, {}), right.get(key, {}), depth + 1)
        else:
            raise ValueError(
                f"{key!r} is {left.get(key)!r} and {right.get(key)!r}: neither two integers nor two objects"
            )
    return counts


# Members of objects


def _add_member(key: str, old: Node, value: Any, undo: Undo) -> Node:
    kind = _type_of(old)
    if kind is not type(value):
        raise TypeError(f"{key!r} is {_kind(kind)}, to which {_kind(type(value))} cannot be added")
    if kind is str:
        if key == "index" and plain(old).startswith("lc_"):
            return old
        if key in KEPT_IF_EQUAL and plain(old) == value:
            return old
        return _grown(old, value, undo)
    if kind is dict:
        grown = old if isinstance(old, Object) else object_of(plain(old))
        add_object(grown, value, undo)
        return grown
    if kind is list:
        array = old if isinstance(old, Array) else array_of(map(Leaf, plain(old)))
        add_array(array, value, undo)
        return array
    before = plain(old)
    if before == value:
        return old
    if kind is int:
        return Leaf(value if key in LAST_WINS else before + value)
    raise TypeError(f"{key!r} is {before!r}, to which {value!r} cannot be added")


def _grown(old: Node, text: str, undo: Undo) -> Rope:
    if isinstance(old, Rope):
        undo.grow(old, text)
        return old
    rope = Rope([plain(old)])
    rope.append(text)
    return rope


def _type_of(node: Node) -> type[Any]:
    match node:
        case Leaf():
            return type(node.value)
        case Rope():
            return str
        case Object():
            return dict
        case Array():
            return list


def _kind(type_: type[Any]) -> str:
    names = {
        str: "a text",
        dict: "an object",
        list: "a list",
        bool: "a truth value",
        int: "an integer",
        float: "a float",
    }
    return names.get(type_, type_.__name__)


# Elements of arrays


def _find(array: Array, key: str, element: dict[str, Any]) -> int | None:
    """The position of the first object with the element's index whose id does not contradict it."""
    positions = array.by_index.get(key, ())
    # All of them are compared, as in the library: an id that is a list or an object is refused wherever it stands.
    matches = [position for position in positions if _compatible(array.items[position], element)]
    return matches[0] if matches else None


def _compatible(target: Node, element: dict[str, Any]) -> bool:
    left = member(target, "id")
    return left in _NO_ID or (right := element.get("id")) in _NO_ID or left == right


def _without_type(left: Object, element: dict[str, Any]) -> dict[str, Any]:
    """What of an element is added to a block: its type never is, and a non-standard one brings only its value."""
    left_type = member(left, "type")
    if not (left_type and element.get("type") == "non_standard" and "value" in element):
        return {key: value for key, value in element.items() if key != "type"}
    if not isinstance(element["value"], dict):
        raise TypeError(f"the value of a non-standard block is {_kind(type(element['value']))}")
    value = {key: item for key, item in element["value"].items() if key != "type"}
    if left_type != "non_standard":
        return {"extras": value}
    return {"value": value, "index": element["index"]}
