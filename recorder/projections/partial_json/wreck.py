"""The value of a text after the first error in it, and its changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from recorder.projections.partial_json.brackets import Brackets, View
from recorder.projections.partial_json.changes import ABSENT, INVALID, Change, Invalid, Json, hide
from recorder.projections.partial_json.containers import OpenContainer, copy_around


class Wreck:
    """What a reader had when it met the first error; only `brackets` still moves.

    `fragile_until`: where in the text the last `Word.fragile` ends. `read` gives the value of a beginning of the text.
    """

    __slots__ = ("_fragile_until", "_hidden", "_last_read", "_open", "_read", "_root", "_told", "brackets")

    def __init__(
        self,
        root: Json | Invalid,
        containers: Sequence[OpenContainer],
        brackets: Brackets,
        fragile_until: int,
        read: Callable[[str], Json | Invalid],
    ) -> None:
        self.brackets = brackets
        self._root = root
        self._open = containers
        self._fragile_until = fragile_until
        self._read = read
        self._last_read: tuple[int, Json | Invalid] = (-1, INVALID)
        self._told: View | None = None if root is INVALID else View(depth=len(containers))
        # Containers that were taken away, the outermost last.
        self._hidden: list[int] = []

    @property
    def value(self) -> Json | Invalid:
        return self._value(self._view())

    def tell(self, log: list[Change]) -> None:
        """Adds to `log` what changed since the last time, or since the error."""
        view, told = self._view(), self._told
        if view == told:
            return
        self._told = view
        if told is None or told.until is not None:
            log.append(Change("restore", ()))
        if view is None or view.until is not None:
            log.append(Change("set", (), self._value(view)))
            return
        hidden = self._hidden
        while hidden and hidden[-1] < view.depth:
            log.append(Change("restore", self._open[hidden.pop()].path))
        if view.depth < len(self._open) and (not hidden or hidden[-1] != view.depth):
            container = self._open[view.depth]
            log.append(hide(container.path, container.covered is not ABSENT))
            hidden.append(view.depth)

    def _view(self) -> View | None:
        view = self.brackets.view()
        if view is None or self._root is INVALID:
            return None
        if view.until is not None:
            cuts_fragile = view.until < self._fragile_until
        else:
            cuts_fragile = view.depth < len(self._open) and self._open[view.depth].fragile
        return None if cuts_fragile else view

    def _value(self, view: View | None) -> Json | Invalid:
        if view is None:
            return INVALID
        if view.until is not None:
            if self._last_read[0] != view.until:
                self._last_read = (view.until, self._read(self.brackets.good[: view.until]))
            return self._last_read[1]
        if view.depth == len(self._open):
            return self._root
        inner = self._open[view.depth - 1].copy_without(self._open[view.depth])
        return copy_around(self._open[: view.depth - 1], inner)
