"""What `rec db check` finds on SQLite."""

from __future__ import annotations

from pathlib import Path

from recorder.store import Store, open_store
from recorder.store.check import check_store
from recorder.store.sqlite import health
from tests.store.made import append, events, raw

MOUNTS = """\
/dev/vda / ext4 rw 0 0
proc /proc proc rw 0 0
server:/home /home nfs4 rw 0 0
/dev/vdb /home/ann/with\\040blank xfs rw 0 0
bucket /home/ann/s3 fuse.s3fs rw 0 0
tmpfs /home/ann/s3 tmpfs rw 0 0
short
"""


def _found(store: Store) -> list[str]:
    """What is found, without what is this machine's."""
    lines = [f"{problem.kind}: {problem.text}" for problem in check_store(store)]
    return [line for line in lines if not line.startswith(("risk: SQLite ", "risk: the file is on"))]


def test_damage_and_strange_tables_are_found(path: Path) -> None:
    with open_store(path) as store:
        append(store, "s", events(1, 3))
    with raw(path) as connection:
        connection.execute("CREATE TABLE mine (a)")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET rootpage = 2 WHERE name = 'mine'")
    with open_store(path, readonly=True) as store:
        found = _found(store)
    assert "risk: tables that are not recorder's: mine" in found
    assert any(line.startswith("damage: ") for line in found)


def test_a_journal_mode_that_makes_readers_wait_is_found(path: Path) -> None:
    open_store(path).close()
    with raw(path) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    with open_store(path, readonly=True) as store:
        assert _found(store) == [
            "risk: journal mode is delete, not wal: readers and the writer will wait for each other"
        ]
    with open_store(path) as store:
        assert _found(store) == []


def test_an_sqlite_with_the_wal_reset_bug_is_warned_of(path: Path) -> None:
    (line,) = (found.text for found in health.surroundings(path, (3, 51, 2)) if found.text.startswith("SQLite"))
    assert line.startswith("SQLite 3.51.2 is older than 3.51.3, ")
    assert not [found for found in health.surroundings(path, (3, 51, 3)) if found.text.startswith("SQLite")]


def test_the_file_system_is_that_of_the_nearest_mount() -> None:
    for place, kind in {
        "/var/lib/runs.db": "ext4",
        "/home/ann/runs.db": "nfs4",
        "/homes/runs.db": "ext4",
        "/home/ann/with blank/runs.db": "xfs",
        "/home/ann/s3/runs.db": "tmpfs",
    }.items():
        assert health.file_system(Path(place), MOUNTS) == kind
    assert health.file_system(Path("/x"), "") is None
    assert "nfs4" in health.NETWORK
    assert "ext4" not in health.NETWORK


def test_triggers_that_are_gone_or_changed_are_found(sqlite_store: Store, path: Path) -> None:
    assert _found(sqlite_store) == []
    with raw(path) as connection:
        connection.execute("DROP TRIGGER log_events_delete")
        connection.execute("DROP TRIGGER log_origins_update")
        connection.execute("CREATE TRIGGER log_origins_update BEFORE UPDATE ON log_origins BEGIN SELECT 1; END")
    assert _found(sqlite_store) == [
        "damage: the trigger log_events_delete of log_events is missing: the log can be changed",
        "damage: the trigger log_origins_update of log_origins was changed: the log can be changed",
    ]


def test_views_indexes_and_triggers_that_are_not_as_they_were_made_are_found(sqlite_store: Store, path: Path) -> None:
    with raw(path) as connection:
        connection.execute("DROP VIEW findings")
        connection.execute("DROP VIEW tool_calls")
        connection.execute("CREATE VIEW tool_calls AS SELECT * FROM tool_calls_all WHERE name <> 'pay'")
        connection.execute("DROP INDEX rm_pairings_call")
        connection.execute("CREATE TRIGGER mine AFTER INSERT ON log_events BEGIN SELECT 1; END")
    assert _found(sqlite_store) == [
        "damage: the index rm_pairings_call of rm_pairings is missing",
        "damage: the trigger mine of log_events is not recorder's: it may change what is written",
        "damage: the view findings is missing: queries may be told what is not so",
        "damage: the view tool_calls was changed: queries may be told what is not so",
    ]
