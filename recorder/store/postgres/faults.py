"""Postgres's errors as one line each that says what to do."""

from __future__ import annotations

import re

import psycopg
from psycopg.errors import UniqueViolation

from recorder.errors import DatabaseUnusable, RecorderError, Unstorable

TAKEN_BACK = "took the transaction back after an error: nothing of it was stored"
_LINES: dict[str, str] = {
    "28P01": "refuses the password: give the right one, in the URL or in PGPASSWORD",
    "28000": "refuses this user: look at the URL and at the server's pg_hba.conf",
    "3D000": "does not exist: make it with createdb, or name another database",
    "42501": "refuses this role: rec db roles prints the grants that it needs",
    "53100": "cannot grow: the server's disk is full",
    "53200": "is out of memory: try again when its load is lower",
    "53300": "has no connection left: close some, or raise the limit of the server or of the role",
    "55000": "takes no connections: name another database",
    "55P03": "is locked by another program: try again when that is done",
    "57P01": "was shut down: start it and try again",
    "57P02": "crashed: start it and try again",
    "57P03": "is starting up or shutting down: try again in a moment",
    "57014": "gave up on a statement that took longer than its statement_timeout: raise that",
    "25006": "is read-only: write to the primary, or name another database",
    "40P01": "took one of two transactions back that waited for each other: try again",
    "40001": "took the transaction back because of another one: try again",
    "25P02": TAKEN_BACK,
    "54000": "refuses an id or a name that is longer than an index entry (some 2,600 bytes)",
    "XX001": "is damaged: go back to a backup",
    "XX002": "is damaged (an index): run REINDEX, and verify",
}
# While a connection is made libpq gives the server's words only, without their SQLSTATE.
_CONNECTING = [
    (re.compile(pattern), state)
    for pattern, state in (
        ("password authentication failed|no password supplied", "28P01"),
        ('no pg_hba.conf entry|role ".*" does not exist|not permitted to log in|authentication failed', "28000"),
        ('database ".*" does not exist', "3D000"),
        ("permission denied for database", "42501"),
        ("too many (clients|connections)|connection slots are reserved", "53300"),
        ("not currently accepting connections", "55000"),
        ("starting up|shutting down|recovery mode|not yet accepting connections", "57P03"),
    )
]
_PREAMBLE = re.compile(r"^connection (is bad|failed): ")


def line_for(error: BaseException) -> str:
    """What happened, without the database's name in front."""
    state = getattr(error, "sqlstate", None)
    if state in _LINES:
        return _LINES[state]
    if isinstance(error, UniqueViolation) and (error.diag.table_name or "").startswith("log_events"):
        return "holds events behind the last one of their stream, which another program put there: run rec verify"
    # Without its details: they hold the row that was refused.
    text = plain(error.diag.message_primary or str(error)) if isinstance(error, psycopg.Error) else str(error)
    if state is None and isinstance(error, psycopg.OperationalError):
        return f"cannot be reached: {text or type(error).__name__}"
    return f"refused: {text or type(error).__name__}"


def is_lost(error: BaseException) -> bool:
    """Whether the connection is gone, so that a commit may or may not have happened."""
    state = getattr(error, "sqlstate", None)
    return isinstance(error, psycopg.OperationalError) and (state is None or state.startswith(("08", "57P0")))


def is_starting(error: Exception) -> bool:
    """Whether the server answered that it is not ready yet."""
    return isinstance(error, psycopg.OperationalError) and _state_while_connecting(error) == "57P03"


def translate(error: BaseException, shown: str) -> RecorderError:
    """The error to raise in place of the driver's own."""
    state = getattr(error, "sqlstate", None) or ""
    # Class 22 is data exceptions, 54 limits of the server.
    kind = Unstorable if state.startswith(("22", "54")) else DatabaseUnusable
    return kind(f"{shown} {line_for(error)}")


def translate_connecting(error: psycopg.Error, shown: str) -> RecorderError:
    """As `translate`, where no connection was made."""
    state = _state_while_connecting(error)
    if state is not None:
        return DatabaseUnusable(f"{shown} {_LINES[state]}")
    text = plain(_PREAMBLE.sub("", str(error)))
    if not isinstance(error, psycopg.OperationalError):
        return DatabaseUnusable(f"{shown} is not a URL that Postgres takes: {text}")
    return DatabaseUnusable(f"{shown} cannot be reached: {text}")


def _state_while_connecting(error: psycopg.Error) -> str | None:
    text = str(error)
    return next((state for pattern, state in _CONNECTING if pattern.search(text)), None)


def plain(text: str) -> str:
    """The text as one line."""
    return " ".join(text.split())
