"""Queries of the user's own, which SQLite itself keeps from writing.

The connection is opened with `mode=ro` and `query_only`, which stop every change of a database; an authorizer
(https://www.sqlite.org/c3ref/set_authorizer.html) stops what these let through: other files, settings, transactions.
It does not list what may be done instead: SQLite declares `json_each` and its like as tables of their own.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from functools import partial
from typing import Any

from recorder.errors import QueryRefused
from recorder.events import jsontext
from recorder.store.backend import Parameters
from recorder.store.sqlite import faults

_REFUSED = {sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH, sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_SAVEPOINT}
_ASKING_PRAGMAS = {
    "collation_list",
    "compile_options",
    "database_list",
    "foreign_key_list",
    "function_list",
    "index_info",
    "index_list",
    "index_xinfo",
    "integrity_check",
    "module_list",
    "pragma_list",
    "quick_check",
    "table_info",
    "table_list",
    "table_xinfo",
}
"""Pragmas whose argument names what to tell; of the others only the form without an argument asks."""
_SETTING_PRAGMAS = {"incremental_vacuum", "optimize", "shrink_memory", "wal_checkpoint"}
"""Pragmas that act even without an argument."""
_STEPS = 100_000
"""Steps of SQLite's machine between two looks for Ctrl-C: some milliseconds."""
_DATABASE_FAULTS = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_NOTADB,
}


def run_query(place: str, shown: str, sql: str, parameters: Parameters) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
    """Column names, and rows as they are read. Text that is not UTF-8 is shown with U+FFFD.

    Raises `QueryRefused` where the SQL is wrong or would do anything but read, `DatabaseUnusable`.
    """
    connection: sqlite3.Connection | None = None
    try:
        connection = sqlite3.connect(place, uri=True, isolation_level=None, check_same_thread=False)
        connection.text_factory = partial(str, encoding="utf-8", errors="replace")
        connection.execute("PRAGMA query_only = ON")
        connection.set_authorizer(_authorize)
        # Called in between, Python gets to handle a signal; without it Ctrl-C waits for the query.
        connection.set_progress_handler(_nothing, _STEPS)
        cursor = connection.execute(jsontext.clean(sql), _clean(parameters))
        if cursor.description is None:
            raise QueryRefused("the query is refused: it gives no rows, and only SELECT is answered")
    except BaseException as error:
        if connection is not None:
            connection.close()
        if isinstance(error, sqlite3.Error | sqlite3.Warning | ValueError | OverflowError):
            raise _fault(error, shown) from None
        raise
    return [column[0] for column in cursor.description], _Rows(connection, cursor, shown)


class _Rows(Iterator[tuple[Any, ...]]):
    """The rows of a query; the connection is closed with the last one, or when nobody holds them any more."""

    def __init__(self, connection: sqlite3.Connection, cursor: sqlite3.Cursor, shown: str) -> None:
        self._connection, self._cursor, self._shown = connection, cursor, shown
        self._open = True

    def __next__(self) -> tuple[Any, ...]:
        if not self._open:
            raise StopIteration
        try:
            row: tuple[Any, ...] | None = self._cursor.fetchone()
        except (sqlite3.Error, OverflowError) as error:
            self.close()
            raise _fault(error, self._shown) from None
        if row is None:
            self.close()
            raise StopIteration
        return row

    def close(self) -> None:
        self._open = False
        self._connection.close()

    def __del__(self) -> None:
        self.close()


def _authorize(action: int, first: str | None, second: str | None, database: str | None, inner: str | None) -> int:
    if action in _REFUSED or (action == sqlite3.SQLITE_FUNCTION and second == "load_extension"):
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_PRAGMA and first is not None:
        name = first.lower()
        asks = name in _ASKING_PRAGMAS or (second is None and name not in _SETTING_PRAGMAS)
        return sqlite3.SQLITE_OK if asks else sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def _nothing() -> int:
    return 0


def _clean(parameters: Parameters) -> Parameters:
    if isinstance(parameters, dict):
        return {name: _text(value) for name, value in parameters.items()}
    return tuple(_text(value) for value in parameters)


def _text(value: object) -> object:
    return jsontext.clean(value) if isinstance(value, str) else value


def _fault(error: BaseException, shown: str) -> BaseException:
    code = faults.code_of(error)
    if code == sqlite3.SQLITE_INTERRUPT:
        return KeyboardInterrupt()
    if code in _DATABASE_FAULTS:
        return faults.translate(error, shown)
    if code in (sqlite3.SQLITE_AUTH, sqlite3.SQLITE_READONLY):
        return QueryRefused("the query is refused: it would do more than read")
    line = " ".join(str(error).split())
    if line.startswith("not authorized"):
        return QueryRefused(f"the query is refused: {line}")
    # Without a code it is Python's module that refuses: two statements, a NUL character, parameters that do not fit.
    what = "failed" if code else "is refused"
    return QueryRefused(f"the query {what}: {line[:1].lower()}{line[1:]}")
