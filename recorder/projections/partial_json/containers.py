"""The containers of a partial JSON text that are still open."""

from __future__ import annotations

from collections.abc import Sequence

from recorder.projections.partial_json.changes import ABSENT, Absent, Json, Path


class OpenContainer:
    """A container whose closer has not come. `node` is live: it grows with the text, and sits in its parent already."""

    __slots__ = ("covered", "fragile", "is_object", "key", "node", "path")

    def __init__(self, node: dict[str, Json] | list[Json], path: Path, covered: Json | Absent) -> None:
        self.node = node
        self.path = path
        self.covered = covered
        """What stood at `path` before: the value of a key that came again."""
        self.is_object = isinstance(node, dict)
        self.key = ""
        """Of an object: the key whose value comes next, or came last."""
        self.fragile = False
        """Holds a `Word.fragile`: the library raises when it cuts this container off."""

    def next_path(self) -> Path:
        """Where the next value goes."""
        return (*self.path, self.key if self.is_object else len(self.node))

    def next_covered(self) -> Json | Absent:
        """What stands where the next value goes."""
        return self.node.get(self.key, ABSENT) if isinstance(self.node, dict) else ABSENT

    def put(self, value: Json) -> None:
        """Adds a value at its end."""
        if isinstance(self.node, dict):
            self.node[self.key] = value
        else:
            self.node.append(value)

    def copy_with(self, value: Json | Absent) -> dict[str, Json] | list[Json]:
        """A copy with one more value at its end."""
        node = self.node.copy()
        if value is not ABSENT:
            if isinstance(node, dict):
                node[self.key] = value
            else:
                node.append(value)
        return node

    def copy_without(self, last: OpenContainer) -> dict[str, Json] | list[Json]:
        """A copy as it was before `last`, the open container in it, began."""
        node = self.node.copy()
        if isinstance(node, list):
            node.pop()
        elif last.covered is ABSENT:
            del node[self.key]
        else:
            node[self.key] = last.covered
        return node


def copy_around(outer: Sequence[OpenContainer], inner: dict[str, Json] | list[Json]) -> Json:
    """Copies of `outer`, outermost first, with `inner` in the place of the open container in the last of them."""
    for container in reversed(outer):
        node = container.node.copy()
        if isinstance(node, dict):
            node[container.key] = inner
        else:
            node[-1] = inner
        inner = node
    return inner
