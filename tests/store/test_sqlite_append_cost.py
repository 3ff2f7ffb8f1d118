"""What an append costs, counted in SQLite's own instructions: it must not grow with the log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from recorder.ledger import Ledger, StreamWriter
from recorder.store import Store
from recorder.store.sqlite import SqliteBackend
from recorder.store.sqlite.backend import _driver_of
from tests.store.made import event, events


@contextmanager
def instructions(store: Store) -> Iterator[list[int]]:
    """Counts the steps of SQLite's virtual machine on the connection that writes."""
    backend = store._backend
    assert isinstance(backend, SqliteBackend)
    assert backend._writer is not None
    driver, counted = _driver_of(backend._writer), [0]

    def step() -> int:
        counted[0] += 1
        return 0

    driver.set_progress_handler(step, 1)
    try:
        yield counted
    finally:
        driver.set_progress_handler(None, 1)


def cost(store: Store, writer: StreamWriter) -> int:
    """What the next event of a stream costs."""
    with instructions(store) as counted:
        writer.append([event(writer.last_seq + 1)])
    return counted[0]


@pytest.mark.parametrize("streams", [1, 50])
def test_an_append_costs_the_same_after_a_thousand(sqlite_store: Store, streams: int) -> None:
    writers = [Ledger(sqlite_store).writer(f"s{number}") for number in range(streams)]
    for writer in writers:
        writer.append([event(1)])
    early = min(cost(sqlite_store, writers[number % streams]) for number in range(10))
    for number in range(10, 1000):
        writer = writers[number % streams]
        writer.append([event(writer.last_seq + 1)])
    assert min(cost(sqlite_store, writers[number % streams]) for number in range(1000, 1010)) < early * 1.2


def test_an_event_of_a_batch_costs_the_same_in_a_longer_stream(sqlite_store: Store) -> None:
    writer = Ledger(sqlite_store).writer("s")
    costs = []
    for batch in range(12):
        if batch:
            with instructions(sqlite_store) as counted:
                writer.append(events(batch * 200 + 1, batch * 200 + 200))
            costs.append(counted[0])
        else:
            writer.append(events(1, 200))
    assert max(costs) < min(costs) * 1.2
