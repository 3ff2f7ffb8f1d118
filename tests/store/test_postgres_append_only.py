"""What Postgres has besides to get around a log: partitions, COPY, MERGE and roles, tried by a superuser.

An owner can still switch a trigger off; that is found afterwards.
"""

from __future__ import annotations

import psycopg
import pytest

from recorder.store import Store
from recorder.store.check import check_store
from recorder.store.postgres.health import GUARDS, made_functions
from tests.store.made import append, behind, bodies, chain_is_whole, event
from tests.store.test_append_only import BYPASSES, copied, fill, outcomes
from tests.store.test_tail import whole_tail

PARTITIONS = [f"log_events_{number:02}" for number in range(16)]
TRUNCATES = {
    f"truncate {table}{how}": f"TRUNCATE {table}{how}"
    for table in (*GUARDS, *PARTITIONS)
    for how in ("", " CASCADE", " RESTART IDENTITY")
}
_MERGE = "MERGE INTO log_events e USING (SELECT 1 AS a) x ON e.stream_id = 1 AND e.seq = 3 WHEN MATCHED THEN"
MORE = {
    "insert into a stream that there is not": copied(stream_id="9"),
    "insert or update by id": copied(seq="4") + " ON CONFLICT (stream_id, event_id) DO UPDATE SET body = {byte}",
    "merge that updates": f"{_MERGE} UPDATE SET body = {{byte}}",
    "merge that deletes": f"{_MERGE} DELETE",
    "merge that inserts": "MERGE INTO log_events e USING (SELECT * FROM log_events WHERE stream_id = 1 AND seq = 1) x "
    "ON false WHEN NOT MATCHED THEN INSERT (stream_id, seq, event_id, type_id, arrived_at, recorded_at, body,"
    " body_hash, hash, version) VALUES (1, 7, {byte}, 1, 0, 0, {byte}, {byte}, {byte}, 1)",
    "move to another partition": "UPDATE log_events SET stream_id = stream_id + 100",
    "delete from the parent only": "DELETE FROM ONLY log_events",
    "delete in a WITH": "WITH d AS (DELETE FROM log_events RETURNING 1) SELECT 1",
    "update in a WITH": "WITH u AS (UPDATE log_origins SET name = 'x' RETURNING 1) SELECT 1",
    "delete by joining": "DELETE FROM log_events e USING log_streams s WHERE e.stream_id = s.stream_id",
    "update by joining": "UPDATE log_events e SET body = {byte} FROM log_streams s WHERE e.stream_id = s.stream_id",
    "truncate several": "TRUNCATE log_snapshots, log_events_03, log_captures",
    "epoch update": "UPDATE log_epochs SET epoch = 7",
    "epoch delete": "DELETE FROM log_epochs",
    **{f"delete from {name}": f"DELETE FROM {name}" for name in PARTITIONS},
    **{f"update {name}": f"UPDATE {name} SET body = {{byte}} WHERE true" for name in PARTITIONS},
    **{f"insert into {name}": copied(name, seq="6", event_id="{byte}") for name in PARTITIONS},
}


@pytest.fixture
def filled(postgres_store: Store) -> Store:
    return fill(postgres_store)


@pytest.mark.parametrize("role", ["origin", "replica", "local"])
def test_a_bypass_is_refused_and_changes_nothing(filled: Store, url: str, role: str) -> None:
    """In a session that applies replication, too: triggers are quiet there unless they say ALWAYS."""
    bypasses = BYPASSES | MORE | TRUNCATES
    with behind(url) as other:
        other.run(f"SET session_replication_role = {role}")
        found = outcomes(other, bypasses)
        # A partition without a row that the statement would change has nothing to refuse.
        untouched = {name for name in PARTITIONS if not other.run(f"SELECT 1 FROM {name} LIMIT 1")}
        expected = {
            name: "went through" if name in {f"update {each}" for each in untouched} else "refused" for name in bypasses
        }
        assert found == expected
    assert len(untouched) == 14
    assert bodies(filled, "s") == [event(1).body] * 3
    assert chain_is_whole(filled, "s")


@pytest.mark.parametrize("into", ["log_events", "the partition"])
@pytest.mark.parametrize("seq", [0, 2, 3, 5])
def test_a_copy_goes_behind_the_last_event_only(filled: Store, url: str, into: str, seq: int) -> None:
    columns = "stream_id, seq, event_id, type_id, arrived_at, recorded_at, body, body_hash, hash, version"
    with behind(url) as other:
        (table,) = other.run("SELECT tableoid::regclass::text FROM log_events WHERE stream_id = 1 AND seq = 1")[0]
        before = other.content()
        with (
            pytest.raises(psycopg.IntegrityError),
            other.driver.cursor().copy(
                f"COPY {table if into != 'log_events' else into} ({columns}) FROM STDIN"
            ) as copy,
        ):
            copy.write_row((1, seq, b"new", 1, 0, 0, b"", b"", b"", 1))
        assert other.content() == before


