"""What a database on a server holds before it is used: nothing, this program's schema, an older one, another's."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import sql

from recorder.errors import DatabaseUnusable, SchemaMismatch
from recorder.store import migrate

# The tables may be in any schema of the search path; new ones go into its first.
_PLACES = (
    "WITH p AS (SELECT current_schema() AS first, (SELECT n.nspname FROM pg_class c "
    "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass('log_streams')) AS place) "
    "SELECT place, first, to_regclass(quote_ident(coalesce(place, first)) || '.alembic_version') IS NOT NULL FROM p"
)


def version(driver: psycopg.Connection[Any], shown: str) -> int:
    """The number of the last migration that was applied; 0 where there is none of our tables.

    Raises `DatabaseUnusable` where the tables would come in another application's way.
    """
    row = driver.execute(_PLACES).fetchone()
    assert row is not None
    place, first, is_versioned = row
    if place is None:
        if first is None:
            raise DatabaseUnusable(f"{shown} has no schema that its search_path names: make one, or name another")
        if is_versioned:
            raise DatabaseUnusable(f"{shown} {_ANOTHERS}")
        return 0
    number = None
    if is_versioned:
        versions = sql.SQL("SELECT version_num FROM {}.alembic_version").format(sql.Identifier(place))
        number = driver.execute(versions).fetchone()
    if number is None or not number[0].isdecimal():
        raise DatabaseUnusable(f"{shown} {_ANOTHERS}")
    if int(number[0]) < migrate.SCHEMA and place != first:
        raise DatabaseUnusable(
            f"{shown} has its tables in the schema {place}, where new ones would go into {first}:"
            f" add ?options=-csearch_path%3D{place} to its URL"
        )
    return int(number[0])


def must_be_made(found: int, shown: str, *, create: bool, readonly: bool) -> bool:
    """Whether the schema has to be made or brought up. Raises `DatabaseUnusable`, `SchemaMismatch` where it may not."""
    if found > migrate.SCHEMA:
        raise SchemaMismatch(
            f"{shown} has schema {found}, newer than this program's {migrate.SCHEMA}: upgrade recorder"
        )
    if found == migrate.SCHEMA:
        return False
    if found == 0 and (readonly or not create):
        raise DatabaseUnusable(f"{shown} holds no log yet: record something first, or name another database")
    if readonly:
        raise SchemaMismatch(
            f"{shown} has schema {found}, older than this program's {migrate.SCHEMA}: run rec db upgrade"
        )
    return True


_ANOTHERS = (
    "is a database of another application: name another, or a schema of its own with ?options=-csearch_path%3DNAME"
)
