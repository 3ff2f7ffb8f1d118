"""Events and stores for the tests of this folder."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg

from recorder.events import Event, NewEvent
from recorder.events.chain import GENESIS, content_hash, relink
from recorder.store import Receipt, Store, tables


def event(number: int, body: bytes = b'{"x": 1}', **fields: Any) -> NewEvent:
    """Event `number` of an agent's run; its id ascends with its number."""
    given: dict[str, Any] = {
        "event_id": number.to_bytes(16, "big"),
        "dialect": "openai.chat",
        "layer": "wire",
        "kind": "chunk",
        "body": body,
        "framing": "data: {body}\n\n",
        "arrived_at": 1_700_000_000_000_000 + number,
        "run_id": "run-1",
        **fields,
    }
    return NewEvent(**given)


def events(first: int, last: int) -> list[NewEvent]:
    return [event(number, b'{"n": %d}' % number) for number in range(first, last + 1)]


def append(store: Store, stream: str, given: list[NewEvent], expected: int | None = None) -> Receipt:
    """Appends in a transaction of its own, to a stream that is made where it is missing."""
    with store.transaction() as transaction:
        head = transaction.head(stream) or transaction.create_stream(stream)
        return transaction.append(head, given, expected)


def erase(store: Store, stream: str, first: int, last: int) -> None:
    """Blanks events in a transaction of its own."""
    with store.transaction() as transaction:
        transaction.erase(store.head(stream), first, last, "asked for")


def eventually(condition: Callable[[], object], seconds: float = 20) -> bool:
    """Whether a condition comes true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def bodies(store: Store, stream: str) -> list[bytes]:
    return [found.body for found in store.events(store.head(stream))]


def chain_is_whole(store: Store, stream: str) -> bool:
    """Recomputes every hash of the stream from what is stored."""
    head = store.head(stream)
    previous = GENESIS
    for found in store.events(head, as_stored=True):
        previous = relink(previous, head.uuid, found)
        if found.hash != previous or (not found.erased and not _holds(found)):
            return False
    return previous == head.head_hash


def _holds(found: Event) -> bool:
    return found.salt is not None and content_hash(found.salt, found) == found.body_hash


def select(store: Store, sql: str, **parameters: object) -> list[tuple[Any, ...]]:
    """The rows of a query of the user's."""
    return list(store.query(sql, parameters)[1])


class Behind:
    """A database behind the store's back, as somebody with another tool would open it."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    @property
    def is_sqlite(self) -> bool:
        return isinstance(self.driver, sqlite3.Connection)

    def run(self, statement: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Runs a statement with `?` for each parameter, committed by itself, and gives its rows."""
        if self.is_sqlite:
            cursor = self.driver.execute(statement, parameters)
        else:
            # Without parameters psycopg leaves percent signs alone.
            cursor = self.driver.execute(statement.replace("?", "%s"), parameters or None)
        return cursor.fetchall() if cursor.description is not None else []

    def spelled(self, statement: str) -> str:
        """The statement with this kind's words for values that are written differently."""
        if self.is_sqlite:
            return statement.format(empty="x''", byte="x'ff'", uuid="randomblob(16)", zeros="zeroblob(32)")
        zeros = "decode(repeat('00', 32), 'hex')"
        return statement.format(
            empty="''::bytea", byte=r"'\xff'::bytea", uuid="uuid_send(gen_random_uuid())", zeros=zeros
        )

    def drop_trigger(self, name: str, table: str) -> None:
        self.run(f"DROP TRIGGER {name}" if self.is_sqlite else f"DROP TRIGGER {name} ON {table}")

    def unguard(self, table: str) -> None:
        """Takes the triggers and checks of a table away, as its owner can."""
        if self.is_sqlite:
            for (name,) in self.run(f"SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = '{table}'"):
                self.run(f"DROP TRIGGER {name}")
        else:
            self.run(f"ALTER TABLE {table} DISABLE TRIGGER USER")
            self.run(f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {table}_seq_check")

    def content(self) -> dict[str, list[tuple[Any, ...]]]:
        """Every row of every table of the log and the read model."""
        return {
            name: sorted(self.run(f"SELECT * FROM {name}"), key=repr)
            for name in (*tables.metadata.tables, "alembic_version")
        }


@contextmanager
def behind(database: str | Path) -> Iterator[Behind]:
    """Opens a database with its own driver; what is done is committed at once."""
    if "://" in str(database):
        with psycopg.connect(str(database), autocommit=True) as connection:
            yield Behind(connection)
    else:
        with closing(sqlite3.connect(database, isolation_level=None)) as file:
            yield Behind(file)


@contextmanager
def raw(path: Path) -> Iterator[sqlite3.Connection]:
    """As `behind`, for a SQLite file."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection
