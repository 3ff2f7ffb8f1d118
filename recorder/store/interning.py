"""What many events share is stored once: their type, and the run that they came from."""

from __future__ import annotations

from sqlalchemy import Connection, func, select

from recorder.events import NewEvent
from recorder.store import tables
from recorder.store.backend import Backend, Row, TypeKey

OriginKey = tuple[int, str | None, str | None, str | None]
Key = tuple[int, str | None, str | None, str | None, str, str, str, str, str]
"""Stream, run, its parent and name; dialect, layer, kind, framing and encoding."""
Ids = tuple[int, int | None]
"""Of the type, and of the origin."""

_MOST = 50_000
"""Origins, with a type each, that are remembered between transactions."""


class Interned:
    """What committed transactions interned; it never changes, so it may be remembered."""

    def __init__(self) -> None:
        self.types: dict[TypeKey, int] = {}
        self.origins: dict[OriginKey, int] = {}
        self.ids: dict[Key, Ids] = {}

    def forget(self) -> None:
        """Where the database may be another by now."""
        self.types, self.origins, self.ids = {}, {}, {}

    def learn(self, types: dict[TypeKey, int], origins: dict[OriginKey, int], ids: dict[Key, Ids]) -> None:
        if len(self.ids) + len(ids) > _MOST:
            self.origins, self.ids = {}, {}
        self.types.update(types)
        self.origins.update(origins)
        self.ids.update(ids)


class Interner:
    """The ids of types and origins within one transaction."""

    def __init__(self, backend: Backend, connection: Connection, known: Interned) -> None:
        self._backend = backend
        self._connection = connection
        self._known = known
        self._types: dict[TypeKey, int] = {}
        self._origins: dict[OriginKey, int] = {}
        self._ids: dict[Key, Ids] = {}
        self._numbers: dict[int, _Numbers] = {}
        self._pending: list[Row] = []

    def forget(self) -> None:
        """After a savepoint was undone: what was interned behind it is gone."""
        self._types, self._origins, self._ids = {}, {}, {}
        self._numbers, self._pending = {}, []

    def committed(self) -> None:
        """After the commit: others may rely on what this transaction interned."""
        self._known.learn(self._types, self._origins, self._ids)
        self.forget()

    def known(self, stream_id: int, event: NewEvent) -> Ids | None:
        """The ids of the event's type and origin where it was met before, None where it was not."""
        key = _key(stream_id, event)
        return self._known.ids.get(key) or self._ids.get(key)

    def intern(self, stream_id: int, event: NewEvent) -> Ids:
        """The ids of the event's type and origin; that of the origin is None where it names neither run nor name."""
        found = self.known(stream_id, event)
        if found is None:
            found = self._ids[_key(stream_id, event)] = self._type_of(event), self._origin_of(stream_id, event)
        return found

    def _type_of(self, event: NewEvent) -> int:
        key = (event.dialect, event.layer, event.kind, event.framing, event.encoding)
        found = self._known.types.get(key) or self._types.get(key)
        return found if found is not None else self._type(key)

    def _origin_of(self, stream_id: int, event: NewEvent) -> int | None:
        key = (stream_id, event.run_id, event.parent_run_id, event.name)
        found = self._known.origins.get(key) or self._origins.get(key)
        if found is not None:
            return found
        if event.run_id is None and event.parent_run_id is None and event.name is None:
            return None
        return self._origin(key)

    def _type(self, key: TypeKey) -> int:
        found = self._types[key] = self._backend.intern_type(self._connection, key)
        return found

    def _origin(self, key: OriginKey) -> int:
        stream_id = key[0]
        numbers = self._numbers.get(stream_id)
        if numbers is None:
            numbers = self._numbers[stream_id] = _Numbers(self._last_origin(stream_id))
        # A stream that has none needs no look for this one: a recording's first batch is full of new runs.
        found = self._backend.find_origin(self._connection, *key) if numbers.stored else None
        if found is None:
            numbers.last += 1
            found = numbers.last
            self._pending.append((stream_id, found, *key[1:]))
        self._origins[key] = found
        return found

    def _last_origin(self, stream_id: int) -> int:
        columns = tables.origins.c
        last = select(func.coalesce(func.max(columns.origin_id), 0)).where(columns.stream_id == stream_id)
        return int(self._connection.execute(last).scalar_one())

    def flush(self) -> None:
        """Stores the new origins: to be called before the events that refer to them are."""
        pending, self._pending = self._pending, []
        if pending:
            columns = ("stream_id", "origin_id", "run_id", "parent_run_id", "name")
            self._backend.insert(self._connection, tables.origins, columns, pending)


def _key(stream_id: int, event: NewEvent) -> Key:
    return (
        stream_id,
        event.run_id,
        event.parent_run_id,
        event.name,
        event.dialect,
        event.layer,
        event.kind,
        event.framing,
        event.encoding,
    )


class _Numbers:
    """The origins of one stream, within a transaction."""

    def __init__(self, last: int) -> None:
        self.stored = last > 0
        """Whether the stream had some before."""
        self.last = last
