"""`rec ls`, `rec show`, `rec rename`: streams, their events, their names."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from recorder.cli import opening, output, targets
from recorder.cli.options import Csv, Database, Json, Nl, Table, format_of
from recorder.errors import BadInput


def ls(
    tool: Annotated[
        str | None, typer.Option("--tool", metavar="NAME", help="Only streams that call this tool.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="Only streams in which this model answers.")
    ] = None,
    since: Annotated[str | None, typer.Option("--since", metavar="TIME", help="Only newer ones; ISO-8601.")] = None,
    database: Database = None,
    json: Json = False,
    nl: Nl = False,
    csv: Csv = False,
    table: Table = False,
) -> None:
    """List streams.

    \b
    Examples:
      rec ls
      rec ls --tool get_weather --since 2026-01-31
    """
    from recorder.events import clock
    from recorder.ledger import questions

    format = format_of(json, nl, csv, table)
    if since is not None:
        try:
            since = clock.to_text(clock.from_text(since))
        except ValueError:
            raise BadInput(f"--since {since}: give a date or time in ISO-8601, such as 2026-01-31T12:00:00") from None
    with opening.ledger(database) as ledger:
        columns, found = questions.streams(ledger.store, tool, model, since)
        if format == "human" and sys.stdout.isatty():
            columns, found = _for_a_terminal(columns, list(found))
        output.rows(columns, found, format)


def _for_a_terminal(columns: list[str], rows: list[tuple[Any, ...]]) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
    """Leaves more room for names: times in seconds, and no column of parents where no stream has one."""
    made, parent = columns.index("created_at"), columns.index("parent")
    shown = [place for place in range(len(columns)) if place != parent or any(row[parent] for row in rows)]
    cells = ([*row[:made], f"{row[made][:19]}Z", *row[made + 1 :]] for row in rows)
    return [columns[place] for place in shown], (tuple(row[place] for place in shown) for row in cells)


def show(
    target: Annotated[str, typer.Argument(metavar="STREAM[@A-B]", help="A stream, or some of its events.")] = "latest",
    database: Database = None,
    json: Json = False,
    nl: Nl = False,
    csv: Csv = False,
    table: Table = False,
) -> None:
    """Show events as they were received.

    \b
    Examples:
      rec show weather
      rec show weather@10-20 --nl
      rec show weather@-5                 the first five; weather@10- is all from event 10 on
      rec show weather@first-error
    """
    from recorder.ledger import questions

    format = format_of(json, nl, csv, table)
    with opening.ledger(database) as ledger:
        found = targets.resolve(ledger, target, ranges=True)
        last = ledger.head(found.stream).last_seq
        first = found.first if found.first is not None else 1
        until = found.last if found.last is not None else last
        if last and not 1 <= first <= until <= last:
            raise BadInput(f"{target}: stream {found.stream!r} has events 1 to {last}")
        columns, rows = questions.events(ledger.store, found.stream, first, until, brief=format == "human")
        output.rows(columns, rows, format)


def rename(
    stream: Annotated[str, typer.Argument(metavar="STREAM", help="The name that it has.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name that it gets.")],
    database: Database = None,
) -> None:
    """Give a stream another name.

    \b
    Examples:
      rec rename stdin-20260131T120000Z-09af weather
      rec rename latest weather

    Its events and their hashes stay as they are.
    """
    from recorder.capture import checked

    with opening.ledger(database, create=False, write=True) as ledger:
        ledger.rename(targets.stream_name(ledger, stream), checked(name))
