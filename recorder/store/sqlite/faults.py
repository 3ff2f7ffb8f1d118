"""SQLite's errors as one line each that says what to do."""

from __future__ import annotations

import sqlite3

from recorder.errors import Corrupt, DatabaseUnusable, RecorderError, Unstorable

_PRIMARY = 0xFF
"""The low byte of an extended result code (https://www.sqlite.org/rescode.html)."""

_LINES = {
    sqlite3.SQLITE_BUSY: "is locked by another program: try again when that is done",
    sqlite3.SQLITE_LOCKED: "is locked by another program: try again when that is done",
    sqlite3.SQLITE_FULL: "cannot grow: the disk is full",
    sqlite3.SQLITE_READONLY: "is read-only: change its permissions or name another database",
    sqlite3.SQLITE_PERM: "may not be opened: change its permissions or name another database",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened: look at the permissions of the file and its folder",
    sqlite3.SQLITE_NOTADB: "is not a SQLite database: name another file",
    sqlite3.SQLITE_CORRUPT: "is damaged: run rec db check, and go back to a backup",
    sqlite3.SQLITE_IOERR: "cannot be read or written: the disk or file system reports an error",
}

_OF_A_VALUE = {sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH}
"""Errors that say something of the row, and nothing of the database."""

_NO_TEXT = "Could not decode to UTF-8"
"""How the driver says that a text is none: SQLite takes any bytes for one."""


def code_of(error: BaseException) -> int:
    """The primary result code, 0 where the error did not come from SQLite itself."""
    return (getattr(error, "sqlite_errorcode", None) or 0) & _PRIMARY


def line_for(error: BaseException) -> str:
    """What happened, without the database's name in front."""
    return _LINES.get(code_of(error)) or f"refused: {error}"


def translate(error: BaseException, shown: str) -> RecorderError:
    """The error to raise in place of SQLite's own."""
    if str(error).startswith(_NO_TEXT):
        return Corrupt(f"{shown} holds a text that is none, which no append puts there: run rec verify")
    kind = Unstorable if code_of(error) in _OF_A_VALUE else DatabaseUnusable
    return kind(f"{shown} {line_for(error)}")
