"""The command `rec`: its verbs, and what becomes of errors."""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Annotated

import typer

from recorder._version import __version__
from recorder.cli import output
from recorder.cli.help import ProgramVerb, Verb, Verbs
from recorder.errors import RecorderError

EPILOG = (
    "Data goes to stdout, all else to stderr. Exit codes: 0 fine; 1 two states differ, or the log was"
    " found damaged or changed; 2 an error."
)

_COMMENT = re.compile(r"--(?:\W|[\w-]*\s)")
HELP = """Record what an LLM agent streamed; get its state back at any event.

\b
Examples:
  rec capture run.sse                 store a recorded stream as "run"
  my-agent | rec capture -            store events as they arrive
  rec capture -- python agent.py      record a program while it runs
  rec replay run --at 12              the state after event 12
  rec sql "SELECT * FROM tool_calls"  ask everything in SQL
"""
VERBS = {
    "capture": "capture:capture",
    "serve": "serve:serve",
    "ls": "streams:ls",
    "show": "streams:show",
    "replay": "replay:replay",
    "diff": "diff:diff",
    "sql": "sql:sql",
    "tail": "transfer:tail",
    "export": "transfer:export",
    "copy": "transfer:copy",
    "verify": "proof:verify",
    "seal": "proof:seal",
    "rename": "streams:rename",
    "erase": "proof:erase",
    "rebuild": "database:rebuild",
    "db": "database:db",
}
"""Where each verb is, in the order in which a person meets them."""
WITH_PROGRAM = ("capture",)
"""Verbs that take a program and its arguments behind `--`."""


def program(arguments: Sequence[str] = ()) -> typer.Typer:
    """The command line. With `arguments` that begin with a verb, with that verb only: to make all costs every start."""
    app = typer.Typer(
        name="rec",
        cls=Verbs,
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        epilog=EPILOG,
        context_settings={"help_option_names": ["-h", "--help"]},
        help=HELP,
    )
    app.callback()(options)
    for verb in arguments[:1] if arguments[:1] and arguments[0] in VERBS else VERBS:
        module, _, name = VERBS[verb].partition(":")
        found = getattr(import_module(f"recorder.cli.commands.{module}"), name)
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=verb, cls=Verbs)
        else:
            app.command(verb, cls=ProgramVerb if verb in WITH_PROGRAM else Verb)(found)
    return app


def _version(wanted: bool) -> None:
    if wanted:
        print(f"rec {__version__}")
        raise typer.Exit


def options(
    version: Annotated[
        bool,
        typer.Option("--version", "-V", is_eager=True, callback=_version, help="Print the version and exit."),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback where an error is not expected.")] = False,
) -> None:
    """What may stand before a verb."""


def main(argv: list[str]) -> int:
    """Runs one command line; gives its exit code. Errors are one line on stderr.

    With `--debug` a traceback comes before the line of an error that nobody expected.
    """
    end = argv.index("--") if argv[:1] and argv[0] in WITH_PROGRAM and "--" in argv else len(argv)
    arguments = [argument for argument in argv[:end] if argument != "--debug"]
    debug = len(arguments) != end
    arguments += argv[end:]
    output.prepare()
    try:
        result = program(arguments)(args=_protected(arguments), prog_name="rec", standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except typer.Exit as exit:
        return exit.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except typer.TyperException as error:
        return _usage(error, arguments)
    except (BrokenPipeError, SystemExit):
        # The reader of stdout went away (`rec show … | head`): nothing is wrong, and nobody is left to tell. It is all
        # that Typer makes a SystemExit of.
        _drop_stdout()
        return 0
    except RecorderError as error:
        return _fail(str(error))
    except OSError as error:
        _drop_stdout()
        return _fail(f"{error.filename or 'the output'}: {(error.strerror or str(error)).lower()}")
    except Exception as error:
        if debug:
            traceback.print_exception(error)
        advice = "" if debug else " (run it again with --debug for the traceback)"
        return _fail(f"unexpected {type(error).__name__}: {error}{advice}")


def _protected(arguments: list[str]) -> list[str]:
    """The arguments, a query that begins with a comment (`-- why`) marked as no option by a space before it."""
    if arguments[:1] != ["sql"]:
        return arguments
    return [f" {each}" if _COMMENT.match(each) else each for each in arguments]


def _drop_stdout() -> None:
    """What stdout still holds cannot be written: without this, Python would say so once more at its end."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _usage(error: typer.TyperException, arguments: list[str]) -> int:
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    if message.startswith("Usage:"):
        print(message, file=sys.stderr)
        return 2
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else " ".join(["rec", *arguments[:1]])
    if command == "rec" and "option: -d" in message:
        return _fail("-d comes after the verb: rec ls -d runs.db")
    from recorder.cli import misuse

    advice = misuse.advice(message, command, arguments) or f"see {command} --help"
    return _fail(f"{message.rstrip('.')} ({advice})")


def _fail(message: str) -> int:
    output.error_line(message)
    return 2
