"""What holds for opening whatever kind of database; the kinds' own files have their refusals."""

from __future__ import annotations

import pytest

from recorder.errors import DatabaseUnusable, SchemaMismatch
from recorder.store import open_store
from tests.store.made import append, behind, bodies, events, eventually


def test_a_new_database_is_made_on_opening(empty_database: str) -> None:
    with open_store(empty_database) as store:
        assert store.streams() == []
        assert append(store, "s", events(1, 2)).last_seq == 2
    with open_store(empty_database, create=False) as store:
        assert len(bodies(store, "s")) == 2


@pytest.mark.parametrize("readonly", [False, True])
def test_a_database_without_a_log_is_not_made_where_it_should_not_be(empty_database: str, readonly: bool) -> None:
    with pytest.raises(DatabaseUnusable, match="record something first"):
        open_store(empty_database, create=readonly, readonly=readonly)
    with pytest.raises(DatabaseUnusable, match="record something first"):
        open_store(empty_database, create=False, readonly=readonly)


def test_a_store_for_reading_refuses_to_write(database: str) -> None:
    with open_store(database) as store:
        append(store, "s", events(1, 1))
    with open_store(database, readonly=True) as store:
        assert len(bodies(store, "s")) == 1
        with pytest.raises(DatabaseUnusable, match="for reading only"), store.transaction():
            pass


def test_a_reader_sees_what_a_writer_adds(database: str) -> None:
    with open_store(database) as store:
        append(store, "s", events(1, 1))
        with open_store(database, readonly=True) as reader:
            append(store, "s", events(2, 2))
            assert len(bodies(reader, "s")) == 2
            assert list(reader.query("SELECT count(*) FROM events")[1]) == [(2,)]


def test_a_newer_schema_asks_for_a_newer_program(database: str) -> None:
    with open_store(database) as store:
        known = store.schema_version
    with behind(database) as other:
        if other.is_sqlite:
            other.run("PRAGMA user_version = 99")
        else:
            other.run("UPDATE alembic_version SET version_num = '0099'")
    for readonly in (False, True):
        with pytest.raises(SchemaMismatch, match=f"has schema 99, newer than this program's {known}: upgrade recorder"):
            open_store(database, readonly=readonly)


def test_a_closed_store_leaves_no_connection(url: str) -> None:
    others = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    with behind(url) as other:
        with open_store(url) as store:
            append(store, "s", events(1, 3))
            rows = store.query("SELECT 1")[1]
            assert other.run(others)
            assert list(rows) == [(1,)]
        # The server takes its time to notice.
        assert eventually(lambda: not other.run(others))
