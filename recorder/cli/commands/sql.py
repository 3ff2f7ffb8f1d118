"""`rec sql`: questions in SQL, read-only."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from recorder.cli import opening, output
from recorder.cli.commands import sql_advice
from recorder.cli.options import Csv, Database, Json, Nl, Table, format_of
from recorder.errors import QueryRefused


def sql(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="One SELECT, or - to read it from standard input.")],
    database: Database = None,
    json: Json = False,
    nl: Nl = False,
    csv: Csv = False,
    table: Table = False,
) -> None:
    """Ask the log in SQL; what writes is refused.

    \b
    Examples:
      rec sql "SELECT name, count(*) FROM tool_calls GROUP BY name"
      rec sql --csv "SELECT * FROM pairings WHERE status = 'open'" > open.csv
      rec sql - < audit.sql

    Views: streams, events, runs, messages, tool_call_chunks, tool_calls, tool_messages, pairings, findings.
    """
    format = format_of(json, nl, csv, table)
    query = _given() if query == "-" else query
    with opening.ledger(database) as ledger:
        try:
            columns, found = ledger.sql(query)
            output.rows(columns, found, format)
        except QueryRefused as error:
            advice = sql_advice.advice(ledger, query, str(error))
            raise QueryRefused(f"{error} ({advice})" if advice else str(error)) from None


def _given() -> str:
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise QueryRefused(f"the query on standard input is no UTF-8 (byte {error.start})") from None
