"""`rec db roles`: what each role may do through the program, and what it may not do by any other way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from recorder.store import open_store
from recorder.store.postgres import roles
from tests import postgres
from tests.command import CASSETTES, Rec, here
from tests.store.made import behind
from tests.store.roles import other_url, role

WEATHER = CASSETTES / "weather.sse"


def test_a_file_has_no_roles(rec: Rec) -> None:
    rec("capture", WEATHER).fine()
    told = rec("db", "roles").refusal
    assert told == f"{rec.database} is a SQLite file, which has no roles: the file's permissions are what counts"


@pytest.fixture
def owned(request: pytest.FixtureRequest) -> Iterator[str]:
    """A database whose owner made the roles, as `rec db roles` prints them; only on a server that is the tests' own."""
    server = postgres.server()
    url = server.new()
    with behind(url) as owner:
        printed = here("db", "roles", "-d", url).fine().out
        # Roles are the server's: those that are there already are no obstacle, and it may be run again.
        for _ in range(2):
            owner.run(printed)
    here("capture", str(WEATHER), "-d", url).fine()
    yield url
    server.drop(url)


REFUSED_TO_ALL = (
    "UPDATE log_events SET hash = ''::bytea",
    "UPDATE log_events SET seq = seq + 1",
    "DELETE FROM log_events",
    "TRUNCATE log_events",
    "DELETE FROM log_events_00",
    "UPDATE log_events_00 SET body = ''",
    "INSERT INTO log_events_00 SELECT * FROM log_events_00",
    "TRUNCATE log_events_00",
    "DELETE FROM log_streams",
    "TRUNCATE log_streams CASCADE",
    "UPDATE log_streams SET uuid = uuid_send(gen_random_uuid())",
    "UPDATE log_streams SET created_at = 0",
    "UPDATE log_streams SET last_seq = 1",
    "UPDATE log_streams SET head_hash = ''::bytea",
    "DELETE FROM log_appends",
    "UPDATE log_appends SET position = 0",
    "DELETE FROM log_event_types",
    "UPDATE log_event_types SET kind = 'x'",
    "DELETE FROM log_origins",
    "UPDATE log_origins SET run_id = 'x'",
    "DELETE FROM log_erasures",
    "UPDATE log_erasures SET reason = 'x'",
    "INSERT INTO log_epochs (epoch) VALUES (9)",
    "DELETE FROM log_epochs",
    "UPDATE alembic_version SET version_num = '0001'",
    "ALTER TABLE log_events DISABLE TRIGGER USER",
    "ALTER TABLE log_events DISABLE TRIGGER log_events_update",
    "DROP TRIGGER log_events_update ON log_events",
    "DROP TABLE log_erasures",
    "ALTER TABLE log_events ADD COLUMN x text",
    "CREATE TABLE theirs (a int)",
    "CREATE OR REPLACE FUNCTION log_refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
    "ALTER FUNCTION log_events_updated() RESET ALL",
    "CREATE RULE r AS ON INSERT TO log_events DO INSTEAD NOTHING",
    "SET session_replication_role = replica",
    "SET ROLE postgres",
)
_WRITES = ("INSERT INTO rm_findings (stream_id, seq, ordinal) VALUES (1, 1, 9)", "DELETE FROM log_snapshots")
_APPENDS = (
    "INSERT INTO log_event_types (dialect, layer, kind, framing, encoding) VALUES ('', '', '', '', '')",
    "INSERT INTO log_events SELECT * FROM log_events WHERE seq = 1",
    "INSERT INTO log_streams (uuid, name, created_at, last_seq, head_hash, projection)"
    " VALUES (uuid_send(gen_random_uuid()), 'x', 0, 0, decode(repeat('00', 32), 'hex'), 0)",
    "INSERT INTO log_appends (stream_id, first_seq, last_seq) VALUES (1, 21, 21)",
)
_BLANK = "UPDATE log_events SET body = '', frame = NULL, cuts = NULL, meta = NULL, salt = NULL, erased = 1"
_RECORD = "INSERT INTO log_erasures VALUES (1, 1, 1, 1, 'x', 0, decode(repeat('00', 32), 'hex'))"
_LOCKS = ("SELECT 1 FROM log_streams FOR NO KEY UPDATE", "UPDATE log_streams SET name = 'x'")
REFUSED = {
    roles.WRITER: (_RECORD, _BLANK),
    roles.AUDITOR: (*_WRITES, *_APPENDS, *_LOCKS, _RECORD, _BLANK),
    # A record is theirs to make; without one nothing is blanked.
    roles.ERASER: (*_APPENDS, _BLANK),
}


