"""Queries of the user's own on SQLite: anything may be read, nothing written."""

from __future__ import annotations

from pathlib import Path

import pytest

from recorder.errors import QueryRefused
from recorder.store import Store
from tests.store.made import append, event, events, raw

WRITES = {
    "insert": "INSERT INTO log_streams DEFAULT VALUES",
    "update": "UPDATE rm_runs SET name = 'x'",
    "delete": "DELETE FROM rm_findings",
    "delete returning": "DELETE FROM rm_findings RETURNING seq",
    "update returning": "UPDATE log_streams SET stale = 'x' RETURNING name",
    "drop": "DROP TRIGGER log_events_update",
    "create": "CREATE TABLE mine (a)",
    "create temporary": "CREATE TEMP TABLE mine (a)",
    "with": "WITH a AS (SELECT 1) INSERT INTO rm_runs (stream_id, run_id) SELECT 1, 'r' FROM a",
    "attach": "ATTACH 'other.db' AS other",
    "vacuum into": "VACUUM INTO 'other.db'",
    "begin": "BEGIN IMMEDIATE",
    "pragma user_version": "PRAGMA user_version = 7",
    "pragma query_only": "PRAGMA query_only = OFF",
    "pragma writable_schema": "PRAGMA writable_schema = 1",
    "pragma journal_mode": "PRAGMA journal_mode(DELETE)",
    "pragma checkpoint": "PRAGMA wal_checkpoint",
    "pragma optimize": "PRAGMA optimize",
    "load extension": "SELECT load_extension('x')",
    "two statements": "SELECT 1; SELECT 2",
    "hidden second": "SELECT 1; DROP TABLE rm_runs",
}
WRONG = {
    "syntax": "SELEKT 1",
    "no table": "SELECT * FROM nothing",
    "empty": "",
    "comment": "-- nothing",
    "null character": "SELECT 1\0",
    "missing parameter": "SELECT ?",
    "several lines": "SELECT\n  1\nFROM\n  'a\n'b",
}


@pytest.mark.parametrize("sql", [*WRITES.values(), *WRONG.values()], ids=[*WRITES, *WRONG])
def test_what_is_no_query_is_refused_in_one_line(sqlite_store: Store, path: Path, sql: str) -> None:
    append(sqlite_store, "s", events(1, 2))
    with raw(path) as connection:
        before = list(connection.iterdump())
        with pytest.raises(
            QueryRefused,
            match=r"^the query is refused: " if sql in WRITES.values() else r"^the query (failed|is refused): ",
        ) as caught:
            list(sqlite_store.query(sql)[1])
        assert "\n" not in str(caught.value)
        assert list(connection.iterdump()) == before
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert not (Path.cwd() / "other.db").exists()
    assert append(sqlite_store, "s", events(3, 3)).last_seq == 3


def test_parameters_may_be_numbered(sqlite_store: Store) -> None:
    append(sqlite_store, "s", events(1, 3))
    assert list(sqlite_store.query("SELECT seq FROM events WHERE seq = ?", (2,))[1]) == [(2,)]
    assert list(sqlite_store.query("SELECT ?, 'a\ud800'", ("\udfff",))[1]) == [(r"\udfff", r"a\ud800")]


@pytest.mark.parametrize(
    "sql",
    [
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT max(i) FROM n",
        "SELECT e.seq, j.value FROM events e, json_each(e.text) j",
        "EXPLAIN QUERY PLAN SELECT * FROM events",
        "PRAGMA table_info(log_events)",
        "PRAGMA user_version",
        "SELECT name FROM pragma_table_info('log_events')",
        "SELECT 1;",
        "VALUES (1), (2)",
    ],
)
def test_whatever_reads_is_answered(sqlite_store: Store, sql: str) -> None:
    append(sqlite_store, "s", events(1, 3))
    assert list(sqlite_store.query(sql)[1])


def test_text_that_is_none_is_shown_and_no_error(sqlite_store: Store) -> None:
    append(sqlite_store, "s", [event(1, b"a\xff")])
    assert list(sqlite_store.query("SELECT CAST(body AS TEXT), body, text FROM events")[1]) == [("a�", b"a\xff", None)]


def test_an_error_in_a_later_row_is_one_line_too(sqlite_store: Store) -> None:
    _, rows = sqlite_store.query("SELECT 1 UNION ALL SELECT abs(-9223372036854775807 - 1)")
    with pytest.raises(QueryRefused, match=r"^the query failed: integer overflow"):
        list(rows)
