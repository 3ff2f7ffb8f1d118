"""The store: one open database of streams."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from sqlalchemy import Connection

from recorder.errors import UnknownStream
from recorder.store.backend import Backend, Parameters
from recorder.store.interning import Interned
from recorder.store.reading import Reads, View
from recorder.store.shapes import Problem, StreamHead
from recorder.store.transaction import Transaction


class Store(Reads):
    """Made by `open_store`. Threads may share it; a forked process must open its own."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend)
        self._interned = Interned()
        backend.on_connect(self._interned.forget)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _read(self) -> AbstractContextManager[Connection]:
        return self._backend.read()

    def head(self, name: str) -> StreamHead:
        """The stream of that name. Raises `UnknownStream`."""
        found = self.find(name)
        if found is None:
            raise UnknownStream(f"there is no stream {name!r} in {self._backend.shown}: rec ls lists them")
        return found

    @contextmanager
    def view(self) -> Iterator[Reads]:
        """Reads that all see the database as it is at the first of them.

        To be kept short: meanwhile the database keeps what others replace.
        """
        with self._backend.view() as connection:
            yield View(self._backend, connection)

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Writes: committed at the end, rolled back where an exception leaves it.

        Waits for other writers. A thread that has one open must not open a second. Raises `DatabaseUnusable`; where
        the commit itself raises, whether it happened is unknown: append the same events again, with the same ids.
        """
        with self._backend.write() as connection:
            transaction = Transaction(self._backend, connection, self._interned)
            yield transaction
        transaction.committed()

    def query(self, sql: str, parameters: Parameters = ()) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
        """Column names and rows of one query of the user's, read as they are asked for.

        The database itself keeps it from writing. Raises `QueryRefused` where it is wrong or would do more than read.
        """
        return self._backend.query(sql, parameters)

    def wait_for_append(self, seconds: float = 1.0) -> None:
        """Returns when something may have been appended, or after that time at the latest."""
        self._backend.wait_for_append(seconds)

    def backup(self, path: Path) -> None:
        """Writes a copy of the whole database into a new file, while others write to it. Raises `BadInput`."""
        self._backend.backup(path)

    def roles(self) -> str:
        """The SQL that makes roles for a writer, an auditor and an eraser. Raises `BadInput` where there are none."""
        return self._backend.roles()

    def scrub(self) -> str | None:
        """Overwrites what an erasure left in the files; gives a line where something stays, and why, or None."""
        return self._backend.scrub()

    def problems(self) -> list[Problem]:
        """What is damaged, and what will hurt one day."""
        return self._backend.problems()

    @property
    def schema_version(self) -> int:
        """The number of the last migration that was applied."""
        return self._backend.schema_version()

    def close(self) -> None:
        """Gives the database back; the store is of no use afterwards."""
        self._backend.close()
