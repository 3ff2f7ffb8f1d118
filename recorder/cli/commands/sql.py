"""`rec sql`: questions in SQL, read-only."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from recorder.cli import opening, output
from recorder.cli.options import Csv, Database, Json, Nl, Table, format_of


def sql(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="One SELECT, or - to read it from standard input.")],
    database: Database = None,
    json: Json = False,
    nl: Nl = False,
    csv: Csv = False,
    table: Table = False,
) -> None:
    """Ask the log in SQL; a query that writes is refused.

    \b
    Examples:
      rec sql "SELECT name, count(*) FROM tool_calls GROUP BY name"
      rec sql --csv "SELECT * FROM pairings WHERE status = 'open'" > open.csv

    Views: streams, events, runs, messages, tool_call_chunks, tool_calls, tool_messages, pairings, findings.
    """
    format = format_of(json, nl, csv, table)
    with opening.ledger(database) as ledger:
        columns, found = ledger.sql(sys.stdin.read() if query == "-" else query)
        output.rows(columns, found, format)
