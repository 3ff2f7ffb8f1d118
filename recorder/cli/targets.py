"""What `STREAM`, `STREAM@N`, `STREAM@A-B`, `STREAM@CALL_ID` and `STREAM@first-error` name."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from msgspec import Struct

from recorder.errors import BadInput, UnknownStream

if TYPE_CHECKING:
    from recorder.ledger import Ledger

_LIKE_AN_ID = re.compile(r"[A-Za-z]\S{2,}")
_RANGE = re.compile(r"([0-9]{1,18})?-([0-9]{1,18})?")


class Target(Struct, frozen=True):
    """A stream, and the events of it that were named; None: none were."""

    stream: str
    first: int | None = None
    last: int | None = None


def resolve(ledger: Ledger, text: str, *, ranges: bool = False) -> Target:
    """What the text names. The last `@` counts; a stream whose whole name this is goes first.

    `ranges`: `A-B` is of use. Raises `UnknownStream`, and `BadInput` where what follows the `@` names no event, or a
    range where one event is wanted.
    """
    whole = ledger.find(text)
    if whole is not None:
        return Target(whole.name)
    stream, at, place = text.rpartition("@")
    if not at:
        return Target(stream_name(ledger, text))
    return within(ledger, stream_name(ledger, stream), place, ranges=ranges)


def number(stream: str, text: str, last: int) -> int:
    """The event number that `--at` gives: digits, or `end`. Raises `BadInput`."""
    if text == "end":
        return last
    if not _is_number(text) or int(text) > last:
        other = f"; for a call write {written(stream, text)}" if _LIKE_AN_ID.fullmatch(text) else ""
        raise BadInput(f"--at {text}: give an event number from 0 to {last}, or end{other}")
    return int(text)


def stream_name(ledger: Ledger, stream: str) -> str:
    """The name of the stream that this, or `latest`, names. Raises `UnknownStream`, with a name that is near."""
    if stream == "latest" and not ledger.streams():
        raise UnknownStream("there is no stream in the database yet: rec capture stores one")
    try:
        return ledger.head(stream).name
    except UnknownStream as error:
        from difflib import get_close_matches

        near = get_close_matches(stream, [head.name for head in ledger.streams()], n=1)
        if not near:
            raise
        raise UnknownStream(f"{error}; did you mean {shlex.quote(near[0])}?") from None


def written(stream: str, place: object) -> str:
    """`STREAM@PLACE` as a shell takes it."""
    return shlex.quote(f"{stream}@{place}")


def within(ledger: Ledger, name: str, place: str, *, ranges: bool) -> Target:
    """What stands behind the `@` of the stream of that name; as `resolve`."""
    from recorder.ledger import questions

    last = ledger.head(name).last_seq
    if place == "end":
        return Target(name, last, last)
    if _is_number(place):
        return Target(name, int(place), int(place))
    if place == "first-error":
        error = questions.first_error(ledger.store, name)
        if error is None:
            raise BadInput(f"stream {name!r} has no finding of severity error")
        return Target(name, error, error)
    range = _RANGE.fullmatch(place)
    if range is not None and (range[1] or range[2]):
        return _range(name, int(range[1] or 1), int(range[2] or last), place if not ranges else None)
    found = questions.events_of_call(ledger.store, name, place)
    if found is None:
        raise BadInput(f"{name}@{place}: give an event number, a range A-B, end, first-error or a call's id")
    return Target(name, *found)


def _range(name: str, first: int, last: int, unwanted: str | None) -> Target:
    """Raises `BadInput` for a range that runs backwards, or for one that is unwanted, which is spelled so."""
    if first > last:
        raise BadInput(f"{name}@{first}-{last}: the range runs backwards, from event {first} to event {last}")
    if unwanted is not None:
        raise BadInput(
            f"{name}@{unwanted} is a range: the state after its last event is rec replay {written(name, last)}, what it"
            f" changed rec diff {written(name, max(first - 1, 0))} {written(name, last)}, its events rec show"
            f" {written(name, unwanted)}"
        )
    return Target(name, first, last)


def _is_number(text: str) -> bool:
    # Eighteen digits are more events than there will be, and no more than SQLite's integers hold.
    return text.isascii() and text.isdecimal() and len(text) <= 18
