"""Databases that are not what a verb needs, `rec db` and `rec rebuild`."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from msgspec import structs

from recorder import dialects
from recorder.cli.commands.database import rebuild
from recorder.store import open_store
from recorder.store.migrate import SCHEMA
from recorder.store.postgres import roles
from tests import postgres
from tests.command import CASSETTES, Rec, here
from tests.command import rec as run
from tests.store.made import append, behind, event
from tests.store.roles import other_url, role

WEATHER = CASSETTES / "weather.sse"
READING = (["ls"], ["show", "x"], ["replay", "x"], ["diff", "x@1"], ["sql", "SELECT 1"], ["db", "check"])
CHANGING = (["rename", "x", "y"], ["rebuild"])
MAKING = (["capture", str(WEATHER)], ["db", "upgrade"])


@pytest.mark.parametrize("verb", [*READING, *CHANGING], ids=" ".join)
def test_a_missing_database_is_not_made_by_a_verb_that_needs_one(rec: Rec, verb: list[str]) -> None:
    assert rec(*verb).refusal == f"{rec.database} does not exist: record something first, or name another database"
    assert not rec.database.exists()


@pytest.mark.parametrize("verb", [*READING, *CHANGING, *MAKING], ids=" ".join)
def test_a_text_file_is_no_database(rec: Rec, verb: list[str]) -> None:
    rec.database.write_text("This is a letter, not a database.\n" * 100)
    assert rec(*verb).refusal == f"{rec.database} is not a SQLite database: name another file"
    assert rec.database.read_text().startswith("This is a letter")


@pytest.mark.parametrize("verb", [*READING, *CHANGING, *MAKING], ids=" ".join)
def test_a_folder_is_no_database(rec: Rec, verb: list[str]) -> None:
    rec.database.mkdir()
    assert rec(*verb).refusal == f"{rec.database} is a folder: name a database file in it"


@pytest.mark.parametrize("verb", MAKING, ids=" ".join)
def test_a_named_folder_is_never_made(tmp_path: Path, verb: list[str]) -> None:
    rec = Rec(tmp_path / "nowhere" / "x.db")
    assert rec(*verb).refusal == f"{rec.database} cannot be made: there is no folder {tmp_path / 'nowhere'}"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("verb", [*READING, *CHANGING, *MAKING], ids=" ".join)
def test_a_database_of_another_program_is_left_alone(rec: Rec, verb: list[str]) -> None:
    with closing(sqlite3.connect(rec.database)) as connection:
        connection.execute("CREATE TABLE theirs (a)")
        connection.commit()
    before = rec.database.read_bytes()
    assert "is a database of another application" in rec(*verb).refusal
    assert rec.database.read_bytes() == before


@pytest.mark.parametrize("verb", [*READING, *CHANGING, *MAKING], ids=" ".join)
def test_a_newer_schema_is_refused(rec: Rec, verb: list[str]) -> None:
    rec("capture", WEATHER).fine()
    with closing(sqlite3.connect(rec.database)) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    assert rec(*verb).refusal == (
        f"{rec.database} has schema {SCHEMA + 1}, newer than this program's {SCHEMA}: upgrade recorder"
    )


@pytest.mark.parametrize("database", ["", ":memory:", "sqlite://", "sqlite:///:memory:"])
def test_a_database_that_is_no_file_is_refused(database: str) -> None:
    assert "file" in run("ls", "-d", database).refusal


def test_a_url_names_a_file(rec: Rec) -> None:
    rec("capture", WEATHER).fine()
    assert run("ls", "--nl", "-d", f"sqlite:///{rec.database}").fine().json["stream"] == "weather"


@pytest.mark.parametrize("url", ["postgresql://u:secret@h/db", "mysql://u:secret@h/db", "x://u:secret@h"])
def test_a_password_never_shows(url: str) -> None:
    assert "secret" not in run("ls", "-d", url).refusal
    shown = run("db", "path", "-d", url).fine().out
    assert "secret" not in shown
    assert ":***@h" in shown


@pytest.fixture(scope="module")
def bound() -> list[str]:
    """What binds a command to permissions: nothing for a user, for root a loss of the powers to ignore them."""
    if sys.platform == "win32":
        pytest.skip("permissions are others there")
    if os.geteuid() != 0:
        return []
    powers = "-dac_override,-dac_read_search"
    under = ["setpriv", f"--bounding-set={powers}", f"--inh-caps={powers}"]
    if shutil.which("setpriv") is None or subprocess.run([*under, "true"], capture_output=True).returncode != 0:
        pytest.skip("root can be bound to permissions only by setpriv")
    return under


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with a database in it, both open again at the end."""
    folder = tmp_path / "folder"
    folder.mkdir()
    run("capture", WEATHER, "-d", folder / "x.db").fine()
    for leftover in folder.glob("x.db-*"):
        leftover.unlink()
    yield folder
    folder.chmod(0o755)


