"""What a database says of its own schema, as sets of lines that can be compared."""

from __future__ import annotations

from tests.store.made import Behind

_OURS = "relnamespace = current_schema()::regnamespace"
_POSTGRES = {
    "relation": f"""
        SELECT relname, relkind, relpersistence, reloptions, pg_get_expr(relpartbound, oid), pg_get_partkeydef(oid)
        FROM pg_class WHERE {_OURS}""",
    "column": f"""
        SELECT c.relname, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity,
            a.attstorage, (SELECT collname FROM pg_collation WHERE oid = a.attcollation),
            (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef d WHERE d.adrelid = c.oid AND d.adnum = a.attnum)
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE c.{_OURS} AND a.attnum > 0 AND NOT a.attisdropped""",
    "constraint": f"""
        SELECT c.relname, k.conname, pg_get_constraintdef(k.oid)
        FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid WHERE c.{_OURS}""",
    "index": f"""
        SELECT pg_get_indexdef(indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid WHERE c.{_OURS}""",
    "trigger": f"""
        SELECT c.relname, t.tgname, t.tgenabled, pg_get_triggerdef(t.oid)
        FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE c.{_OURS}""",
    "view": f"SELECT relname, pg_get_viewdef(oid) FROM pg_class WHERE {_OURS} AND relkind = 'v'",
    "function": """
        SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = current_schema()::regnamespace""",
}


def catalog(database: Behind) -> set[tuple[object, ...]]:
    """Tables, columns, types, defaults, constraints, indexes, triggers, views and functions."""
    if database.is_sqlite:
        return set(database.run("SELECT type, name, tbl_name, sql FROM sqlite_master"))
    return {(kind, *map(str, row)) for kind, query in _POSTGRES.items() for row in database.run(query)}


def columns_of(database: Behind, table: str) -> dict[str, str]:
    """The columns of a table, with their types in SQLAlchemy's names."""
    if database.is_sqlite:
        kinds = {"BLOB": "LargeBinary", "INTEGER": "BigInteger", "TEXT": "Text"}
        return {
            name: kinds[kind] for name, kind in database.run(f"SELECT name, type FROM pragma_table_info('{table}')")
        }
    kinds = {"bytea": "LargeBinary", "bigint": "BigInteger", "text": "Text"}
    query = (
        "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute "
        f"WHERE attrelid = '{table}'::regclass AND attnum > 0"
    )
    return {name: kinds[kind] for name, kind in database.run(query)}


def key_of(database: Behind, table: str) -> list[str]:
    """The columns of a table's primary key, in order."""
    if database.is_sqlite:
        return [name for (name,) in database.run(f"SELECT name FROM pragma_table_info('{table}') WHERE pk ORDER BY pk")]
    query = (
        "SELECT a.attname FROM pg_constraint k CROSS JOIN unnest(k.conkey) WITH ORDINALITY AS u(number, place) "
        "JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.number "
        f"WHERE k.conrelid = '{table}'::regclass AND k.contype = 'p' ORDER BY u.place"
    )
    return [name for (name,) in database.run(query)]


def tables_of(database: Behind) -> set[str]:
    """The names of all tables, without partitions."""
    if database.is_sqlite:
        return {name for (name,) in database.run("SELECT name FROM sqlite_master WHERE type = 'table'")}
    query = f"SELECT relname FROM pg_class WHERE {_OURS} AND relkind IN ('r', 'p') AND NOT relispartition"
    return {name for (name,) in database.run(query)}
