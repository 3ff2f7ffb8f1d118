"""The database itself keeps what is recorded: every way around it is tried with another tool than the store."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from recorder.store import Store
from tests.store.made import append, bodies, chain_is_whole, event, events, raw

ROW = (
    "stream_id, seq, event_id, type_id, origin_id, source_id, occurred_at, arrived_at, recorded_at, body, frame, cuts, "
    "meta, codec, redacted, salt, body_hash, hash, version, erased"
)
COPY = ROW.replace("seq", "{seq}", 1).replace("event_id", "{id}", 1)
"""Columns of row 1 with another number and id."""


def _copy(how: str, seq: object, event_id: str, extra: str = "", value: str = "") -> str:
    columns = COPY.format(seq=seq, id=event_id)
    return f"INSERT {how} INTO log_events ({extra}{ROW}) SELECT {value}{columns} FROM log_events WHERE seq = 1"


BYPASSES = {
    "update body": "UPDATE log_events SET body = x'00' WHERE seq = 2",
    "update seq": "UPDATE log_events SET seq = 9 WHERE seq = 3",
    "update stream": "UPDATE log_events SET stream_id = 7",
    "update rowid": "UPDATE log_events SET rowid = 99 WHERE seq = 1",
    "update or replace": "UPDATE OR REPLACE log_events SET seq = 2 WHERE seq = 3",
    "upsert": _copy("", 1, "event_id") + " ON CONFLICT DO UPDATE SET body = x'00'",
    "delete": "DELETE FROM log_events WHERE seq = 3",
    "delete all": "DELETE FROM log_events",
    "replace the last": _copy("OR REPLACE", 3, "event_id"),
    "replace the first": _copy("OR REPLACE", 1, "event_id"),
    "replace by id": _copy("OR REPLACE", 4, "event_id"),
    "replace by rowid": _copy("OR REPLACE", 4, "x'ff'", "rowid, ", "1, "),
    "block by a negative rowid": _copy("", 4, "x'ff'", "rowid, ", "-1, "),
    "block by the last rowid": _copy("", 4, "x'ff'", "rowid, ", "9223372036854775807, "),
    "ignore": _copy("OR IGNORE", 9, "x'ff'"),
    "insert in the middle": _copy("", 2, "x'ff'"),
    "insert a second first": _copy("", 1, "x'ff'"),
    "insert before the first": _copy("", 0, "x'ff'"),
    "insert behind a gap": _copy("", 5, "x'ff'"),
    "insert without a number": _copy("", "NULL", "x'ff'"),
    "erase the salt only": "UPDATE log_events SET salt = NULL, erased = 1",
    "erase and keep the body": "UPDATE log_events SET frame = NULL, cuts = NULL, meta = NULL, salt = NULL, erased = 1",
    "erase without the mark": "UPDATE log_events SET body = x'', salt = NULL",
    "erase the hash": "UPDATE log_events SET body = x'', salt = NULL, erased = 1, hash = x''",
    "erase the name": "UPDATE log_events SET body = x'', salt = NULL, erased = 1, origin_id = NULL",
    "type update": "UPDATE log_event_types SET kind = 'other'",
    "type delete": "DELETE FROM log_event_types",
    "type replace": "INSERT OR REPLACE INTO log_event_types SELECT 1, 'd', 'l', 'k', 'f', 'e'",
    "type replace by key": "INSERT OR REPLACE INTO log_event_types "
    "SELECT 2, dialect, layer, kind, framing, encoding FROM log_event_types",
    "origin update": "UPDATE log_origins SET run_id = 'other'",
    "origin delete": "DELETE FROM log_origins",
    "origin replace": "INSERT OR REPLACE INTO log_origins SELECT 1, 1, 'r', NULL, NULL",
    "origin replace by key": "INSERT OR REPLACE INTO log_origins "
    "SELECT stream_id, 2, run_id, parent_run_id, name FROM log_origins",
    "stream delete": "DELETE FROM log_streams",
    "stream uuid": "UPDATE log_streams SET uuid = randomblob(16)",
    "stream time": "UPDATE log_streams SET created_at = 0",
    "stream key": "UPDATE log_streams SET stream_id = 9",
    "stream goes back": "UPDATE log_streams SET last_seq = 2 WHERE stream_id = 1",
    "stream runs ahead": "UPDATE log_streams SET last_seq = 4 WHERE stream_id = 1",
    "stream forgets": "UPDATE log_streams SET head_hash = zeroblob(32) WHERE stream_id = 1",
    "stream replace": "INSERT OR REPLACE INTO log_streams "
    "SELECT stream_id, uuid, name, created_at, 0, zeroblob(32), NULL, NULL, NULL, 0 FROM log_streams",
    "stream replace by name": "INSERT OR REPLACE INTO log_streams "
    "SELECT 9, randomblob(16), name, created_at, 0, zeroblob(32), NULL, NULL, NULL, 0 FROM log_streams",
    "stream rename over another": "UPDATE OR REPLACE log_streams SET name = 'other' WHERE name = 's'",
    "stream that begins late": "INSERT INTO log_streams SELECT 9, randomblob(16), 'x', 0, 5, zeroblob(32), "
    "NULL, NULL, NULL, 0",
}


@pytest.fixture
def filled(store: Store) -> Store:
    append(store, "s", [event(1, frame=b"f"), event(2), event(3)])
    append(store, "other", [event(1)])
    return store


@pytest.mark.parametrize("statement", BYPASSES.values(), ids=BYPASSES.keys())
@pytest.mark.parametrize("recursive", ["OFF", "ON"])
def test_a_bypass_is_refused_and_changes_nothing(filled: Store, path: Path, statement: str, recursive: str) -> None:
    with raw(path) as connection:
        connection.execute(f"PRAGMA recursive_triggers = {recursive}")
        before = list(connection.iterdump())
        with pytest.raises(sqlite3.IntegrityError, match=r"^events are append-only: "):
            connection.execute(statement)
        assert list(connection.iterdump()) == before
    assert bodies(filled, "s") == [event(1).body] * 3
    assert chain_is_whole(filled, "s")


def test_an_erasure_blanks_what_the_body_hash_covers_and_nothing_twice(filled: Store, path: Path) -> None:
    blank = "UPDATE log_events SET body = x'', frame = NULL, cuts = NULL, meta = NULL, salt = NULL, erased = 1"
    with raw(path) as connection:
        connection.execute(f"{blank} WHERE stream_id = 1 AND seq <= 2")
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute("UPDATE log_events SET erased = 0 WHERE seq = 1")
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(f"{blank} WHERE stream_id = 1 AND seq <= 2")
    assert [(found.body, found.erased) for found in filled.events(filled.head("s"), 2, 3)] == [
        (b"", True),
        (event(3).body, False),
    ]
    assert chain_is_whole(filled, "s")


def test_a_rename_leaves_the_chain_whole(filled: Store) -> None:
    before = filled.head("s")
    with filled.transaction() as transaction:
        transaction.rename(before, "renamed")
    after = filled.head("renamed")
    assert (after.uuid, after.head_hash) == (before.uuid, before.head_hash)
    assert chain_is_whole(filled, "renamed")


def test_a_body_changed_with_the_triggers_gone_breaks_the_chain(filled: Store, path: Path) -> None:
    with raw(path) as connection:
        connection.execute("DROP TRIGGER log_events_update")
        connection.execute("UPDATE log_events SET body = x'7b7d' WHERE stream_id = 1 AND seq = 2")
    assert not chain_is_whole(filled, "s")
    assert chain_is_whole(filled, "other")


def test_an_erased_body_is_nowhere_in_the_file(store: Store, path: Path) -> None:
    secret = b"a body that must be gone"
    append(store, "s", [event(1, secret), *events(2, 5)])
    blank = "UPDATE log_events SET body = x'', frame = NULL, cuts = NULL, meta = NULL, salt = NULL, erased = 1"
    with raw(path) as connection:
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute(f"{blank} WHERE seq = 1")
    store.close()
    assert secret not in path.read_bytes()
    assert sorted(each.name for each in path.parent.iterdir()) == [path.name]