def test_a_read_only_database_in_a_read_only_folder_can_be_read(folder: Path, bound: list[str]) -> None:
    (folder / "x.db").chmod(0o444)
    folder.chmod(0o555)
    for verb in (["ls", "--nl"], ["sql", "--nl", "SELECT stream FROM streams"]):
        assert run(*verb, "-d", folder / "x.db", under=bound).fine().json["stream"] == "weather"
    assert run("replay", "weather@8", "--json", "-d", folder / "x.db", under=bound).fine().json["at"] == 8
    assert run("capture", WEATHER, "-d", folder / "x.db", under=bound).refusal == (
        f"{folder / 'x.db'} is read-only: change its permissions or name another database"
    )


def test_a_read_only_folder_takes_no_new_database(folder: Path, bound: list[str]) -> None:
    folder.chmod(0o555)
    assert run("capture", WEATHER, "-d", folder / "new.db", under=bound).refusal == (
        f"{folder / 'new.db'} cannot be made: the folder {folder} is read-only"
    )
    told = run("capture", WEATHER, "-d", folder / "x.db", under=bound).refusal
    assert told == f"{folder / 'x.db'} cannot be written: SQLite needs to write in its folder {folder} too"


def test_what_may_not_be_read_is_refused(folder: Path, bound: list[str]) -> None:
    (folder / "x.db").chmod(0o000)
    assert "may not be read: change its permissions" in run("ls", "-d", folder / "x.db", under=bound).refusal
    recording = folder / "secret.sse"
    recording.write_bytes(WEATHER.read_bytes())
    recording.chmod(0o000)
    assert run("capture", recording, "-d", folder / "new.db", under=bound).refusal == (
        f"{recording}: permission denied; nothing was stored"
    )


def test_upgrade_makes_a_database_and_does_not_mind_one(rec: Rec) -> None:
    for _ in range(2):
        done = rec("db", "upgrade").fine()
        assert done.err == f"schema {SCHEMA}\n"
    assert rec("ls", "--json").fine().json == []


