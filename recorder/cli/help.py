"""How `--help` is laid out."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand, TyperGroup

_TYPE = re.compile(r" <[^<>]*>$")


class _Formatter:
    """Leaves out of a section the Python types that Typer names: every argument of this command is text."""

    def __init__(self, formatter: Any) -> None:
        self._formatter = formatter

    def __getattr__(self, name: str) -> Any:
        return getattr(self._formatter, name)

    def write_dl(self, rows: list[tuple[str, str]]) -> None:
        self._formatter.write_dl([(_TYPE.sub("", name), help.replace("  [required]", "")) for name, help in rows])


class Verb(TyperCommand):
    """A command whose help names no types."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        super().format_options(ctx, _Formatter(formatter))  # type: ignore[arg-type]


class Verbs(TyperGroup):
    """Commands in the order in which they were added, as a person meets them."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)
