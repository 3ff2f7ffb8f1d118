"""Mutants of the shipped recordings, a few of each dialect (`scripts/fuzz_streams` makes as many as one likes).

The reader that looks complete calls up in the bytes is tried too: one that never complains would let everything pass.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from recorder.events import Event
from tests.fuzzing.recordings import shipped
from tests.fuzzing.runs import mutant, tried
from tests.fuzzing.witness import complaint
from tests.streams import CASSETTES, Folding, events_of

RECORDINGS = shipped()
GROUPS = sorted({recording.group for recording in RECORDINGS})
ROUNDS = 2


@pytest.mark.parametrize("place", range(len(GROUPS)), ids=GROUPS)
def test_all_laws_hold_of_mutants(place: int) -> None:
    for number in range(place, ROUNDS * len(GROUPS), len(GROUPS)):
        tried(mutant(1, number, RECORDINGS))


def test_a_mutant_is_the_same_for_the_same_seed_and_groups_take_turns() -> None:
    made = [mutant(7, number, RECORDINGS) for number in range(2 * len(GROUPS))]
    assert [one.data for one in made] == [mutant(7, number, RECORDINGS).data for number in range(2 * len(GROUPS))]
    assert Counter(one.origin.group for one in made) == Counter(dict.fromkeys(GROUPS, 2))


def complete_calls(path: Path) -> list[tuple[list[Event], dict[str, Any], dict[str, Any], int]]:
    """The recording's events, each of its complete calls with its message, and the event that made it complete."""
    events, folding = events_of(path), Folding()
    found: dict[str, int] = {}
    for event in events:
        for _, call in calls_of(folding.advance(event).state):
            if call["state"] == "complete":
                found.setdefault(call["call_ref"], event.seq)
    shown = calls_of(folding.state)
    return [(events, message, call, found[call["call_ref"]]) for message, call in shown if call["state"] == "complete"]


def calls_of(state: dict[str, Any]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    return [(message, call) for message in state["messages"] for call in message["calls"]]


STREAMED = sorted(path for path in CASSETTES.iterdir() if path.suffix in (".sse", ".jsonl", ".bin"))


@pytest.mark.parametrize("path", STREAMED, ids=lambda path: path.name)
def test_the_witness_refuses_a_call_that_the_bytes_do_not_hold(path: Path) -> None:
    for events, message, call, ended_at in complete_calls(path):
        assert complaint(message, call, events) is None
        for raw in ('{"never": "sent"}', call["raw"][:-1], call["raw"][1:]):
            assert complaint(message, {**call, "raw": raw}, events) is not None
        if ended_at > call["last_seq"]:
            early = {**message, "last_seq": ended_at - 1}
            assert complaint(early, call, events[: ended_at - 1]) is not None, "before its message's end"