def test_check_tells_damage_from_risks(rec: Rec) -> None:
    rec("capture", WEATHER).fine()
    done = rec("db", "check").fine()
    assert [line for line in done.out.splitlines() if not line.startswith("risk: SQLite ")] == []
    for risk in done.out.splitlines():
        assert "let one process write at a time, or use SQLite 3.51.3" in risk
    with closing(sqlite3.connect(rec.database, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE theirs (a)")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert "risk: tables that are not recorder's: theirs" in rec("db", "check").fine().out.splitlines()
    with closing(sqlite3.connect(rec.database, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET rootpage = 2 WHERE name = 'theirs'")
    done = rec("db", "check")
    assert done.code == 1
    assert any(line.startswith("damage: ") for line in done.out.splitlines())


def test_a_stream_that_cannot_be_rebuilt_does_not_keep_the_others_from_it(
    rec: Rec, monkeypatch: pytest.MonkeyPatch
) -> None:
    rec("capture", WEATHER, CASSETTES / "agent.jsonl").fine()
    broken = dialects.get("openai.chat")

    def fail(state: object, event: object) -> object:
        raise ZeroDivisionError("planted")

    monkeypatch.setitem(dialects.DIALECTS._loaded, broken.name, structs.replace(broken, step=fail))  # type: ignore[attr-defined]
    code, lines = 2, []
    monkeypatch.setattr("recorder.cli.commands.database.hint", lines.append)
    monkeypatch.setattr("recorder.cli.commands.database.error_line", lines.append)
    assert rebuild([], str(rec.database)) == code
    assert len(lines) == 2
    assert "planted" in lines[0]
    assert lines[1] == "agent: rebuilt from 59 events"


def test_rebuild_gives_the_same_rows(rec: Rec) -> None:
    rec("capture", WEATHER, CASSETTES / "agent.jsonl").fine()
    queries = [f"SELECT * FROM {view} ORDER BY 1, 2, 3" for view in ("tool_calls", "messages", "pairings", "runs")]
    before = [rec.rows(query) for query in queries]
    with closing(sqlite3.connect(rec.database, isolation_level=None)) as connection:
        connection.execute("DELETE FROM rm_tool_calls")
        connection.execute("DELETE FROM rm_messages")
    assert [rec.rows(query) for query in queries] != before
    done = rec("rebuild", "agent").fine()
    assert done.err == "agent: rebuilt from 59 events\n"
    assert rec("rebuild").fine().err == "weather: rebuilt from 20 events\nagent: rebuilt from 59 events\n"
    assert [rec.rows(query) for query in queries] == before


def test_rebuild_of_an_unknown_stream_rebuilds_none(rec: Rec) -> None:
    rec("capture", WEATHER).fine()
    assert "there is no stream 'nobody'" in rec("rebuild", "weather", "nobody").refusal
    assert rec("rebuild", "latest").fine().err == "weather: rebuilt from 20 events\n"


# Backups


def test_a_backup_is_the_whole_database(rec: Rec, tmp_path: Path) -> None:
    rec("capture", WEATHER, CASSETTES / "agent.jsonl").fine()
    file = tmp_path / "monday.db"
    done = rec("db", "backup", file).fine()
    assert (done.out, done.err) == ("", f"{file}: 2 streams\n")
    copy = Rec(file)
    for verb in (["ls", "--json"], ["export", "--jsonl"], ["verify", "--projections"], ["tail"]):
        assert copy(*verb).fine().out == rec(*verb).fine().out
    assert copy("db", "check").code == 0
    # It is one to write to.
    assert copy("capture", WEATHER).fine().err == "weather: known already, 20 events; nothing stored\n"


class Told(sqlite3.Connection):
    """Calls `Told.of_progress` after every page of a backup."""

    of_progress: Callable[[], object]

    def backup(self, *args: Any, progress: Any, **kwargs: Any) -> None:
        def tell(*told: object) -> None:
            progress(*told)
            Told.of_progress()

        super().backup(*args, progress=tell, **{**kwargs, "pages": 1})


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> type[Told]:
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **kwargs: connect(*args, **{"factory": Told, **kwargs}))
    return Told


def test_a_backup_is_what_the_database_was_when_it_began(rec: Rec, tmp_path: Path, told: type[Told]) -> None:
    """However many write meanwhile, it neither waits for them nor begins anew."""
    rec("capture", WEATHER).fine()
    written: list[int] = []
    with open_store(rec.database) as store:
        append(store, "s", [event(1)])

        def write() -> None:
            if len(written) < 100:
                written.append(append(store, "s", [event(len(written) + 2)]).last_seq)

        told.of_progress = staticmethod(write)
        rec("db", "backup", tmp_path / "x.db").fine()
    assert len(written) > 20
    with open_store(tmp_path / "x.db", readonly=True) as store:
        assert store.head("s").last_seq == 1
    assert Rec(tmp_path / "x.db")("verify", "--projections", "weather").code == 0
    assert rec.rows("SELECT last_seq FROM streams WHERE stream = 's'") == [[len(written) + 1]]


def test_a_backup_that_is_interrupted_leaves_nothing(rec: Rec, tmp_path: Path, told: type[Told]) -> None:
    rec("capture", WEATHER).fine()

    def interrupt() -> None:
        raise KeyboardInterrupt

    told.of_progress = staticmethod(interrupt)
    assert rec("db", "backup", tmp_path / "x.db").code == 130
    assert not (tmp_path / "x.db").exists()


def test_what_cannot_be_backed_up_is_refused(rec: Rec, tmp_path: Path) -> None:
    assert "does not exist" in rec("db", "backup", tmp_path / "x.db").refusal
    rec("capture", WEATHER).fine()
    (tmp_path / "x.db").write_text("mine")
    assert rec("db", "backup", tmp_path / "x.db").refusal == f"{tmp_path}/x.db exists already: name a new file"
    assert rec("db", "backup", tmp_path).refusal == f"{tmp_path} exists already: name a new file"
    assert rec("db", "backup", rec.database).refusal == f"{rec.database} exists already: name a new file"
    assert (tmp_path / "x.db").read_text() == "mine"
    told = rec("db", "backup", tmp_path / "no" / "x.db").refusal
    assert told == f"{tmp_path}/no/x.db cannot be written: unable to open database file"


@pytest.mark.postgres
def test_a_server_has_backups_of_its_own(url: str) -> None:
    told = here("db", "backup", "x.db", "-d", url).refusal
    assert "pg_dump makes backups of it, rec copy and rec export portable ones" in told


# Roles


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
