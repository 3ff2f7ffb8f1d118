"""Producers that come with the libraries they are for: at once where one is imported, else when it is.

A finder at the head of `sys.meta_path` has the others find the module and its loader, and sets `exec_module` on that
loader for as long as the import lasts: the program sees spec, loader and module as they are without it.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Container
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recorder.capture.live.items import Current

_ROOM = __name__.rpartition(".")[0]
PRODUCERS = {
    "langchain_core.callbacks.manager": (f"{_ROOM}.langchain", "register"),
    "httpx": (f"{_ROOM}.tee_httpx", "install"),
    "httpx2": (f"{_ROOM}.tee_httpx", "install"),
    "urllib3": (f"{_ROOM}.tee_urllib3", "install"),
    "aiohttp": (f"{_ROOM}.tee_aiohttp", "install"),
    "botocore.awsrequest": (f"{_ROOM}.tee_botocore", "install"),
}
"""The module that is waited for, and who records what it does: a module of this room, and the function to call."""


def _nobody() -> None:
    return None


class Hooks:
    """A finder for `sys.meta_path`, and the producers that it has installed."""

    def __init__(self, producers: dict[str, tuple[str, str]]) -> None:
        self._producers = producers
        self._current: Current = _nobody
        self._installed: list[str] = []
        """Modules of producers, in the order in which they came."""
        self._due: deque[str] = deque()
        self.forked()

    def forked(self) -> None:
        """In a child process: a thread that is not there any more may have held a lock."""
        self._installing = threading.Lock()
        """Never waited for while a module is being imported: who holds it may be waiting for that module."""
        self._watching = threading.Lock()

    def install(self, current: Current) -> None:
        """Installs what there is a library for by now, and waits for the others. A second call does nothing."""
        if self in sys.meta_path:
            return
        self._current = current
        sys.meta_path.insert(0, self)
        for name in self._producers:
            if sys.modules.get(name) is not None:
                # One that another thread is importing just now is waited for.
                self._guarded(name, import_module, name)
                self._produce(name)

    def uninstall(self) -> None:
        """Takes away what was installed, the last first. A second call does nothing."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        with self._installing:
            installed, self._installed = self._installed, []
            for module in reversed(installed):
                self._guarded(module, _call, module, "uninstall")
            self._current = _nobody

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """What the finders after this one find, with a loader that tells when the module was executed."""
        if name not in self._producers:
            return None
        spec = self._found(name, path, target)
        if spec is not None and spec.loader is not None:
            self._guarded(name, self._watch, spec.loader)
        return spec

    def _found(self, name: str, path: Any, target: ModuleType | None) -> ModuleSpec | None:
        finders = list(sys.meta_path)
        for finder in finders[finders.index(self) + 1 if self in finders else 0 :]:
            find = getattr(finder, "find_spec", None)
            if find is not None and (spec := find(name, path, target)) is not None:
                return spec  # type: ignore[no-any-return]
        return None

    def _watch(self, loader: Any) -> None:
        """Has the loader tell. One loader may be that of several modules, and of several threads' imports."""
        with self._watching:
            if not isinstance(vars(loader).get("exec_module"), _Watched):
                vars(loader)["exec_module"] = _Watched(loader, self._producers, self._produce)

    def _produce(self, name: str) -> None:
        """Installs the module's producer, in this thread or in the one that is installing already."""
        self._due.append(name)
        while self._due and self._installing.acquire(blocking=False):
            try:
                while self._due:
                    due = self._due.popleft()
                    self._guarded(due, self._install, *self._producers[due])
            finally:
                self._installing.release()

    def _install(self, module: str, function: str) -> None:
        if self in sys.meta_path:
            _call(module, function, self._current)
            if module not in self._installed:
                self._installed.append(module)

    def _guarded(self, name: str, action: Callable[..., object], *arguments: object) -> None:
        """Does it; a failure is counted, and the program goes on."""
        try:
            action(*arguments)
        except Exception as error:
            sink = self._current()
            if sink is not None:
                sink.failed(f"the hook for {name}", error)


class _Watched:
    """A loader's `exec_module` for one import: does what the loader does, takes itself away, and tells."""

    def __init__(self, loader: Any, names: Container[str], tell: Callable[[str], None]) -> None:
        self._loader, self._names, self._tell = loader, names, tell
        self._original = loader.exec_module
        self._before = vars(loader).get("exec_module")
        """What somebody else has set on this one loader, if somebody has."""

    def __call__(self, module: ModuleType) -> None:
        name = module.__name__
        if name not in self._names:
            self._original(module)
            return
        kept = vars(self._loader)
        if kept.get("exec_module") is self:
            if self._before is None:
                del kept["exec_module"]
            else:
                kept["exec_module"] = self._before
        self._original(module)
        self._tell(name)


def _call(module: str, function: str, *arguments: Any) -> None:
    found = getattr(import_module(module), function, None)
    if found is not None:
        found(*arguments)


_hooks = Hooks(PRODUCERS)
install, uninstall, forked, find_spec = _hooks.install, _hooks.uninstall, _hooks.forked, _hooks.find_spec
