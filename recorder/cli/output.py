"""Rows on stdout, in the format asked for."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from recorder.cli.options import Format
from recorder.events import jsontext

CELL = 60
"""Width at which a table on a terminal cuts a cell."""


def rows(columns: Sequence[str], found: Iterable[Sequence[Any]], format: Format) -> None:
    """Prints rows as they come; only a table waits for the widths of its first screen."""
    if format == "json":
        _json(columns, found)
    elif format == "nl":
        for row in found:
            print(jsontext.encode(dict(zip(columns, map(_plain, row), strict=True))))
    elif format == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([_cell(value) for value in row] for row in found)
    else:
        table(columns, found)


def document(value: Any, *, indent: bool = True) -> None:
    """Prints one JSON document; over several lines where a person reads it."""
    print(jsontext.encode(value, indent=2 if indent and sys.stdout.isatty() else None))


def table(columns: Sequence[str], found: Iterable[Sequence[Any]]) -> None:
    """Prints an aligned table. On a terminal long cells are cut; elsewhere nothing is."""
    limit = CELL if sys.stdout.isatty() else None
    iterator = iter(found)
    screen = [[_shown(value, limit) for value in row] for row in islice(iterator, 200)]
    widths = [max([len(name), *(len(row[place]) for row in screen)]) for place, name in enumerate(columns)]
    _line(columns, widths)
    _line(["-" * width for width in widths], widths)
    for row in screen:
        _line(row, widths)
    for more in iterator:
        _line([_shown(value, limit) for value in more], widths)


def hint(text: str) -> None:
    """A line for the person, not for the next program."""
    print(text, file=sys.stderr)


def _json(columns: Sequence[str], found: Iterable[Sequence[Any]]) -> None:
    separator = "["
    for row in found:
        print(separator + jsontext.encode(dict(zip(columns, map(_plain, row), strict=True))), end="")
        separator = ",\n "
    print("[]" if separator == "[" else "]")


def _line(cells: Sequence[str], widths: Sequence[int]) -> None:
    print("  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip())


def _plain(value: Any) -> Any:
    """A database value as JSON takes it: bytes as text where they are some, else in hex."""
    if isinstance(value, bytes | memoryview):
        raw = bytes(value)
        try:
            return raw.decode()
        except UnicodeDecodeError:
            return raw.hex()
    return value


def _cell(value: Any) -> Any:
    return "" if value is None else _plain(value)


def _shown(value: Any, limit: int | None) -> str:
    text = str(_cell(value)).replace("\\", "\\\\") if isinstance(value, bytes) else str(_cell(value))
    text = text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    text = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)
    return text if limit is None or len(text) <= limit else text[: limit - 1] + "…"
