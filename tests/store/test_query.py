"""Queries of the user's own on whatever kind of database: anything may be read, nothing written."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from recorder.errors import QueryRefused
from recorder.store import Store, open_store
from tests.store.made import Behind, append, behind, bodies, event, events, eventually

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT {} FROM n"
WRITES = {
    "insert": "INSERT INTO log_streams DEFAULT VALUES",
    "update": "UPDATE rm_runs SET name = 'x'",
    "delete": "DELETE FROM rm_findings",
    "delete returning": "DELETE FROM rm_findings RETURNING seq",
    "update returning": "UPDATE log_streams SET stale = 'x' RETURNING name",
    "upsert": "INSERT INTO rm_runs (stream_id, run_id) VALUES (1, 'r') ON CONFLICT DO NOTHING",
    "drop": "DROP VIEW events",
    "create": "CREATE TABLE mine (a INTEGER)",
    "create as": "CREATE TABLE mine AS SELECT * FROM events",
    "create temporary": "CREATE TEMP TABLE mine (a INTEGER)",
    "alter": "ALTER TABLE rm_runs RENAME TO mine",
    "with insert": "WITH a AS (SELECT 1) INSERT INTO rm_runs (stream_id, run_id) SELECT 1, 'r' FROM a",
    "begin": "BEGIN",
    "commit": "COMMIT",
    "rollback": "ROLLBACK",
    "savepoint": "SAVEPOINT a",
    "vacuum": "VACUUM",
    "analyze": "ANALYZE",
    "two statements": "SELECT 1; SELECT 2",
    "hidden second": "SELECT 1; DROP VIEW events",
    "behind a comment": "/* SELECT */ DELETE FROM rm_findings",
    "behind a line comment": "-- SELECT\nDELETE FROM rm_findings",
}
WRONG = {
    "syntax": "SELEKT 1",
    "no table": "SELECT * FROM nothing",
    "empty": "",
    "blank": " \n ",
    "comment": "-- nothing",
    "open comment": "/* SELECT 1",
    "open text": "SELECT 'a",
    "null character": "SELECT 1\0",
    "missing parameter": "SELECT :a",
    "several lines": "SELECT\n  1\nFROM\n  'a\n'b",
}


def outcome(store: Store, other: Behind, sql: str, parameters: dict[str, object]) -> str:
    """How the store refuses a query that must change nothing: `is refused`, `failed`, or what is wrong with that."""
    before = other.content()
    try:
        list(store.query(sql, parameters)[1])
        said = "answered"
    except QueryRefused as error:
        said = str(error)
    if other.content() != before:
        return f"changed something: {said}"
    found = re.fullmatch("the query (is refused|failed): .+", said)
    return found[1] if found else said


def test_what_would_write_is_refused_in_one_line(store: Store, database: str) -> None:
    append(store, "s", events(1, 2))
    with behind(database) as other:
        found = {name: outcome(store, other, sql, {}) for name, sql in WRITES.items()}
    assert found == dict.fromkeys(WRITES, "is refused")
    assert append(store, "s", events(3, 3)).last_seq == 3


def test_what_is_no_query_is_refused_in_one_line(store: Store, database: str) -> None:
    with behind(database) as other:
        found = {name: outcome(store, other, sql, {"b": 1} if ":a" in sql else {}) for name, sql in WRONG.items()}
    assert set(found.values()) <= {"is refused", "failed"}, found


def test_columns_and_rows_come_back(store: Store) -> None:
    append(store, "s", events(1, 3))
    columns, rows = store.query("SELECT seq AS n, text FROM events WHERE seq > :least ORDER BY 1", {"least": 1})
    assert columns == ["n", "text"]
    assert list(rows) == [(2, '{"n": 2}'), (3, '{"n": 3}')]
    columns, rows = store.query("SELECT seq, text FROM events WHERE seq > 7")
    assert (columns, list(rows)) == (["seq", "text"], [])


def test_a_parameter_comes_back_as_it_went_in(store: Store) -> None:
    for value in (0, -1, 1 << 62, -(1 << 63), 1.5, "", "a'b", ":c", "%s", "?", "é\U0001f600", b"\0\xff", None):
        parameters = {"a": value, "b": 1, "unused": 2}
        assert list(store.query("SELECT :a, :b, :a", parameters)[1]) == [(value, 1, value)]


def test_a_parameter_is_compared_with_what_it_means(store: Store) -> None:
    append(store, "s", events(1, 3))
    for value in (2, "2"):
        assert list(
            store.query("SELECT seq FROM events WHERE seq = :n AND stream = :s", {"n": value, "s": "s"})[1]
        ) == [(2,)]
    assert list(store.query("SELECT seq FROM events WHERE erased = :no AND seq = 1", {"no": False})[1]) == [(1,)]
    assert list(store.query("SELECT 'a\ud800', :x", {"x": "\udfff"})[1]) == [(r"a\ud800", r"\udfff")]


READS = [
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT max(i) FROM n",
    "EXPLAIN SELECT * FROM events",
    "explain SELECT * FROM events WHERE seq = 1",
    "/* of */ -- all\n EXPLAIN SELECT * FROM events",
    "SELECT 1;",
    "SELECT 1; -- done",
    "  \n-- one\n/* two */ SELECT 1 /* three */ -- four",
    "VALUES (1), (2)",
    "SELECT '%', 5 % 2, '%s', '?', ':a', '--', '/*' -- 100%",
    'SELECT 1 AS "a:b", 2 AS "c%d"',
]


@pytest.mark.parametrize("parameters", [{}, {"a": 1}])
def test_whatever_reads_is_answered(store: Store, parameters: dict[str, int]) -> None:
    append(store, "s", events(1, 3))
    for sql in READS:
        assert list(store.query(sql, parameters)[1]), sql


def test_percent_colon_and_question_mark_are_what_they_are(store: Store) -> None:
    sql = "SELECT '%', 7 % 4, '%s', '?', ':a', ':' || :a || '%', '--:a', 'it''s :a' /* :a */ -- :a"
    assert list(store.query(sql, {"a": 1.5})[1]) == [("%", 3, "%s", "?", ":a", ":1.5%", "--:a", "it's :a")]


def test_rows_are_read_as_they_are_asked_for(store: Store) -> None:
    _, rows = store.query(ENDLESS.format("i"))
    assert [next(rows)[0] for _ in range(3)] == [1, 2, 3]
    _, rows = store.query("SELECT 1")
    assert list(rows) == [(1,)]
    assert list(rows) == []


def test_a_query_sees_what_was_committed_while_a_writer_writes(store: Store) -> None:
    append(store, "s", events(1, 2))
    with store.transaction() as transaction:
        transaction.append(store.head("s"), events(3, 3))
        assert list(store.query("SELECT count(*) FROM events")[1]) == [(2,)]
    assert len(bodies(store, "s")) == 3


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads its own memory from /proc")
def test_a_result_larger_than_memory_can_be_read(store: Store, database: str) -> None:
    large = b"x" * 5_000_000
    append(store, "s", [event(number, large) for number in range(1, 17)])
    program = (
        "import sys\n"
        "from recorder.store import open_store\n"
        "def peak():\n"
        "    lines = open('/proc/self/status').read().splitlines()\n"
        "    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith('VmHWM'))\n"
        "with open_store(sys.argv[1], readonly=True) as store:\n"
        "    before = peak()\n"
        "    assert sum(len(row[0]) for row in store.query('SELECT body FROM events')[1]) == 80_000_000\n"
        "    between = peak()\n"
        "    assert sum(len(event.body) for event in store.events(store.head('s'))) == 80_000_000\n"
        "    print(between - before, peak() - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, database], cwd=_ROOT, capture_output=True, text=True, check=True
    )
    asked, read = map(int, done.stdout.split())
    assert asked < 70, "MiB"
    assert read < 90, "MiB"


_ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or os.name == "nt", reason="sends a signal to a process")
def test_an_endless_query_stops_at_ctrl_c(database: str) -> None:
    open_store(database).close()
    program = (
        "import sys\n"
        "from recorder.store import open_store\n"
        "with open_store(sys.argv[1], readonly=True) as store:\n"
        "    print('asking', flush=True)\n"
        f"    store.query('{ENDLESS.format('max(i)')}')\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, database], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=_ROOT
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"asking\n"
    time.sleep(0.3)  # It is asked, and takes for ever.
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode not in (0, None)
    assert errors.rstrip().endswith(b"KeyboardInterrupt")
    if "://" in database:
        with behind(database) as other:
            running = "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'WITH RECURSIVE n%'"
            assert eventually(lambda: not other.run(f"{running} AND datname = current_database()"))


def test_a_query_that_nobody_reads_any_more_stops_on_the_server(url: str) -> None:
    running = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'recorder' AND datname = current_database()"
    with open_store(url, readonly=True) as store, behind(url) as other:
        before = len(other.run(running))
        _, rows = store.query(ENDLESS.format("i"))
        assert next(rows) == (1,)
        assert len(other.run(running)) == before + 1
        del rows
        assert eventually(lambda: len(other.run(running)) == before)
