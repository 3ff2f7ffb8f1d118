"""What SQLite has besides to get around a log: REPLACE, row ids, and pages that keep what was erased."""

from __future__ import annotations

from pathlib import Path

import pytest

from recorder.store import Store
from tests.store.made import append, behind, chain_is_whole, erase, event, events, raw
from tests.store.test_append_only import fill, outcomes

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
    "update rowid": "UPDATE log_events SET rowid = 99 WHERE seq = 1",
    "update or replace": "UPDATE OR REPLACE log_events SET seq = 2 WHERE seq = 3",
    "upsert": _copy("", 1, "event_id") + " ON CONFLICT DO UPDATE SET body = x'00'",
    "replace the last": _copy("OR REPLACE", 3, "event_id"),
    "replace the first": _copy("OR REPLACE", 1, "event_id"),
    "replace by id": _copy("OR REPLACE", 4, "event_id"),
    "replace by rowid": _copy("OR REPLACE", 4, "x'ff'", "rowid, ", "1, "),
    "block by a negative rowid": _copy("", 4, "x'ff'", "rowid, ", "-1, "),
    "block by the last rowid": _copy("", 4, "x'ff'", "rowid, ", "9223372036854775807, "),
    "ignore": _copy("OR IGNORE", 9, "x'ff'"),
    "type replace": "INSERT OR REPLACE INTO log_event_types SELECT 1, 'd', 'l', 'k', 'f', 'e'",
    "type replace by key": "INSERT OR REPLACE INTO log_event_types "
    "SELECT 2, dialect, layer, kind, framing, encoding FROM log_event_types",
    "origin replace": "INSERT OR REPLACE INTO log_origins SELECT 1, 1, 'r', NULL, NULL",
    "origin replace by key": "INSERT OR REPLACE INTO log_origins "
    "SELECT stream_id, 2, run_id, parent_run_id, name FROM log_origins",
    "stream replace": "INSERT OR REPLACE INTO log_streams "
    "SELECT stream_id, uuid, name, created_at, 0, zeroblob(32), NULL, NULL, NULL, 0 FROM log_streams",
    "stream replace by name": "INSERT OR REPLACE INTO log_streams "
    "SELECT 9, randomblob(16), name, created_at, 0, zeroblob(32), NULL, NULL, NULL, 0 FROM log_streams",
    "stream rename over another": "UPDATE OR REPLACE log_streams SET name = 'other' WHERE name = 's'",
    "append replace": "INSERT OR REPLACE INTO log_appends SELECT * FROM log_appends WHERE position = 1",
    "append replace by place": "INSERT OR REPLACE INTO log_appends SELECT 3, 0, 1, 1, 1",
    "append update or replace": "UPDATE OR REPLACE log_appends SET position = 2 WHERE position = 1",
    "append ahead of all": "INSERT INTO log_appends SELECT 1, 0, 99, 4, 4",
    "append of another epoch": "INSERT INTO log_appends SELECT 1, 1, max(position) + 1, 4, 4 FROM log_appends",
    "erasure replace": "INSERT OR REPLACE INTO log_erasures SELECT 2, 1, 1, 1, 'other', 0, zeroblob(32)",
}


@pytest.mark.parametrize("recursive", ["OFF", "ON"])
def test_a_bypass_is_refused_and_changes_nothing(sqlite_store: Store, path: Path, recursive: str) -> None:
    fill(sqlite_store)
    with behind(path) as other:
        other.run(f"PRAGMA recursive_triggers = {recursive}")
        assert outcomes(other, BYPASSES) == dict.fromkeys(BYPASSES, "refused")
    assert chain_is_whole(sqlite_store, "s")


def test_an_erased_body_is_nowhere_in_the_file(sqlite_store: Store, path: Path) -> None:
    secret = b"a body that must be gone"
    append(sqlite_store, "s", [event(1, secret), *events(2, 5)])
    erase(sqlite_store, "s", 1, 1)
    sqlite_store.close()
    with raw(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert secret not in path.read_bytes()
    assert sorted(each.name for each in path.parent.iterdir()) == [path.name]
