"""Methods of other libraries' classes replaced, and put back as they were."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

_MISSING = object()


class Patch:
    """One method of one class, wrapped while this is installed.

    `wrap(original)` gives the function that takes the original's place. Where somebody else has patched the same method
    meanwhile, it cannot be taken away from under them: it stays there, and only calls the original.
    """

    def __init__(self, owner: type, name: str, wrap: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        self._owner, self._name, self._wrap = owner, name, wrap
        self._before: Any = _MISSING
        """What the class itself had: nothing, where it inherits the method."""
        self._mine: Callable[..., Any] | None = None
        self._active = [False]

    @property
    def method(self) -> tuple[type, str]:
        """Which method it is."""
        return self._owner, self._name

    @property
    def is_installed(self) -> bool:
        return self._active[0]

    def install(self) -> None:
        """Does nothing where it is installed already."""
        if self.is_installed:
            return
        self._before = self._owner.__dict__.get(self._name, _MISSING)
        self._active = [True]
        self._mine = _switched(getattr(self._owner, self._name), self._wrap, self._active)
        setattr(self._owner, self._name, self._mine)

    def uninstall(self) -> None:
        """Does nothing where it is not installed, but for taking away what had to stay and need not any more."""
        self._active[0] = False
        if self._mine is None or self._owner.__dict__.get(self._name) is not self._mine:
            return
        if self._before is _MISSING:
            delattr(self._owner, self._name)
        else:
            setattr(self._owner, self._name, self._before)
        self._mine = None


class Patches:
    """Several of them, taken away together."""

    def __init__(self) -> None:
        self._patches: dict[tuple[type, str], Patch] = {}

    def install(self, *patches: Patch) -> None:
        """Installs those of which the method is not patched here already."""
        for patch in patches:
            before = self._patches.get(patch.method)
            if before is not None and before.is_installed:
                continue
            if before is not None:
                before.uninstall()
            self._patches[patch.method] = patch
            patch.install()

    def uninstall(self) -> None:
        """The last first. A second call does nothing."""
        for patch in reversed(self._patches.values()):
            patch.uninstall()


def _switched(
    original: Callable[..., Any], wrap: Callable[[Callable[..., Any]], Callable[..., Any]], active: list[bool]
) -> Callable[..., Any]:
    wrapped = wrap(original)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return (wrapped if active[0] else original)(self, *args, **kwargs)

    async def coroutine(self: Any, *args: Any, **kwargs: Any) -> Any:
        return await (wrapped if active[0] else original)(self, *args, **kwargs)

    return functools.wraps(original)(coroutine if inspect.iscoroutinefunction(original) else method)
