"""`rec sql`: reads everything, writes nothing."""

from __future__ import annotations

import csv
import io
import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from recorder.cli.commands import sql_advice
from tests.command import CASSETTES, Rec

VIEWS = (
    "streams",
    "events",
    "runs",
    "messages",
    "tool_call_chunks",
    "tool_calls",
    "tool_messages",
    "pairings",
    "findings",
)


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_of_the_help_can_be_asked(recorded: Rec, view: str) -> None:
    assert recorded("sql", "--json", f"SELECT * FROM {view} LIMIT 1").fine().out.startswith("[")


def test_formats(recorded: Rec) -> None:
    query = "SELECT 1 AS n, 'a,\"b' AS t, NULL AS nil, x'ff00' AS b, 1.5 AS f, 'é' AS e"
    values = {"n": 1, "t": 'a,"b', "nil": None, "b": "ff00", "f": 1.5, "e": "é"}
    assert recorded("sql", "--json", query).fine().json == [values]
    assert json.loads(recorded("sql", "--nl", query).fine().out) == values
    header, row = csv.reader(io.StringIO(recorded("sql", "--csv", query).fine().out))
    assert (header, row) == (list(values), ["1", 'a,"b', "", "ff00", "1.5", "é"])
    assert recorded("sql", query).fine().out.splitlines()[2].split() == ["1", 'a,"b', "ff00", "1.5", "é"]


def test_csv_has_its_header_where_there_are_no_rows(recorded: Rec) -> None:
    assert recorded("sql", "--csv", "SELECT name, args FROM tool_calls WHERE 0").fine().out == "name,args\n"


def test_columns_of_one_name_are_all_given(recorded: Rec) -> None:
    assert recorded("sql", "--json", "SELECT 1 AS a, 2 AS a, 3 AS a_2, 4 AS a").fine().json == [
        {"a": 1, "a_2": 2, "a_2_2": 3, "a_3": 4}
    ]


def test_a_query_from_standard_input(recorded: Rec) -> None:
    assert recorded("sql", "--nl", "-", given=b"-- why\nSELECT 5 AS n\n").fine().json == {"n": 5}
    assert "no UTF-8 (byte 8)" in recorded("sql", "-", given=b"SELECT '\xff'").refusal


@pytest.mark.parametrize(
    "query", ["-- why it matters\nSELECT 5 AS n", "--why\nSELECT 5 AS n", "/* why */ SELECT 5 AS n"]
)
def test_a_query_that_begins_with_a_comment(recorded: Rec, query: str) -> None:
    assert recorded("sql", "--nl", query).fine().json == {"n": 5}
    assert recorded("sql", query, "--nl").fine().json == {"n": 5}


@pytest.mark.parametrize(
    "query",
    [
        "INSERT INTO log_streams DEFAULT VALUES",
        "REPLACE INTO log_streams (name) VALUES ('a')",
        "UPDATE log_streams SET name = 'x'",
        "DELETE FROM rm_tool_calls",
        "DROP TABLE log_events",
        "DROP VIEW events",
        "DROP TRIGGER IF EXISTS unknown",
        "CREATE TABLE t (a)",
        "CREATE TEMP TABLE t (a)",
        "ALTER TABLE log_events ADD COLUMN a",
        "ATTACH DATABASE '{folder}/other.db' AS other",
        "VACUUM",
        "VACUUM INTO '{folder}/other.db'",
        "REINDEX",
        "ANALYZE",
        "BEGIN IMMEDIATE",
        "PRAGMA user_version = 9",
        "PRAGMA journal_mode = DELETE",
        "PRAGMA query_only = OFF",
        "PRAGMA writable_schema = ON",
        "PRAGMA wal_checkpoint",
        "SELECT 1; DELETE FROM rm_tool_calls",
        "SELECT 1; SELECT 2",
        "WITH x AS (SELECT 1) DELETE FROM rm_tool_calls",
        "WITH x AS (SELECT 1) INSERT INTO rm_findings SELECT * FROM rm_findings",
        "SELECT load_extension('x')",
    ],
)
def test_a_query_that_writes_is_refused_and_writes_nothing(rec: Rec, tmp_path: Path, query: str) -> None:
    rec("capture", CASSETTES / "weather.sse").fine()
    with closing(sqlite3.connect(rec.database)) as connection:
        before = list(connection.iterdump())
    assert rec("sql", query.format(folder=tmp_path)).refusal.startswith("the query is refused: ")
    with closing(sqlite3.connect(rec.database)) as connection:
        assert list(connection.iterdump()) == before
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert not (tmp_path / "other.db").exists()


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("SELEC 1", 'near "SELEC": syntax error'),
        ("", "it gives no rows"),
        ("SELECT * FROM nosuch", "no such table: nosuch (rec sql --help names the views)"),
        ("SELECT nosuch FROM events", "no such column: nosuch"),
        ("SELECT ?", "bindings"),
        ("SELECT 'a", "unrecognized token"),
        ("SELECT \x00", "null character"),
    ],
)
def test_a_query_that_is_wrong_is_one_line(recorded: Rec, query: str, told: str) -> None:
    refusal = recorded("sql", query).refusal
    assert re.match(r"the query (failed|is refused): ", refusal)
    assert told in refusal


def test_what_only_reads_is_not_called_refused(recorded: Rec) -> None:
    assert recorded("sql", "SELECT nosuch").refusal.startswith("the query failed: ")
    assert recorded("sql", "DELETE FROM log_events").refusal.startswith("the query is refused: ")


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("SELECT * FROM tool_calls WHERE stream = chat", "(text goes in single quotes: 'chat')"),
        ('SELECT * FROM tool_calls WHERE name LIKE "chat%" OR name IN ("a", b)', "quotes: 'b')"),
        ("SELECT nosuch FROM streams", "(streams has stream, "),
        ("SELECT c.nosuch FROM tool_calls c JOIN findings f", "; findings has stream, rule, "),
        ("SELECT nosuch", "(docs/sql.md names the columns)"),
        ("SELECT json('{')", "add WHERE json_valid(args)"),
        ("audit queries.sql", "(to run the query in a file: rec sql - < 'audit queries.sql')"),
    ],
)
def test_a_query_that_fails_gets_advice(recorded: Rec, query: str, told: str) -> None:
    assert told in recorded("sql", query).refusal


def test_json_that_is_malformed_behind_the_first_rows_gets_advice_as_well(recorded: Rec) -> None:
    query = "SELECT json(CASE WHEN seq = 15 THEN '{' ELSE '{}' END) FROM events WHERE stream = 'weather'"
    assert recorded("sql", "--nl", query).err.endswith("or with the name of the column that is read)\n")


def test_the_advice_knows_every_view() -> None:
    assert sql_advice.VIEWS == VIEWS


def test_an_error_behind_the_first_rows_is_one_line_as_well(recorded: Rec) -> None:
    query = "SELECT abs(CASE WHEN seq = 15 THEN -9223372036854775808 ELSE seq END) FROM events WHERE stream = 'weather'"
    done = recorded("sql", "--nl", query)
    assert done.code == 2
    assert done.err == "rec: the query failed: integer overflow\n"


def test_a_process_of_its_own_refuses_as_well(recorded: Rec) -> None:
    from tests.command import rec

    told = rec("sql", "DELETE FROM log_events", "-d", recorded.database).refusal
    assert told == "the query is refused: it would do more than read"
