"""The schema: made once, brought up from older ones, taken back whole where a step fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import Connection

from recorder.errors import DatabaseUnusable, SchemaMismatch
from recorder.store import Store, migrate, open_store, tables
from tests.store.made import append, bodies, events, raw

ROOT = Path(__file__).parents[2]


def _only_to(version: int, monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    """Makes a database as a program of that schema would have."""
    upgrade = migrate.upgrade
    with monkeypatch.context() as patch:
        patch.setattr(migrate, "SCHEMA", version)
        patch.setattr(migrate, "upgrade", lambda connection: upgrade(connection, to=version))
        open_store(path).close()


def test_the_number_of_the_schema_is_that_of_the_last_migration() -> None:
    numbers = [int(each.name[:4]) for each in (migrate.folder() / "versions").glob("*.py")]
    assert sorted(numbers) == list(range(1, migrate.SCHEMA + 1))


def test_the_tables_in_code_are_those_in_the_database(store: Store, path: Path) -> None:
    with raw(path) as connection:
        for table in tables.metadata.sorted_tables:
            found = connection.execute(f"SELECT name, pk, type FROM pragma_table_info('{table.name}')").fetchall()
            assert {name for name, *_ in found} == set(table.c.keys()), table.name
            keys = [name for name, pk, _ in sorted(found, key=lambda row: row[1]) if pk]
            assert keys == table.primary_key.columns.keys(), table.name
            kinds = {"BLOB": "LargeBinary", "INTEGER": "Integer", "TEXT": "Text"}
            assert {name: kinds[kind] for name, _, kind in found} == {
                name: type(column.type).__name__ for name, column in table.c.items()
            }, table.name
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        assert names == {*tables.metadata.tables, "alembic_version"}


def test_an_older_schema_is_brought_up_and_keeps_its_events(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _only_to(1, monkeypatch, path)
    with raw(path) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
        connection.execute("INSERT INTO log_streams VALUES (1, randomblob(16), 's', 0, 0, zeroblob(32), 0, 0, NULL, 0)")
    with pytest.raises(SchemaMismatch, match="run rec db upgrade"):
        open_store(path, readonly=True)
    with open_store(path) as store:
        assert store.schema_version == migrate.SCHEMA
        append(store, "s", events(1, 3))
        assert list(store.query("SELECT * FROM runs")[1]) == []
        assert len(bodies(store, "s")) == 3


@pytest.mark.parametrize("start", [0, 1])
def test_a_migration_that_fails_is_taken_back_whole(path: Path, monkeypatch: pytest.MonkeyPatch, start: int) -> None:
    if start:
        _only_to(start, monkeypatch, path)
    upgrade = migrate.upgrade

    def fail(connection: Connection) -> None:
        upgrade(connection)
        connection.exec_driver_sql("CREATE TABLE log_events (a)")

    with monkeypatch.context() as patch:
        patch.setattr(migrate, "upgrade", fail)
        with pytest.raises(DatabaseUnusable, match="log_events already exists"):
            open_store(path)
    with raw(path) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (start,)
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        assert "rm_runs" not in names
        assert ("log_events" in names) == bool(start)
    with open_store(path) as store:
        assert append(store, "s", events(1, 1)).last_seq == 1


def test_a_database_that_is_up_to_date_is_opened_without_alembic(path: Path) -> None:
    with open_store(path) as store:
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
        [sys.executable, "-c", program, str(path)], cwd=ROOT, capture_output=True, text=True, check=True
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
