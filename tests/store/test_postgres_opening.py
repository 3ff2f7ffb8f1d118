"""What is opened, made and refused on Postgres; every refusal is one line that names the place and no password."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import make_url

from recorder.errors import DatabaseUnusable, SchemaMismatch
from recorder.store import Store, migrate, open_store
from recorder.store.postgres import connecting
from tests import postgres_server
from tests.postgres import Server
from tests.store.made import append, behind, bodies, chain_is_whole, event, events, eventually, select
from tests.store.proxy import proxied
from tests.store.roles import other_url, role
from tests.store.test_tail import check, whole_tail

ROOT = Path(__file__).parents[2]


def refusal(
    place: str, kind: type[DatabaseUnusable] = DatabaseUnusable, *, create: bool = True, readonly: bool = False
) -> str:
    with pytest.raises(kind) as caught:
        open_store(place, create=create, readonly=readonly)
    line = str(caught.value)
    assert "\n" not in line
    assert line.startswith("postgresql://")
    return line


# Where there is nothing to open


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("postgresql://ann:s3cret@127.0.0.1:1/runs", "cannot be reached: connection to server at .* failed"),
        ("postgresql://ann:s3cret@/runs?host=/nowhere/at/all", "cannot be reached: connection to server on socket"),
        ("postgresql://ann:s3cret@nowhere.invalid/runs", "cannot be reached: failed to resolve host 'nowhere.invalid'"),
        ("postgresql://ann:s3cret@127.0.0.1:1,127.0.0.1:2/runs", "is not a database's URL"),
        ("postgresql://ann:s3cret@/runs?host=127.0.0.1:1&host=127.0.0.1:2", "cannot be reached: .*port 2"),
        ("postgresql://ann:s3cret@127.0.0.1:1/runs?colour=red", 'not a URL that Postgres takes: .*"colour"'),
        ("postgresql://ann:s3cret@127.0.0.1:1/runs?sslmode=red", 'cannot be reached: invalid sslmode value: "red"'),
        ("postgresql://ann@127.0.0.1:1/runs?password=s3cret&connect_timeout=x", "not a URL .*connect_timeout"),
        ("postgresql+psycopg://ann:s3cret@127.0.0.1:1/runs", "cannot be reached"),
        ("postgres://ann:s3cret@127.0.0.1:1/runs", "cannot be reached"),
    ],
)
def test_a_server_that_is_not_there_is_told_without_the_password(place: str, says: str) -> None:
    with pytest.raises(DatabaseUnusable, match=says) as caught:
        open_store(place)
    line = str(caught.value)
    assert "\n" not in line
    assert "s3cret" not in line
    assert "***" in line


def test_a_database_a_role_and_an_encoding_that_will_not_do(url: str) -> None:
    with behind(url) as other:
        for encoding in ("LATIN1", "SQL_ASCII"):
            name = f"rec_{uuid4().hex[:12]}"
            other.run(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING '{encoding}' LOCALE 'C'")
            try:
                line = refusal(other_url(url, database=name))
                assert line.endswith(f"has the encoding {encoding}: make one with UTF8 (createdb -E UTF8)")
            finally:
                other.run(f"DROP DATABASE {name}")
    assert "does not exist: make it with createdb" in refusal(other_url(url, database="rec_nowhere"))
    assert "refuses this user" in refusal(other_url(url, username="rec_nobody", password=None))
    with role(url, limit=0) as crowded:
        assert "has no connection left: close some" in refusal(crowded)


def test_a_database_that_takes_no_connections(url: str, empty_url: str) -> None:
    with behind(url) as other:
        name = make_url(empty_url).database
        other.run(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        assert "takes no connections" in refusal(empty_url)
        other.run(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")


@pytest.mark.postgres
def test_passwords(own_server: Path) -> None:
    server = Server(postgres_server.start(own_server))
    with server.connect() as connection:
        connection.execute("CREATE ROLE ann LOGIN PASSWORD 'the/right:one@'")
        rules = own_server / "pg_hba.conf"
        rules.write_text(f"local all ann scram-sha-256\n{rules.read_text()}")
        connection.execute("SELECT pg_reload_conf()")
    place = server.new(empty=True)
    with server.connect(place) as connection:
        connection.execute("GRANT ALL ON SCHEMA public TO ann")
    wrong = other_url(place, username="ann", password="the/wrong:one@")
    assert eventually(lambda: "refuses the password: give the right one" in refusal(wrong))
    assert "wrong" not in refusal(wrong)
    assert "refuses the password" in refusal(other_url(place, username="ann", password=None))
    with open_store(other_url(place, username="ann", password="the/right:one@")) as store:
        append(store, "s", events(1, 2))
        with pytest.raises(DatabaseUnusable) as caught, store.transaction() as transaction:
            transaction.append(store.head("s"), [event(3, event_id=os.urandom(20_000))])
        assert "right" not in str(caught.value)
        assert "***" in str(caught.value)


# What a role may not


def test_a_role_that_may_not_make_tables_is_told_so(empty_url: str) -> None:
    with role(empty_url) as somebody:
        assert "refuses this role: rec db roles prints the grants" in refusal(somebody)
        assert "holds no log yet" in refusal(somebody, readonly=True)


def test_a_role_may_do_what_it_was_granted(url: str) -> None:
    with open_store(url) as store:
        append(store, "s", events(1, 2))
    with role(url) as somebody:
        assert "refuses this role" in refusal(somebody)
        assert "refuses this role" in refusal(somebody, readonly=True)
    with role(url, "SELECT ON ALL TABLES IN SCHEMA public") as reader:
        for readonly in (True, False):
            with open_store(reader, readonly=readonly) as store:
                assert bodies(store, "s") == [each.body for each in events(1, 2)]
                assert len(whole_tail(store)) == 1
                assert select(store, "SELECT count(*) FROM events") == [(2,)]
        with open_store(reader) as store, pytest.raises(DatabaseUnusable, match="refuses this role") as caught:
            append(store, "s", events(3, 3))
        assert "\n" not in str(caught.value)
    with open_store(url) as store:
        assert store.head("s").last_seq == 2


# Schemas of the search path


def test_the_tables_may_lie_in_a_schema_of_their_own(empty_url: str) -> None:
    with behind(empty_url) as other:
        other.run("CREATE TABLE events (a integer)")  # somebody else's
        assert 'refused: relation "events" already exists' in refusal(empty_url)
        own = other_url(empty_url, options="-csearch_path=rec")
        assert "has no schema that its search_path names" in refusal(own)
        other.run("CREATE SCHEMA rec")
        with open_store(own) as store:
            append(store, "s", events(1, 70))
            append(store, "s", events(71, 72))
            assert chain_is_whole(store, "s")
            check(store, whole_tail(store))
            assert [problem for problem in store.problems() if problem.kind == "damage"] == []
        assert other.run("SELECT * FROM events") == []
        # Found wherever the search path leads to it.
        other.run("CREATE SCHEMA ann")
        with open_store(other_url(empty_url, options="-csearch_path=ann,rec")) as store:
            assert append(store, "s", events(73, 73)).last_seq == 73


def test_an_older_schema_is_not_continued_in_another_place(empty_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    upgrade = migrate.upgrade
    with behind(empty_url) as other:
        other.run("CREATE SCHEMA rec")
        other.run("CREATE SCHEMA ann")
        with monkeypatch.context() as patch:
            patch.setattr(migrate, "SCHEMA", 2)
            patch.setattr(migrate, "upgrade", lambda connection: upgrade(connection, to=2))
            patch.setattr("recorder.store.postgres.backend.PostgresBackend._is_restored", lambda *_: False)
            open_store(other_url(empty_url, options="-csearch_path=rec")).close()
        line = refusal(other_url(empty_url, options="-csearch_path=ann,rec"))
        assert "has its tables in the schema rec, where new ones would go into ann: add ?options=-csearch_path" in line
        open_store(other_url(empty_url, options="-csearch_path=rec,ann")).close()


def test_a_database_of_another_application_is_left_alone(empty_url: str) -> None:
    with behind(empty_url) as other:
        other.run("CREATE TABLE alembic_version (version_num varchar(32))")
        for version in ("", "3", "ae1027a6acf"):
            other.run("DELETE FROM alembic_version")
            if version:
                other.run("INSERT INTO alembic_version VALUES (?)", version)
            for readonly in (False, True):
                assert "is a database of another application: name another, or a schema of its own" in refusal(
                    empty_url, readonly=readonly
                )
        assert other.run("SELECT count(*) FROM pg_class WHERE relname LIKE 'log_%'") == [(0,)]
        other.run("DROP TABLE alembic_version")
        other.run("CREATE TABLE log_streams (a integer)")
        assert "is a database of another application" in refusal(empty_url)


def test_a_schema_whose_number_is_none_is_refused(url: str) -> None:
    with behind(url) as other:
        other.run("UPDATE alembic_version SET version_num = 'head'")
        assert "is a database of another application" in refusal(url)
        other.run("UPDATE alembic_version SET version_num = '0099'")
        assert "newer than this program's" in refusal(url, SchemaMismatch)


# Waiting


def test_a_lock_is_waited_for_so_long_and_then_told(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "BUSY_SECONDS", 0.2)
    with open_store(url) as store:
        append(store, "s", events(1, 1))
        with store.transaction() as transaction:
            transaction.append(store.head("s"), events(2, 2))
            with pytest.raises(DatabaseUnusable, match="is locked by another program: try again when that is done"):
                append(store, "s", events(3, 3))
            # Another stream is nobody's business, nor is another name.
            append(store, "t", events(1, 1))
        assert append(store, "s", events(3, 3)).last_seq == 3
        with store.transaction() as transaction:
            transaction.create_stream("new")
            with pytest.raises(DatabaseUnusable, match="is locked by another program"):
                append(store, "new", events(1, 1))


def test_a_type_that_an_open_transaction_met_first_holds_nobody_up(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "BUSY_SECONDS", 0.5)
    with open_store(url) as store:
        with store.transaction() as transaction:
            transaction.append(transaction.create_stream("a"), [event(1, kind="new")])
            append(store, "b", [event(1, kind="newer")])
            append(store, "c", [event(1, kind="new")])
        assert select(store, "SELECT stream, kind FROM events ORDER BY stream") == [
            ("a", "new"),
            ("b", "newer"),
            ("c", "new"),
        ]
        # It stays where the transaction that met it is taken back, and does no harm.
        with suppress(RuntimeError), store.transaction() as transaction:
            transaction.append(store.head("a"), [event(2, kind="newest")])
            raise RuntimeError
        append(store, "a", [event(2, kind="newest")])
        assert chain_is_whole(store, "a")


def test_what_the_url_says_goes_before_what_the_program_sets(url: str) -> None:
    place = other_url(url, options="-clock_timeout=111 -capplication_name=mine -cstatement_timeout=7000")
    with open_store(place + "&connect_timeout=3") as store:
        for setting, value in (("lock_timeout", "111ms"), ("statement_timeout", "7s"), ("timezone", "UTC")):
            assert select(store, f"SHOW {setting}") == [(value,)]
    with open_store(f"{url}&application_name=theirs", readonly=True) as store:
        assert select(store, "SHOW application_name") == [("theirs",)]
        assert select(store, "SHOW default_transaction_read_only") == [("on",)]


def test_a_statement_that_takes_too_long_is_told(url: str) -> None:
    with open_store(other_url(url, options="-cstatement_timeout=200")) as store:
        append(store, "s", events(1, 1))
        with store.transaction() as transaction:
            transaction.append(store.head("s"), events(2, 2))
            with pytest.raises(DatabaseUnusable, match="took longer than its statement_timeout: raise that"):
                append(store, "s", events(3, 3))
        assert append(store, "s", events(3, 3)).last_seq == 3


def test_of_two_transactions_that_wait_for_each_other_one_is_taken_back(postgres_store: Store) -> None:
    store = postgres_store
    append(store, "a", events(1, 1))
    append(store, "b", events(1, 1))

    def other_way() -> str:
        try:
            with store.transaction() as transaction:
                transaction.append(store.head("b"), events(2, 2))
                transaction.append(store.head("a"), events(2, 2))
        except DatabaseUnusable as error:
            return str(error)
        return "stored"

    with ThreadPoolExecutor(1) as pool:
        try:
            with store.transaction() as transaction:
                transaction.append(store.head("a"), events(2, 2))
                done = pool.submit(other_way)
                waits = "SELECT count(*) FROM pg_locks WHERE NOT granted"
                assert eventually(lambda: select(store, waits) == [(1,)])
                transaction.append(store.head("b"), events(2, 2))
            told = [done.result(30)]
        except DatabaseUnusable as error:
            told = [str(error), done.result(30)]
    assert any("took one of two transactions back that waited for each other: try again" in line for line in told)
    assert {head.last_seq for head in store.streams()} == {2}


def test_a_stricter_isolation_of_the_server_changes_nothing(url: str) -> None:
    with behind(url) as other:
        name = make_url(url).database
        other.run(f"ALTER DATABASE {name} SET default_transaction_isolation = 'serializable'")
    with open_store(url) as store:
        append(store, "s", [])
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(lambda number: append(store, "s", [event(number)]), range(30)))
        assert store.head("s").last_seq == 30
        assert chain_is_whole(store, "s")


def test_a_server_that_is_starting_is_waited_for(
    url: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with proxied(url) as (proxy, through):
        proxy.starting = 2
        with open_store(through) as store:
            append(store, "s", events(1, 1))
        assert proxy.starting == 0
        proxy.starting = 1000
        monkeypatch.setattr(connecting, "PATIENCE_SECONDS", 0.3)
        assert "is starting up or shutting down: try again in a moment" in refusal(through)
    assert capfd.readouterr().err == ""


def test_a_retry_is_no_line_on_standard_error(url: str) -> None:
    program = "import sys; from recorder.store import open_store; open_store(sys.argv[1]).close()"
    with proxied(url) as (proxy, through):
        proxy.starting = 1
        done = subprocess.run([sys.executable, "-c", program, through], cwd=ROOT, capture_output=True, check=True)
        assert proxy.starting == 0
    assert (done.stdout, done.stderr) == (b"", b"")


# A server that may not be written, or ends


def test_a_read_only_server_is_told(url: str, empty_url: str) -> None:
    with open_store(url) as store:
        append(store, "s", events(1, 2))
    for place in (url, empty_url):
        with behind(place) as other:
            other.run(f"ALTER DATABASE {make_url(place).database} SET default_transaction_read_only = on")
    assert "is read-only: write to the primary, or name another database" in refusal(empty_url)
    with open_store(url) as store:
        assert len(bodies(store, "s")) == 2
        with pytest.raises(DatabaseUnusable, match="is read-only: write to the primary"):
            append(store, "s", events(3, 3))
        assert len(whole_tail(store)) == 1


@pytest.mark.slow
@pytest.mark.postgres
def test_a_server_that_crashes_keeps_what_it_acknowledged(own_server: Path) -> None:
    server = Server(postgres_server.start(own_server))
    place = server.new(empty=True)
    with open_store(place) as store:
        append(store, "s", events(1, 300))
        reading = store.events(store.head("s"))
        next(reading)
        _, rows = store.query("SELECT i FROM generate_series(1, 1000000) i")
        next(rows)
        told = []

        def append_while_it_crashes() -> None:
            with store.transaction() as transaction:
                transaction.append(store.head("s"), events(301, 302))
                postgres_server.stop(own_server, "immediate")
                transaction.append(store.head("s"), events(303, 304))

        def append_more() -> None:
            append(store, "s", events(301, 301))

        for use in (append_while_it_crashes, store.streams, append_more, lambda: list(rows), store.problems):
            with pytest.raises(DatabaseUnusable) as caught:
                use()
            told.append(str(caught.value))
        for line in told:
            assert "\n" not in line
            assert any(words in line for words in ("was shut down", "crashed", "cannot be reached", "is starting up"))
        postgres_server.start(own_server)
        assert store.head("s").last_seq == 300
        assert append(store, "s", [*events(299, 302), event(303, kind="new")]).last_seq == 303
        assert [found.seq for found in reading] == list(range(2, 301))
        assert chain_is_whole(store, "s")
        check(store, whole_tail(store))


def test_what_is_refused_is_told_without_the_row(postgres_store: Store) -> None:
    append(postgres_store, "s", events(1, 1))
    rows = {"findings": [{"seq": None, "ordinal": 0, "detail": "a secret"}]}
    with pytest.raises(DatabaseUnusable) as caught, postgres_store.transaction() as transaction:
        transaction.write_rows(postgres_store.head("s"), rows)
    assert "refused: null value in column" in str(caught.value)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_may_lose_events_one_day_is_found(url: str) -> None:
    with behind(url) as other:
        other.run(f"ALTER DATABASE {make_url(url).database} SET synchronous_commit = off")
    with open_store(url) as store:
        risks = [problem.text for problem in store.problems() if problem.kind == "risk"]
    assert "synchronous_commit is off: a crash can lose what was acknowledged" in risks


@pytest.mark.parametrize(
    ("missing", "how"),
    [
        ("psycopg", "sys.modules['psycopg'] = None"),
        ("stamina", "sys.modules['stamina'] = None"),
        ("psycopg[binary]", "os.environ['PSYCOPG_IMPL'] = 'c'; sys.modules['psycopg_c'] = None"),
    ],
)
def test_without_the_extra_it_is_named(missing: str, how: str) -> None:
    program = (
        "import os, sys\n"
        f"{how}\n"
        "from recorder.errors import DatabaseUnusable\n"
        "from recorder.store import open_store\n"
        "try:\n"
        "    open_store('postgresql://ann:s3cret@host/runs')\n"
        "except DatabaseUnusable as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == f"Postgres needs the package {missing}: pip install 'agent-stream-recorder[postgres]'\n"


def test_nothing_of_postgres_is_imported_for_sqlite(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from recorder.store import open_store\n"
        "open_store(sys.argv[1]).close()\n"
        "print(*sorted({'psycopg', 'stamina', 'tenacity', 'recorder.store.postgres'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "a.db")], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "\n"


def test_the_library_that_retries_says_nothing_by_itself() -> None:
    assert any(isinstance(handler, logging.NullHandler) for handler in logging.getLogger("stamina").handlers)
