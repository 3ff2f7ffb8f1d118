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
from recorder.ledger import Ledger, snapshots
from recorder.store import tables
from tests.corpus import CORPUS

VCR = sorted((CORPUS / "cassettes").glob("*.yaml"))
NAME = "log"
"""The one stream of most tests."""


def sample(paths: Sequence[Path], count: int) -> list[Path]:
    """About `count` of them, spread evenly."""
    return list(paths[:: max(1, len(paths) // count)])


@contextmanager
def log(folder: Path, events: Sequence[NewEvent] = (), *, batch: int | None = None) -> Iterator[Ledger]:
    """A new database in the folder that holds these events, appended `batch` at a time (None: all at once)."""
    with recorder.open(folder / "log.db") as ledger:
        append(ledger, events, batch=batch)
        yield ledger


def append(ledger: Ledger, events: Sequence[NewEvent], *, batch: int | None = None) -> None:
    """Appends with one writer, `batch` events a transaction."""
    writer = ledger.writer(NAME)
    size = batch or max(1, len(events))
    for start in range(0, len(events), size):
        writer.append(events[start : start + size])


def printed(ledger: Ledger, n: int | None = None, **narrowing: Any) -> dict[str, Any]:
    """The state's lists as they print."""
    state = ledger.state(NAME, n, **narrowing).to_dict()
    shown: dict[str, Any] = json.loads(
        jsontext.encode({key: state[key] for key in ("messages", "tool_messages", "pairings", "findings")})
    )
    return shown


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