@pytest.mark.postgres
@pytest.mark.parametrize("who", REFUSED)
def test_a_role_may_not_do_what_is_not_its_duty(owned: str, who: str) -> None:
    with role(owned, who) as own, behind(own) as session:
        found = {}
        for statement in (*REFUSED_TO_ALL, *REFUSED[who]):
            try:
                session.run(statement)
                found[statement] = "went through"
            except (psycopg.errors.InsufficientPrivilege, psycopg.errors.RestrictViolation):
                found[statement] = "refused"
        assert found == dict.fromkeys(found, "refused")
    assert here("verify", "--projections", "-d", owned).code == 0


@pytest.mark.postgres
@pytest.mark.parametrize("who", [roles.WRITER, roles.ERASER])
def test_a_session_cannot_hide_the_log_from_its_guards(owned: str, who: str) -> None:
    """Temporary tables are found before all others, unless a function says where to look."""
    lies = (
        "CREATE TEMP TABLE log_erasures AS SELECT 1::bigint AS stream_id, 1::bigint AS erasure, 1::bigint AS first_seq,"
        " 99::bigint AS last_seq",
        "CREATE TEMP TABLE log_streams AS SELECT stream_id, 41::bigint AS last_seq, name FROM public.log_streams",
        "CREATE TEMP TABLE log_events AS SELECT stream_id, 99::bigint AS seq, hash FROM public.log_events"
        " WHERE seq = 3",
        "CREATE TEMP TABLE log_epochs AS SELECT 77::bigint AS epoch",
    )
    attempts = {
        roles.WRITER: (
            "INSERT INTO public.log_events"
            " (stream_id, seq, event_id, type_id, arrived_at, recorded_at, body, body_hash, hash, version)"
            " SELECT stream_id, 42, 'x', type_id, 0, 0, '', '', '', 1 FROM public.log_events WHERE seq = 1",
            "UPDATE public.log_streams SET last_seq = 99, head_hash = h.hash FROM public.log_events h WHERE seq = 3",
            "INSERT INTO public.log_appends (stream_id, first_seq, last_seq) VALUES (1, 21, 41)",
        ),
        roles.ERASER: (_BLANK.replace("log_events", "public.log_events"),),
    }
    with role(owned, who) as own, behind(own) as session:
        for lie in lies:
            session.run(lie)
        for attempt in attempts[who]:
            with pytest.raises(psycopg.errors.RestrictViolation):
                session.run(attempt)
    assert here("verify", "-d", owned).code == 0


@pytest.mark.postgres
def test_every_function_of_a_trigger_says_where_to_look(url: str) -> None:
    with behind(url) as other:
        rows = other.run(
            "SELECT proname, proconfig FROM pg_proc WHERE prorettype = 'trigger'::regtype AND proname LIKE 'log%'"
        )
    assert len(rows) > 5
    assert {name: config for name, config in rows if config != ["search_path=public, pg_temp"]} == {}


@pytest.mark.postgres
def test_a_writer_records_into_what_the_owner_made(owned: str, tmp_path: Path) -> None:
    with role(owned, roles.WRITER) as own:
        assert here("capture", str(CASSETTES / "agent.jsonl"), "-d", own).fine().err == "agent: stored 59 events\n"
        done = here("capture", "-", "--name", "piped", "-d", own, given=WEATHER.read_bytes()).fine()
        assert done.err == "piped: stored 20 events\n"
        here("capture", str(WEATHER), "-d", own).fine()
        assert here("rebuild", "-d", own).code == 0
        with open_store(own) as store, store.transaction() as transaction:
            transaction.create_stream("child", parent="piped", parent_seq=3)
        here("rename", "piped", "renamed", "-d", own).fine()
        assert here("db", "upgrade", "-d", own).code == 0
        assert here("verify", "--projections", "-d", own).code == 0
        rec = Rec(tmp_path / "x.db")
        rec("capture", WEATHER, "--name", "from a file").fine()
        here("copy", str(rec.database), own).fine()
        assert len(here("tail", "-d", own).fine().out.splitlines()) == 20 + 59 + 20 + 20
        told = here("erase", "renamed", "--all", "--reason", "x", "--yes", "-d", own).refusal
        assert told.endswith("refuses this role: rec db roles prints the grants that it needs")
    assert here("verify", "--projections", "-d", owned).code == 0
    assert here("export", "--jsonl", "from a file", "-d", owned).fine().out == rec("export", "--jsonl").fine().out


