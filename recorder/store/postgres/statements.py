"""Postgres's own spelling of what the append writes: one statement for any number of rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from sqlalchemy import BigInteger, Column, LargeBinary, Table

from recorder.store import tables
from recorder.store.postgres.arrays import BigInts, Blobs, Texts

_HEAD = f"SELECT {', '.join(tables.streams.c.keys())} FROM log_streams"
# Not FOR UPDATE: readers of a foreign key need not wait, should there ever be one.
_LOCKED = "FOR NO KEY UPDATE"
HEAD_BY_NAME = f"{_HEAD} WHERE name = %s"
HEAD_BY_NAME_LOCKED = f"{HEAD_BY_NAME} {_LOCKED}"
HEAD_BY_ID = f"{_HEAD} WHERE stream_id = %s"
HEAD_BY_ID_LOCKED = f"{HEAD_BY_ID} {_LOCKED}"
# Advisory locks last until the transaction ends. A pair of numbers is never equal to a single one.
_LOCKS = 0x7265632E
"""`rec.`"""
LOCK_SCHEMA = f"SELECT pg_advisory_xact_lock({_LOCKS})"
LOCK_TYPES = f"SELECT pg_advisory_xact_lock({_LOCKS + 1})"
LOCK_NAME = f"SELECT pg_advisory_xact_lock({_LOCKS}, hashtext(%s))"
BEGIN_PART, UNDO_PART, END_PART = "SAVEPOINT part", "ROLLBACK TO part", "RELEASE part"
LAST_EVENT_ID = "SELECT event_id FROM log_events WHERE stream_id = %s ORDER BY event_id DESC LIMIT 1"
ERASURES = "SELECT coalesce(max(erasure), 0) FROM log_erasures WHERE stream_id = %s"
GROW_HEAD = "SELECT log_grow(%s, %s, %s, %s)"
FIND_TYPE = (
    "SELECT type_id FROM log_event_types WHERE hashtextextended(kind, 0) = hashtextextended(%(kind)s, 0) "
    "AND dialect = %(dialect)s AND layer = %(layer)s AND kind = %(kind)s AND framing = %(framing)s "
    "AND encoding = %(encoding)s ORDER BY type_id LIMIT 1"
)
ADD_TYPE = (
    "INSERT INTO log_event_types (dialect, layer, kind, framing, encoding) "
    "VALUES (%(dialect)s, %(layer)s, %(kind)s, %(framing)s, %(encoding)s) RETURNING type_id"
)
# Spelled as the index `log_origins_found` spells it, or Postgres would not use it.
FIND_ORIGIN = (
    "SELECT origin_id FROM log_origins WHERE stream_id = %(stream)s "
    "AND hashtextextended(coalesce(run_id, ''), 0) = hashtextextended(coalesce(%(run)s::text, ''), 0) "
    "AND hashtextextended(coalesce(name, ''), 0) = hashtextextended(coalesce(%(name)s::text, ''), 0) "
    "AND run_id IS NOT DISTINCT FROM %(run)s AND parent_run_id IS NOT DISTINCT FROM %(parent)s "
    "AND name IS NOT DISTINCT FROM %(name)s"
)
# Below `pg_snapshot_xmin` no transaction is open any more: what is there is all that there will be.
APPENDS = (
    "SELECT epoch, position, stream_id, last_seq, first_seq FROM log_appends "
    "WHERE (epoch, position, stream_id, last_seq) > (%s, %s, %s, %s) "
    "AND (epoch < (SELECT max(epoch) FROM log_epochs) "
    "OR position < pg_snapshot_xmin(pg_current_snapshot())::text::bigint) "
    "ORDER BY epoch, position, stream_id, last_seq LIMIT %s"
)
NEWEST_APPENDS = (
    f"{APPENDS.partition(' ORDER ')[0]} ORDER BY epoch DESC, position DESC, stream_id DESC, last_seq DESC LIMIT %s"
)
IS_BEHIND = "SELECT EXISTS (SELECT 1 FROM log_appends WHERE (epoch, position, stream_id, last_seq) > (%s, %s, %s, %s))"
PLACE = "SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = to_regclass('log_streams')"
CHANNEL = "recorder_appends"
NOTIFY = f"NOTIFY {CHANNEL}"
LISTEN = f"LISTEN {CHANNEL}"
# A dump that was restored holds positions that this server's transactions have not reached. Of those that are seen only
# this transaction itself may be at or beyond `pg_snapshot_xmax`.
IS_RESTORED = (
    "SELECT EXISTS (SELECT 1 FROM log_appends a WHERE a.epoch = (SELECT max(epoch) FROM log_epochs) "
    "AND a.position >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint "
    "AND a.position IS DISTINCT FROM pg_current_xact_id_if_assigned()::text::bigint)"
)
# A standby may be behind what its primary gave.
IS_AHEAD = (
    "SELECT NOT pg_is_in_recovery() "
    "AND (%s, %s) >= ((SELECT max(epoch) FROM log_epochs), pg_snapshot_xmax(pg_current_snapshot())::text::bigint)"
)
LOCK_EPOCHS = "LOCK TABLE log_epochs IN ACCESS EXCLUSIVE MODE"
NEW_EPOCH = "INSERT INTO log_epochs (epoch) SELECT max(epoch) + 1 FROM log_epochs"


def kind_of(column: Column[object]) -> type[BigInts] | type[Texts] | type[Blobs]:
    """What carries the values of a column."""
    if isinstance(column.type, BigInteger):
        return BigInts
    return Blobs if isinstance(column.type, LargeBinary) else Texts


TYPE_NAMES = {BigInts: "bigint", Texts: "text", Blobs: "bytea"}


@lru_cache(maxsize=256)
def insert(table: Table, columns: Sequence[str]) -> str:
    """Inserts rows that are given as columns."""
    listed = ", ".join(f'"{column}"' for column in columns)
    arrays = ", ".join(f"%s::{TYPE_NAMES[kind_of(table.c[column])]}[]" for column in columns)
    return f"INSERT INTO {table.name} ({listed}) SELECT * FROM unnest({arrays})"


@lru_cache(maxsize=256)
def upsert(table: Table, columns: Sequence[str]) -> str:
    """As `insert`, but sets the columns outside the key where the key is there."""
    keys = table.primary_key.columns.keys()
    changed = ", ".join(f'"{column}" = excluded."{column}"' for column in columns if column not in keys)
    action = f"UPDATE SET {changed}" if changed else "NOTHING"
    return f"{insert(table, columns)} ON CONFLICT ({', '.join(keys)}) DO {action}"


@lru_cache
def copy(columns: Sequence[str]) -> str:
    """The COPY that takes events in."""
    return f"COPY log_events ({', '.join(columns)}) FROM STDIN (FORMAT BINARY)"
