"""Calls that a conversation restates under another id than the provider gave them, or under none.

Gemini gives many calls no id: clients send them back with one that they made up, and others leave out the id that it
gave. Such a call is a known one with the same name and the same arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile

from msgspec import Struct

from recorder.deltas import HistoryAnswer, HistoryCall
from recorder.projections.calls import args_key
from recorder.projections.pairing_alignment import K, Restated, align


class Stranger(Struct, frozen=True):
    """A restated call that no known one has the key of, and its answer, if it has one."""

    key: str
    call: HistoryCall
    answer: HistoryAnswer | None


def strangers(
    said: Mapping[str, Restated], known: Mapping[str, Sequence[object]]
) -> dict[tuple[str, bool], list[Stranger]]:
    """The calls without a known one, in their order, under their name and whether they have an id."""
    met: dict[tuple[str, bool], list[Stranger]] = {}
    for key, part in said.items():
        for place, (call, row) in enumerate(zip(part.calls, known[key], strict=True)):
            if row is None and call.name:
                answer = part.answers[place] if place < len(part.answers) else None
                met.setdefault((call.name, bool(call.id)), []).append(Stranger(key, call, answer))
    return met


def recognised(candidates: list[K], met: list[Stranger]) -> list[tuple[str, K]]:
    """Which of the candidates the strangers are, each with the key that it is restated under."""
    if not candidates:
        return []
    answers = [one.answer for one in takewhile(lambda one: one.answer is not None, met)]
    restated = Restated(calls=[one.call for one in met], answers=[answer for answer in answers if answer is not None])
    return [
        (one.key, row)
        for one, row in zip(met, align(candidates, restated), strict=True)
        if row is not None and row.args_key == args_key(one.call.args)
    ]
