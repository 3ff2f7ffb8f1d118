"""What can be wrong with a Postgres server as a keeper of the log."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import psycopg

from recorder.store import migrate
from recorder.store.shapes import Problem

OLDEST = 15
"""PostgreSQL 15 is the oldest version that the schema is meant for."""
_KEPT = {"log_refuse_delete", "log_refuse_truncate"}
_FROZEN = {*_KEPT, "log_refuse_update"}
GUARDS = {
    "log_streams": {*_KEPT, "log_streams_insert", "log_streams_update"},
    "log_events": {*_KEPT, "log_events_insert", "log_events_update"},
    "log_event_types": _FROZEN,
    "log_origins": _FROZEN,
    "log_appends": {*_FROZEN, "log_appends_insert"},
    "log_epochs": _FROZEN,
    "log_erasures": {*_FROZEN, "log_erasures_insert"},
}
"""The triggers that keep the log; a partition of `log_events` has its own of the same names."""
_ROW, _BEFORE, _INSERT, _DELETE, _UPDATE, _TRUNCATE = 1, 2, 4, 8, 16, 32
"""Bits of `pg_trigger.tgtype` (TRIGGER_TYPE_* in catalog/pg_trigger.h)."""
MEANT = {
    "log_refuse_delete": ("log_refuse", _BEFORE | _DELETE),
    "log_refuse_truncate": ("log_refuse", _BEFORE | _TRUNCATE),
    "log_refuse_update": ("log_refuse", _BEFORE | _UPDATE),
    "log_streams_insert": ("log_streams_inserted", _ROW | _BEFORE | _INSERT),
    "log_streams_update": ("log_streams_updated", _ROW | _BEFORE | _UPDATE),
    "log_events_insert": ("log_events_inserted", _INSERT),
    "log_events_update": ("log_events_updated", _UPDATE),
    "log_appends_insert": ("log_appends_inserted", _ROW | _BEFORE | _INSERT),
    "log_erasures_insert": ("log_erasures_inserted", _ROW | _BEFORE | _INSERT),
}
"""Which function a trigger calls, and when."""
_FUNCTIONS = (
    "SELECT proname, prosrc FROM pg_proc WHERE proname = ANY (%s) "
    "AND pronamespace = (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('log_events'))"
)
_MADE = re.compile(
    r"^CREATE (?:OR REPLACE )?(?:FUNCTION|PROCEDURE) (\w+)\(.*?\bAS \$\$(.*?)\$\$", re.DOTALL | re.MULTILINE
)
_TRIGGERS = (
    "SELECT c.relname, coalesce(p.relname, c.relname), t.tgname, t.tgenabled = 'A', f.proname, t.tgtype::int, "
    "t.tgqual IS NULL AND t.tgattr::text = '' "
    "FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid LEFT JOIN pg_class p ON p.oid = i.inhparent "
    "LEFT JOIN pg_trigger t ON t.tgrelid = c.oid AND NOT t.tgisinternal LEFT JOIN pg_proc f ON f.oid = t.tgfoid "
    "WHERE c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('log_events')) "
    "AND coalesce(p.relname, c.relname) = ANY (%s) AND c.relkind IN ('r', 'p') ORDER BY 1"
)
_RISKS = (
    ("fsync", "off", "a crash of the machine can damage the database"),
    ("full_page_writes", "off", "a crash of the machine can damage the database"),
    ("synchronous_commit", "off", "a crash can lose what was acknowledged"),
)


def problems(driver: psycopg.Connection[Any]) -> list[Problem]:
    """Each thing that is damaged or will hurt."""
    found = [Problem("damage", text) for text in (*_unguarded(driver), *_other_functions(driver))]
    if driver.info.server_version < OLDEST * 10_000:
        version = driver.info.server_version // 10_000
        found.append(Problem("risk", f"PostgreSQL {version} is older than {OLDEST}: upgrade the server"))
    for setting, bad, why in _RISKS:
        row = driver.execute("SELECT current_setting(%s)", (setting,)).fetchone()
        if row is not None and row[0] == bad:
            found.append(Problem("risk", f"{setting} is {bad}: {why}"))
    return found


def _unguarded(driver: psycopg.Connection[Any]) -> list[str]:
    """What of the triggers is missing, switched off, or another than it should be."""
    here: dict[tuple[str, str], dict[str, str | None]] = {}
    for table, guarded_as, trigger, is_on, *does, is_unconditional in driver.execute(
        _TRIGGERS, (list(GUARDS),)
    ).fetchall():
        is_meant = is_unconditional and tuple(does) == MEANT.get(trigger)
        wrong = None if is_on and is_meant else "was changed" if is_on else "is switched off"
        here.setdefault((table, guarded_as), {})[trigger] = wrong
    lines = []
    for (table, guarded_as), triggers in here.items():
        for trigger in sorted(GUARDS[guarded_as]):
            wrong = triggers.get(trigger, "is missing")
            if wrong is not None:
                lines.append(f"the trigger {trigger} of {table} {wrong}: the log can be changed")
    gone = sorted(GUARDS.keys() - {table for table, _ in here})
    return lines + [f"the table {table} is missing: go back to a backup" for table in gone]


def _other_functions(driver: psycopg.Connection[Any]) -> list[str]:
    """Which functions have another body than the migrations give them. Of those that are gone the triggers tell."""
    version = driver.execute("SELECT version_num FROM alembic_version").fetchone()
    if version is None or version[0] != f"{migrate.SCHEMA:04d}":
        return []  # An older schema is brought up before it is written.
    wanted = made_functions()
    rows = driver.execute(_FUNCTIONS, (list(wanted),)).fetchall()
    changed = sorted(name for name, body in rows if body != wanted[name])
    return [f"the function {name} was changed: the log can be changed, or shown as it is not" for name in changed]


@cache
def made_functions() -> dict[str, str]:
    """The functions that the migrations make, with their bodies; the last one of a name counts."""
    scripts = sorted((migrate.folder() / "postgresql").glob("*.sql"))
    return {name: body for script in scripts for name, body in _MADE.findall(script.read_text("utf-8"))}
