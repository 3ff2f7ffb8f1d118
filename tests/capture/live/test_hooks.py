"""The hooks: a producer comes with its library, and the import is what it is without them."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from recorder.capture.live import hooks, launcher
from recorder.capture.live.hooks import Hooks

LIBRARY, PRODUCER = "h_library", "h_producer"
PRODUCER_TEXT = """
import {library}
calls = []
def install(current): calls.append(("install", {library}.VALUE, current()))
def uninstall(): calls.append(("uninstall",))
"""


class Failures:
    """A sink that keeps what failed."""

    def __init__(self) -> None:
        self.failures: list[tuple[str, BaseException]] = []

    def failed(self, where: str, error: BaseException) -> None:
        self.failures.append((where, error))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path with a library and its producer, neither imported."""
    (tmp_path / f"{LIBRARY}.py").write_text("VALUE = 7\n")
    (tmp_path / f"{PRODUCER}.py").write_text(PRODUCER_TEXT.format(library=LIBRARY))
    monkeypatch.syspath_prepend(tmp_path)
    finders = list(sys.meta_path)
    yield tmp_path
    sys.meta_path[:] = finders
    for name in [name for name in sys.modules if name.startswith("h_")]:
        del sys.modules[name]


@pytest.fixture
def sink() -> Failures:
    return Failures()


@pytest.fixture
def installed(folder: Path, sink: Failures) -> Iterator[Hooks]:
    found = Hooks({LIBRARY: (PRODUCER, "install")})
    found.install(lambda: sink)  # type: ignore[arg-type, return-value]
    yield found
    found.uninstall()


def calls() -> list[Any]:
    return sys.modules[PRODUCER].calls if PRODUCER in sys.modules else []  # type: ignore[no-any-return]


def test_a_producer_comes_with_its_library(installed: Hooks, sink: Failures) -> None:
    assert PRODUCER not in sys.modules
    importlib.import_module(LIBRARY)
    assert calls() == [("install", 7, sink)]
    installed.uninstall()
    installed.uninstall()
    assert calls() == [("install", 7, sink), ("uninstall",)]
    assert installed not in sys.meta_path
    assert sink.failures == []


def test_a_library_that_is_there_gets_its_producer_at_once(folder: Path) -> None:
    importlib.import_module(LIBRARY)
    found = Hooks({LIBRARY: (PRODUCER, "install"), "h_absent": (PRODUCER, "install")})
    found.install(lambda: None)
    found.install(lambda: None)
    assert calls() == [("install", 7, None)]
    found.uninstall()


def test_a_library_that_is_absent_is_absent(installed: Hooks, folder: Path, sink: Failures) -> None:
    (folder / f"{LIBRARY}.py").unlink()
    importlib.invalidate_caches()
    with pytest.raises(ModuleNotFoundError) as error:
        importlib.import_module(LIBRARY)
    assert error.value.name == LIBRARY
    assert importlib.util.find_spec(LIBRARY) is None
    assert (calls(), sink.failures) == ([], [])


def seen(module: ModuleType) -> tuple[Any, ...]:
    """What a program can see of how a module was imported."""
    spec = module.__spec__
    assert spec is not None
    assert spec.loader is module.__loader__
    return (
        type(spec.loader), vars(spec.loader), type(spec), spec.name, spec.origin, spec.cached, spec.parent,
        sorted(vars(module).keys() - {"__warningregistry__"}), module.__file__,
    )  # fmt: skip


def test_the_module_and_its_spec_are_as_without_it(folder: Path, sink: Failures) -> None:
    before = seen(importlib.import_module(LIBRARY))
    del sys.modules[LIBRARY]
    found = Hooks({LIBRARY: (PRODUCER, "install")})
    found.install(lambda: None)
    assert seen(importlib.import_module(LIBRARY)) == before
    assert calls() == [("install", 7, None)]
    found.uninstall()


def test_a_look_at_the_spec_imports_nothing(installed: Hooks) -> None:
    for _ in range(3):
        spec = importlib.util.find_spec(LIBRARY)
        assert spec is not None
        assert type(spec.loader) is importlib.machinery.SourceFileLoader
    assert calls() == []
    module = importlib.util.module_from_spec(spec)
    sys.modules[LIBRARY] = module
    spec.loader.exec_module(module)
    assert [name for name, *_ in calls()] == ["install"]


def test_a_reload_installs_again(installed: Hooks) -> None:
    importlib.reload(importlib.import_module(LIBRARY))
    assert [name for name, *_ in calls()] == ["install", "install"]


def test_a_library_in_an_archive(folder: Path, installed: Hooks, monkeypatch: pytest.MonkeyPatch) -> None:
    """One loader for all that is in it: the wrong module must not use up the watch."""
    (folder / f"{LIBRARY}.py").unlink()
    with zipfile.ZipFile(folder / "h.zip", "w") as archive:
        archive.writestr(f"{LIBRARY}.py", "import h_other\nVALUE = h_other.VALUE\n")
        archive.writestr("h_other.py", "VALUE = 8\n")
    monkeypatch.syspath_prepend(folder / "h.zip")
    spec = importlib.util.find_spec(LIBRARY)
    assert spec is not None
    importlib.import_module("h_other")
    module = importlib.import_module(LIBRARY)
    assert [value for _, value, _ in calls()] == [8]
    assert "exec_module" not in vars(module.__loader__)


