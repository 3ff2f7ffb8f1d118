"""`rec db` and `rec rebuild`: the database and its care."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from recorder.cli import opening, targets
from recorder.cli.help import Verb
from recorder.cli.options import Database
from recorder.cli.output import error_line, hint
from recorder.errors import ProjectionFailed

db = typer.Typer(
    help="""The database and its care.

\b
Examples:
  rec db path
  rec db check
  rec db upgrade
  rec db backup monday.db
""",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@db.command("path", cls=Verb)
def path(database: Database = None) -> None:
    """Print where the database is.

    \b
    Examples:
      rec db path
      ls -l "$(rec db path)"

    The password of a URL is not printed.
    """
    from recorder.store.location import default_database, shown

    print(shown(database if database is not None else default_database(create_folder=False)))


@db.command("upgrade", cls=Verb)
def upgrade(database: Database = None) -> None:
    """Bring the schema up to date.

    \b
    Examples:
      rec db upgrade
      rec db upgrade -d runs.db

    Verbs that write do it by themselves; verbs that read refuse an older schema. Where there is no database yet, an
    empty one is made.
    """
    with opening.ledger(database, write=True) as ledger:
        hint(f"schema {ledger.store.schema_version}")


@db.command("check", cls=Verb)
def check(database: Database = None) -> int:
    """Look for damage and for risks.

    \b
    Examples:
      rec db check

    A line each: `damage` is wrong now (exit code 1), a `risk` may hurt one day.
    """
    from recorder.store.check import check_store

    with opening.ledger(database) as ledger:
        found = check_store(ledger.store)
        for problem in found:
            print(f"{problem.kind}: {problem.text}")
        if not found:
            hint("nothing wrong")
        return 1 if any(problem.kind == "damage" for problem in found) else 0


@db.command("backup", cls=Verb)
def backup(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A new file.")],
    database: Database = None,
) -> None:
    """Copy the database into a new file, while it is in use.

    \b
    Examples:
      rec db backup monday.db
      rec verify -d monday.db

    For SQLite. A server has pg_dump; rec copy moves streams between the two.
    """
    from pathlib import Path

    with opening.ledger(database) as ledger:
        ledger.store.backup(Path(file))
        hint(f"{file}: {len(ledger.streams())} streams")


@db.command("roles", cls=Verb)
def roles(database: Database = None) -> None:
    """Print the grants for three roles on Postgres.

    \b
    Examples:
      rec db roles -d postgresql://owner@server/agents | psql -d agents

    For a writer, an auditor and an eraser, to be run by the owner of the tables. Nobody should record as the owner, who
    alone can switch the triggers off that keep the log append-only.
    """
    with opening.ledger(database) as ledger:
        sys.stdout.write(ledger.store.roles())


def rebuild(
    streams: Annotated[list[str] | None, typer.Argument(metavar="STREAM…", help="All streams by default.")] = None,
    database: Database = None,
) -> int:
    """Compute the read model anew from the events.

    \b
    Examples:
      rec rebuild
      rec rebuild weather

    The events stay as they are; messages, calls, pairings and findings are made again from them. A stream that cannot
    be rebuilt does not keep the others from it; exit code 2 says that there was one.
    """
    with opening.ledger(database, write=True, create=False) as ledger:
        named = [targets.stream_name(ledger, each) for each in streams or []]
        failed = 0
        for stream in named or [head.name for head in ledger.streams()]:
            try:
                hint(f"{stream}: rebuilt from {ledger.rebuild(stream)} events")
            except ProjectionFailed as error:
                failed += 1
                error_line(str(error))
        return 2 if failed else 0
