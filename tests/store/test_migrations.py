"""The schema: made once, brought up from older ones, taken back whole where a step fails."""

from __future__ import annotations

import subprocess
import sys
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from sqlalchemy import Connection

from recorder.errors import DatabaseUnusable, SchemaMismatch
from recorder.events.chain import GENESIS, content_hash, link
from recorder.store import Store, migrate, open_store, tables
from tests.store.catalogs import catalog, columns_of, key_of, tables_of
from tests.store.made import Behind, append, behind, chain_is_whole, events
from tests.store.test_tail import whole_tail

ROOT = Path(__file__).parents[2]
RELEASED = {
    "0001_the_log": "c98a55e10f3bd94d71724d5f0113a8ed62b25fce4f74b654d8584d98b4cbfc16",
    "0002_the_read_model": "f71f38c789813d4340d710d289388dd9bd91b701290ac5a74ec419d874d65770",
}
"""Migrations that databases in the world went through, by the digest of what they do to SQLite."""
OLDER = range(1, migrate.SCHEMA)


def _only_to(version: int, monkeypatch: pytest.MonkeyPatch, database: str) -> None:
    """Makes a database as a program of that schema would have."""
    upgrade = migrate.upgrade
    with monkeypatch.context() as patch:
        patch.setattr(migrate, "SCHEMA", version)
        patch.setattr(migrate, "upgrade", lambda connection: upgrade(connection, to=version))
        # Such a program knew nothing of what came later.
        patch.setattr("recorder.store.postgres.backend.PostgresBackend._is_restored", lambda *_: False)
        open_store(database).close()


def _fill(other: Behind, stream_id: int, name: str, count: int) -> None:
    """A stream with events, written as the first schema wanted it, and every later one could."""
    uuid, head = bytes([stream_id]) * 16, GENESIS
    columns = "stream_id, uuid, name, created_at, last_seq, head_hash, projection"
    other.run(f"INSERT INTO log_streams ({columns}) VALUES (?, ?, ?, 7, 0, ?, 0)", stream_id, uuid, name, GENESIS)
    for seq, event in enumerate(events(1, count), 1):
        salt = b"s" * 16
        digest = content_hash(salt, event)
        head = link(head, uuid, seq, 5, event, digest, 1)
        other.run("INSERT INTO log_origins SELECT ?, 1, 'run-1', NULL, NULL WHERE ? = 1", stream_id, seq)
        other.run(
            "INSERT INTO log_events (stream_id, seq, event_id, type_id, origin_id, arrived_at, recorded_at, body, salt,"
            " body_hash, hash, version) VALUES (?, ?, ?, 1, 1, ?, 5, ?, ?, ?, ?, 1)",
            *(stream_id, seq, event.event_id, event.arrived_at, event.body, salt, digest, head),
        )
        other.run("UPDATE log_streams SET last_seq = ?, head_hash = ? WHERE stream_id = ?", seq, head, stream_id)


def test_the_number_of_the_schema_is_that_of_the_last_migration() -> None:
    numbers = [int(each.name[:4]) for each in (migrate.folder() / "versions").glob("*.py")]
    assert sorted(numbers) == list(range(1, migrate.SCHEMA + 1))