class Foreign(importlib.abc.MetaPathFinder):
    """A finder of another tool's, with a loader of its own."""

    class Loader(importlib.abc.Loader):
        def exec_module(self, module: ModuleType) -> None:
            module.VALUE = 9  # type: ignore[attr-defined]

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        return importlib.machinery.ModuleSpec(name, self.Loader()) if name == LIBRARY else None


def test_another_tools_finder_and_loader_do_their_work(installed: Hooks, sink: Failures) -> None:
    sys.meta_path.insert(1, Foreign())
    module: Any = importlib.import_module(LIBRARY)
    assert module.VALUE == 9
    assert type(module.__loader__) is Foreign.Loader
    assert [value for _, value, _ in calls()] == [9]


def test_a_loader_on_which_another_tool_has_set_its_own_keeps_it(installed: Hooks) -> None:
    done = []

    class Setting(importlib.abc.MetaPathFinder):
        def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
            spec = importlib.machinery.PathFinder.find_spec(name, path, target) if name == LIBRARY else None
            if spec is not None:
                loader: Any = spec.loader
                original = loader.exec_module
                loader.exec_module = lambda module: (done.append(module.__name__), original(module))
            return spec

    sys.meta_path.insert(1, Setting())
    module = importlib.import_module(LIBRARY)
    assert done == [LIBRARY]
    assert "lambda" in vars(module.__loader__)["exec_module"].__name__
    assert [value for _, value, _ in calls()] == [7]


@pytest.mark.parametrize("text", ["raise ValueError('planted')", "def install(current): raise ValueError('planted')"])
def test_a_producer_that_fails_is_counted_and_harms_nobody(
    folder: Path, installed: Hooks, sink: Failures, text: str
) -> None:
    (folder / f"{PRODUCER}.py").write_text(f"{text}\n")
    assert importlib.import_module(LIBRARY).VALUE == 7
    assert [(where, str(error)) for where, error in sink.failures] == [(f"the hook for {LIBRARY}", "planted")]


def test_a_library_that_fails_to_import_fails_as_it_does(folder: Path, installed: Hooks, sink: Failures) -> None:
    (folder / f"{LIBRARY}.py").write_text("raise ZeroDivisionError('its own')\n")
    with pytest.raises(ZeroDivisionError, match="its own"):
        importlib.import_module(LIBRARY)
    assert LIBRARY not in sys.modules
    assert (calls(), sink.failures) == ([], [])
    (folder / f"{LIBRARY}.py").write_text("VALUE = 10\n")
    importlib.invalidate_caches()
    importlib.import_module(LIBRARY)
    assert [value for _, value, _ in calls()] == [10]


def test_two_threads_import_two_libraries_that_import_each_other(folder: Path) -> None:
    """Each producer imports the other's library, while the other thread is importing it."""
    for own, other in (("h_one", "h_two"), ("h_two", "h_one")):
        (folder / f"{own}.py").write_text("import time\ntime.sleep(0.2)\nVALUE = 1\n")
        (folder / f"{own}_producer.py").write_text(
            "import time\ncalls = []\ndef install(current):\n    time.sleep(0.1)\n"
            f"    import {other}\n    calls.append(1)\n"
        )
    found = Hooks({"h_one": ("h_one_producer", "install"), "h_two": ("h_two_producer", "install")})
    found.install(lambda: None)
    threads = [
        threading.Thread(target=importlib.import_module, args=(name,), daemon=True) for name in ("h_one", "h_two")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()
    assert sys.modules["h_one_producer"].calls  # type: ignore[attr-defined]
    assert sys.modules["h_two_producer"].calls  # type: ignore[attr-defined]
    found.uninstall()


def test_many_threads_import_one_library(folder: Path, installed: Hooks) -> None:
    (folder / f"{LIBRARY}.py").write_text("import time\ntime.sleep(0.1)\nVALUE = 7\n")
    got = []
    threads = [threading.Thread(target=lambda: got.append(importlib.import_module(LIBRARY).VALUE)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [7] * 20
    assert [name for name, *_ in calls()] == ["install"]


def test_every_producer_has_its_functions_and_the_startup_waits_for_all() -> None:
    for module, function in hooks.PRODUCERS.values():
        producer = importlib.import_module(module)
        assert callable(getattr(producer, function)), module
        assert function == "register" or callable(producer.uninstall), module
    text = (launcher.STARTUP / "sitecustomize.py").read_text()
    names: dict[str, Any] = {}
    (line,) = [line for line in text.splitlines() if line.startswith("MODULES = ")]
    exec(line, names)
    assert names["MODULES"] == hooks.PRODUCERS.keys()
