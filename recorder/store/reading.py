"""Reading: heads, events, snapshots and rows, the same from outside a transaction as from within one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from sqlalchemy import Connection, Select, Table, func, select, tuple_

from recorder.errors import BadInput, Corrupt, UnknownStream
from recorder.events import Event
from recorder.events.upcast import upcast
from recorder.store import tables
from recorder.store.backend import Backend
from recorder.store.shapes import Appended, Capture, Erasure, Position, StreamHead
from recorder.store.texts import storable

BATCH_ROWS = 500
BATCH_BYTES = 4 * 1024 * 1024
"""A batch of events ends with the row that reaches this many bytes: bodies may be large."""
FIRST = Position()
"""Before the first append."""
RAW = 0
"""The codec of a body that is stored as it is."""

_events, _types, _origins = tables.events.c, tables.event_types.c, tables.origins.c
_EVENTS = select(
    _events.seq,
    _events.event_id,
    _types.dialect,
    _types.layer,
    _types.kind,
    _events.body,
    _types.framing,
    _events.arrived_at,
    _origins.run_id,
    _origins.parent_run_id,
    _origins.name,
    _events.source_id,
    _events.occurred_at,
    _events.frame,
    _events.cuts,
    _events.meta,
    _types.encoding,
    _events.redacted,
    _events.recorded_at,
    _events.salt,
    _events.body_hash,
    _events.hash,
    _events.erased,
    _events.version,
    _events.codec,
).select_from(
    tables.events.join(tables.event_types, _types.type_id == _events.type_id).outerjoin(
        tables.origins, (_origins.stream_id == _events.stream_id) & (_origins.origin_id == _events.origin_id)
    )
)


class Reads(ABC):
    """What a store and a transaction both answer. No read lasts longer than one batch."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    @abstractmethod
    def _read(self) -> AbstractContextManager[Connection]:
        """A connection to read with."""

    def streams(self) -> list[StreamHead]:
        """All streams, the oldest first."""
        with self._read() as connection:
            rows = connection.execute(select(tables.streams).order_by(tables.streams.c.stream_id))
            return [StreamHead(**row._mapping) for row in rows]

    def find(self, name: str) -> StreamHead | None:
        """The stream of that name, or None."""
        with self._read() as connection:
            return self._backend.head_by_name(connection, storable(name), lock=False)

    def latest(self) -> StreamHead | None:
        """The stream that was appended to last (an empty one counts from when it was made), or None."""
        streams = tables.streams.c
        last = (_events.stream_id == streams.stream_id) & (_events.seq == streams.last_seq)
        when = func.coalesce(select(_events.recorded_at).where(last).scalar_subquery(), streams.created_at)
        with self._read() as connection:
            newest = select(tables.streams).order_by(when.desc(), streams.stream_id.desc()).limit(1)
            row = connection.execute(newest).first()
            return StreamHead(**row._mapping) if row is not None else None

    def events(
        self, head: StreamHead, first: int = 1, last: int | None = None, *, as_stored: bool = False
    ) -> Iterator[Event]:
        """Events `first` to `last` (both included; None: to the head's last), in order, read in batches.

        Older versions are upcast, unless `as_stored`: the chain was made over what was stored. Raises `Corrupt` for a
        gap, or for an event that this program cannot read.
        """
        end = head.last_seq if last is None else last
        wanted = max(first, 1)
        while wanted <= end:
            batch = self._batch(head, wanted, end)
            if not batch and wanted > head.last_seq:
                return
            for event in batch:
                if event.seq != wanted:
                    break
                yield event if as_stored else upcast(event)
                wanted += 1
            if not batch or batch[-1].seq >= wanted:
                raise Corrupt(f"stream {head.name!r} lacks event {wanted}: run rec db check")

    def _batch(self, head: StreamHead, first: int, last: int) -> list[Event]:
        batch, size = [], 0
        of_stream = (_events.stream_id == head.stream_id) & (_events.seq >= first) & (_events.seq <= last)
        wanted = _EVENTS.where(of_stream).order_by(_events.seq).limit(BATCH_ROWS)
        with self._read() as connection:
            rows = connection.execute(wanted if self._backend.streams_results else _bounded(wanted))
            try:
                for row in rows:
                    batch.append(_event(row))
                    size += len(batch[-1].body)
                    if size >= BATCH_BYTES:
                        break
            except Corrupt:
                # Those before it are given out first; the next batch begins with it.
                if not batch:
                    raise
            rows.close()
        return batch

    def by_uuid(self, uuid: bytes) -> StreamHead | None:
        """The stream with that UUID, or None."""
        with self._read() as connection:
            row = connection.execute(select(tables.streams).where(tables.streams.c.uuid == uuid)).first()
            return StreamHead(**row._mapping) if row is not None else None

    def as_now(self, head: StreamHead) -> StreamHead | None:
        """The stream as it is now, under whatever name, or None."""
        with self._read() as connection:
            return self._backend.head_by_id(connection, head.stream_id, lock=False)

    def extent(self, head: StreamHead) -> tuple[int, int]:
        """The least and the greatest seq that an event of the stream has, whatever its head says; 1, 0: of none."""
        # Each by itself, or SQLite would read the whole index for the two.
        least, greatest = (
            select(func.coalesce(end(_events.seq), none)).where(_events.stream_id == head.stream_id).scalar_subquery()
            for end, none in ((func.min, 1), (func.max, 0))
        )
        with self._read() as connection:
            first, last = connection.execute(select(least, greatest)).one()
        return int(first), int(last)

    def strays(self) -> list[int]:
        """Keys of streams that have events or appends, and are not there themselves."""
        with self._read() as connection:
            found = {key for table in (tables.events, tables.appends) for key in connection.scalars(_strays(table))}
        return sorted(found)

    def appends_of(self, head: StreamHead) -> Iterator[tuple[int, int]]:
        """First and last event of each append to the stream, in order, read in batches."""
        columns = tables.appends.c
        order = (columns.epoch, columns.position, columns.first_seq)
        wanted = select(*order, columns.last_seq).where(columns.stream_id == head.stream_id).order_by(*order)
        page = wanted
        while True:
            with self._read() as connection:
                batch = connection.execute(page.limit(BATCH_ROWS)).all()
            for *_, first, last in batch:
                yield first, last
            if len(batch) < BATCH_ROWS:
                return
            page = wanted.where(tuple_(*order) > tuple(batch[-1][:3]))

    def hides_appends(self, after: Position) -> bool:
        """Whether there are appends behind a position that `appended` does not give yet.

        On Postgres a transaction may be open that began before them, and may append yet.
        """
        with self._read() as connection:
            return self._backend.hides_appends(connection, after)

    def appended(self, after: Position = FIRST, limit: int = 100) -> list[Appended]:
        """The next appends to whatever streams behind a position: each is given once, those of a stream in order.

        An append comes out only when none can still be committed before it; until then it and those behind it wait.
        Raises `BadInput` for a position that the database has not come to: another one's, or one from before a backup
        was restored. It would be waited for in silence, and what came until then be missed.
        """
        with self._read() as connection:
            found = self._backend.appends(connection, after, limit, newest=False)
            if not found and self._backend.is_ahead(connection, after):
                raise BadInput(f"the position is ahead of {self._backend.shown}: begin without one, or at its own")
            return found

    def newest_appends(self, limit: int) -> list[Appended]:
        """The last appends, the oldest of them first."""
        with self._read() as connection:
            return self._backend.appends(connection, FIRST, limit, newest=True)

    def head_of(self, appended: Appended) -> StreamHead:
        """The stream of an append as it is now. Raises `UnknownStream`."""
        with self._read() as connection:
            found = self._backend.head_by_id(connection, appended.stream_id, lock=False)
        if found is None:
            raise UnknownStream(f"the stream of an append is gone: there is none with the key {appended.stream_id}")
        return found

    def erasures(self, head: StreamHead) -> list[Erasure]:
        """What was erased of the stream, in order."""
        table = tables.erasures
        columns = [column for column in table.c if column.name != "stream_id"]
        of_stream = select(*columns).where(table.c.stream_id == head.stream_id).order_by(table.c.erasure)
        with self._read() as connection:
            return [Erasure(**row._mapping) for row in connection.execute(of_stream)]

    def erasure_count(self, head: StreamHead) -> int:
        """How often something of the stream was erased."""
        with self._read() as connection:
            return self._backend.erasures(connection, head.stream_id)

    def captures(self, head: StreamHead) -> list[Capture]:
        """What was captured into the stream, in order."""
        table = tables.captures
        columns = [column for column in table.c if column.name != "stream_id"]
        of_stream = select(*columns).where(table.c.stream_id == head.stream_id).order_by(table.c.capture)
        with self._read() as connection:
            rows = [dict(row._mapping) for row in connection.execute(of_stream)]
        return [Capture(**{**row, "complete": bool(row["complete"])}) for row in rows]

    def last_capture(self, head: StreamHead) -> Capture | None:
        """The newest capture into the stream, or None."""
        return next(reversed(self.captures(head)), None)

    def snapshot(
        self, head: StreamHead, at: int, reading: str, projection: int | None = None
    ) -> tuple[int, bytes] | None:
        """The newest snapshot of this reading at or before event `at`: its event and its bytes, or None.

        `projection`: the version that it must be of; None: the read model's.
        """
        columns = tables.snapshots.c
        version = head.projection if projection is None else projection
        newest = (
            select(columns.seq, columns.body)
            .where(columns.stream_id == head.stream_id, columns.reading == reading, columns.seq <= at)
            .where(columns.projection == version)
            .order_by(columns.seq.desc())
            .limit(1)
        )
        with self._read() as connection:
            row = connection.execute(newest).first()
            return (row.seq, row.body) if row is not None else None

    def snapshots(self, head: StreamHead, projection: int) -> list[tuple[int, str]]:
        """Event and reading of each snapshot of that version, in order."""
        columns = tables.snapshots.c
        of_stream = (
            select(columns.seq, columns.reading)
            .where(columns.stream_id == head.stream_id, columns.projection == projection)
            .order_by(columns.seq, columns.reading)
        )
        with self._read() as connection:
            return [(row.seq, row.reading) for row in connection.execute(of_stream)]

    def rows(
        self,
        head: StreamHead,
        table: str,
        *,
        since: int | None = None,
        until: int | None = None,
        equal: Mapping[str, object] | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Rows of a read model's table as dicts, in the order of their events, read in batches.

        `since`, `until`: only rows of events from and up to these; `equal`: only rows with these values. Raises
        `ValueError` for a table or column that there is not.
        """
        source = read_model_table(table)
        order = tables.order_of(source)
        columns = [column for column in source.c if column.name != "stream_id"]
        wanted = select(*columns).where(source.c.stream_id == head.stream_id).order_by(*order).limit(BATCH_ROWS)
        if (since, until) != (None, None):
            if source.info["clock"] is None:
                raise ValueError(f"rows of {table} belong to no one event")
            clock = source.c[source.info["clock"]]
            if since is not None:
                wanted = wanted.where(clock >= since)
            if until is not None:
                wanted = wanted.where(clock <= until)
        for name, value in (equal or {}).items():
            if name not in source.c:
                raise ValueError(f"{table} has no column {name}")
            kept = self._backend.kept(value) if isinstance(value, str) else value
            wanted = wanted.where(source.c[name] == kept)
        page = wanted
        while True:
            with self._read() as connection:
                batch = [dict(row._mapping) for row in connection.execute(page)]
            yield from batch
            if len(batch) < BATCH_ROWS:
                return
            page = wanted.where(tuple_(*order) > tuple(batch[-1][column.key] for column in order))


class View(Reads):
    """Reads that all see the database as it was at the first of them (`Store.view`)."""

    def __init__(self, backend: Backend, connection: Connection) -> None:
        super().__init__(backend)
        self._connection = connection

    @contextmanager
    def _read(self) -> Iterator[Connection]:
        yield self._connection


def _bounded(events: Select[Any]) -> Select[Any]:
    """The first of these events, as many as make a batch: where all rows of a result are read at once."""
    size = func.octet_length(_events.body)
    sized = events.add_columns((func.sum(size).over(order_by=_events.seq) - size).label("before")).subquery()
    columns = [column for column in sized.c if column.key != "before"]
    return select(*columns).where(sized.c.before < BATCH_BYTES).order_by(sized.c.seq)


def _strays(table: Table) -> Select[Any]:
    """From one key to the next greater one: there are many rows, and few streams."""
    column = table.c.stream_id
    keys = select(func.min(column).label("key")).cte(recursive=True)
    following = select(func.min(column)).where(column > keys.c.key).scalar_subquery()
    keys = keys.union_all(select(following).where(keys.c.key.is_not(None)))
    known = select(tables.streams.c.stream_id)
    return select(keys.c.key).where(keys.c.key.is_not(None), keys.c.key.not_in(known))


def read_model_tables() -> list[str]:
    """The names of the read model's tables, without their prefix."""
    return list(tables.READ_MODEL)


def read_model_table(name: str) -> Table:
    """The read model's table of that name, without its prefix. Raises `ValueError`."""
    try:
        return tables.READ_MODEL[name]
    except KeyError:
        raise ValueError(f"the read model has no table {name}") from None


def _event(row: Sequence[Any]) -> Event:
    *values, codec = row
    if codec != RAW:
        raise Corrupt(f"event {row[0]} is stored in a way that this program does not know: upgrade recorder")
    fields = dict(zip(_FIELDS, values, strict=True))
    return Event(**{**fields, "erased": bool(fields["erased"])})


_FIELDS = tuple(_EVENTS.selected_columns.keys()[:-1])