@pytest.mark.parametrize("name", RELEASED)
def test_a_released_migration_is_never_changed(name: str) -> None:
    spec = spec_from_file_location(name, migrate.folder() / "versions" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    assert sha256("\0".join(module.SQLITE).encode()).hexdigest() == RELEASED[name]


def test_the_tables_in_code_are_those_in_the_database(store: Store, database: str) -> None:
    with behind(database) as other:
        for table in tables.metadata.sorted_tables:
            assert columns_of(other, table.name) == {
                name: type(column.type).__name__ for name, column in table.c.items()
            }, table.name
            assert key_of(other, table.name) == table.primary_key.columns.keys(), table.name
        besides = {"alembic_version"} if other.is_sqlite else {"alembic_version", "log_epochs"}
        assert tables_of(other) == {*tables.metadata.tables, *besides}


@pytest.mark.parametrize("version", OLDER)
def test_an_older_schema_is_brought_up_to_what_a_new_one_is(
    empty_database: str, database: str, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    _only_to(version, monkeypatch, empty_database)
    open_store(empty_database).close()
    open_store(database).close()
    with behind(empty_database) as old, behind(database) as new:
        assert catalog(old) == catalog(new)
        assert len(catalog(new)) > 50


@pytest.mark.parametrize("version", OLDER)
def test_an_older_log_keeps_its_events_and_goes_on(
    empty_database: str, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    _only_to(version, monkeypatch, empty_database)
    with behind(empty_database) as old:
        old.run(
            "INSERT INTO log_event_types VALUES (1, 'openai.chat', 'wire', 'chunk', ?, 'utf-8')", "data: {body}\n\n"
        )
        for stream_id, name, count in ((1, "a", 3), (2, "empty", 0), (3, "b", 2)):
            _fill(old, stream_id, name, count)
    with pytest.raises(SchemaMismatch, match=f"has schema {version}, older than this .* run rec db upgrade"):
        open_store(empty_database, readonly=True)
    with open_store(empty_database) as store:
        assert store.schema_version == migrate.SCHEMA
        assert [(head.name, head.last_seq) for head in store.streams()] == [("a", 3), ("empty", 0), ("b", 2)]
        if version < 3:
            known = [(each.stream_id, each.first_seq, each.last_seq) for each in whole_tail(store)]
            assert known == [(1, 1, 3), (3, 1, 2)]
            assert append(store, "a", events(1, 5)).last_seq == 5
            assert append(store, "empty", events(1, 1)).last_seq == 1
            behind_them = [(each.stream_id, each.first_seq, each.last_seq) for each in whole_tail(store)][2:]
            assert behind_them == [(1, 4, 5), (2, 1, 1)]
            assert all(chain_is_whole(store, name) for name in ("a", "empty", "b"))


@pytest.mark.parametrize("start", [0, *OLDER])
def test_a_migration_that_fails_is_taken_back_whole(
    empty_database: str, monkeypatch: pytest.MonkeyPatch, start: int
) -> None:
    if start:
        _only_to(start, monkeypatch, empty_database)
    with behind(empty_database) as other:
        before = catalog(other)
    upgrade = migrate.upgrade

    def fail(connection: Connection) -> None:
        upgrade(connection)
        connection.exec_driver_sql("CREATE TABLE log_events (a INTEGER)")

    with monkeypatch.context() as patch:
        patch.setattr(migrate, "upgrade", fail)
        with pytest.raises(DatabaseUnusable, match=r"log_events\"? already exists"):
            open_store(empty_database)
    with behind(empty_database) as other:
        assert catalog(other) == before
    with open_store(empty_database) as store:
        assert append(store, "s", events(1, 1)).last_seq == 1


def test_a_database_that_is_up_to_date_is_opened_without_alembic(database: str) -> None:
    with open_store(database) as store:
        append(store, "s", events(1, 1))
    program = (
        "import sys\n"
        "from recorder.store import open_store\n"
        "for readonly in (False, True):\n"
        "    with open_store(sys.argv[1], readonly=readonly) as store:\n"
        "        assert store.head('s').last_seq == 1\n"
        "print(*sorted({'alembic', 'mako', 'sqlalchemy.orm'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, database], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "\n"


def test_the_log_is_never_taken_back_to_an_older_schema(store: Store) -> None:
    from alembic import command
    from alembic.config import Config

    with store.transaction() as transaction:
        config = Config(attributes={"connection": transaction._connection})
        config.set_main_option("script_location", str(migrate.folder()))
        config.set_main_option("path_separator", "os")
        with pytest.raises(NotImplementedError):
            command.downgrade(config, "base")
