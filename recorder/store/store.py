"""The store: one open database of streams."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import Any

from sqlalchemy import Connection

from recorder.errors import UnknownStream
from recorder.store.backend import Backend, Parameters
from recorder.store.interning import Interned
from recorder.store.reading import Reads
from recorder.store.shapes import Problem, StreamHead
from recorder.store.transaction import Transaction


class Store(Reads):
    """Made by `open_store`. Threads may share it; a forked process must open its own."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend)
        self._interned = Interned()

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
