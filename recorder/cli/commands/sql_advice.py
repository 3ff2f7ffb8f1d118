"""What to write instead, where a query of the user's fails."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from recorder.errors import QueryRefused

if TYPE_CHECKING:
    from recorder.ledger import Ledger

VIEWS = (
    "streams",
    "events",
    "runs",
    "messages",
    "tool_call_chunks",
    "tool_calls",
    "tool_messages",
    "pairings",
    "findings",
)
_NO_COLUMN = re.compile(r"no such column: (?:\w+\.)?(.+)$")
_SOURCE = re.compile(r"\b(?:FROM|JOIN|,)\s*(\w+)", re.IGNORECASE)


def advice(ledger: Ledger, query: str, problem: str) -> str | None:
    """The advice for a query, by SQLite's message; None where the message says all."""
    if "no such table" in problem:
        return "rec sql --help names the views"
    if "malformed JSON" in problem:
        return "some rows hold no whole JSON: add WHERE json_valid(args), or with the name of the column that is read"
    if "syntax error" in problem and _names_a_file(query):
        return f"to run the query in a file: rec sql - < {shlex.quote(query)}"
    found = _NO_COLUMN.search(problem)
    if found is None:
        return None
    if re.search(rf"""(?:[=<>(,]|\bLIKE\b|\bGLOB\b|\bIS\b)\s*"?{re.escape(found[1])}\b""", query, re.IGNORECASE):
        return f"text goes in single quotes: '{found[1]}'"
    views = [name for name in dict.fromkeys(map(str.lower, _SOURCE.findall(query))) if name in VIEWS]
    return "; ".join(filter(None, (_columns(ledger, view) for view in views))) or "docs/sql.md names the columns"


def _names_a_file(query: str) -> bool:
    try:
        return query.endswith(".sql") or Path(query).is_file()
    except (OSError, ValueError):
        return False


def _columns(ledger: Ledger, view: str) -> str | None:
    try:
        columns, _ = ledger.sql(f"SELECT * FROM {view} LIMIT 0")
    except QueryRefused:
        return None
    return f"{view} has {', '.join(columns)}"
