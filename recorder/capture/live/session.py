"""A session: what this process records into, from `recorder.capture()` on until it ends, over forks and at exit."""

from __future__ import annotations

import atexit
import os
import secrets
import sys
import threading
from contextvars import ContextVar, Token
from pathlib import Path
from types import TracebackType

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
    ) -> None:
        """`name`: of the stream that is made; where there is one of that name it gets another, and that is said.

        `database`: a path or URL, None for the commands' own. `spool`: the folder for what the database does not take;
        by default the database file's own, or the one for programs' data. Raises `BadInput` for a name that no stream
        can have.
        """
        self._name = checked(name_of_program(_program()) if name is None else name)
        self._database = default_database() if database is None else database
        self._spool = Path(spool) if spool is not None else _folder_of(self._database)
        self._parent = parent
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
        return self

    def stop(self, seconds: float = CLOSE_SECONDS) -> Counts:
        """Ends: what is left is written. Gives what became of all that was seen."""
        with _lock:
            if self in _running:
                _running.remove(self)
        counts = self.sink.close(seconds)
        _tell(self.sink, self._name)
        return counts

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
        self.__exit__(kind, error, trace)

    def forked(self) -> None:
        """In a child process: a stream of its own, which names this one as its parent."""
        self._parent, self._name = self.sink.stream, f"{self.sink.stream}/{os.getpid()}"
        self.sink = self._sink()

    def _sink(self) -> Sink:
        path = self._spool / f"{_plain(self._name)}-{os.getpid()}-{secrets.token_hex(4)}{SUFFIX}"
        return Sink(self._database, self._name, spool=path, parent=self._parent)


def current() -> Sink | None:
    """The sink for what happens here and now; None where nobody records."""
    session = _own.get()
    if session is not None and session in _running:
        return session.sink
    return _running[-1].sink if _running else None


def _install() -> None:
    global _installed
    with _lock:
        if _installed:
            return
        _installed = True
    atexit.register(_at_exit)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_before_fork, after_in_parent=_after_in_parent, after_in_child=_after_in_child)


_installed = False
_forking: list[Session] = []


def _at_exit() -> None:
    for session in reversed(_running[:]):
        session.stop()


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
    for session in _forking:
        session.forked()


def _tell(sink: Sink, wanted: str) -> None:
    """Says at the end what is not in the database. A program that was recorded well hears nothing."""
    counts = sink.counts
    lines = []
    if sink.stream != wanted:
        lines.append(f"there was a stream {wanted!r} already")
    if counts.spooled:
        lines.append(
            f"{counts.spooled} events wait in {sink.spool_path}: rec capture --spool takes them in ({counts.reason})"
        )
    if counts.lost:
        lines.append(f"{counts.lost} things that happened could not be kept ({counts.reason})")
    for line in lines:
        try:
            print(f"recorder: stream {sink.stream!r}: {line}", file=sys.stderr)
        except (OSError, ValueError, AttributeError):
            return


def _program() -> str:
    name = Path(sys.argv[0]).stem if sys.argv and sys.argv[0] not in ("", "-c", "-m") else ""
    return name or "python"


def _folder_of(database: str | Path) -> Path:
    text = str(database)
    if text and "://" not in text:
        return Path(text).absolute().parent
    if text.startswith("sqlite:///"):
        return Path(text.removeprefix("sqlite:///")).absolute().parent
    from platformdirs import user_data_path

    return Path(user_data_path("recorder", appauthor=False))


def _plain(name: str) -> str:
    """The name as part of a file's name."""
    return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name)[:80]