def test_whoever_appends_cannot_choose_the_place_of_an_append(filled: Store, url: str) -> None:
    with behind(url) as other:
        other.run(other.spelled(copied(seq="4", event_id="{byte}")))
        other.run(
            "UPDATE log_streams SET last_seq = 4, head_hash = (SELECT hash FROM log_events WHERE seq = 4)"
            " WHERE stream_id = 1"
        )
        other.run("INSERT INTO log_appends VALUES (1, 7, 1::bigint << 62, 4, 4)")
    last = whole_tail(filled)[-1]
    assert (last.stream_id, last.first_seq, last.last_seq, last.position.epoch) == (1, 4, 4, 0)
    assert append(filled, "other", [event(3)]).last_seq == 3
    assert whole_tail(filled)[-1].stream_id == 2


@pytest.mark.parametrize("table", GUARDS)
def test_triggers_that_were_switched_off_or_dropped_are_found(filled: Store, url: str, table: str) -> None:
    def said() -> list[str]:
        return [problem.text for problem in check_store(filled) if problem.kind == "damage"]

    assert said() == []
    with behind(url) as other:
        for trigger in sorted(GUARDS[table]):
            for state in ("DISABLE", "ENABLE", "ENABLE REPLICA"):
                other.run(f"ALTER TABLE ONLY {table} {state} TRIGGER {trigger}")
                assert said() == [f"the trigger {trigger} of {table} is switched off: the log can be changed"]
            other.run(f"ALTER TABLE ONLY {table} ENABLE ALWAYS TRIGGER {trigger}")
        assert said() == []
        for trigger in sorted(GUARDS[table]):
            other.run(f"DROP TRIGGER {trigger} ON {table}")
        assert said() == [
            f"the trigger {name} of {table} is missing: the log can be changed" for name in sorted(GUARDS[table])
        ]


def test_triggers_of_a_partition_that_were_switched_off_are_found(filled: Store, url: str) -> None:
    with behind(url) as other:
        other.run("ALTER TABLE log_events_07 DISABLE TRIGGER USER")
        other.run("DROP TRIGGER log_refuse_truncate ON log_events_09")
    texts = [problem.text for problem in check_store(filled) if problem.kind == "damage"]
    assert texts == [
        *(
            f"the trigger {name} of log_events_07 is switched off: the log can be changed"
            for name in sorted(GUARDS["log_events"])
        ),
        "the trigger log_refuse_truncate of log_events_09 is missing: the log can be changed",
    ]


CHANGED = {
    "the trigger log_refuse_delete of log_events was changed": (
        "DROP TRIGGER log_refuse_delete ON log_events",
        "CREATE TRIGGER log_refuse_delete BEFORE DELETE ON log_events FOR EACH STATEMENT WHEN (false)"
        " EXECUTE FUNCTION log_refuse('')",
        "ALTER TABLE ONLY log_events ENABLE ALWAYS TRIGGER log_refuse_delete",
    ),
    "the trigger log_refuse_update of log_origins was changed": (
        "DROP TRIGGER log_refuse_update ON log_origins",
        "CREATE TRIGGER log_refuse_update BEFORE UPDATE OF name ON log_origins FOR EACH STATEMENT"
        " EXECUTE FUNCTION log_refuse('')",
        "ALTER TABLE log_origins ENABLE ALWAYS TRIGGER log_refuse_update",
    ),
    "the trigger log_erasures_insert of log_erasures was changed": (
        "CREATE FUNCTION mine() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
        "DROP TRIGGER log_erasures_insert ON log_erasures",
        "CREATE TRIGGER log_erasures_insert BEFORE INSERT ON log_erasures FOR EACH ROW EXECUTE FUNCTION mine()",
        "ALTER TABLE log_erasures ENABLE ALWAYS TRIGGER log_erasures_insert",
    ),
    "the function log_refuse was changed": (
        "CREATE OR REPLACE FUNCTION log_refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
    ),
    "the function log_text was changed": (
        "CREATE OR REPLACE FUNCTION log_text(body bytea) RETURNS text LANGUAGE sql AS $$ SELECT '' $$",
    ),
}


@pytest.mark.parametrize("says", CHANGED)
def test_triggers_and_functions_that_do_something_else_are_found(filled: Store, url: str, says: str) -> None:
    with behind(url) as other:
        for statement in CHANGED[says]:
            other.run(statement)
    (text,) = [problem.text for problem in check_store(filled) if problem.kind == "damage"]
    assert text.startswith(says)


def test_the_functions_that_are_compared_are_those_that_there_are(filled: Store, url: str) -> None:
    with behind(url) as other:
        rows = other.run("SELECT proname, prosrc FROM pg_proc WHERE pronamespace = current_schema()::regnamespace")
    assert dict(rows) == made_functions()


def test_a_trigger_function_that_was_dropped_is_found(filled: Store, url: str) -> None:
    with behind(url) as other:
        other.run("DROP FUNCTION log_events_updated CASCADE")
        other.run("DROP TABLE log_epochs")
    texts = [problem.text for problem in check_store(filled) if problem.kind == "damage"]
    assert sum("log_events_update of log_events" in text for text in texts) == 17
    assert texts[-1] == "the table log_epochs is missing: go back to a backup"


def test_the_triggers_that_are_looked_for_are_those_that_there_are(filled: Store, url: str) -> None:
    with behind(url) as other:
        rows = other.run(
            "SELECT c.relname, t.tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE NOT tgisinternal"
        )
    found: dict[str, set[str]] = {}
    for table, trigger in rows:
        found.setdefault(table, set()).add(trigger)
    assert found == {**GUARDS, **dict.fromkeys(PARTITIONS, GUARDS["log_events"])}
