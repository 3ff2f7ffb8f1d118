"""An open Postgres database."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus
from sqlalchemy import URL, Connection, ExceptionContext, QueuePool, RootTransaction, Table, create_engine, event

from recorder.errors import BadInput, DatabaseUnusable
from recorder.store import migrate, tables
from recorder.store.backend import Parameters, Row, TypeKey, appended, columns_of
from recorder.store.location import shown
from recorder.store.postgres import arrays, connecting, faults, schema, statements
from recorder.store.shapes import Appended, Position, Problem, StreamHead
from recorder.store.texts import storable

NOTIFY_SECONDS = 0.05
"""A program tells of its appends no more often; who follows the log looks by itself once a second."""
COPY_ROWS = 64
"""From so many rows on events go in by COPY, which is faster than a statement, and slower to begin with."""
_HEAD_FIELDS = tuple(tables.streams.c.keys())
_TYPE_FIELDS = ("dialect", "layer", "kind", "framing", "encoding")


class PostgresBackend:
    """`recorder.store.backend.Backend` over one server. Writers of different streams do not wait for each other."""

    streams_results = False

    def __init__(self, url: URL, *, create: bool, readonly: bool, patience: float | None = None) -> None:
        self.shown = shown(url.render_as_string(hide_password=True))
        self.readonly = readonly
        self._connect = connecting.connector(url, self.shown, readonly=readonly, patience=patience)
        self._pid = os.getpid()
        self._engine = create_engine(
            "postgresql+psycopg://",
            creator=self._connect,
            poolclass=QueuePool,
            max_overflow=-1,
            pool_pre_ping=True,
            use_native_hstore=False,
        )
        event.listens_for(self._engine, "handle_error")(self._translate)
        # Reads are single statements: each sees one state of the database without a transaction around it.
        self._reading = self._engine.execution_options(isolation_level="AUTOCOMMIT")
        self._viewing = self._engine.execution_options(isolation_level="REPEATABLE READ")
        self._aside: psycopg.Connection[Any] | None = None
        self._aside_lock = threading.Lock()
        self._listens = False
        self._notified = 0.0
        try:
            self._prepare(create=create)
        except BaseException:
            self.close()
            raise

    def read(self) -> AbstractContextManager[Connection]:
        self._same_process()
        return self._reading.connect()

    def view(self) -> AbstractContextManager[Connection]:
        self._same_process()
        return self._viewing.begin()

    @contextmanager
    def write(self) -> Iterator[Connection]:
        self._same_process()
        if self.readonly:
            raise DatabaseUnusable(f"{self.shown} was opened for reading only")
        with self._engine.connect() as connection:
            transaction = connection.begin()
            try:
                yield connection
                self._commit(connection, transaction)
            except BaseException:
                # Of a connection that is lost nothing is left to take back, and why it was lost is said already.
                with suppress(DatabaseUnusable):
                    transaction.rollback()
                raise
            self._notify(connection)

    @contextmanager
    def nested(self, connection: Connection) -> Iterator[None]:
        self._execute(connection, statements.BEGIN_PART, ())
        try:
            yield
        except BaseException:
            # Of a connection that is lost nothing is left to take back; SQLAlchemy may have found that out before.
            if not connection.invalidated:
                with suppress(DatabaseUnusable):
                    self._execute(connection, statements.UNDO_PART, ())
                    self._execute(connection, statements.END_PART, ())
            raise
        self._execute(connection, statements.END_PART, ())

    def on_connect(self, does: Callable[[], None]) -> None:
        event.listens_for(self._engine, "connect")(lambda *_: does())

    def head_by_name(self, connection: Connection, name: str, *, lock: bool) -> StreamHead | None:
        if not lock:
            return self._head(connection, statements.HEAD_BY_NAME, name)
        found = self._head(connection, statements.HEAD_BY_NAME_LOCKED, name)
        if found is None:
            # There is no row to lock: who makes a stream locks its name, and may have had to wait for another.
            self._execute(connection, statements.LOCK_NAME, (name,))
            found = self._head(connection, statements.HEAD_BY_NAME_LOCKED, name)
        return found

    def head_by_id(self, connection: Connection, stream_id: int, *, lock: bool) -> StreamHead | None:
        return self._head(connection, statements.HEAD_BY_ID_LOCKED if lock else statements.HEAD_BY_ID, stream_id)

    def last_event_id(self, connection: Connection, stream_id: int) -> bytes | None:
        row = self._execute(connection, statements.LAST_EVENT_ID, (stream_id,)).fetchone()
        return bytes(row[0]) if row is not None else None

    def erasures(self, connection: Connection, stream_id: int) -> int:
        row = self._execute(connection, statements.ERASURES, (stream_id,)).fetchone()
        assert row is not None
        return int(row[0])

    def intern_type(self, connection: Connection, key: TypeKey) -> int:
        """In a transaction of its own: two writers that met new types in another order would wait for each other."""
        named = dict(zip(_TYPE_FIELDS, key, strict=True))
        row = self._execute(connection, statements.FIND_TYPE, named).fetchone()
        if row is not None:
            return int(row[0])
        with self._engine.connect() as aside, aside.begin():
            self._execute(aside, statements.LOCK_TYPES, ())
            row = self._execute(aside, statements.FIND_TYPE, named).fetchone()
            if row is None:
                row = self._execute(aside, statements.ADD_TYPE, named).fetchone()
        assert row is not None
        return int(row[0])

    def find_origin(
        self, connection: Connection, stream_id: int, run_id: str | None, parent_run_id: str | None, name: str | None
    ) -> int | None:
        named = {"stream": stream_id, "run": run_id, "parent": parent_run_id, "name": name}
        row = self._execute(connection, statements.FIND_ORIGIN, named).fetchone()
        return int(row[0]) if row is not None else None

    def insert_events(self, connection: Connection, rows: Sequence[Row]) -> None:
        columns = columns_of(rows[0])
        if len(rows) < COPY_ROWS:
            self._execute(connection, statements.insert(tables.events, columns), _columns(tables.events, columns, rows))
            return
        types = [statements.TYPE_NAMES[statements.kind_of(tables.events.c[column])] for column in columns]
        with self._translated(), self._driver(connection).cursor().copy(statements.copy(columns)) as copy:
            copy.set_types(types)
            for row in rows:
                copy.write_row(row)

    def grow_head(
        self, connection: Connection, stream_id: int, first_seq: int, last_seq: int, head_hash: bytes
    ) -> None:
        self._execute(connection, statements.GROW_HEAD, (stream_id, first_seq, last_seq, head_hash))

    def appends(self, connection: Connection, after: Position, limit: int, *, newest: bool) -> list[Appended]:
        if self._is_restored(connection):
            raise DatabaseUnusable(
                f"{self.shown} was restored from a dump, its order begins anew: run rec db upgrade once"
            )
        statement = statements.NEWEST_APPENDS if newest else statements.APPENDS
        place = (after.epoch, after.position, after.stream_id, after.seq)
        return appended(self._execute(connection, statement, (*place, limit)).fetchall(), newest=newest)

    def is_ahead(self, connection: Connection, place: Position) -> bool:
        row = self._execute(connection, statements.IS_AHEAD, (place.epoch, place.position)).fetchone()
        return row is not None and bool(row[0])

    def hides_appends(self, connection: Connection, after: Position) -> bool:
        place = (after.epoch, after.position, after.stream_id, after.seq)
        row = self._execute(connection, statements.IS_BEHIND, place).fetchone()
        return row is not None and bool(row[0])

    def wait_for_append(self, seconds: float) -> None:
        with self._aside_connection() as aside:
            if not self._listens:
                aside.execute(statements.LISTEN)
                aside.commit()
                self._listens = True
                return  # What came before the LISTEN told nobody.
            aside.autocommit = True
            try:
                next(aside.notifies(timeout=seconds, stop_after=1), None)
            finally:
                aside.autocommit = False

    def kept(self, text: str) -> str:
        return storable(text)

    def insert(self, connection: Connection, table: Table, columns: Sequence[str], rows: Sequence[Row]) -> None:
        self._execute(connection, statements.insert(table, tuple(columns)), _columns(table, columns, rows))

    def upsert(self, connection: Connection, table: Table, columns: Sequence[str], rows: Sequence[Row]) -> None:
        columns = tuple(columns)
        places = [columns.index(key) for key in table.primary_key.columns.keys()]  # noqa: SIM118 - it has no other iterator of names
        # One statement may not set a row twice; of rows with one key the last one counts.
        last = {tuple(row[place] for place in places): row for row in rows}
        self._execute(connection, statements.upsert(table, columns), _columns(table, columns, list(last.values())))

    def query(self, sql: str, parameters: Parameters) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
        from recorder.store.postgres.query import run_query

        return run_query(self._connect, self.shown, sql, parameters)

    def schema_version(self) -> int:
        with self.read() as connection:
            return self._schema_version(connection)

    def problems(self) -> list[Problem]:
        from recorder.store.postgres import health

        with self.read() as connection:
            with self._translated():
                found = health.problems(self._driver(connection))
            # Where a table for it is missing, that was found.
            with suppress(DatabaseUnusable):
                if self._is_restored(connection):
                    found.append(
                        Problem("risk", "restored from a dump: rec tail waits until rec db upgrade was run once")
                    )
            return found

    def backup(self, path: Path) -> None:
        raise BadInput(
            f"{self.shown} is on a server: pg_dump makes backups of it, rec copy and rec export portable ones"
        )

    def roles(self) -> str:
        from recorder.store.postgres import roles

        with self.read() as connection:
            row = self._execute(connection, statements.PLACE, ()).fetchone()
        assert row is not None
        return roles.grants(row[0])

    def scrub(self) -> str | None:
        return "the server holds old versions of the rows until VACUUM FULL, and in its WAL and backups"

    def close(self) -> None:
        if self._aside is not None:
            self._aside.close()
        self._engine.dispose()

    def _prepare(self, *, create: bool) -> None:
        """This program's schema: made, or brought up from an older one, in one transaction."""
        found = self.schema_version()
        if schema.must_be_made(found, self.shown, create=create, readonly=self.readonly):
            with self.write() as connection:
                self._execute(connection, statements.LOCK_SCHEMA, ())
                # Another process may have done it while this one waited.
                if self._schema_version(connection) < migrate.SCHEMA:
                    migrate.upgrade(connection)
        if self.readonly:
            return
        with self.read() as connection:
            restored = self._is_restored(connection)
        if restored:
            self._begin_epoch()

    def _begin_epoch(self) -> None:
        try:
            with self.write() as connection:
                # Waits for whoever is appending, and makes those wait who would: no append misses the new epoch.
                self._execute(connection, statements.LOCK_EPOCHS, ())
                if self._is_restored(connection):
                    self._execute(connection, statements.NEW_EPOCH, ())
        except DatabaseUnusable as error:
            if not isinstance(error.__cause__, psycopg.errors.InsufficientPrivilege):
                raise
            # What a writer appended before the owner did this would be missed.
            raise DatabaseUnusable(
                f"{self.shown} was restored from a dump: the owner of its tables must run rec db upgrade once"
            ) from None

    @contextmanager
    def _aside_connection(self) -> Iterator[psycopg.Connection[Any]]:
        """A connection of its own beside the pool, for one thread at a time."""
        with self._aside_lock, self._translated():
            if self._aside is None or self._aside.closed:
                self._aside, self._listens = self._connect(), False
            yield self._aside

    def _notify(self, connection: Connection) -> None:
        """Wakes followers up, after the commit and seldom: a NOTIFY within it makes all commits wait for each other."""
        now = time.monotonic()
        if now - self._notified < NOTIFY_SECONDS:
            return
        self._notified = now
        with suppress(DatabaseUnusable), self._translated():
            driver = self._driver(connection)
            driver.execute(statements.NOTIFY)
            driver.commit()

    def _commit(self, connection: Connection, transaction: RootTransaction) -> None:
        status = self._driver(connection).info.transaction_status
        if status in (TransactionStatus.INERROR, TransactionStatus.UNKNOWN):
            # Its COMMIT would be a ROLLBACK, and no error.
            raise DatabaseUnusable(f"{self.shown} {faults.TAKEN_BACK}")
        try:
            transaction.commit()
        except DatabaseUnusable as error:
            if error.__cause__ is not None and faults.is_lost(error.__cause__):
                raise DatabaseUnusable(
                    f"{error}; whether the last append was stored is unknown, to append it again does no harm"
                ) from error.__cause__
            raise

    def _schema_version(self, connection: Connection) -> int:
        with self._translated():
            return schema.version(self._driver(connection), self.shown)

    def _is_restored(self, connection: Connection) -> bool:
        row = self._execute(connection, statements.IS_RESTORED, ()).fetchone()
        return row is not None and bool(row[0])

    def _head(self, connection: Connection, statement: str, key: str | int) -> StreamHead | None:
        row = self._execute(connection, statement, (key,)).fetchone()
        return StreamHead(**dict(zip(_HEAD_FIELDS, row, strict=True))) if row is not None else None

    def _execute(self, connection: Connection, statement: str, parameters: Any) -> psycopg.Cursor[Any]:
        """Runs a statement with the driver, inside SQLAlchemy's transaction."""
        with self._translated():
            return self._driver(connection).execute(statement, parameters, prepare=True)

    def _driver(self, connection: Connection) -> psycopg.Connection[Any]:
        driver = connection.connection.driver_connection
        assert isinstance(driver, psycopg.Connection)
        return driver

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            raise faults.translate(error, self.shown) from error

    def _translate(self, context: ExceptionContext) -> None:
        # A connection that is found dead before it is used is replaced, and no error.
        if isinstance(context.original_exception, psycopg.Error) and not context.is_pre_ping:
            raise faults.translate(context.original_exception, self.shown) from context.original_exception

    def _same_process(self) -> None:
        """A forked process would share the parent's sockets. Raises `DatabaseUnusable`."""
        if os.getpid() != self._pid:
            raise DatabaseUnusable(f"{self.shown} was opened before a fork: open it again in this process")


def open_postgres(url: URL, *, create: bool, readonly: bool, patience: float | None = None) -> PostgresBackend:
    """Opens a database on a server, and makes the schema in it where there is none and `create` is true.

    Raises `DatabaseUnusable`, `SchemaMismatch`.
    """
    return PostgresBackend(url, create=create, readonly=readonly, patience=patience)


def _columns(table: Table, columns: Sequence[str], rows: Sequence[Row]) -> list[arrays.Column]:
    """The rows as columns."""
    kinds = [statements.kind_of(table.c[column]) for column in columns]
    return [kind(values) for kind, values in zip(kinds, zip(*rows, strict=True), strict=True)]
