"""Whether text that LangChain adds lands behind all other text of a message, told without joining the text."""

from __future__ import annotations

from typing import Any

from recorder.projections.growing import Array, Leaf, Node, Object, index_key, member
from recorder.projections.rope import Rope


def may_scatter(held: Node, content: str | list[Any]) -> bool:
    """Whether the content's text may go elsewhere than behind the text so far, or be lost.

    Text that is no block, and blocks without an index, are appended. A block with an index is merged into the one that
    has it; that is the text's end only where it is the last block with text. So is text in a block of another type, for
    the type that came first stays. False is certain, True must be looked at.
    """
    if isinstance(content, str):
        return bool(content) and not isinstance(held, Rope) and not (isinstance(held, Array) and held.items)
    with_text = [item for item in content if isinstance(item, dict) and "text" in item]
    if not with_text or isinstance(held, Rope):
        return False
    if not isinstance(held, Array):
        return True
    for item in with_text:
        key = index_key(item.get("index"))
        positions = held.by_index.get(key) if key is not None else None
        if positions and (item.get("type") != "text" or len(content) > 1 or positions[0] != last_text(held)):
            return True
    return False


def last_text(array: Array) -> int | None:
    """The position of the last element that has text of the answer."""
    return next((place for place in range(len(array.items) - 1, -1, -1) if _has_text(array.items[place])), None)


def _has_text(node: Node) -> bool:
    match node:
        case Rope():
            return True
        case Leaf():
            value = node.value
            return isinstance(value, str) or (isinstance(value, dict) and value.get("type") == "text")
        case Object():
            return bool(member(node, "type") == "text")
        case Array():
            return False
