"""Queries of the user's own, which Postgres itself keeps from writing.

They run in a READ ONLY transaction, which lets COPY … TO PROGRAM through. So each is made the query of a cursor
first: Postgres takes only SELECT, VALUES and TABLE there, refuses data-modifying WITH, and, prepared, a second
statement behind a semicolon. EXPLAIN and SHOW, of which there are no cursors, are put in front of what follows them in
the query, so that nothing else can run whatever the rest is made to look like.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping
from decimal import Decimal
from itertools import chain, islice
from typing import Any

import psycopg
from psycopg import errors
from psycopg.types.string import TextLoader

from recorder.errors import DatabaseUnusable, QueryRefused
from recorder.events import jsontext
from recorder.store.backend import Parameters
from recorder.store.postgres import faults
from recorder.store.texts import storable

_FIRST_WORD = re.compile(r"(?:\s++|--[^\r\n]*+|/\*.*?\*/|\()*+(\w*)(.*)", re.DOTALL)
"""What a query begins with, behind blanks, comments and parentheses, and what follows."""
_READING = ("select", "with", "values", "table")
_ASKING = ("explain", "show")
_NAMED = re.compile(
    r"""\b[eE]'(?:[^'\\]|\\.|'')*+'|'[^']*+'|"[^"]*+"|\$(\w*)\$.*?\$\1\$|--[^\r\n]*+|/\*.*?\*/|::"""
    r"""|(?<![:\w]):([A-Za-z_]\w*)""",
    re.DOTALL,
)
"""A text, a quoted name, a comment, a cast; or, as the second group, a parameter `:name`."""
_KEPT_TYPES = {"bool", "int2", "int4", "int8", "oid", "float4", "float8", "numeric", "bytea"}
"""Types whose values come as Python's; all others come as the text that Postgres writes."""
_MORE_THAN_READ = "the query is refused: it would do more than read"
_WRITING = re.compile(
    r'data-modifying|INTO is not allowed|^syntax error at or near "(insert|update|delete|merge)"', re.IGNORECASE
)
"""How Postgres puts it where a cursor's query would write."""


def run_query(
    connect: Callable[[], psycopg.Connection[Any]], shown: str, sql: str, parameters: Parameters
) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
    """Column names, and rows as they are read. Parameters are `:name`, as a mapping.

    Raises `QueryRefused` where the SQL is wrong or would do anything but read, `DatabaseUnusable`.
    """
    if "\0" in sql:
        raise QueryRefused("the query is refused: it holds a NUL character")
    text, values = _positional(jsontext.clean(sql), parameters)
    connection = connect()
    try:
        connection.read_only = True
        cursor = _cursor(connection)
        rows = _begin(cursor, text, values)
        names = [column.name for column in cursor.description or ()]
        # The first row comes now, for most of what can go wrong goes wrong before it.
        first = list(islice(rows, 1))
    except psycopg.Error as error:
        connection.close()
        raise _fault(error, shown) from None
    except BaseException:
        connection.close()
        raise
    return names, _Rows(connection, first, rows, shown)


class _Rows(Iterator[tuple[Any, ...]]):
    """The rows of a query; the connection is closed with the last one, or when nobody holds them any more."""

    def __init__(
        self, connection: psycopg.Connection[Any], first: list[Any], source: Iterator[Any], shown: str
    ) -> None:
        self._connection, self._source, self._shown = connection, source, shown
        self._rows: Iterator[Any] = chain(first, source)

    def __next__(self) -> tuple[Any, ...]:
        try:
            return tuple(map(_plain, next(self._rows)))
        except psycopg.Error as error:
            self.close()
            raise _fault(error, self._shown) from None
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        if isinstance(self._source, Generator):
            # Cancels the query where it still runs: the server would not notice that nobody listens.
            self._source.close()
        self._connection.close()
        self._rows = iter(())

    def __del__(self) -> None:
        self.close()


def _cursor(connection: psycopg.Connection[Any]) -> psycopg.Cursor[Any]:
    cursor = connection.cursor()
    for kind in cursor.adapters.types:
        if kind.name not in _KEPT_TYPES:
            cursor.adapters.register_loader(kind.oid, TextLoader)
    return cursor


def _begin(cursor: psycopg.Cursor[Any], text: str, values: list[object] | None) -> Iterator[Any]:
    """Starts the query; afterwards the cursor describes its columns."""
    found = _FIRST_WORD.match(text)
    assert found is not None
    word = found[1].lower()
    # A prepared statement is one statement. Without values psycopg leaves percent signs alone.
    if word in _ASKING:
        cursor.execute(f"{word.upper()} {found[2]}", values, prepare=True)
        if _has_written(cursor.connection):
            raise QueryRefused(_MORE_THAN_READ)
        return iter(cursor)
    if word not in _READING:
        raise QueryRefused("the query is refused: only SELECT, WITH, VALUES, TABLE, EXPLAIN and SHOW are answered")
    cursor.execute(f"DECLARE rec_query NO SCROLL CURSOR FOR {text}", values, prepare=True)
    cursor.execute("FETCH 0 FROM rec_query")
    # The cursor has shown that it is a query, and of which columns. To fetch all from it would make the server collect
    # all first, and to fetch some would hold as many at a time, whatever their size.
    return cursor.stream(text, values)


def _has_written(connection: psycopg.Connection[Any]) -> bool:
    """EXPLAIN ANALYZE CREATE TABLE AS gets past READ ONLY. What it made is gone with the transaction."""
    row = connection.execute("SELECT pg_current_xact_id_if_assigned()").fetchone()
    return row is not None and row[0] is not None


def _plain(value: object) -> object:
    """Numbers, texts, bytes and None as they are; an array as its JSON text."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, list):
        return jsontext.encode(value)
    if isinstance(value, Decimal):  # sum() and avg() of integers give one
        return int(value) if value.is_finite() and value == value.to_integral_value() else float(value)
    return value


def _positional(sql: str, parameters: Parameters) -> tuple[str, list[object] | None]:
    """The query with psycopg's placeholders, and their values."""
    if not parameters:
        return sql, None
    if not isinstance(parameters, Mapping):
        raise QueryRefused("the query is refused: on Postgres parameters are named, :name with a mapping of values")
    values: list[object] = []

    def replace(match: re.Match[str]) -> str:
        if match[2] is None:
            return match[0].replace("%", "%%")
        if match[2] not in parameters:
            raise QueryRefused(f"the query is refused: there is no value for :{match[2]}")
        value = parameters[match[2]]
        values.append(storable(value) if isinstance(value, str) else int(value) if isinstance(value, bool) else value)
        return "%s"

    parts: list[str] = []
    at = 0
    for match in _NAMED.finditer(sql):
        parts += (sql[at : match.start()].replace("%", "%%"), replace(match))
        at = match.end()
    parts.append(sql[at:].replace("%", "%%"))
    return "".join(parts), values


def _fault(error: psycopg.Error, shown: str) -> Exception:
    line = faults.plain(error.diag.message_primary or str(error))
    line = f"{line[:1].lower()}{line[1:]}"
    if isinstance(error, errors.ReadOnlySqlTransaction | errors.ActiveSqlTransaction) or _WRITING.search(line):
        return QueryRefused(_MORE_THAN_READ)
    if isinstance(error, errors.InsufficientPrivilege):
        return QueryRefused(f"the query is refused: {line}")
    if "multiple commands" in line:
        return QueryRefused("the query is refused: it is more than one statement")
    is_about_the_query = isinstance(error, errors.QueryCanceled) or (error.sqlstate or "").startswith("54")
    if isinstance(error, psycopg.OperationalError) and not is_about_the_query:
        return DatabaseUnusable(f"{shown} {faults.line_for(error)}")
    return QueryRefused(f"the query failed: {line}")
