"""What a kind of database must offer to the store: all that differs between them is behind this."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import Connection, Table

from recorder.store.shapes import Appended, Position, Problem, StreamHead

Row = tuple[object, ...]
TypeKey = tuple[str, str, str, str, str]
"""Dialect, layer, kind, framing, encoding."""
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

ADOPTED = (*PLAIN, *RARE, "erased")
"""What is given for an event of another database."""


def columns_of(row: Row) -> tuple[str, ...]:
    """The columns of an event's row: `PLAIN`, or `PLAIN` and `RARE`, or `ADOPTED`."""
    return {len(PLAIN): PLAIN, len(PLAIN) + len(RARE): (*PLAIN, *RARE)}.get(len(row), ADOPTED)


def appended(rows: Sequence[Sequence[int]], *, newest: bool) -> list[Appended]:
    """Rows of epoch, position, stream, last seq and first seq as appends, the oldest first."""
    return [
        Appended(position=Position(epoch, position, stream, last), stream_id=stream, first_seq=first, last_seq=last)
        for epoch, position, stream, last, first in (reversed(rows) if newest else rows)
    ]


class Backend(Protocol):
    """One open database. Errors of the driver come out as `recorder.errors`, each one line."""

    shown: str
    """The database's name in messages: never with a password."""
    readonly: bool
    streams_results: bool
    """Whether the rows of a result are read as they are asked for, not all at once."""

    def read(self) -> AbstractContextManager[Connection]:
        """A transaction that only reads, to be kept short."""

    def view(self) -> AbstractContextManager[Connection]:
        """A transaction in which every read sees the database as the first one did, to be kept short."""

    def write(self) -> AbstractContextManager[Connection]:
        """A transaction that may write: committed at the end, rolled back where an exception leaves it."""

    def nested(self, connection: Connection) -> AbstractContextManager[None]:
        """A part of a transaction that is taken back by itself where an exception leaves it."""

    def on_connect(self, does: Callable[[], None]) -> None:
        """Has something done whenever a connection is made: a backup may have been restored since the one before."""

    def head_by_name(self, connection: Connection, name: str, *, lock: bool) -> StreamHead | None:
        """The stream of that name as it is now, or None. `lock`: nobody else changes it until the transaction ends."""

    def head_by_id(self, connection: Connection, stream_id: int, *, lock: bool) -> StreamHead | None:
        """The stream with that key as it is now, or None. `lock`: as above."""

    def last_event_id(self, connection: Connection, stream_id: int) -> bytes | None:
        """The greatest event id of the stream: ids above it are new."""

    def erasures(self, connection: Connection, stream_id: int) -> int:
        """How often something of the stream was erased."""

    def intern_type(self, connection: Connection, key: TypeKey) -> int:
        """The id of an event type, a new one where there is none."""

    def find_origin(
        self, connection: Connection, stream_id: int, run_id: str | None, parent_run_id: str | None, name: str | None
    ) -> int | None:
        """The id of an interned origin; None equals None here."""

    def insert_events(self, connection: Connection, rows: Sequence[Row]) -> None:
        """Inserts rows in the order of their seq, with the columns that `columns_of` gives."""

    def grow_head(
        self, connection: Connection, stream_id: int, first_seq: int, last_seq: int, head_hash: bytes
    ) -> None:
        """Moves the stream's head to its new last event, and notes the append behind all others."""

    def appends(self, connection: Connection, after: Position, limit: int, *, newest: bool) -> list[Appended]:
        """Appends behind a position, in an order in which none will ever come before one that was given.

        The next ones, or the `newest`; the one in which the position lies is among them.
        """

    def hides_appends(self, connection: Connection, after: Position) -> bool:
        """Whether there are appends behind a position that `appends` must not give yet, or it could miss some."""

    def wait_for_append(self, seconds: float) -> None:
        """Returns when something may have been appended, or after that time at the latest."""

    def kept(self, text: str) -> str:
        """A text as the read model keeps it here, where the text as it is was refused."""

    def is_ahead(self, connection: Connection, place: Position) -> bool:
        """Whether no append can have come to a position yet."""

    def insert(self, connection: Connection, table: Table, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Inserts rows, in their order."""

    def upsert(self, connection: Connection, table: Table, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Inserts rows, or sets these columns where a row with the same key is there.

        Raises `UnicodeEncodeError` for a text that this database cannot keep, `OverflowError` beyond 64 bits.
        """

    def query(self, sql: str, parameters: Parameters) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
        """Runs one query that the database itself keeps from writing. Raises `QueryRefused`."""

    def schema_version(self) -> int:
        """The number of the last migration that was applied; 0 for an empty database."""

    def problems(self) -> list[Problem]:
        """What is damaged, and what in the database or its place will hurt one day."""

    def backup(self, path: Path) -> None:
        """Writes a copy of the whole database into a new file, while others write to it. Raises `BadInput`."""

    def roles(self) -> str:
        """The SQL that makes roles for a writer, an auditor and an eraser. Raises `BadInput` where there are none."""

    def scrub(self) -> str | None:
        """Overwrites what deleted and blanked rows left; gives a line where something stays, and why, or None.

        Not to be called within a transaction.
        """

    def close(self) -> None:
        """Gives the database back."""
