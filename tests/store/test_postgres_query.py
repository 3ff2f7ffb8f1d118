"""Queries of the user's own on Postgres: what only Postgres has to write, to escape with, and to read."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from recorder.errors import DatabaseUnusable, QueryRefused
from recorder.store import Store, open_store
from tests.store.made import append, behind, event, events, select
from tests.store.roles import other_url, role
from tests.store.test_query import outcome

_PROGRAM = "COPY (SELECT 1) TO PROGRAM 'touch {}'"
WRITES = {
    "update returning": "UPDATE rm_runs SET name = 'x' RETURNING run_id",
    "with delete": "WITH d AS (DELETE FROM rm_findings RETURNING seq) SELECT seq FROM d",
    "with delete in parentheses": "(WITH d AS (DELETE FROM rm_findings RETURNING seq) SELECT seq FROM d)",
    "nested with": "SELECT (WITH d AS (DELETE FROM rm_findings RETURNING seq) SELECT seq FROM d)",
    "merge": "MERGE INTO rm_runs r USING rm_findings f ON false WHEN MATCHED THEN DELETE",
    "with merge": "WITH a AS (SELECT 1) MERGE INTO rm_runs r USING a ON false WHEN MATCHED THEN DELETE",
    "truncate": "TRUNCATE rm_runs",
    "set": "SET transaction_read_only = off",
    "set session": "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
    "set role": "SET ROLE postgres",
    "reset": "RESET ALL",
    "discard": "DISCARD ALL",
    "set_config": "SELECT set_config('transaction_read_only', 'off', false)",
    "set_config and write": "SELECT set_config('transaction_read_only', 'off', true), lo_create(0)",
    "copy to": "COPY events TO '/tmp/recorder-should-not-be-there'",
    "copy to stdout": "COPY (SELECT 1) TO STDOUT",
    "copy from": "COPY rm_runs FROM PROGRAM 'true'",
    "copy to program": _PROGRAM,
    "for update": "SELECT * FROM log_streams FOR UPDATE",
    "for share": "SELECT * FROM log_streams FOR SHARE",
    "select into": "SELECT 1 AS a INTO mine",
    "do": "DO $$ BEGIN DELETE FROM rm_findings; END $$",
    "call": "CALL log_protect('rm_runs', 'x')",
    "lock": "LOCK TABLE rm_runs",
    "nextval": "SELECT nextval('log_streams_stream_id_seq')",
    "setval": "SELECT setval('log_streams_stream_id_seq', 99)",
    "large object": "SELECT lo_create(0)",
    "function that writes": "SELECT log_grow(1, 3, 3, '')",
    "query_to_xml": "SELECT query_to_xml('DELETE FROM rm_findings', true, true, '')",
    "grant": "GRANT ALL ON rm_runs TO PUBLIC",
    "notify": "NOTIFY a",
    "listen": "LISTEN a",
    "prepare": "PREPARE a AS SELECT 1",
    "execute": "EXECUTE a",
    "declare": "DECLARE a CURSOR FOR SELECT 1",
    "explain analyze delete": "EXPLAIN ANALYZE DELETE FROM rm_findings",
    "explain analyze for update": "EXPLAIN (ANALYZE) SELECT * FROM log_streams FOR UPDATE",
    "explain analyze create": "EXPLAIN ANALYZE CREATE TABLE mine AS SELECT 1",
    "explain two": "EXPLAIN SELECT 1; DELETE FROM rm_findings",
    "show two": "SHOW transaction_read_only; DELETE FROM rm_findings",
    "transaction end": "SELECT 1; COMMIT; DELETE FROM rm_findings",
    # What looks like a comment to a careless reader, and ends earlier or later than it thinks.
    "nested comment": f"/* /* */ explain */ {_PROGRAM}",
    "nested comment before select": f"/* /* */ select 1 */ {_PROGRAM}",
    "carriage return": f"--\r{_PROGRAM} /*\nexplain*/",
    "text in a comment": f"/* ' */ {_PROGRAM} -- '",
    "explain in a name": f'"explain" {_PROGRAM}',
    "explain of copy": f"explain {_PROGRAM}",
    "select that is a copy": f"select /* */ ; {_PROGRAM}",
}


def test_what_would_write_or_escape_is_refused_in_one_line(postgres_store: Store, url: str, tmp_path: Path) -> None:
    append(postgres_store, "s", events(1, 2))
    tmp_path.chmod(0o777)
    touched = tmp_path / "touched"
    with behind(url) as other:
        found = {name: outcome(postgres_store, other, sql.format(touched), {}) for name, sql in WRITES.items()}
        assert set(found.values()) <= {"is refused", "failed"}, found
        assert other.run("SELECT last_value FROM log_streams_stream_id_seq") == [(1,)]
        assert other.run("SELECT to_regclass('mine'), pg_stat_file('/tmp/recorder-should-not-be-there', true)") == [
            (None, None)
        ]
    assert not touched.exists()
    assert append(postgres_store, "s", events(3, 3)).last_seq == 3


READS = {
    "SHOW transaction_read_only": "on",
    "/* a */ show\n timezone": "UTC",
    "TABLE streams": "s",
    "(SELECT 1)": 1,
    "((SELECT 1) UNION ALL (SELECT 1)) LIMIT 1": 1,
    "SELECT '5'::int": 5,
    "SELECT CAST('5' AS bigint)": 5,
    "SELECT '[1, 2]'::json -> 1": "2",
    "SELECT '{\"a\": {\"b\": 1.50}}'::json #>> '{a,b}'": "1.50",
    'SELECT \'{"b": 1, "b": 1e400}\'::json': '{"b": 1, "b": 1e400}',
    "SELECT '{\"a\": 1}'::jsonb ? 'a'": 1,
    "SELECT '{\"a\": 1}'::jsonb @> '{}'": 1,
    "SELECT text::json ->> 'n' FROM events WHERE seq = 1": "1",
    "SELECT sum(seq) FROM events": 3,
    "SELECT avg(seq) FROM events": 1.5,
    "SELECT 1e30::numeric": 10**30,
    "SELECT array_agg(seq ORDER BY seq) FROM events": "[1, 2]",
    "SELECT ARRAY['a', NULL, 'b c']": '["a", null, "b c"]',
    "SELECT true": 1,
    "SELECT NULL::boolean": None,
    "SELECT ROW(1, 'a')": "(1,a)",
    "SELECT date '2024-02-29'": "2024-02-29",
    "SELECT date '10000-01-01'": "10000-01-01",
    "SELECT timestamptz '2024-02-29 12:00+02'": "2024-02-29 10:00:00+00",
    "SELECT timestamptz 'infinity'": "infinity",
    "SELECT interval '1 month 2 days'": "1 mon 2 days",
    "SELECT uuid '0123456789abcdef0123456789abcdef'": "01234567-89ab-cdef-0123-456789abcdef",
    "SELECT int8range(1, 5)": "[1,5)",
    "SELECT 'a'::name": "a",
    "SELECT 'b'::\"char\"": "b",
    "SELECT inet '::1'": "::1",
    "SELECT '\\x00ff'::bytea": b"\0\xff",
    "SELECT E'it\\'s :a'": "it's :a",
    "SELECT $$ :a '$$ || $q$ $$ % $q$": " :a ' $$ % ",
    "SELECT (ARRAY[1, 2, 3])[2:3]": "[2, 3]",
    "SELECT pg_advisory_lock(1)": "",
    "SELECT pg_backend_pid() > 0": 1,
}


@pytest.mark.parametrize("parameters", [{}, {"a": 1}])
def test_whatever_reads_is_answered_with_plain_values(postgres_store: Store, parameters: dict[str, object]) -> None:
    append(postgres_store, "s", events(1, 2))
    found = {sql: next(iter(postgres_store.query(sql, parameters)[1]))[0] for sql in READS}
    assert found == READS
    assert {sql: type(value) for sql, value in found.items()} == {sql: type(value) for sql, value in READS.items()}


def test_a_cast_is_no_parameter(postgres_store: Store) -> None:
    assert select(postgres_store, "SELECT :a::int + 1, '2'::int, :b", a="1", b=":a") == [(2, 2, ":a")]


def test_positional_parameters_are_refused(postgres_store: Store) -> None:
    with pytest.raises(QueryRefused, match="parameters are named"):
        postgres_store.query("SELECT ?", (1,))


def test_a_view_of_a_body_that_holds_a_nul_shows_null(postgres_store: Store) -> None:
    append(postgres_store, "s", [event(1, b"a\0b")])
    assert select(postgres_store, "SELECT text, body, encoding FROM events") == [(None, b"a\0b", "utf-8")]


@pytest.mark.parametrize("sql", ["SELECT 1 / (3 - i) FROM generate_series(1, 5) i", "SELECT 1/0", "SELECT 'a'::int"])
def test_an_error_in_whatever_row_is_one_line(postgres_store: Store, sql: str) -> None:
    with pytest.raises(QueryRefused, match=r"^the query failed: (division by zero|invalid input syntax)"):
        list(postgres_store.query(sql)[1])


def test_many_comments_cost_no_time(postgres_store: Store) -> None:
    with pytest.raises(QueryRefused):
        postgres_store.query("/* */ " * 5000 + "nothing")
    assert select(postgres_store, "/* */ " * 5000 + "SELECT 1") == [(1,)]


def test_a_query_may_end_other_sessions_only_as_its_role_may(postgres_store: Store, url: str) -> None:
    with (
        psycopg.connect(url) as victim,
        role(url, "SELECT ON ALL TABLES IN SCHEMA public") as asker,
        open_store(asker, readonly=True) as store,
    ):
        for sql in (f"SELECT pg_terminate_backend({victim.info.backend_pid})", "SELECT pg_read_file('PG_VERSION')"):
            with pytest.raises(QueryRefused, match=r"^the query is refused: permission denied"):
                store.query(sql)
        assert select(store, "SELECT count(*) FROM events") == [(0,)]
        assert victim.execute("SELECT 1").fetchone() == (1,)


def test_a_query_that_takes_too_long_says_so(url: str) -> None:
    with open_store(f"{url}&options=-cstatement_timeout%3D100", readonly=True) as store:
        with pytest.raises(QueryRefused, match="statement timeout"):
            store.query("SELECT pg_sleep(10)")
        assert select(store, "SELECT 1") == [(1,)]


def test_a_query_whose_connection_is_cut_says_so(postgres_store: Store, url: str) -> None:
    _, rows = postgres_store.query("SELECT i, repeat('x', 1000) FROM generate_series(1, 1000000) i")
    next(rows)
    with behind(url) as other:
        other.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT i, repeat%'"
            " AND pid <> pg_backend_pid() AND datname = current_database()"
        )
    with pytest.raises(DatabaseUnusable, match=r"was shut down|cannot be reached"):
        list(rows)
    assert select(postgres_store, "SELECT 1") == [(1,)]


def test_the_views_can_be_read_in_a_parallel_plan(postgres_store: Store, url: str) -> None:
    append(postgres_store, "s", [event(1, b'{"n": [1]}', meta=b"\xff"), event(2, b"no JSON")])
    head = postgres_store.head("s")
    rows = [{"run_id": f"r{seq}", "first_seq": seq, "input_seq": seq, "input_path": "$.n[0]"} for seq in (1, 2)]
    with postgres_store.transaction() as transaction:
        transaction.write_rows(head, {"runs": rows})
    with behind(url) as other:
        (version,) = other.run("SHOW server_version_num")[0]
        views = [name for (name,) in other.run("SELECT viewname FROM pg_views WHERE schemaname = 'public'")]
    setting = "debug_parallel_query" if int(version) >= 160_000 else "force_parallel_mode"
    costs = ("parallel_setup_cost=0", "parallel_tuple_cost=0", "min_parallel_table_scan_size=0", f"{setting}=on")
    place = other_url(url, options=" ".join(f"-c{cost}" for cost in costs))
    with open_store(place, readonly=True) as store:
        for view in views:
            store.query(f"SELECT * FROM {view}")
        assert select(store, "SELECT input FROM runs ORDER BY run_id") == [("1",), (None,)]
        assert select(store, "SELECT text, meta FROM events ORDER BY seq") == [('{"n": [1]}', None), ("no JSON", None)]
