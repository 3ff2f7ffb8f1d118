"""SQLite's own spelling of what the append writes.

These bypass SQLAlchemy's compiler: for rows this small it costs more than SQLite does.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from sqlalchemy import Table

from recorder.store import tables

BEGIN_PART, UNDO_PART, END_PART = "SAVEPOINT part", "ROLLBACK TO part", "RELEASE part"
LAST_EVENT_ID = "SELECT max(event_id) FROM log_events WHERE stream_id = ?"
ERASURES = "SELECT coalesce(max(erasure), 0) FROM log_erasures WHERE stream_id = ?"
ADD_APPEND = (
    "INSERT INTO log_appends (stream_id, epoch, position, first_seq, last_seq) "
    "SELECT ?, 0, coalesce(max(position), 0) + 1, ?, ? FROM log_appends WHERE epoch = 0"
)
APPENDS = (
    "SELECT epoch, position, stream_id, last_seq, first_seq FROM log_appends "
    "WHERE (epoch, position, stream_id, last_seq) > (?, ?, ?, ?) ORDER BY epoch, position LIMIT ?"
)
NEWEST_APPENDS = f"{APPENDS.partition(' ORDER ')[0]} ORDER BY epoch DESC, position DESC LIMIT ?"
IS_AHEAD = "SELECT (?, ?) > (0, coalesce(max(position), 0)) FROM log_appends WHERE epoch = 0"
FIND_TYPE = (
    "SELECT type_id FROM log_event_types WHERE dialect = ? AND layer = ? AND kind = ? AND framing = ? AND encoding = ?"
)
ADD_TYPE = (
    "INSERT INTO log_event_types (type_id, dialect, layer, kind, framing, encoding) "
    "SELECT coalesce(max(type_id), 0) + 1, ?, ?, ?, ?, ? FROM log_event_types RETURNING type_id"
)
GROW_HEAD = "UPDATE log_streams SET last_seq = ?, head_hash = ? WHERE stream_id = ?"
# Spelled as the index `log_origins_once` spells it, or SQLite would not use it.
FIND_ORIGIN = (
    "SELECT origin_id FROM log_origins WHERE stream_id = ? AND coalesce(run_id, x'') = coalesce(?, x'') "
    "AND coalesce(parent_run_id, x'') = coalesce(?, x'') AND coalesce(name, x'') = coalesce(?, x'')"
)
HEAD_BY_NAME = f"SELECT {', '.join(tables.streams.c.keys())} FROM log_streams WHERE name = ?"
HEAD_BY_ID = f"SELECT {', '.join(tables.streams.c.keys())} FROM log_streams WHERE stream_id = ?"


@lru_cache
def insert(table: Table, columns: Sequence[str]) -> str:
    """Inserts one row; what is not named is NULL, or its default."""
    return f"INSERT INTO {table.name} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


@lru_cache(maxsize=256)
def upsert(table: Table, columns: Sequence[str]) -> str:
    """Inserts the columns, or sets those outside the key where the key is there."""
    keys = table.primary_key.columns.keys()
    changed = ", ".join(f'"{column}" = excluded."{column}"' for column in columns if column not in keys)
    listed = ", ".join(f'"{column}"' for column in columns)
    action = f"UPDATE SET {changed}" if changed else "NOTHING"
    return (
        f"INSERT INTO {table.name} ({listed}) VALUES ({', '.join('?' * len(columns))}) "
        f"ON CONFLICT ({', '.join(keys)}) DO {action}"
    )
