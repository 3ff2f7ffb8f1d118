"""An open SQLite database."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, ExceptionContext, QueuePool, Table, create_engine, event

from recorder.errors import BadInput, DatabaseUnusable
from recorder.events import jsontext
from recorder.store import migrate, tables
from recorder.store.backend import Parameters, Row, TypeKey, appended, columns_of
from recorder.store.shapes import Appended, Position, Problem, StreamHead
from recorder.store.sqlite import faults, files, statements

PAGE_BYTES = 8192
"""Pages of 4096 bytes waste up to 1.6 KB on an event of 2.5 KB, as LangChain's are; larger ones slow small commits."""
BUSY_SECONDS = 20.0
"""How long a writer waits for another process's transaction."""
BACKUP_PAGES = 4096
"""Pages that a backup copies before it looks whether it was interrupted."""
SCRUB_SECONDS = 3.0
"""How long the WAL's end waits for those who read the database."""
POLL_SECONDS = 0.1
"""How long a follower of the log sleeps between two looks."""
_WRITES = "recorder_writes"
_HEAD_FIELDS = tuple(tables.streams.c.keys())


class SqliteBackend:
    """`recorder.store.backend.Backend` over one file."""

    streams_results = True

    def __init__(self, path: Path, found: files.Found, *, readonly: bool, patience: float | None = None) -> None:
        self.path = path
        self._patience = BUSY_SECONDS if patience is None else patience
        self.shown = str(path)
        self.readonly = readonly
        self._read_uri = found.read_uri
        # Threads queue here, in the order in which they came: SQLite's own waiting is polling, and unfair.
        self._turn = threading.Lock()
        self._engine = _engine(found.read_uri if readonly else files.uri(path, "mode=rwc"), self.shown, self._patience)
        self._writer: Connection | None = None
        self._pid = os.getpid()
        if not readonly:
            try:
                self._prepare()
            except BaseException:
                self.close()
                raise

    def read(self) -> AbstractContextManager[Connection]:
        self._same_process()
        return self._engine.begin()

    def view(self) -> AbstractContextManager[Connection]:
        return self.read()

    def _same_process(self) -> None:
        """SQLite forbids a forked process the connections of its parent. Raises `DatabaseUnusable`."""
        if os.getpid() != self._pid:
            raise DatabaseUnusable(f"{self.shown} was opened before a fork: open it again in this process")

    @contextmanager
    def write(self) -> Iterator[Connection]:
        self._same_process()
        if self.readonly:
            raise DatabaseUnusable(f"{self.shown} was opened for reading only")
        if not self._turn.acquire(timeout=self._patience):
            raise DatabaseUnusable(f"{self.shown} is locked by another thread: try again when that is done")
        try:
            # Kept between transactions: to check one out costs as much as to write an event.
            if self._writer is None:
                self._writer = self._engine.connect().execution_options(**{_WRITES: True})
            with self._writer.begin():
                yield self._writer
                _must_be_in_transaction(self._writer, self.shown)
        except BaseException:
            self._drop_writer()
            raise
        finally:
            self._turn.release()

    @contextmanager
    def nested(self, connection: Connection) -> Iterator[None]:
        self._run(connection, statements.BEGIN_PART)
        try:
            yield
        except BaseException:
            # After some errors SQLite has taken all of the transaction back already, and its savepoints with it.
            if _driver_of(connection).in_transaction:
                self._run(connection, statements.UNDO_PART)
                self._run(connection, statements.END_PART)
            raise
        self._run(connection, statements.END_PART)

    def on_connect(self, does: Callable[[], None]) -> None:
        event.listens_for(self._engine, "connect")(lambda *_: does())

    # SQLite locks the whole database for a writer: there is nothing to lock besides.

    def head_by_name(self, connection: Connection, name: str, *, lock: bool) -> StreamHead | None:
        return self._head(connection, statements.HEAD_BY_NAME, name)

    def head_by_id(self, connection: Connection, stream_id: int, *, lock: bool) -> StreamHead | None:
        return self._head(connection, statements.HEAD_BY_ID, stream_id)

    def last_event_id(self, connection: Connection, stream_id: int) -> bytes | None:
        row = self._one(connection, statements.LAST_EVENT_ID, (stream_id,))
        return row[0] if row is not None else None

    def erasures(self, connection: Connection, stream_id: int) -> int:
        row = self._one(connection, statements.ERASURES, (stream_id,))
        return int(row[0]) if row is not None else 0

    def intern_type(self, connection: Connection, key: TypeKey) -> int:
        row = self._one(connection, statements.FIND_TYPE, key) or self._one(connection, statements.ADD_TYPE, key)
        assert row is not None
        return int(row[0])

    def find_origin(
        self, connection: Connection, stream_id: int, run_id: str | None, parent_run_id: str | None, name: str | None
    ) -> int | None:
        row = self._one(connection, statements.FIND_ORIGIN, (stream_id, run_id, parent_run_id, name))
        return row[0] if row is not None else None

    def insert_events(self, connection: Connection, rows: Sequence[Row]) -> None:
        self._run_many(connection, statements.insert(tables.events, columns_of(rows[0])), rows)

    def grow_head(
        self, connection: Connection, stream_id: int, first_seq: int, last_seq: int, head_hash: bytes
    ) -> None:
        self._run(connection, statements.GROW_HEAD, (last_seq, head_hash, stream_id))
        self._run(connection, statements.ADD_APPEND, (stream_id, first_seq, last_seq))

    def appends(self, connection: Connection, after: Position, limit: int, *, newest: bool) -> list[Appended]:
        statement = statements.NEWEST_APPENDS if newest else statements.APPENDS
        place = (after.epoch, after.position, after.stream_id, after.seq)
        return appended(self._run(connection, statement, (*place, limit)).fetchall(), newest=newest)

    def is_ahead(self, connection: Connection, place: Position) -> bool:
        row = self._one(connection, statements.IS_AHEAD, (place.epoch, place.position))
        return row is not None and bool(row[0])

    def hides_appends(self, connection: Connection, after: Position) -> bool:
        return False  # Commits come one after the other here.

    def wait_for_append(self, seconds: float) -> None:
        # SQLite tells no other process of a commit.
        time.sleep(min(seconds, POLL_SECONDS))

    def kept(self, text: str) -> str:
        return jsontext.clean(text)

    def insert(self, connection: Connection, table: Table, columns: Sequence[str], rows: Sequence[Row]) -> None:
        self._run_many(connection, statements.insert(table, tuple(columns)), rows)

    def upsert(self, connection: Connection, table: Table, columns: Sequence[str], rows: Sequence[Row]) -> None:
        self._run_many(connection, statements.upsert(table, tuple(columns)), rows)

    def query(self, sql: str, parameters: Parameters) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
        from recorder.store.sqlite.query import run_query

        return run_query(self._read_uri, self.shown, sql, parameters)

    def schema_version(self) -> int:
        with self._engine.begin() as connection:
            return _user_version(connection)

    def problems(self) -> list[Problem]:
        from recorder.store.sqlite import health

        with self._engine.begin() as connection:
            return health.problems(connection, self.path)

    def backup(self, path: Path) -> None:
        if path.exists():
            raise BadInput(f"{path} exists already: name a new file")
        try:
            # In a read transaction: without one SQLite begins anew whenever another program has written meanwhile.
            with closing(sqlite3.connect(path)) as target, self.read() as connection:
                _user_version(connection)
                # Python looks for signals where it is told of progress.
                _driver_of(connection).backup(target, pages=BACKUP_PAGES, progress=lambda *_: None)
        except sqlite3.Error as error:
            path.unlink(missing_ok=True)
            raise BadInput(f"{path} cannot be written: {error}") from None
        except BaseException:
            path.unlink(missing_ok=True)
            raise

    def roles(self) -> str:
        raise BadInput(f"{self.shown} is a SQLite file, which has no roles: the file's permissions are what counts")

    def scrub(self) -> str | None:
        # `secure_delete` overwrote the pages; the WAL still has what they were before, until it is written back.
        with self._turn, self._engine.connect() as connection:
            driver = _driver_of(connection)
            try:
                # Whoever waits here for a reader keeps all writers out meanwhile.
                driver.execute(f"PRAGMA busy_timeout = {int(SCRUB_SECONDS * 1000)}")
                busy, *_ = driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                driver.execute(f"PRAGMA busy_timeout = {int(self._patience * 1000)}")
            except sqlite3.Error as error:
                # What was erased is: only the bytes are left.
                return f"{self.path} {faults.line_for(error)}; its -wal could not be written back, and keeps old bytes"
        if not busy:
            return None
        return f"another program reads {self.path}: it and its -wal keep the old bytes until nobody has it open"

    def close(self) -> None:
        self._drop_writer()
        self._engine.dispose()

    def _drop_writer(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()

    def _head(self, connection: Connection, statement: str, key: str | int) -> StreamHead | None:
        row = self._one(connection, statement, (key,))
        return StreamHead(**dict(zip(_HEAD_FIELDS, row, strict=True))) if row is not None else None

    # The driver itself, inside SQLAlchemy's transaction: through SQLAlchemy a statement costs 50 µs, a savepoint 150.

    def _run(self, connection: Connection, statement: str, parameters: Row = ()) -> sqlite3.Cursor:
        driver = _must_be_in_transaction(connection, self.shown)
        try:
            return driver.execute(statement, parameters)
        except sqlite3.Error as error:
            raise faults.translate(error, self.shown) from error

    def _run_many(self, connection: Connection, statement: str, rows: Iterable[Row]) -> None:
        driver = _must_be_in_transaction(connection, self.shown)
        try:
            driver.executemany(statement, rows)
        except sqlite3.Error as error:
            raise faults.translate(error, self.shown) from error

    def _one(self, connection: Connection, statement: str, parameters: Row = ()) -> tuple[Any, ...] | None:
        """The first row, None where there is none."""
        try:
            found: tuple[Any, ...] | None = self._run(connection, statement, parameters).fetchone()
        except sqlite3.Error as error:
            raise faults.translate(error, self.shown) from error
        return found

    def _prepare(self) -> None:
        """WAL mode, and this program's schema: made, or brought up from an older one, in one transaction."""
        with self._engine.connect() as connection:
            _set_wal(_driver_of(connection), self.shown, self._patience)
        with self._engine.begin() as connection:
            current = _user_version(connection)
        if current >= migrate.SCHEMA:
            return
        with self.write() as connection:
            # Another process may have done it while this one waited.
            if _user_version(connection) < migrate.SCHEMA:
                connection.exec_driver_sql(f"PRAGMA application_id = {files.APPLICATION_ID}")
                migrate.upgrade(connection)
                connection.exec_driver_sql(f"PRAGMA user_version = {migrate.SCHEMA}")


def open_sqlite(path: Path, *, create: bool, readonly: bool, patience: float | None = None) -> SqliteBackend:
    """Opens a file, and makes it where there is none and `create` is true.

    `patience`: seconds for which other programs' locks are waited for.

    Raises `DatabaseUnusable`, `SchemaMismatch`.
    """
    found = files.inspect(path, create=create, readonly=readonly)
    return SqliteBackend(path, found, readonly=readonly, patience=patience)


def _engine(place: str, shown: str, patience: float) -> Engine:
    engine = create_engine(
        "sqlite://",
        creator=lambda: _connect(place, patience),
        poolclass=QueuePool,
        max_overflow=-1,
    )

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # The driver's own transactions are off (`isolation_level=None`): it neither begins one before a SELECT or a
        # CREATE, nor begins any as IMMEDIATE, and a deferred one that comes to write fails at once if another wrote.
        statement = "BEGIN IMMEDIATE" if connection.get_execution_options().get(_WRITES) else "BEGIN"
        try:
            _driver_of(connection).execute(statement)
        except sqlite3.Error as error:
            raise faults.translate(error, shown) from error

    @event.listens_for(engine, "before_cursor_execute")
    def check(connection: Connection, *_: object) -> None:
        _must_be_in_transaction(connection, shown)

    @event.listens_for(engine, "handle_error")
    def translate(context: ExceptionContext) -> None:
        if isinstance(context.original_exception, sqlite3.Error):
            raise faults.translate(context.original_exception, shown) from context.original_exception

    return engine


def _connect(place: str, patience: float) -> sqlite3.Connection:
    connection = sqlite3.connect(
        place, uri=True, isolation_level=None, check_same_thread=False, timeout=patience, cached_statements=256
    )
    try:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def _driver_of(connection: Connection) -> sqlite3.Connection:
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    return driver


def _must_be_in_transaction(connection: Connection, shown: str) -> sqlite3.Connection:
    """The driver's connection, unless SQLite ended the transaction.

    It rolls all of it back by itself after some errors (a full disk: https://www.sqlite.org/lang_transaction.html,
    section 2.2). What came after would be committed statement by statement, and the caller told that all was stored.
    """
    driver = _driver_of(connection)
    if not driver.in_transaction:
        raise DatabaseUnusable(f"{shown} took the transaction back after an error: nothing of it was stored")
    return driver


def _set_wal(driver: sqlite3.Connection, shown: str, patience: float) -> None:
    """Switches to WAL. SQLite does not wait for its turn here, so this does."""
    deadline = time.monotonic() + patience
    while True:
        try:
            driver.execute(f"PRAGMA page_size = {PAGE_BYTES}")  # of a file that is still empty
            driver.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.Error as error:
            if faults.code_of(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise faults.translate(error, shown) from error
            time.sleep(0.01)


def _user_version(connection: Connection) -> int:
    found: int = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
    return found
