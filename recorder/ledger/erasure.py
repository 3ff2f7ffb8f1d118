"""Erasing: what events held is blanked for good; that they were there, and that they were erased, stays."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Sequence

from msgspec import Struct

from recorder.errors import UnknownStream
from recorder.ledger.writer import concerns_database, mark_failed, rebuild
from recorder.store import Erasure, Store, StreamHead, Transaction
from recorder.store.reading import Reads

Ranges = list[tuple[int, int]]
"""First and last event of each range, in order; no two touch."""


class Erased(Struct, frozen=True, kw_only=True):
    """What was erased, and what of it is still somewhere."""

    stream: str
    """The stream's name afterwards."""
    erasure: Erasure
    remains: str | None
    """Where old bytes may still be, and until when; None where they are nowhere."""


def erase(
    store: Store, head: StreamHead, *, first: int = 1, last: int | None = None, reason: str, retire: bool = False
) -> Erased:
    """Blanks events `first` to `last` (None: to the end), and all that was computed or kept of them.

    The read model is computed anew from what is left, in the same transaction. `retire`: the stream gives its name up,
    so that the next recording may have it. Raises `BadInput` for events that there are not, `UnknownStream`.
    """
    with store.transaction() as transaction:
        current = transaction.current(head)
        if current is None:
            raise UnknownStream(f"stream {head.name!r} is not in this database any more")
        made = transaction.erase(current, first, current.last_seq if last is None else last, reason)
        recompute(transaction, current)
        name, mark = current.name, f"~erased-{current.uuid.hex()[-8:]}"
        if retire and not name.endswith(mark):
            name += mark
            transaction.rename(current, name)
    return Erased(stream=name, erasure=made, remains=store.scrub())


def recompute(transaction: Transaction, head: StreamHead) -> None:
    """Makes the read model of what is left; where that fails, none is left, and the stream is marked stale."""
    try:
        with transaction.nested():
            rebuild(transaction, head)
    except Exception as error:
        if concerns_database(error):
            raise
        transaction.clear_read_model(head)
        mark_failed(transaction, head, 1, error)


def erased_ranges(reads: Reads, head: StreamHead, first: int, last: int) -> Ranges:
    """The events from `first` to `last` that were erased."""
    merged = ranges_of(reads.erasures(head))
    return [(max(low, first), min(high, last)) for low, high in merged if low <= last and high >= first]


def ranges_of(erasures: Iterable[Erasure]) -> Ranges:
    """The events that these erasures name."""
    merged: Ranges = []
    for first, last in sorted((each.first_seq, each.last_seq) for each in erasures):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return merged


def is_within(seq: int, ranges: Sequence[tuple[int, int]]) -> bool:
    """Whether one of the ranges holds the event."""
    place = bisect(ranges, seq, key=lambda each: each[0])
    return place > 0 and seq <= ranges[place - 1][1]
