"""The bare limit, and what one would use instead: the same bytes, with the same durability."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import Any
from uuid import uuid4

import psycopg
from eventsourcing import postgres as es_postgres
from eventsourcing import sqlite as es_sqlite
from eventsourcing.persistence import AggregateRecorder, StoredEvent
from langgraph.checkpoint.base import BaseCheckpointSaver
from psycopg.conninfo import conninfo_to_dict

_TABLE = (
    "CREATE TABLE IF NOT EXISTS {name} (stream {kind}, seq {kind}, body {blob} NOT NULL, PRIMARY KEY (stream, seq))"
)


Run = Callable[[], None]


@contextmanager
def bare_sqlite(path: str, bodies: Sequence[bytes], batch: int) -> Iterator[Run]:
    """A tight loop over the driver: one table, one index, WAL, synchronous=FULL."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(_TABLE.format(name="events", kind="INTEGER", blob="BLOB"))

        def run() -> None:
            for start in range(0, len(bodies), batch):
                rows = [(1, start + place, body) for place, body in enumerate(bodies[start : start + batch])]
                connection.execute("BEGIN IMMEDIATE")
                connection.executemany("INSERT INTO events VALUES (?, ?, ?)", rows)
                connection.execute("COMMIT")

        yield run


@contextmanager
def bare_copy(url: str, bodies: Sequence[bytes], batch: int) -> Iterator[Run]:
    """COPY in binary, one table, one index."""
    stream = uuid4().int >> 65
    with psycopg.connect(url) as connection:
        connection.execute(_TABLE.format(name="bare_events", kind="bigint", blob="bytea"))
        connection.commit()

        def run() -> None:
            for start in range(0, len(bodies), batch):
                with connection.cursor().copy("COPY bare_events FROM STDIN (FORMAT BINARY)") as copy:
                    copy.set_types(["bigint", "bigint", "bytea"])
                    for place, body in enumerate(bodies[start : start + batch]):
                        copy.write_row((stream, start + place, body))
                connection.commit()

        yield run


@contextmanager
def bare_insert(url: str, bodies: Sequence[bytes]) -> Iterator[Run]:
    """One INSERT a commit."""
    stream = uuid4().int >> 65
    with psycopg.connect(url) as connection:
        connection.execute(_TABLE.format(name="bare_events", kind="bigint", blob="bytea"))
        connection.commit()

        def run() -> None:
            for seq, body in enumerate(bodies):
                connection.execute("INSERT INTO bare_events VALUES (%s, %s, %s)", (stream, seq, body), prepare=True)
                connection.commit()

        yield run


@contextmanager
def eventsourcing_sqlite(path: str, bodies: Sequence[bytes], batch: int) -> Iterator[Run]:
    """The `eventsourcing` library's recorder, which keeps a body and its version; its own settings of SQLite."""
    datastore = es_sqlite.SQLiteDatastore(path)
    recorder = es_sqlite.SQLiteAggregateRecorder(datastore)
    recorder.create_table()
    yield partial(_insert, recorder, bodies, batch)
    datastore.close()


@contextmanager
def eventsourcing_postgres(url: str, bodies: Sequence[bytes], batch: int) -> Iterator[Run]:
    given = conninfo_to_dict(url)
    datastore = es_postgres.PostgresDatastore(
        dbname=str(given.get("dbname", "postgres")),
        host=str(given["host"]),
        port=str(given.get("port", 5432)),
        user=str(given["user"]),
        password="",
    )
    recorder = es_postgres.PostgresAggregateRecorder(datastore)
    recorder.create_table()
    yield partial(_insert, recorder, bodies, batch)
    datastore.close()


def _insert(recorder: AggregateRecorder, bodies: Sequence[bytes], batch: int) -> None:
    stream = uuid4()
    for start in range(0, len(bodies), batch):
        given = bodies[start : start + batch]
        recorder.insert_events([StoredEvent(stream, start + place, "chunk", body) for place, body in enumerate(given)])


@contextmanager
def langgraph_sqlite(path: str, bodies: Sequence[bytes]) -> Iterator[Run]:
    """A write of a checkpoint for each event, as a graph's node makes them."""
    from langgraph.checkpoint.sqlite import SqliteSaver

    with SqliteSaver.from_conn_string(path) as saver:
        saver.setup()
        yield partial(_put, saver, bodies)


@contextmanager
def langgraph_postgres(url: str, bodies: Sequence[bytes]) -> Iterator[Run]:
    from langgraph.checkpoint.postgres import PostgresSaver

    with PostgresSaver.from_conn_string(url) as saver:
        saver.setup()
        yield partial(_put, saver, bodies)


def _put(saver: BaseCheckpointSaver[Any], bodies: Sequence[bytes]) -> None:
    thread = uuid4().hex
    for seq, body in enumerate(bodies):
        config = {"configurable": {"thread_id": thread, "checkpoint_ns": "", "checkpoint_id": f"{seq:08d}"}}
        saver.put_writes(config, [("messages", body)], uuid4().hex)
