"""Opening a database: which kind it is, and that it may be used as asked."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from recorder.errors import DatabaseUnusable
from recorder.store.location import shown
from recorder.store.store import Store

_FORMS = "give a path, sqlite:///PATH or postgresql://HOST/NAME"


def open_store(
    database: str | Path, *, create: bool = True, readonly: bool = False, patience: float | None = None
) -> Store:
    """Opens a database by its path or URL (`sqlite:///relative`, `sqlite:////absolute`, `postgresql://host/name`).

    A new file, or a new schema in a database on a server, is made where there is none and `create` is true, an older
    schema is brought up; `readonly` does neither, and works on a read-only file in a read-only folder. `patience`: for
    how many seconds those who hold a lock, and a server that does not answer, are waited for (None: 20). Raises
    `DatabaseUnusable`, and `SchemaMismatch` where the schema is newer than this program (or, with `readonly`, older).
    """
    if isinstance(database, Path) or "://" not in database:
        if str(database) in ("", ":memory:"):
            raise DatabaseUnusable("the database must be a file: name one")
        return _sqlite(Path(database), create=create, readonly=readonly, patience=patience)
    url = _parsed(database)
    kind = url.get_backend_name()
    if kind == "sqlite":
        if not url.database or url.database == ":memory:":
            raise DatabaseUnusable(f"{shown(database)} names no file: give sqlite:///PATH")
        return _sqlite(Path(url.database), create=create, readonly=readonly, patience=patience)
    if kind in ("postgresql", "postgres"):
        return _postgres(url, create=create, readonly=readonly, patience=patience)
    raise DatabaseUnusable(f"{shown(database)} is no database that this program knows: {_FORMS}")


def _sqlite(path: Path, *, create: bool, readonly: bool, patience: float | None) -> Store:
    from recorder.store.sqlite import open_sqlite

    return Store(open_sqlite(path, create=create, readonly=readonly, patience=patience))


def _postgres(url: URL, *, create: bool, readonly: bool, patience: float | None) -> Store:
    try:
        from recorder.store.postgres import open_postgres
    except ImportError as error:
        # psycopg without its library gives no name.
        package = error.name or "psycopg[binary]"
        raise DatabaseUnusable(
            f"Postgres needs the package {package}: pip install 'agent-stream-recorder[postgres]'"
        ) from None
    return Store(open_postgres(url, create=create, readonly=readonly, patience=patience))


def _parsed(database: str) -> URL:
    try:
        return make_url(database)
    except (ArgumentError, ValueError):
        raise DatabaseUnusable(f"{shown(database)} is not a database's URL: {_FORMS}") from None
