"""Opening a database: which kind it is, and that it may be used as asked."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from recorder.errors import DatabaseUnusable
from recorder.store.location import shown
from recorder.store.store import Store


def open_store(database: str | Path, *, create: bool = True, readonly: bool = False) -> Store:
    """Opens a database by its path or URL (`sqlite:///relative`, `sqlite:////absolute`).

    A new one is made where there is none and `create` is true, an older schema is brought up; `readonly` does neither,
    and works on a read-only file in a read-only folder. Raises `DatabaseUnusable`, and `SchemaMismatch` where the
    schema is newer than this program (or, with `readonly`, older).
    """
    path = _path_of(database)
    from recorder.store.sqlite import open_sqlite

    return Store(open_sqlite(path, create=create, readonly=readonly))


def _path_of(database: str | Path) -> Path:
    if isinstance(database, Path) or "://" not in database:
        if str(database) in ("", ":memory:"):
            raise DatabaseUnusable("the database must be a file: name one")
        return Path(database)
    url = _parsed(database)
    if url.get_backend_name() != "sqlite":
        raise DatabaseUnusable(
            f"{shown(database)} is no database that this program knows: give a path or sqlite:///PATH"
        )
    if not url.database or url.database == ":memory:":
        raise DatabaseUnusable(f"{shown(database)} names no file: give sqlite:///PATH")
    return Path(url.database)


def _parsed(database: str) -> URL:
    try:
        return make_url(database)
    except (ArgumentError, ValueError):
        raise DatabaseUnusable(f"{shown(database)} is not a database's URL: give a path or sqlite:///PATH") from None
