"""Rows on stdout, in the format asked for; lines for the person on stderr."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from recorder.cli.options import Format
from recorder.events import jsontext


def prepare() -> None:
    """Makes stdout take every text: a lone surrogate is printed as its escape, never as an error.

    What goes to a file or to the next program is UTF-8 whatever the locale; a terminal keeps its encoding. A standard
    stream that is closed (`>&-`) is an empty one.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
    if isinstance(sys.stdout, io.TextIOWrapper):
        encoding = sys.stdout.encoding if sys.stdout.isatty() else "utf-8"
        sys.stdout.reconfigure(encoding=encoding, errors="backslashreplace")


def rows(columns: Sequence[str], found: Iterable[Sequence[Any]], format: Format) -> None:
    """Prints rows as they come; only a table waits for the widths of its first screen."""
    if format == "json":
        _json(_distinct(columns), found)
    elif format == "nl":
        names = _distinct(columns)
        for row in found:
            print(_object(names, row))
    elif format == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([cell(value) for value in row] for row in found)
    else:
        from recorder.cli.table import table

        for line in table(columns, ([cell(value) for value in row] for row in found)):
            print(line)


def document(value: Any) -> None:
    """Prints one JSON document; over several lines where a person reads it."""
    print(jsontext.encode(value, indent=2 if sys.stdout.isatty() else None))


def hint(text: str) -> None:
    """A line for the person, not for the next program."""
    print(_one_line(text), file=sys.stderr)


def error_line(text: str) -> None:
    """Says in one line what went wrong."""
    hint(f"rec: {text}")


def cell(value: Any) -> Any:
    """A database value as text formats take it: NULL is nothing, bytes are text where they are some, else hex."""
    return "" if value is None else _plain(value)


def _json(columns: Sequence[str], found: Iterable[Sequence[Any]]) -> None:
    separator = "["
    for row in found:
        print(separator + _object(columns, row), end="")
        separator = ",\n "
    print("[]" if separator == "[" else "]")


def _distinct(columns: Sequence[str]) -> list[str]:
    """Column names as the keys of an object: a second `a` is `a_2`, or its value would be lost."""
    names: list[str] = []
    for name in columns:
        number, free = 2, name
        while free in names:
            free, number = f"{name}_{number}", number + 1
        names.append(free)
    return names


def _object(columns: Sequence[str], row: Sequence[Any]) -> str:
    return jsontext.encode(dict(zip(columns, map(_plain, row), strict=True)))


def _plain(value: Any) -> Any:
    if isinstance(value, bytes | memoryview):
        raw = bytes(value)
        try:
            return raw.decode()
        except UnicodeDecodeError:
            return raw.hex()
    return value


def _one_line(text: str) -> str:
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in " ".join(text.split()))
