"""Streams in a real database: recordings appended in batches, and what the read model then holds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import recorder
from recorder.events import NewEvent, jsontext
from recorder.ledger import Ledger, State, snapshots
from recorder.ledger.verify import strays, verify_all
from recorder.store import Store, tables
from tests.corpus import CORPUS
from tests.databases import made

VCR = sorted((CORPUS / "cassettes").glob("*.yaml"))
NAME = "log"
"""The one stream of most tests."""


def sample(paths: Sequence[Path], count: int) -> list[Path]:
    """About `count` of them, spread evenly."""
    return list(paths[:: max(1, len(paths) // count)])


@contextmanager
def log(folder: Path, events: Sequence[NewEvent] = (), *, batch: int | None = None) -> Iterator[Ledger]:
    """A new database in the folder that holds these events, appended `batch` at a time (None: all at once)."""
    with recorder.open(made(folder / "log.db")) as ledger:
        append(ledger, events, batch=batch)
        yield ledger


def append(ledger: Ledger, events: Sequence[NewEvent], *, batch: int | None = None) -> None:
    """Appends with one writer, `batch` events a transaction."""
    writer = ledger.writer(NAME)
    size = batch or max(1, len(events))
    for start in range(0, len(events), size):
        writer.append(events[start : start + size])


def printed(ledger: Ledger, n: int | None = None, **narrowing: Any) -> dict[str, Any]:
    """The lists of the state at N as they print."""
    return shown(ledger.state(NAME, n, **narrowing))


def shown(state: State) -> dict[str, Any]:
    """A state's lists as they print."""
    lists = state.to_dict()
    loaded: dict[str, Any] = json.loads(
        jsontext.encode({key: lists[key] for key in ("messages", "tool_messages", "pairings", "findings")})
    )
    return loaded


def read_model(ledger: Ledger, stream: str = NAME) -> dict[str, set[tuple[Any, ...]]]:
    """All rows that the projections keep of a stream, by table."""
    key = ledger.head(stream).stream_id
    return {
        name: set(ledger.sql(f"SELECT * FROM {table.name} WHERE stream_id = ?", (key,))[1])
        for name, table in tables.READ_MODEL.items()
    }


def snapshots_at_every_append(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes every part of a snapshot due whenever it can be."""
    monkeypatch.setattr(snapshots.Pace, "FLOOR", 1)
    monkeypatch.setattr(snapshots.Pace, "RATIO", 0)


def is_whole(store: Store) -> bool:
    """Whether a verification finds nothing at all: in chains, their ends, read models, or beside the streams."""
    found = {each.stream: each.problem for each in verify_all(store, store.streams(), projections=True)}
    assert found == dict.fromkeys(found)
    return strays(store) == []
