"""Where store, projections and dialects meet: append and project, state at N, rebuild."""

from __future__ import annotations

from pathlib import Path

from recorder.ledger.ledger import Ledger
from recorder.ledger.state import State
from recorder.ledger.writer import StreamWriter

__all__ = ["Ledger", "State", "StreamWriter", "open"]


def open(database: str | Path | None = None, *, create: bool = True, readonly: bool = False) -> Ledger:
    """Opens a database of streams: a path, a URL, or None for the one that the commands use.

    A new one is made where there is none, unless `create` is false. Raises `recorder.errors.DatabaseUnusable`, and
    `SchemaMismatch` where a newer program made it.
    """
    from recorder.store.location import default_database

    place = default_database(create_folder=create and not readonly) if database is None else database
    return Ledger.open(place, create=create, readonly=readonly)
