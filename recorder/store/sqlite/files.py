"""The file before it is opened for good: is it there, is it ours, may it be written.

Nothing here writes: a file that turns out to be another program's is left as it was.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from msgspec import Struct

from recorder.errors import DatabaseUnusable, SchemaMismatch
from recorder.store.migrate import SCHEMA
from recorder.store.sqlite import faults

APPLICATION_ID = 0x7265632E
"""`rec.` in the file's header, where file(1) and SQLite look for the application."""
MAGIC = b"SQLite format 3\0"
PREFIXES = ("log_", "rm_", "alembic_", "sqlite_")
"""What our tables' names begin with."""


class Found(Struct, frozen=True):
    """A database file as it was found; `schema` is 0 for one that is new or empty."""

    schema: int
    read_uri: str
    """How to open it so that SQLite itself refuses to write."""


def inspect(path: Path, *, create: bool, readonly: bool) -> Found:
    """Looks at the file. Raises `DatabaseUnusable` or `SchemaMismatch` where it cannot be used as asked."""
    if path.is_dir():
        raise DatabaseUnusable(f"{path} is a folder: name a database file in it")
    if not path.exists():
        if readonly or not create:
            raise DatabaseUnusable(f"{path} does not exist: record something first, or name another database")
        if not path.parent.is_dir():
            raise DatabaseUnusable(f"{path} cannot be made: there is no folder {path.parent}")
        if not _may(path.parent, os.W_OK | os.X_OK):
            raise DatabaseUnusable(f"{path} cannot be made: the folder {path.parent} is read-only")
        return Found(schema=0, read_uri=uri(path, "mode=ro"))
    if not _may(path, os.R_OK):
        raise DatabaseUnusable(f"{path} may not be read: change its permissions or name another database")
    _must_be_sqlite(path)
    if not readonly:
        _must_be_writable(path)
    found = _look(path, readonly=readonly)
    if found.schema > SCHEMA:
        raise SchemaMismatch(f"{path} has schema {found.schema}, newer than this program's {SCHEMA}: upgrade recorder")
    if readonly and found.schema < SCHEMA:
        raise SchemaMismatch(
            f"{path} has schema {found.schema}, older than this program's {SCHEMA}: run rec db upgrade"
        )
    return found


def uri(path: Path, options: str) -> str:
    """The file as SQLite's URI, whatever characters are in its name."""
    return f"{path.absolute().as_uri()}?{options}"


def _may(path: Path, mode: int) -> bool:
    """Whether this process may, as the user that it acts for."""
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


def _must_be_sqlite(path: Path) -> None:
    """SQLite itself takes a file shorter than its header for an empty database, and would overwrite it."""
    with path.open("rb") as file:
        head = file.read(len(MAGIC))
    if head and head != MAGIC:
        raise DatabaseUnusable(f"{path} is not a SQLite database: name another file")


def _must_be_writable(path: Path) -> None:
    if not _may(path, os.W_OK):
        raise DatabaseUnusable(f"{path} is read-only: change its permissions or name another database")
    if not _may(path.parent, os.W_OK | os.X_OK):
        raise DatabaseUnusable(f"{path} cannot be written: SQLite needs to write in its folder {path.parent} too")


def _look(path: Path, *, readonly: bool) -> Found:
    read_uri = uri(path, "mode=ro")
    try:
        # `rw` leaves no -wal and -shm behind when it closes; `ro` cannot remove them.
        schema = _schema_of(path, read_uri if readonly else uri(path, "mode=rw"))
    except sqlite3.Error as error:
        if not readonly or faults.code_of(error) not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            raise faults.translate(error, str(path)) from None
        # A database in WAL mode needs a -shm file, which a read-only folder does not let be made. As long as no -wal
        # file holds anything, the file itself is all there is; nobody can write it without making one.
        wal = path.with_name(f"{path.name}-wal")
        if wal.exists() and wal.stat().st_size:
            raise DatabaseUnusable(
                f"{path} cannot be read in a read-only folder while {wal.name} holds events: copy both elsewhere"
            ) from None
        read_uri = uri(path, "mode=ro&immutable=1")
        try:
            schema = _schema_of(path, read_uri)
        except sqlite3.Error as again:
            raise faults.translate(again, str(path)) from None
    return Found(schema=schema, read_uri=read_uri)


def _schema_of(path: Path, place: str) -> int:
    """`user_version` of a database that is ours, 0 of an empty one. Raises `sqlite3.Error`, `DatabaseUnusable`."""
    with closing(sqlite3.connect(place, uri=True, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        schema: int = connection.execute("PRAGMA user_version").fetchone()[0]
        empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    if application == APPLICATION_ID:
        return schema
    if empty and application == 0 and schema == 0:
        return 0
    raise DatabaseUnusable(f"{path} is a database of another application: name another file")
