"""A transaction: what is written in it is stored whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby

from sqlalchemy import Connection, Table, delete, func, insert, select, update

from recorder.errors import BadInput, NameTaken, UnknownStream
from recorder.events import NewEvent, clock, ids, jsontext
from recorder.events.chain import GENESIS
from recorder.store import append, reading, tables
from recorder.store.backend import Backend
from recorder.store.interning import Interned, Interner
from recorder.store.reading import Reads
from recorder.store.shapes import Capture, Receipt, StreamHead

_streams = tables.streams.c


class Transaction(Reads):
    """Made by `Store.transaction`; not to be used after it, nor by two threads. It reads what it wrote."""

    def __init__(self, backend: Backend, connection: Connection, known: Interned) -> None:
        super().__init__(backend)
        self._connection = connection
        self._interner = Interner(backend, connection, known)

    @contextmanager
    def _read(self) -> Iterator[Connection]:
        yield self._connection

    def committed(self) -> None:
        """Told by the store after the commit."""
        self._interner.committed()

    # Streams

    def head(self, name: str) -> StreamHead | None:
        """The stream of that name as it is now, or None."""
        return self.find(name)

    def create_stream(
        self, name: str, *, uuid: bytes | None = None, parent: str | None = None, parent_seq: int | None = None
    ) -> StreamHead:
        """A new, empty stream. Raises `NameTaken`; `BadInput` where the UUID (16 bytes) is another stream's."""
        name = jsontext.clean(name)
        if self.find(name) is not None:
            raise NameTaken(f"there is a stream {name!r} already: give another name")
        identity = ids.new_stream_uuid() if uuid is None else uuid
        other = self._connection.execute(select(_streams.name).where(_streams.uuid == identity)).scalar()
        if other is not None:
            raise BadInput(f"stream {name!r} is here already, under the name {other!r}")
        row = {
            "uuid": identity,
            "name": name,
            "created_at": clock.now(),
            "last_seq": 0,
            "head_hash": GENESIS,
            "parent": None if parent is None else jsontext.clean(parent),
            "parent_seq": parent_seq,
            "stale": None,
            "projection": 0,
        }
        result = self._connection.execute(insert(tables.streams).values(row).returning(_streams.stream_id))
        return StreamHead(stream_id=result.scalar_one(), **row)  # type: ignore[arg-type]

    def rename(self, head: StreamHead, name: str) -> None:
        """Gives the stream another name; streams that name it as their parent follow. Raises `NameTaken`."""
        name = jsontext.clean(name)
        found = self.find(name)
        if found is not None and found.stream_id != head.stream_id:
            raise NameTaken(f"there is a stream {name!r} already: give another name")
        current = self._locked(head)
        self._set(head, name=name)
        self._connection.execute(update(tables.streams).where(_streams.parent == current.name).values(parent=name))

    def mark(self, head: StreamHead, *, stale: str | None, projection: int) -> None:
        """Says how the read model stands: why it is behind (None: it is not), and its rows' version."""
        self._set(head, stale=None if stale is None else jsontext.clean(stale), projection=projection)

    # The log

    def append(self, head: StreamHead, events: Sequence[NewEvent], expected: int | None = None) -> Receipt:
        """Stores events behind the last one of the stream.

        `expected` is the last seq that the caller knows (None: any). Events with the same ids and bodies as stored
        ones are not stored again: if all are known the numbers they got come back, whatever `expected`; if the first
        ones are, the rest is stored where `expected` plus the known ones is where the stream is. With `expected` None
        others' events may lie between the two. An event that was erased since counts as known.

        Body bytes are kept as they are; a body that is not UTF-8 becomes `binary`, lone surrogates in the envelope
        become their escapes, and an `occurred_at` outside 1970 to 9999 becomes None.

        Raises `Conflict`, `IdentityClash` (same id, other body), `BadInput` (one id twice); then nothing was stored.
        """
        current = self._locked(head)
        if not events:
            return Receipt(first_seq=current.last_seq + 1, last_seq=current.last_seq, status="known", events=[])
        return append.append(self._backend, self._connection, self._interner, current, events, expected)

    def save_capture(self, head: StreamHead, capture: Capture) -> int:
        """Notes a capture, in the place of the one with the same number; 0 is a new one. Gives the number."""
        columns = tables.captures.c
        number = capture.capture
        if number == 0:
            last = select(func.coalesce(func.max(columns.capture), 0)).where(columns.stream_id == head.stream_id)
            number = self._connection.execute(last).scalar_one() + 1
        row = {
            "stream_id": head.stream_id,
            "capture": number,
            "source": jsontext.clean(capture.source),
            "format": capture.format,
            "bytes": capture.bytes,
            "digest": capture.digest,
            "first_seq": capture.first_seq,
            "last_seq": capture.last_seq,
            "complete": int(capture.complete),
            "recorded_at": clock.now(),
        }
        self._backend.upsert(self._connection, tables.captures, tuple(row), [tuple(row.values())])
        return number

    # The read model

    def write_rows(self, head: StreamHead, rows: Mapping[str, Sequence[Mapping[str, object]]]) -> None:
        """Rows by table (named without prefix), each with its key, without the stream.

        A row whose key is there sets the columns that it names and leaves the others. JSON columns take JSON text.
        Raises `ValueError` for a table or column that there is not.
        """
        for name, given in rows.items():
            table = reading.read_model_table(name)
            for columns, group in groupby(given, key=tuple):
                unknown = [column for column in columns if column not in table.c or column == "stream_id"]
                if unknown:
                    raise ValueError(f"{name} has no column {unknown[0]}")
                values = [(head.stream_id, *row.values()) for row in group]
                self._upsert(table, ("stream_id", *columns), values)

    def _upsert(self, table: Table, columns: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
        try:
            self._backend.upsert(self._connection, table, columns, rows)
        except UnicodeEncodeError:
            # Some rows may be in already; an upsert does no harm twice.
            cleaned = [
                tuple(jsontext.clean(value) if isinstance(value, str) else value for value in row) for row in rows
            ]
            self._backend.upsert(self._connection, table, columns, cleaned)

    def drop_pieces(self, head: StreamHead, message_refs: Sequence[str]) -> None:
        """Removes the pieces of closed messages: their text stands in the message now."""
        columns = tables.READ_MODEL["message_pieces"].c
        for ref in message_refs:
            same = (columns.stream_id == head.stream_id) & (columns.message_ref == jsontext.clean(ref))
            self._connection.execute(delete(tables.READ_MODEL["message_pieces"]).where(same))

    def clear_read_model(self, head: StreamHead) -> None:
        """Removes all rows and snapshots of the stream."""
        for table in (*tables.READ_MODEL.values(), tables.snapshots):
            self._connection.execute(delete(table).where(table.c.stream_id == head.stream_id))

    def save_snapshot(self, head: StreamHead, seq: int, reading: str, projection: int, body: bytes) -> None:
        """Keeps the state after event `seq`, in the place of one of the same reading and event."""
        columns = ("stream_id", "reading", "seq", "projection", "body")
        row = (head.stream_id, reading, seq, projection, body)
        self._backend.upsert(self._connection, tables.snapshots, columns, [row])

    # Second thoughts

    @contextmanager
    def nested(self) -> Iterator[None]:
        """A part that is taken back by itself where an exception leaves it; what was written before it stays."""
        try:
            with self._connection.begin_nested():
                yield
        except BaseException:
            self._interner.forget()
            raise

    def _set(self, head: StreamHead, **values: object) -> None:
        self._connection.execute(update(tables.streams).where(_streams.stream_id == head.stream_id).values(**values))

    def _locked(self, head: StreamHead) -> StreamHead:
        current = self._backend.head_by_id(self._connection, head.stream_id)
        if current is None:
            raise UnknownStream(f"stream {head.name!r} is not in this database")
        return current
