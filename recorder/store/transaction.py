"""A transaction: what is written in it is stored whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby

from msgspec import structs
from sqlalchemy import Connection, Table, delete, func, insert, select, update

from recorder.errors import BadInput, NameTaken, UnknownStream
from recorder.events import Event, NewEvent, clock, ids
from recorder.events.chain import GENESIS, erasure_link
from recorder.store import append, reading, tables
from recorder.store.backend import Backend
from recorder.store.interning import Interned, Interner
from recorder.store.reading import Reads
from recorder.store.shapes import Capture, Erasure, Receipt, StreamHead
from recorder.store.texts import is_storable, storable

_streams = tables.streams.c


class Transaction(Reads):
    """Made by `Store.transaction`; not to be used after it, nor by two threads. It reads what it wrote."""

    def __init__(self, backend: Backend, connection: Connection, known: Interned) -> None:
        super().__init__(backend)
        self._connection = connection
        self._interner = Interner(backend, connection, known)
        self._heads: dict[int, StreamHead] = {}
        """The streams that are locked, as they are now: whoever locks one is alone in changing it."""

    @contextmanager
    def _read(self) -> Iterator[Connection]:
        yield self._connection

    def committed(self) -> None:
        """Told by the store after the commit."""
        self._interner.committed()

    # Streams

    def head(self, name: str) -> StreamHead | None:
        """The stream of that name as it stays until the transaction ends, unless it changes it itself; or None."""
        return self._lock(self._backend.head_by_name(self._connection, storable(name), lock=True))

    def current(self, head: StreamHead) -> StreamHead | None:
        """As `head`, for a stream that was read before and may have another name by now."""
        found = self._heads.get(head.stream_id)
        if found is None:
            found = self._lock(self._backend.head_by_id(self._connection, head.stream_id, lock=True))
        # Where a backup was restored meanwhile, another stream may have got the key.
        return found if found is not None and found.uuid == head.uuid else None

    def _lock(self, found: StreamHead | None) -> StreamHead | None:
        if found is not None:
            self._heads[found.stream_id] = found
        return found

    def create_stream(
        self,
        name: str,
        *,
        uuid: bytes | None = None,
        created_at: int | None = None,
        parent: str | None = None,
        parent_seq: int | None = None,
    ) -> StreamHead:
        """A new, empty stream, made now or at `created_at` (microseconds).

        Raises `NameTaken`; `BadInput` where the UUID (16 bytes) is another stream's.
        """
        name = storable(name)
        if self.head(name) is not None:
            raise NameTaken(f"there is a stream {name!r} already: give another name")
        identity = ids.new_stream_uuid() if uuid is None else uuid
        other = self._connection.execute(select(_streams.name).where(_streams.uuid == identity)).scalar()
        if other is not None:
            raise BadInput(f"stream {name!r} is here already, under the name {other!r}")
        row = {
            "uuid": identity,
            "name": name,
            "created_at": clock.now() if created_at is None else created_at,
            "last_seq": 0,
            "head_hash": GENESIS,
            "parent": None if parent is None else storable(parent),
            "parent_seq": parent_seq,
            "stale": None,
            "projection": 0,
        }
        result = self._connection.execute(insert(tables.streams).values(row).returning(_streams.stream_id))
        made = StreamHead(stream_id=result.scalar_one(), **row)  # type: ignore[arg-type]
        self._heads[made.stream_id] = made
        return made

    def rename(self, head: StreamHead, name: str) -> None:
        """Gives the stream another name; streams that name it as their parent follow. Raises `NameTaken`."""
        name = storable(name)
        found = self.head(name)
        if found is not None and found.stream_id != head.stream_id:
            raise NameTaken(f"there is a stream {name!r} already: give another name")
        current = self._locked(head)
        self._set(head, name=name)
        self._connection.execute(update(tables.streams).where(_streams.parent == current.name).values(parent=name))
        self._heads.clear()

    def mark(self, head: StreamHead, *, stale: str | None, projection: int) -> None:
        """Says how the read model stands: why it is behind (None: it is not), and its rows' version."""
        self._set(head, stale=None if stale is None else storable(stale), projection=projection)

    # The log

    def append(self, head: StreamHead, events: Sequence[NewEvent], expected: int | None = None) -> Receipt:
        """Stores events behind the last one of the stream.

        `expected` is the last seq that the caller knows (None: any). Events with the same ids and bodies as stored
        ones are not stored again: if all are known the numbers they got come back, whatever `expected`; if the first
        ones are, the rest is stored where `expected` plus the known ones is where the stream is. With `expected` None
        others' events may lie between the two. An event that was erased since counts as known.

        Body bytes are kept as they are; a body that is not UTF-8 becomes `binary`, lone surrogates and NUL characters
        in the envelope become their escapes, and an `occurred_at` outside 1970 to 9999 becomes None.

        Raises `Conflict`, `IdentityClash` (same id, other body), `BadInput` (one id twice); then nothing was stored.
        """
        current = self._locked(head)
        if not events:
            return Receipt(first_seq=current.last_seq + 1, last_seq=current.last_seq, status="known", events=[])
        receipt = append.append(self._backend, self._connection, self._interner, current, events, expected)
        self._grown(current, receipt.events)
        return receipt

    def save_capture(self, head: StreamHead, capture: Capture) -> int:
        """Notes a capture, in the place of the one with the same number; 0 is a new one. Gives the number.

        Of a source of which something was erased no digest is kept: it would tell a guess at that from a wrong one.
        """
        columns = tables.captures.c
        number = capture.capture
        if number == 0:
            self._locked(head)
            last = select(func.coalesce(func.max(columns.capture), 0)).where(columns.stream_id == head.stream_id)
            number = self._connection.execute(last).scalar_one() + 1
        is_erased = self.erasure_count(head) > 0
        row = {
            "stream_id": head.stream_id,
            "capture": number,
            "source": storable(capture.source),
            "format": storable(capture.format),
            "bytes": 0 if is_erased else capture.bytes,
            "digest": b"" if is_erased else capture.digest,
            "first_seq": capture.first_seq,
            "last_seq": capture.last_seq,
            "complete": int(capture.complete),
            "recorded_at": capture.recorded_at or clock.now(),
        }
        self._backend.upsert(self._connection, tables.captures, tuple(row), [tuple(row.values())])
        return number

    def adopt(self, head: StreamHead, events: Sequence[Event]) -> list[Event]:
        """Stores events with the numbers, times, salts and hashes that they have; gives those that are new.

        Raises `BadInput` where an event that is here has another hash, or one that is new does not follow in the chain
        or does not hold what its hash says.
        """
        current = self._locked(head)
        for seq, event in enumerate(events, max(events[0].seq, 1)):
            if event.seq != seq:
                raise BadInput(f"stream {current.name!r}: event {seq} is missing: nothing of the batch was stored")
        known = [event for event in events if event.seq <= current.last_seq]
        if known:
            here = self.events(current, known[0].seq, known[-1].seq, as_stored=True)
            for event, stored in zip(known, here, strict=True):
                if event.hash != stored.hash:
                    raise BadInput(f"stream {current.name!r} holds another event {event.seq}: nothing was stored")
        new = list(events[len(known) :])
        if new:
            append.adopt(self._backend, self._connection, self._interner, current, new)
            self._grown(current, new)
        return new

    def _grown(self, head: StreamHead, events: Sequence[Event]) -> None:
        if events:
            last = events[-1]
            self._heads[head.stream_id] = structs.replace(head, last_seq=last.seq, head_hash=last.hash)

    def adopt_erasure(self, head: StreamHead, erasure: Erasure) -> None:
        """Blanks what an erasure of another database names, and records it as it is there.

        One that somebody else has brought meanwhile is here already. Raises `BadInput`.
        """
        current = self._locked(head)
        before = self.erasures(current)
        if erasure in before:
            return
        previous = before[-1].hash if before else GENESIS
        if erasure.last_seq > current.last_seq or not follows(erasure, previous, current.uuid, len(before) + 1):
            raise BadInput(f"erasure {erasure.erasure} of stream {current.name!r} does not follow from those before it")
        self._blank(current, erasure)

    def erase(self, head: StreamHead, first: int, last: int, reason: str) -> Erasure:
        """Blanks events `first` to `last`, records that, and removes what was kept of the source that they came from.

        What projections made of them stays until the stream's read model is computed anew. Raises `BadInput` for
        events that there are not.
        """
        current = self._locked(head)
        if not 1 <= first <= last <= current.last_seq:
            raise BadInput(
                f"stream {current.name!r} has events 1 to {current.last_seq}: there are no {first} to {last}"
            )
        before = self.erasures(current)
        made = {
            "erasure": len(before) + 1,
            "first_seq": first,
            "last_seq": last,
            "reason": storable(reason),
            "erased_at": clock.now(),
        }
        digest = erasure_link(before[-1].hash if before else GENESIS, current.uuid, **made)  # type: ignore[arg-type]
        erasure = Erasure(hash=digest, **made)  # type: ignore[arg-type]
        self._blank(current, erasure)
        return erasure

    def _blank(self, current: StreamHead, erasure: Erasure) -> None:
        recorded = {name: getattr(erasure, name) for name in erasure.__struct_fields__}
        self._connection.execute(insert(tables.erasures).values(stream_id=current.stream_id, **recorded))
        events, first, last = tables.events.c, erasure.first_seq, erasure.last_seq
        self._connection.execute(
            update(tables.events)
            .where(events.stream_id == current.stream_id, events.seq.between(first, last), events.erased == 0)
            .values(body=b"", frame=None, cuts=None, meta=None, salt=None, erased=1)
        )
        self._connection.execute(
            update(tables.captures).where(tables.captures.c.stream_id == current.stream_id).values(digest=b"", bytes=0)
        )

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
                tuple(self._backend.kept(value) if isinstance(value, str) else value for value in row) for row in rows
            ]
            self._backend.upsert(self._connection, table, columns, cleaned)

    def drop_pieces(self, head: StreamHead, message_refs: Sequence[str]) -> None:
        """Removes the pieces of closed messages: their text stands in the message now."""
        columns = tables.READ_MODEL["message_pieces"].c
        for ref in message_refs:
            same = (columns.stream_id == head.stream_id) & (columns.message_ref == self._backend.kept(ref))
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
            with self._backend.nested(self._connection):
                yield
        except BaseException:
            self._interner.forget()
            self._heads.clear()
            raise

    def _set(self, head: StreamHead, **values: object) -> None:
        self._connection.execute(update(tables.streams).where(_streams.stream_id == head.stream_id).values(**values))
        locked = self._heads.get(head.stream_id)
        if locked is not None:
            self._heads[head.stream_id] = structs.replace(locked, **values)

    def _locked(self, head: StreamHead) -> StreamHead:
        current = self.current(head)
        if current is None:
            raise UnknownStream(f"stream {head.name!r} is not in this database")
        return current


def follows(erasure: Erasure, previous: bytes, stream: bytes, number: int) -> bool:
    """Whether an erasure is number so and so of the stream with this UUID, behind one with the hash `previous`."""
    if (
        erasure.erasure != number
        or not 1 <= erasure.first_seq <= erasure.last_seq <= clock.LAST
        or not 0 <= erasure.erased_at <= clock.LAST
        or not is_storable(erasure.reason)
    ):
        return False
    said = (erasure.first_seq, erasure.last_seq, erasure.reason, erasure.erased_at)
    return erasure.hash == erasure_link(previous, stream, number, *said)
