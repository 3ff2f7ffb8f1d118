"""The command `rec`: its verbs, and what becomes of errors."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from recorder._version import __version__
from recorder.cli.commands import capture, database, diff, replay, sql, streams
from recorder.errors import RecorderError

EPILOG = "Data goes to stdout, all else to stderr. Exit codes: 0 fine, 1 a finding or a difference, 2 an error."

app = typer.Typer(
    name="rec",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    epilog=EPILOG,
    help="""Record what an LLM agent streamed; get its state back at any event.

\b
Examples:
  rec capture run.sse                 store a recorded stream as "run"
  my-agent | rec capture -            store events as they arrive
  rec replay run --at 12              the state after event 12
  rec sql "SELECT * FROM tool_calls"  ask everything in SQL
""",
)


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", "-V", is_eager=True, help="Print the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback where an error is not expected.")] = False,
) -> None:
    if version:
        print(f"rec {__version__}")
        raise typer.Exit


app.command("capture")(capture.capture)
app.command("ls")(streams.ls)
app.command("show")(streams.show)
app.command("rename")(streams.rename)
app.command("replay")(replay.replay)
app.command("diff")(diff.diff)
app.command("sql")(sql.sql)
app.command("rebuild")(database.rebuild)
app.add_typer(database.db, name="db")


def main(argv: list[str]) -> int:
    """Runs one command line; gives its exit code. Errors are one line on stderr."""
    arguments = [argument for argument in argv if argument != "--debug"]
    debug = len(arguments) != len(argv)
    try:
        result = app(args=arguments, prog_name="rec", standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except typer.Exit as exit:
        return exit.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except typer.TyperException as error:
        return _usage(error)
    except BrokenPipeError:
        # The reader of stdout went away (`rec show … | head`): nothing is wrong, and nobody is left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except RecorderError as error:
        if debug:
            raise
        return _fail(str(error))
    except Exception as error:
        if debug:
            raise
        return _fail(f"unexpected {type(error).__name__}: {error} (run it again with --debug for the traceback)")


def _usage(error: typer.TyperException) -> int:
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    if message.startswith("Usage:"):
        print(message, file=sys.stderr)
        return 2
    return _fail(f"{message.rstrip('.')} (see rec --help)")


def _fail(message: str) -> int:
    line = " ".join(message.split())
    print(f"rec: {line}", file=sys.stderr)
    return 2
