"""Which known calls a restated conversation speaks of, where several have the same id, or none.

A conversation that is sent again keeps its order, but it may have lost its beginning, be another branch, or come from
another conversation that uses the same ids. So the calls are aligned as two sequences are: as many as can be, in
order, and of equal alignments the one in which answers agree.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Protocol, TypeVar

from msgspec import Struct, field

from recorder.deltas import HistoryAnswer, HistoryCall
from recorder.projections.calls import args_key

MOST_CELLS = 250_000
"""Beyond so many pairs the calls are aligned from the end, one by one: a conversation of hundreds of equal calls."""


class Known(Protocol):
    """What is compared of a call that is known."""

    name: str | None
    args_key: str | None
    answer_seq: int | None
    answer_key: str | None


K = TypeVar("K", bound=Known)


class Restated(Struct):
    """The calls and answers of one id, or of one name where there is no id, in their order."""

    calls: list[HistoryCall] = field(default_factory=list)
    answers: list[HistoryAnswer] = field(default_factory=list)


def content_key(answer: HistoryAnswer) -> str:
    """A short digest under which equal contents are equal."""
    text = json.dumps(answer.content, sort_keys=True, default=repr)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def align(known: list[K], restated: Restated) -> list[K | None]:
    """The known call of each restated one; None for a call that was not known."""
    if not known or not restated.calls:
        return [None] * len(restated.calls)
    if len(known) == len(restated.calls) == 1:
        # One call with the id: it is meant, whatever was edited in it.
        return list(known)
    answers = [content_key(answer) for answer in restated.answers]
    said = [
        _Said(call.name, args_key(call.args), answers[place] if place < len(answers) else None)
        for place, call in enumerate(restated.calls)
    ]
    same = 0
    while same < min(len(known), len(said)) and _agreement(known[same], said[same]) == 2:
        same += 1
    aligned = _best if (len(known) - same) * (len(said) - same) <= MOST_CELLS else _from_the_end
    found: list[K | None] = [*known[:same], *aligned(known[same:], said[same:])]
    if len(known) == len(said) and all(row is None or row is known[place] for place, row in enumerate(found)):
        # All of them in their places, with answers that were edited since: no new calls.
        return [row if _is_same(row, said[place]) else found[place] for place, row in enumerate(known)]
    return found


class _Said(Struct, frozen=True):
    """A restated call and its answer, if it has one."""

    name: str | None
    args: str
    answer: str | None


def _best(known: list[K], said: list[_Said]) -> list[K | None]:
    """The alignment with the most pairs, and of those the one that agrees best; later known calls win a tie."""
    rows, columns = len(said), len(known)
    best = [[(0, 0)] * (columns + 1) for _ in range(rows + 1)]
    for row in range(rows - 1, -1, -1):
        for column in range(columns - 1, -1, -1):
            value = max(best[row + 1][column], best[row][column + 1])
            if agreement := _agreement(known[column], said[row]):
                pairs, score = best[row + 1][column + 1]
                value = max(value, (pairs + 1, score + agreement))
            best[row][column] = value
    found: list[K | None] = []
    column = 0
    for row in range(rows):
        while column < columns and best[row][column] == best[row][column + 1]:
            column += 1
        if column < columns and best[row][column] != best[row + 1][column]:
            found.append(known[column])
            column += 1
        else:
            found.append(None)
    return found


def _from_the_end(known: list[K], said: list[_Said]) -> list[K | None]:
    found: list[K | None] = [None] * len(said)
    limit = len(known)
    for row in range(len(said) - 1, -1, -1):
        for column in range(limit - 1, -1, -1):
            if _agreement(known[column], said[row]):
                found[row], limit = known[column], column
                break
    return found


def _agreement(known: Known, said: _Said) -> int:
    """0: another call. 1: it may be this one, and is answered only on one side. 2: and the answers agree."""
    if not _is_same(known, said):
        return 0
    if known.answer_seq is None:
        return 2 if said.answer is None else 1
    if said.answer is None:
        return 1
    return 2 if known.answer_key == said.answer else 0


def _is_same(known: Known, said: _Said) -> bool:
    same_name = known.name is None or said.name is None or known.name == said.name
    return same_name and known.args_key in (None, said.args)
