"""How a verb opens the database."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recorder.ledger import Ledger


def ledger(database: str | None, *, write: bool = False) -> Ledger:
    """The ledger at `--database`, or at the default place. Only a verb that writes makes a new one."""
    from recorder.ledger import Ledger
    from recorder.store.location import default_database

    place = database if database is not None else default_database(create_folder=write)
    return Ledger.open(place, create=write, readonly=not write)
