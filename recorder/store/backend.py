"""What a kind of database must offer to the store: all that differs between them is behind this."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from sqlalchemy import Connection, Table

from recorder.store.shapes import Problem, StreamHead

Row = tuple[object, ...]
Parameters = Sequence[object] | Mapping[str, object]


PLAIN = (
    "stream_id",
    "seq",
    "event_id",
    "type_id",
    "origin_id",
    "arrived_at",
    "recorded_at",
    "body",
    "salt",
    "body_hash",
    "hash",
    "version",
)
"""What every event's row has."""
RARE = ("source_id", "occurred_at", "frame", "cuts", "meta", "redacted")
"""What few have: a batch without them is inserted a fifth faster by a statement that does not name them."""


class Backend(Protocol):
    """One open database. Errors of the driver come out as `recorder.errors`, each one line."""

    shown: str
    """The database's name in messages: never with a password."""
    readonly: bool

    def read(self) -> AbstractContextManager[Connection]:
        """A transaction that only reads, to be kept short."""

    def write(self) -> AbstractContextManager[Connection]:
        """A transaction that may write: committed at the end, rolled back where an exception leaves it."""

    def head_by_name(self, connection: Connection, name: str) -> StreamHead | None:
        """The stream of that name as it is now, or None."""

    def head_by_id(self, connection: Connection, stream_id: int) -> StreamHead | None:
        """The stream with that key as it is now, locked until the transaction ends, or None."""

    def last_event_id(self, connection: Connection, stream_id: int) -> bytes | None:
        """The greatest event id of the stream: ids above it are new."""

    def find_origin(
        self, connection: Connection, stream_id: int, run_id: str | None, parent_run_id: str | None, name: str | None
    ) -> int | None:
        """The id of an interned origin; None equals None here."""

    def insert_events(self, connection: Connection, rows: Sequence[Row]) -> None:
        """Inserts rows in the order of their seq, with the columns of `PLAIN` or of `PLAIN` and then `RARE`."""

    def grow_head(self, connection: Connection, stream_id: int, last_seq: int, head_hash: bytes) -> None:
        """Moves the stream's head to its new last event."""

    def upsert(self, connection: Connection, table: Table, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Inserts rows, or sets these columns where a row with the same key is there."""

    def query(self, sql: str, parameters: Parameters) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
        """Runs one query that the database itself keeps from writing. Raises `QueryRefused`."""

    def schema_version(self) -> int:
        """The number of the last migration that was applied; 0 for an empty database."""

    def problems(self) -> list[Problem]:
        """What is damaged, and what in the database or its place will hurt one day."""

    def close(self) -> None:
        """Gives the database back."""
