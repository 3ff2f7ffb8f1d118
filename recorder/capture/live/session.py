"""A session: what this process records into, from `recorder.capture()` on until it ends, over forks and at exit."""

from __future__ import annotations

import atexit
import os
import secrets
import sys
import threading
import time
from contextvars import ContextVar, Token
from pathlib import Path
from types import TracebackType

from recorder.capture.live import endings, hooks
from recorder.capture.live.sink import CLOSE_SECONDS, Counts, Sink
from recorder.capture.live.spool import SUFFIX
from recorder.capture.names import checked, name_of_program
from recorder.store.location import default_database

_own: ContextVar[Session | None] = ContextVar("recorder_session", default=None)
_running: list[Session] = []
"""Those that have begun and not ended, the newest last."""
_lock = threading.Lock()


class Session:
    """Records what happens in this process while it runs: `with recorder.capture("name"): …`, `async with` as well.

    What runs in the block, and in tasks and threads that have its context, is recorded here. Work without a context of
    its own (a plain thread) goes to the session that began last.
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        database: str | Path | None = None,
        spool: str | Path | None = None,
        parent: str | None = None,
        listens: bool = True,
    ) -> None:
        """`name`: of the stream that is made; where there is one of that name it gets another, and that is said.

        `database`: a path or URL, None for the commands' own. `spool`: the folder for what the database does not take;
        by default the database file's own if it is there, else the one for programs' data; where it cannot be written
        either, as on a full disk, that one and the one for temporary files stand in. `listens`: takes what is
        seen anywhere in the process; else only what is given to it. Raises `BadInput` for a name that no stream can
        have.
        """
        self._name = checked(name_of_program(_program()) if name is None else name)
        self._database = settled(default_database() if database is None else database)
        self._spool = Path(spool) if spool is not None else _folder_of(self._database)
        self._parent = parent
        self.listens = listens
        self._tokens: list[Token[Session | None]] = []
        self.sink = self._sink()

    @property
    def stream(self) -> str:
        """The name of the stream."""
        return self.sink.stream

    def start(self) -> Session:
        """Begins to record; what is seen from now on comes here."""
        with _lock:
            _running.append(self)
        _install()
        if self.listens:
            hooks.install(current)
        return self

    def stop(self, seconds: float = CLOSE_SECONDS) -> Counts:
        """Ends: what is left is written. Gives what became of all that was seen."""
        with _lock:
            if self not in _running:
                return self.sink.counts
            _running.remove(self)
        counts = self.sink.close(seconds)
        self.tell()
        if not any(session.listens for session in _running):
            hooks.uninstall()
        if not _running:
            endings.uninstall()
        return counts

    def leave(self, seconds: float) -> None:
        """The process ends at once: what can be written by then is, the rest is counted."""
        if not self.sink.flush(seconds):
            self.sink.leave()
        self.tell()

    def tell(self) -> None:
        """Says at the end what is not in the database. A program that was recorded well hears nothing."""
        for line in _lines(self.sink, self._name):
            try:
                print(f"recorder: stream {self.sink.stream!r}: {line}", file=sys.stderr)
            except (OSError, ValueError, AttributeError):
                return

    def __enter__(self) -> Session:
        self._tokens.append(_own.set(self))
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _own.reset(self._tokens.pop())
        self.stop()

    async def __aenter__(self) -> Session:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Not at the top: it is a third of this module's import, and many programs have no loop.
        import asyncio

        _own.reset(self._tokens.pop())
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            # Another library's loop.
            self.stop()
        else:
            await asyncio.to_thread(self.stop)

    def forked(self) -> None:
        """In a child process: a stream of its own, which names this one as its parent."""
        self.sink.after_fork_in_child()
        self._parent, self._name = self.sink.stream, f"{self.sink.stream}/{os.getpid()}"
        self.sink = self._sink()

    def _sink(self) -> Sink:
        file = f"{_plain(self._name)}-{os.getpid()}-{secrets.token_hex(4)}{SUFFIX}"
        first, *others = dict.fromkeys(folder / file for folder in (self._spool, *_further_folders()))
        return Sink(self._database, self._name, spool=first, otherwise=others, parent=self._parent)


def current() -> Sink | None:
    """The sink for what happens here and now; None where nobody records."""
    session = here()
    return None if session is None else session.sink


def here() -> Session | None:
    """The session for what happens here and now: the context's own, else the one that began last."""
    session = _own.get()
    if session is not None and session in _running:
        return session
    return next((each for each in reversed(_running) if each.listens), None)


def is_running(session: Session) -> bool:
    return session in _running


def settled(database: str | Path) -> str | Path:
    """The database by a name that holds wherever the program goes: a path is made absolute."""
    text = str(database)
    if text.startswith("sqlite:///"):
        path, mark, options = text.removeprefix("sqlite:///").partition("?")
        return f"sqlite:///{Path(path).absolute()}{mark}{options}" if path and path != ":memory:" else text
    return database if not text or "://" in text else Path(text).absolute()


def _install() -> None:
    global _installed
    endings.install(_leave)
    with _lock:
        if _installed:
            return
        _installed = True
    # Before the hooks below: it takes its lock for a fork as well, and those that came later are called earlier. The
    # writer's thread, for which `_before_fork` waits, may want that lock.
    import logging  # noqa: F401

    atexit.register(_at_exit)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_before_fork, after_in_parent=_after_in_parent, after_in_child=_after_in_child)


_installed = False
_forking: list[Session] = []


def _at_exit() -> None:
    for session in reversed(_running[:]):
        session.stop()
    endings.stay_interrupted()


def _leave(seconds: float) -> None:
    deadline = time.monotonic() + seconds
    for session in reversed(_running[:]):
        session.leave(max(0.0, deadline - time.monotonic()))


def _before_fork() -> None:
    _forking[:] = _running
    for session in _forking:
        session.sink.before_fork()


def _after_in_parent() -> None:
    for session in reversed(_forking):
        session.sink.after_fork_in_parent()


def _after_in_child() -> None:
    global _lock
    # Another thread of the parent may have held it.
    _lock = threading.Lock()
    hooks.forked()
    for session in _forking:
        session.forked()


def _lines(sink: Sink, wanted: str) -> list[str]:
    counts = sink.counts
    lines = []
    if sink.stream != wanted:
        lines.append(f"there was a stream {wanted!r} already")
    if counts.spooled:
        lines.append(
            f"{counts.spooled} events wait in {_places(sink)}: rec capture --spool takes them in ({counts.reason})"
        )
    if counts.lost:
        lines.append(f"{counts.lost} things that happened could not be kept ({counts.reason})")
    return lines


def _places(sink: Sink) -> str:
    return " and ".join(str(path) for path in sink.places if path.exists())


def _program() -> str:
    name = Path(sys.argv[0]).stem if sys.argv and sys.argv[0] not in ("", "-c", "-m") else ""
    return name or "python"


def _folder_of(database: str | Path) -> Path:
    text = str(database).removeprefix("sqlite:///")
    if text and "://" not in text and (folder := Path(text).absolute().parent).is_dir():
        return folder
    # A server's; or the folder's file system is not there: a folder in its place would hide what was written.
    return _data_folder()


def _further_folders() -> list[Path]:
    """Where a spool may go that its own folder does not take; as a rule not all are on one file system."""
    # Not by `tempfile`: it would keep the place, for a program that names it later.
    temporary = os.environ.get("TMPDIR") or os.environ.get("TEMP") or "/tmp"
    return [_data_folder(), Path(temporary).absolute()]


def _data_folder() -> Path:
    from platformdirs import user_data_path

    return Path(user_data_path("recorder", appauthor=False))


def _plain(name: str) -> str:
    """The name as part of a file's name."""
    return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name)[:80]