@pytest.mark.postgres
def test_an_auditor_reads_everything_and_writes_nothing(owned: str, tmp_path: Path) -> None:
    here("erase", "weather", "--events", "20", "--reason", "x", "--yes", "-d", owned).fine()
    with role(owned, roles.AUDITOR) as own:
        for verb in (
            ["ls"],
            ["ls", "--tool", "get_weather", "--model", "x", "--since", "2026-01-31"],
            ["show", "weather"],
            ["replay", "weather", "--at", "12", "--json"],
            ["replay", "weather", "--emit", "raw"],
            ["diff", "weather@3"],
            ["verify", "--projections"],
            ["sql", "SELECT * FROM tool_calls, erasures, runs"],
            ["export", "--jsonl"],
            ["tail"],
            ["db", "check"],
            ["db", "roles"],
        ):
            found, whole = here(*verb, "-d", own), here(*verb, "-d", owned)
            assert (found.code, found.stdout) == (0, whole.stdout), (verb, found.err)
        file = tmp_path / "x.seal"
        here("seal", str(file), "-d", own).fine()
        assert here("verify", "--seal", str(file), "-d", own).code == 0
        assert here("copy", own, str(tmp_path / "copy.db")).code == 0
        for verb in (
            ["capture", str(WEATHER), "--name", "x"],
            ["rename", "weather", "x"],
            ["rebuild"],
            ["erase", "weather", "--all", "--reason", "x", "--yes"],
        ):
            told = here(*verb, "-d", own)
            assert told.code == 2, verb
            assert told.err.endswith("refuses this role: rec db roles prints the grants that it needs\n"), told.err
        with behind(own) as session:
            relations = session.run(
                "SELECT oid::regclass::text FROM pg_class WHERE relnamespace = 'public'::regnamespace"
                " AND relkind IN ('r', 'p', 'v') AND NOT relispartition AND NOT has_table_privilege(oid, 'SELECT')"
            )
    assert relations == [], "what there is and an auditor cannot see"


@pytest.mark.postgres
def test_an_eraser_erases_and_appends_nothing(owned: str) -> None:
    here("capture", str(CASSETTES / "agent.jsonl"), "-d", owned).fine()
    with role(owned, roles.ERASER) as own:
        done = here("erase", "agent", "--events", "3-5", "--reason", "x", "--yes", "-d", own).fine()
        assert done.err == (
            "agent: erased events 3 to 5\n"
            "agent: the server holds old versions of the rows until VACUUM FULL, and in its WAL and backups\n"
        )
        done = here("erase", "--all", "weather", "--reason", "x", "--yes", "-d", own).fine()
        assert "weather: erased events 1 to 20; it is now weather~erased-" in done.err
        assert here("verify", "--projections", "-d", own).code == 0
        told = here("capture", str(WEATHER), "-d", own).refusal
        assert told.endswith("refuses this role: rec db roles prints the grants that it needs")
    assert here("capture", str(WEATHER), "-d", owned).fine().err == "weather: stored 20 events\n"
    assert here("verify", "--projections", "-d", owned).code == 0


@pytest.mark.postgres
def test_roles_are_given_what_is_in_a_schema_of_its_own(empty_url: str) -> None:
    with behind(empty_url) as owner:
        owner.run('CREATE SCHEMA "Odd one"')
        owner.run('SET search_path = "Odd one"')
        own = other_url(empty_url, options='-csearch_path="Odd\\ one"')
        here("capture", str(WEATHER), "-d", own).fine()
        owner.run(here("db", "roles", "-d", own).fine().out)
        with role(own, roles.WRITER) as writer:
            here("capture", str(CASSETTES / "agent.jsonl"), "-d", writer).fine()
            assert here("verify", "-d", writer).fine().out == "weather: whole, 20 events\nagent: whole, 59 events\n"
