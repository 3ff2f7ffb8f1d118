"""Where store, projections and dialects meet: append and project, state at N, rebuild."""

from __future__ import annotations

from pathlib import Path

from recorder.ledger.ledger import Ledger
from recorder.ledger.state import State
from recorder.ledger.writer import StreamWriter

__all__ = ["Ledger", "State", "StreamWriter", "open"]


def open(database: str | Path, *, create: bool = True, readonly: bool = False) -> Ledger:
    """Opens a database of streams: a path or a URL. Raises `DatabaseUnusable`, `SchemaMismatch`."""
    return Ledger.open(database, create=create, readonly=readonly)
