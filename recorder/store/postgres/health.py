"""What can be wrong with a Postgres server as a keeper of the log."""

from __future__ import annotations

from typing import Any

import psycopg

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
_TRIGGERS = (
    "SELECT c.relname, coalesce(p.relname, c.relname), t.tgname, t.tgenabled = 'A' "
    "FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid LEFT JOIN pg_class p ON p.oid = i.inhparent "
    "LEFT JOIN pg_trigger t ON t.tgrelid = c.oid AND NOT t.tgisinternal "
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
    found = [Problem("damage", text) for text in _unguarded(driver)]
    if driver.info.server_version < OLDEST * 10_000:
        version = driver.info.server_version // 10_000
        found.append(Problem("risk", f"PostgreSQL {version} is older than {OLDEST}: upgrade the server"))
    for setting, bad, why in _RISKS:
        row = driver.execute("SELECT current_setting(%s)", (setting,)).fetchone()
        if row is not None and row[0] == bad:
            found.append(Problem("risk", f"{setting} is {bad}: {why}"))
    return found


def _unguarded(driver: psycopg.Connection[Any]) -> list[str]:
    """What of the triggers is missing or switched off."""
    switched_on: dict[tuple[str, str], dict[str, bool]] = {}
    for table, guarded_as, trigger, is_on in driver.execute(_TRIGGERS, (list(GUARDS),)).fetchall():
        switched_on.setdefault((table, guarded_as), {})[trigger] = is_on
    lines = []
    for (table, guarded_as), triggers in switched_on.items():
        for trigger in sorted(GUARDS[guarded_as]):
            if trigger not in triggers:
                lines.append(f"the trigger {trigger} of {table} is missing: the log can be changed")
            elif not triggers[trigger]:
                lines.append(f"the trigger {trigger} of {table} is switched off: the log can be changed")
    gone = sorted(GUARDS.keys() - {table for table, _ in switched_on})
    return lines + [f"the table {table} is missing: go back to a backup" for table in gone]
