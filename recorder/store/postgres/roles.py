"""The roles of a log on a server, as the GRANTs that make them.

They may be run again: after an upgrade they cover what is new.

A writer may append and keep the read model; what it may UPDATE of the log is the head of a stream, which a trigger
watches. An eraser may blank what it recorded as erased. An auditor reads. None of them owns a table: only an owner can
switch a trigger off.
"""

from __future__ import annotations

from recorder.store import tables

_LOG = ("log_events", "log_event_types", "log_origins", "log_appends")
_STREAMS = "log_streams"
_NOTES = ("log_captures", "log_snapshots")
_ALL = (*_LOG, _STREAMS, *_NOTES, "log_erasures", "log_epochs", "alembic_version")
_VIEWS = (
    "streams",
    "events",
    "erasures",
    "runs",
    "messages",
    "messages_all",
    "tool_calls",
    "tool_calls_all",
    "tool_call_chunks",
    "tool_call_chunks_all",
    "tool_messages",
    "pairings",
    "findings",
)


WRITER, AUDITOR, ERASER = "rec_writer", "rec_auditor", "rec_eraser"


def grants(schema: str) -> str:
    """SQL for psql, to be run by the owner of the tables; `schema`, quoted where it must be, is where they are."""
    read_model = ", ".join(table.name for table in tables.READ_MODEL.values())
    everything = ", ".join((*_ALL, *(table.name for table in tables.READ_MODEL.values()), *_VIEWS))
    projecting = f"{', '.join(_NOTES)}, {read_model}"
    lines = [
        "-- The owner of the tables makes the schema and runs rec db upgrade; nobody records as the owner.",
        f"SET search_path = {schema};",
        *map(_made, (WRITER, AUDITOR, ERASER)),
        f"GRANT USAGE ON SCHEMA {schema} TO {WRITER}, {AUDITOR}, {ERASER};",
        "",
        "-- Reads everything.",
        f"GRANT SELECT ON {everything} TO {AUDITOR}, {WRITER}, {ERASER};",
        "",
        "-- Appends, and keeps the read model.",
        f"GRANT INSERT ON {', '.join(_LOG)}, {_STREAMS} TO {WRITER};",
        f"GRANT UPDATE (name, parent, last_seq, head_hash, stale, projection) ON {_STREAMS} TO {WRITER};",
        f"GRANT INSERT, UPDATE, DELETE ON {projecting} TO {WRITER};",
        "",
        "-- Blanks events and records that; makes the read model of what is left.",
        f"GRANT INSERT ON log_erasures TO {ERASER};",
        f"GRANT UPDATE (body, frame, cuts, meta, salt, erased) ON log_events TO {ERASER};",
        f"GRANT UPDATE (name, parent, stale, projection) ON {_STREAMS} TO {ERASER};",
        f"GRANT INSERT, UPDATE, DELETE ON {projecting} TO {ERASER};",
    ]
    return "\n".join(lines) + "\n"


def _made(role: str) -> str:
    """Roles are the server's, not the database's: another log on it may have made them."""
    return f"DO $$ BEGIN CREATE ROLE {role} NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;"
