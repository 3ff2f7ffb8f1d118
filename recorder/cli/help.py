"""How verbs differ from what Typer makes of a function: how `--help` is laid out, and how values are taken."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand, TyperGroup

PROGRAM = "recorder.program"

_TYPE = re.compile(r" <[^<>]*>$")


class _Formatter:
    """Leaves out of a section the Python types that Typer names: every argument of this command is text."""

    def __init__(self, formatter: Any) -> None:
        self._formatter = formatter

    def __getattr__(self, name: str) -> Any:
        return getattr(self._formatter, name)

    def write_dl(self, rows: list[tuple[str, str]]) -> None:
        self._formatter.write_dl([(_TYPE.sub("", name), help.replace("  [required]", "")) for name, help in rows])


class _AsItIs:
    """Takes a parameter's value as it stands: a text, some texts, a flag.

    Typer would ask pydantic, whose import alone is some 60 ms of a start, and which could only say that text is text:
    what the verbs ask of a text they check themselves.
    """

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        return list(value) if isinstance(value, tuple) else value


def _plain(params: list[Any]) -> list[Any]:
    for param in params:
        # Typer's own slot for what it makes of the annotation when it is first asked; without it all works, slower.
        if getattr(param, "_runtime_param", param) is None:
            param._runtime_param = _AsItIs()
    return params


class Verb(TyperCommand):
    """A command whose help names no types, and whose parameters are texts and flags."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _plain(super().get_params(ctx))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        super().format_options(ctx, _Formatter(formatter))  # type: ignore[arg-type]


class ProgramVerb(Verb):
    """A verb behind whose `--` stands a program with its arguments, which nobody but the program reads.

    The verb finds it as `context.meta[PROGRAM]`; it is not there where there was no `--`.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--" in args:
            at = args.index("--")
            args, ctx.meta[PROGRAM] = args[:at], args[at + 1 :]
        return super().parse_args(ctx, args)


class Verbs(TyperGroup):
    """Commands in the order in which they were added, as a person meets them."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _plain(super().get_params(ctx))

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)
