"""Tables for people."""

from __future__ import annotations

import shutil
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

SCREEN = 200
"""Rows that are looked at for the widths of the columns; a longer row later on is out of line, and whole."""
NARROWEST = 12
"""A terminal may be narrow, yet no cell is cut below this."""
GAP = "  "


def table(columns: Sequence[str], found: Iterable[Sequence[Any]]) -> Iterator[str]:
    """The lines of an aligned table, numbers to the right.

    On a terminal its widest columns are cut to fit; one that is too narrow even so gets a line for each value.
    Elsewhere nothing is cut.
    """
    rows = iter(found)
    first = list(islice(rows, SCREEN))
    screen = [list(map(printable, row)) for row in first]
    numeric = [
        bool(first) and all(_is_number(row[place]) or row[place] == "" for row in first)
        for place in range(len(columns))
    ]
    widths = [max([_width(name), *(_width(row[place]) for row in screen)]) for place, name in enumerate(columns)]
    terminal = sys.stdout.isatty()
    if terminal:
        room = shutil.get_terminal_size().columns
        widths = _fitted(widths, room)
        if sum(widths) + len(GAP) * (len(widths) - 1) > room:
            yield from _one_below_the_other(columns, chain(screen, (map(printable, row) for row in rows)))
            return
    shown = chain([columns, ["-" * width for width in widths]], screen, (map(printable, row) for row in rows))
    for cells in shown:
        fitted = [_cut(text, width) if terminal else text for text, width in zip(cells, widths, strict=True)]
        yield _line(fitted, widths, numeric)


def _one_below_the_other(columns: Sequence[str], found: Iterable[Iterable[str]]) -> Iterator[str]:
    for number, row in enumerate(found):
        if number:
            yield ""
        for name, text in zip(columns, row, strict=True):
            yield f"{name}: {text}".rstrip()


def printable(value: Any) -> str:
    """A value on one line, with escapes for what would move the cursor or show nothing."""
    text = str(value).replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    return text if text.isprintable() else "".join(map(_escaped, text))


def _escaped(char: str) -> str:
    if char.isprintable():
        return char
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _fitted(widths: list[int], room: int) -> list[int]:
    """Widths whose sum fits into the room, the widest column shortened first."""
    fitted = list(widths)
    while fitted:
        excess = sum(fitted) + len(GAP) * (len(fitted) - 1) - room
        widest = max(range(len(fitted)), key=fitted.__getitem__)
        others = max([NARROWEST, *(width for place, width in enumerate(fitted) if place != widest)])
        if excess <= 0 or fitted[widest] <= NARROWEST:
            break
        fitted[widest] = max(fitted[widest] - excess, min(others, fitted[widest] - 1))
    return fitted


def _line(cells: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    aligned = []
    for text, width, right in zip(cells, widths, numeric, strict=True):
        gap = " " * (width - _width(text))
        aligned.append(gap + text if right else text + gap)
    return GAP.join(aligned).rstrip()


def _cut(text: str, width: int) -> str:
    if _width(text) <= width:
        return text
    kept, used = "", 1
    for char in text:
        used += _width(char)
        if used > width:
            break
        kept += char
    return kept + "…"


def _width(text: str) -> int:
    """Cells of a terminal that the text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )
