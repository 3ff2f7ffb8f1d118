"""Queries of the user's own: anything may be read, nothing written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from recorder.errors import QueryRefused
from recorder.store import Store
from tests.store.made import append, bodies, event, events, raw

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
def test_what_is_no_query_is_refused_in_one_line(store: Store, path: Path, sql: str) -> None:
    append(store, "s", events(1, 2))
    with raw(path) as connection:
        before = list(connection.iterdump())
        with pytest.raises(
            QueryRefused,
            match=r"^the query is refused: " if sql in WRITES.values() else r"^the query (failed|is refused): ",
        ) as caught:
            list(store.query(sql)[1])
        assert "\n" not in str(caught.value)
        assert list(connection.iterdump()) == before
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert not (Path.cwd() / "other.db").exists()
    assert append(store, "s", events(3, 3)).last_seq == 3


def test_columns_and_rows_come_back(store: Store) -> None:
    append(store, "s", events(1, 3))
    columns, rows = store.query("SELECT seq AS n, text FROM events WHERE seq > :least ORDER BY 1", {"least": 1})
    assert columns == ["n", "text"]
    assert list(rows) == [(2, '{"n": 2}'), (3, '{"n": 3}')]
    assert list(store.query("SELECT seq FROM events WHERE seq = ?", (2,))[1]) == [(2,)]
    assert list(store.query("SELECT ?, 'a\ud800'", ("\udfff",))[1]) == [(r"\udfff", r"a\ud800")]


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
def test_whatever_reads_is_answered(store: Store, sql: str) -> None:
    append(store, "s", events(1, 3))
    assert list(store.query(sql)[1])


def test_text_that_is_none_is_shown_and_no_error(store: Store) -> None:
    append(store, "s", [event(1, b"a\xff")])
    assert list(store.query("SELECT CAST(body AS TEXT), body, text FROM events")[1]) == [("a�", b"a\xff", None)]


def test_rows_are_read_as_they_are_asked_for(store: Store) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
    _, rows = store.query(endless)
    assert [next(rows)[0] for _ in range(3)] == [1, 2, 3]
    _, rows = store.query("SELECT 1")
    assert list(rows) == [(1,)]
    assert list(rows) == []


def test_an_error_in_a_later_row_is_one_line_too(store: Store) -> None:
    _, rows = store.query("SELECT 1 UNION ALL SELECT abs(-9223372036854775807 - 1)")
    with pytest.raises(QueryRefused, match=r"^the query failed: integer overflow"):
        list(rows)


def test_a_query_sees_what_was_committed_while_a_writer_writes(store: Store) -> None:
    append(store, "s", events(1, 2))
    with store.transaction() as transaction:
        transaction.append(store.head("s"), events(3, 3))
        assert list(store.query("SELECT count(*) FROM events")[1]) == [(2,)]
    assert len(bodies(store, "s")) == 3


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or os.name == "nt", reason="sends a signal to a process")
def test_an_endless_query_stops_at_ctrl_c(store: Store, path: Path) -> None:
    program = (
        "import sys\n"
        "from recorder.store import open_store\n"
        "with open_store(sys.argv[1], readonly=True) as store:\n"
        "    print('asking', flush=True)\n"
        "    store.query('WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n')\n"
    )
    root = Path(__file__).parents[2]
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=root
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"asking\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode not in (0, None)
    assert errors.rstrip().endswith(b"KeyboardInterrupt")
