"""Waiting for each other, as SQLite does it."""

from __future__ import annotations

from pathlib import Path

import pytest

from recorder.errors import DatabaseUnusable
from recorder.store import Store
from tests.store.made import append, events, raw


def test_a_half_read_stream_holds_up_no_checkpoint(sqlite_store: Store, path: Path) -> None:
    append(sqlite_store, "s", events(1, 1200))
    reading = sqlite_store.events(sqlite_store.head("s"))
    assert next(reading).seq == 1
    append(sqlite_store, "s", events(1201, 1300))
    with raw(path) as other:
        assert other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() == (0, 0, 0)
    assert sum(1 for _ in reading) == 1199


def test_a_second_transaction_of_the_same_thread_is_refused_instead_of_waiting_for_ever(
    sqlite_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recorder.store.sqlite.backend.BUSY_SECONDS", 0.05)
    with sqlite_store.transaction(), pytest.raises(DatabaseUnusable, match="locked"), sqlite_store.transaction():
        pass


def test_a_writer_that_finds_the_database_locked_says_so(
    sqlite_store: Store, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(sqlite_store, "s", events(1, 1))
    sqlite_store.close()
    monkeypatch.setattr("recorder.store.sqlite.backend.BUSY_SECONDS", 0.05)
    with raw(path) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(DatabaseUnusable, match="is locked by another program"):
            append(sqlite_store, "s", events(2, 2))
    assert append(sqlite_store, "s", events(2, 2)).last_seq == 2
