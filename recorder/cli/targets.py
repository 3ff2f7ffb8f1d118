"""What `STREAM`, `STREAM@N`, `STREAM@A-B`, `STREAM@CALL_ID` and `STREAM@first-error` name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from recorder.errors import BadInput, UnknownStream

if TYPE_CHECKING:
    from recorder.ledger import Ledger

_RANGE = re.compile(r"([0-9]{1,18})?-([0-9]{1,18})?")


class Target(Struct, frozen=True):
    """A stream, and the events of it that were named; None: none were."""

    stream: str
    first: int | None = None
    last: int | None = None


def resolve(ledger: Ledger, text: str) -> Target:
    """What the text names. The last `@` counts; a stream whose whole name this is goes first.

    Raises `UnknownStream`, and `BadInput` where what follows the `@` names no event.
    """
    whole = ledger.find(text)
    if whole is not None:
        return Target(whole.name)
    stream, at, place = text.rpartition("@")
    if not at:
        return Target(_name(ledger, text))
    name = _name(ledger, stream)
    return _place(ledger, name, place)


def number(text: str, last: int) -> int:
    """The event number that `--at` gives: digits, or `end`. Raises `BadInput`."""
    if text == "end":
        return last
    if not _is_number(text) or int(text) > last:
        raise BadInput(f"--at {text}: give an event number from 0 to {last}, or end")
    return int(text)


def _name(ledger: Ledger, stream: str) -> str:
    if stream == "latest" and not ledger.streams():
        raise UnknownStream("there is no stream in the database yet: rec capture stores one")
    return ledger.head(stream).name


def _place(ledger: Ledger, name: str, place: str) -> Target:
    last = ledger.head(name).last_seq
    if place == "end":
        return Target(name, last, last)
    if _is_number(place):
        return Target(name, int(place), int(place))
    if place == "first-error":
        found = _first(
            ledger, "SELECT seq, seq FROM findings WHERE stream = ? AND severity = 'error' ORDER BY seq LIMIT 1", name
        )
        if found is None:
            raise BadInput(f"stream {name!r} has no finding of severity error")
        return Target(name, *found)
    range = _RANGE.fullmatch(place)
    if range is not None and (range[1] or range[2]):
        return Target(name, int(range[1] or 1), int(range[2] or last))
    found = _first(
        ledger,
        "SELECT first_seq, last_seq FROM tool_calls_all WHERE stream = ? AND call_id = ? ORDER BY first_seq LIMIT 1",
        name,
        place,
    )
    if found is None:
        raise BadInput(f"{name}@{place}: give an event number, a range A-B, end, first-error or a call's id")
    return Target(name, *found)


def _is_number(text: str) -> bool:
    # Eighteen digits are more events than there will be, and no more than SQLite's integers hold.
    return text.isascii() and text.isdecimal() and len(text) <= 18


def _first(ledger: Ledger, query: str, *parameters: object) -> tuple[int, int] | None:
    _, rows = ledger.sql(query, parameters)
    for first, last in rows:
        return int(first), int(last)
    return None
