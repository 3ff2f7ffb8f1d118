"""`rec db` and `rec rebuild`: the database and its care."""

from __future__ import annotations

from typing import Annotated

import typer

from recorder.cli import opening
from recorder.cli.options import Database
from recorder.cli.output import hint

db = typer.Typer(
    help="""The database and its care.

\b
Examples:
  rec db path
  rec db check
  rec db upgrade
""",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@db.command("path")
def path(database: Database = None) -> None:
    """Print where the database is, without a password.

    \b
    Examples:
      rec db path
    """
    from recorder.store.location import default_database, shown

    print(shown(database if database is not None else default_database(create_folder=False)))


@db.command("upgrade")
def upgrade(database: Database = None) -> None:
    """Bring the database to this program's schema, or make a new one.

    \b
    Examples:
      rec db upgrade -d runs.db
    """
    with opening.ledger(database, write=True) as ledger:
        hint(f"schema {ledger.store.schema_version}")


@db.command("check")
def check(database: Database = None) -> int:
    """Look for damage and for settings that will hurt; exit code 1 if something was found.

    \b
    Examples:
      rec db check
    """
    from recorder.store.check import check_store

    with opening.ledger(database) as ledger:
        found = check_store(ledger.store)
        for line in found:
            print(line)
        if not found:
            hint("nothing wrong")
        return 1 if found else 0


def rebuild(
    streams: Annotated[list[str] | None, typer.Argument(metavar="[STREAM…]", help="All streams by default.")] = None,
    database: Database = None,
) -> None:
    """Compute everything that is derived from the events anew.

    \b
    Examples:
      rec rebuild
      rec rebuild weather
    """
    with opening.ledger(database, write=True) as ledger:
        for stream in streams or [head.name for head in ledger.streams()]:
            hint(f"{stream}: rebuilt from {ledger.rebuild(stream)} events")
