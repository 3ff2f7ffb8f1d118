"""How a verb opens the database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recorder.errors import DatabaseUnusable

if TYPE_CHECKING:
    from recorder.ledger import Ledger


def ledger(database: str | None, *, write: bool = False, create: bool | None = None) -> Ledger:
    """The ledger at `--database`, or at the default place. `create`: make one where there is none; else as `write`."""
    from recorder.ledger import Ledger
    from recorder.store.location import default_database

    make = write if create is None else create
    try:
        place = database if database is not None else default_database(create_folder=make)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DatabaseUnusable(f"{error.filename}: {reason}; name a database with -d or REC_DATABASE") from None
    return Ledger.open(place, create=make, readonly=not write)
