"""What many events share is stored once: their type, and the run that they came from."""

from __future__ import annotations

from sqlalchemy import Connection, func, insert, select

from recorder.events import NewEvent
from recorder.store import tables
from recorder.store.backend import Backend

TypeKey = tuple[str, str, str, str, str]
OriginKey = tuple[int, str | None, str | None, str | None]

_MOST = 50_000
"""Origins that are remembered between transactions."""


class Interned:
    """What committed transactions interned; it never changes, so it may be remembered."""

    def __init__(self) -> None:
        self.types: dict[TypeKey, int] = {}
        self.origins: dict[OriginKey, int] = {}

    def learn(self, types: dict[TypeKey, int], origins: dict[OriginKey, int]) -> None:
        if len(self.origins) + len(origins) > _MOST:
            self.origins = {}
        self.types.update(types)
        self.origins.update(origins)


class Interner:
    """The ids of types and origins within one transaction."""

    def __init__(self, backend: Backend, connection: Connection, known: Interned) -> None:
        self._backend = backend
        self._connection = connection
        self._known = known
        self._types: dict[TypeKey, int] = {}
        self._origins: dict[OriginKey, int] = {}

    def forget(self) -> None:
        """After a savepoint was undone: what was interned behind it is gone."""
        self._types, self._origins = {}, {}

    def committed(self) -> None:
        """After the commit: others may rely on what this transaction interned."""
        self._known.learn(self._types, self._origins)
        self.forget()

    def type_of(self, event: NewEvent) -> int:
        key = (event.dialect, event.layer, event.kind, event.framing, event.encoding)
        found = self._known.types.get(key) or self._types.get(key)
        return found if found is not None else self._type(key)

    def origin_of(self, stream_id: int, event: NewEvent) -> int | None:
        """None for an event that names neither run nor name."""
        key = (stream_id, event.run_id, event.parent_run_id, event.name)
        found = self._known.origins.get(key) or self._origins.get(key)
        if found is not None:
            return found
        if event.run_id is None and event.parent_run_id is None and event.name is None:
            return None
        return self._origin(key)

    def _type(self, key: TypeKey) -> int:
        columns = tables.event_types.c
        fields = (columns.dialect, columns.layer, columns.kind, columns.framing, columns.encoding)
        same = [column == value for column, value in zip(fields, key, strict=True)]
        found = self._connection.execute(select(columns.type_id).where(*same)).scalar()
        if found is None:
            found = self._connection.execute(select(func.coalesce(func.max(columns.type_id), 0) + 1)).scalar_one()
            row = {column.name: value for column, value in zip(fields, key, strict=True)}
            self._connection.execute(insert(tables.event_types).values(type_id=found, **row))
        self._types[key] = found
        return int(found)

    def _origin(self, key: OriginKey) -> int:
        columns = tables.origins.c
        stream_id, *values = key
        fields = (columns.run_id, columns.parent_run_id, columns.name)
        found = self._backend.find_origin(self._connection, *key)
        if found is None:
            next_id = select(func.coalesce(func.max(columns.origin_id), 0) + 1).where(columns.stream_id == stream_id)
            found = self._connection.execute(next_id).scalar_one()
            row = {column.name: value for column, value in zip(fields, values, strict=True)}
            self._connection.execute(insert(tables.origins).values(stream_id=stream_id, origin_id=found, **row))
        self._origins[key] = found
        return int(found)
