"""What Python runs at its start where `rec capture -- PROGRAM` has put this folder first on the path.

It takes the folder out again, runs the program's own `sitecustomize` if there is one, and waits: the recorder is
imported only when the program imports something that can be recorded. So nothing is imported here that Python has not
imported by itself, and a process that has nothing to do with models costs next to nothing.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MODULES = {"aiohttp", "botocore.awsrequest", "httpx", "httpx2", "langchain_core.callbacks.manager", "urllib3"}
"""Those of `recorder.capture.live.hooks`, which is not imported yet."""
FOLDER = os.path.dirname(os.path.abspath(__file__))


def step_aside() -> None:
    """Makes the path what it is without the recorder."""
    sys.path[:] = [entry for entry in sys.path if entry != FOLDER]
    sys.path_importer_cache.pop(FOLDER, None)
    # The import system wants something of that name when this module ends: the program's own, or nothing at all.
    del sys.modules[__name__]


def wait() -> None:
    """Waits for the first import of one of `MODULES`, where this Python has the recorder. Never raises."""
    try:
        settings, run = os.environ.get("REC_LIVE"), os.environ.get("REC_LIVE_RUN")
        if not settings or not run:
            return
        origin = _origin()
        if origin is None:
            if _is_made(run, "missing", sys.executable):
                _say(f"{sys.executable} has no recorder installed: what it runs is not recorded")
            return
        waiting = _Waiting(settings, run, _is_first(run), origin)
        if MODULES.isdisjoint(sys.modules):
            sys.meta_path.insert(0, waiting)
        else:
            waiting.begin()
    except Exception as error:
        _say(f"it cannot begin: {type(error).__name__}: {error}")


class _Waiting:
    """A finder that finds nothing: it begins to record when it is asked for one of `MODULES`."""

    def __init__(self, settings: str, run: str, is_first: bool, origin: str) -> None:
        self._settings, self._run, self._origin = settings, run, origin
        self._is_first, self._process = is_first, os.getpid()
        self._begun = False
        self._lock = _new_lock()

    def find_spec(self, name: str, path: "Any" = None, target: "Any" = None) -> "Any":
        if name not in MODULES:
            return None
        with self._lock:
            find = self.begin()
        return None if find is None else find(name, path, target)

    def begin(self) -> "Any":
        """Gives the finder that has taken this one's place; None where there is none."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        begun, self._begun = self._begun, True
        try:
            loaded = sys.modules.get("recorder")
            origin = _origin() if loaded is None else getattr(loaded, "__file__", None)
            if origin != self._origin:
                if not begun:
                    _say(f"the program has a module of its own that is called recorder ({origin}): it is not recorded")
                return None
            from recorder.capture.live import hooks, launched

            if not begun:
                is_first = self._is_first and os.getpid() == self._process
                launched.begin(self._settings, self._run, is_first)
            return hooks.find_spec
        except Exception as error:
            if not begun:
                _say(f"it cannot begin: {type(error).__name__}: {error}")
            return None


def _new_lock() -> "Any":
    # Reentrant, for what begins imports much; `threading` may not be imported yet.
    import _thread

    return _thread.RLock()


def _origin() -> "Any":
    """The file of the package `recorder` that an import would find."""
    for finder in sys.meta_path:
        find = getattr(finder, "find_spec", None)
        spec = find and find("recorder", None, None)
        if spec:
            return spec.origin
    return None


def _is_first(run: str) -> bool:
    """Whether this is the first Python of the run: the stream's own name is for that one."""
    process = str(os.getpid())
    if _is_made(run, "first", process):
        return True
    try:
        with open(os.path.join(run, "first")) as file:
            # It was, and has put another program in its place, before anything was recorded.
            return file.read() == process and not any(name.startswith(f"{process}-") for name in os.listdir(run))
    except OSError:
        return False


def _is_made(run: str, name: str, text: str) -> bool:
    """Makes a file of the run; false where it is there already."""
    try:
        file = os.open(os.path.join(run, name), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError:
        return False
    try:
        os.write(file, text.encode("utf-8", "surrogateescape"))
    finally:
        os.close(file)
    return True


def _say(text: str) -> None:
    try:
        sys.stderr.write(f"recorder: {text}\n")
        sys.stderr.flush()
    except Exception:
        # Nobody hears.
        return


try:
    step_aside()
    # The program's own; where there is none, the error is what Python is used to.
    import sitecustomize  # type: ignore[import-not-found]  # noqa: F401
finally:
    wait()
