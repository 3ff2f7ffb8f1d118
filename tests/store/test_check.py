"""What `rec db check` finds on whatever kind of database; the kinds' own files have the rest."""

from __future__ import annotations

from recorder.store import Store
from recorder.store.check import check_store
from tests.store.made import append, events


def _found(store: Store) -> list[str]:
    """What is found, without what is this machine's."""
    lines = [f"{problem.kind}: {problem.text}" for problem in check_store(store)]
    return [line for line in lines if not line.startswith(("risk: SQLite ", "risk: the file is on", "risk: fsync"))]


def test_nothing_is_wrong_with_a_new_database(store: Store) -> None:
    append(store, "s", events(1, 3))
    assert _found(store) == []


def test_a_stream_whose_read_model_ends_early_is_found(store: Store) -> None:
    append(store, "s", events(1, 3))
    append(store, "t", events(1, 3))
    with store.transaction() as transaction:
        transaction.mark(store.head("t"), stale="ValueError: no", projection=1)
    assert _found(store) == ["damage: the read model of stream 't' ends early (ValueError: no): run rec rebuild"]
