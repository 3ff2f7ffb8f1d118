"""JSON Patch as LangChain.js makes it.

Source: `compare` of fast-json-patch, as @langchain/core 1.4 carries it (`utils/fast-json-patch/src/duplex.ts`), and
`deepCompareStrict` of @cfworker/json-schema, by which its parsers tell whether anything changed. The tests hold both
against the library.
"""

from __future__ import annotations

from typing import Any

Operations = list[dict[str, Any]]


def compare(before: Any, after: Any) -> Operations:
    """The operations from one JSON value to another: changes and removals from the last member on, then what is new.

    Made for objects. Of other values the library compares what JavaScript takes for their members, and so does this: of
    a text its UTF-16 units, of a number nothing.
    """
    operations: Operations = []
    _compare(before, after, "", operations)
    return operations


def same(left: Any, right: Any) -> bool:
    """Whether two JSON values are equal, whatever the order of their keys; 1 and true differ."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(value, right[key]) for key, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def _compare(before: Any, after: Any, path: str, operations: Operations) -> None:
    if not isinstance(before, dict | list) and not isinstance(after, dict | list) and same(before, after):
        return
    old, new = _members(before), _members(after)
    removed = False
    for key, value in reversed(old.items()):
        place = f"{path}/{_escaped(key)}"
        if key in new:
            if _are_alike(value, new[key]):
                _compare(value, new[key], place, operations)
            elif not same(value, new[key]):
                operations.append({"op": "replace", "path": place, "value": _copied(new[key])})
        elif isinstance(before, list) == isinstance(after, list):
            operations.append({"op": "remove", "path": place})
            removed = True
        else:
            operations.append({"op": "replace", "path": path, "value": after})
    if not removed and len(new) == len(old):
        return
    for key, value in new.items():
        if key not in old:
            operations.append({"op": "add", "path": f"{path}/{_escaped(key)}", "value": _copied(value)})


def _members(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    if isinstance(value, str):
        units = value.encode("utf-16-le", "surrogatepass")
        value = [units[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(units), 2)]
    return {str(place): item for place, item in enumerate(value)} if isinstance(value, list) else {}


def _are_alike(left: Any, right: Any) -> bool:
    return (isinstance(left, dict) and isinstance(right, dict)) or (isinstance(left, list) and isinstance(right, list))


def _copied(value: Any) -> Any:
    """An object goes through JSON, which has no infinity; a number that stands alone does not."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list) else value


def _finite(value: Any) -> Any:
    infinite = isinstance(value, float) and value in (float("inf"), float("-inf"))
    return None if infinite else _copied(value)


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
