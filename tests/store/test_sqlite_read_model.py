"""What the views cost on SQLite."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from recorder.store import Store
from tests.store.made import append, events, raw, select


def test_an_open_call_of_many_chunks_is_joined_in_linear_steps(sqlite_store: Store, path: Path) -> None:
    append(sqlite_store, "s", events(1, 1))
    head = sqlite_store.head("s")
    steps = {}
    for count in (2000, 4000):
        chunks = [{"seq": seq, "ordinal": 0, "call_ref": "c1", "args": f"{seq},"} for seq in range(1, count + 1)]
        with sqlite_store.transaction() as transaction:
            transaction.write_rows(head, {"tool_calls": [{"call_ref": "c1"}], "tool_call_chunks": chunks})
        with raw(path) as connection:
            steps[count] = _steps(connection, "SELECT args FROM tool_calls")
        joined = "".join(f"{seq}," for seq in range(1, count + 1))
        assert select(sqlite_store, "SELECT args FROM tool_calls") == [(joined,)]
    assert steps[4000] < 2.3 * steps[2000]


def _steps(connection: sqlite3.Connection, sql: str) -> int:
    """How many hundreds of steps SQLite's machine takes."""
    taken = 0

    def step() -> int:
        nonlocal taken
        taken += 1
        return 0

    connection.set_progress_handler(step, 100)
    connection.execute(sql).fetchall()
    return taken
