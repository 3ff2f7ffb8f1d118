"""Mutants of the shipped recordings, a few of each dialect (`scripts/fuzz_streams` makes as many as one likes).

The laws are tried too, on programs with a mistake in them, and the reader that looks complete calls up in the bytes:
one that never complains would let everything pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from recorder.capture import files
from recorder.dialects import DIALECTS, UNKNOWN
from recorder.events import Event
from recorder.ledger.decoding import Decoders
from recorder.projections import messages, rows
from recorder.sources import Frame
from tests.fuzzing.documents import plain_answers
from tests.fuzzing.laws import Broken
from tests.fuzzing.recordings import shipped
from tests.fuzzing.runs import mutant, tried
from tests.fuzzing.witness import complaint
from tests.streams import RECORDINGS as STREAMED
from tests.streams import Folding, events_of

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


def test_every_dialect_is_changed_and_calls_of_each_are_looked_up() -> None:
    assert set(GROUPS) == {*DIALECTS, "cassette", "har"}
    looked_up = {events[0].dialect for path in STREAMED for events, *_ in complete_calls(path)}
    assert looked_up == set(DIALECTS) - {UNKNOWN, "openai.completions"}, "those two have no calls"


@pytest.mark.parametrize("path", STREAMED, ids=lambda path: path.name)
def test_the_witness_refuses_a_call_that_the_bytes_do_not_hold(path: Path) -> None:
    for events, message, call, ended_at in complete_calls(path):
        assert complaint(message, call, events) is None
        for raw in ('{"never": "sent"}', call["raw"][:-1], call["raw"][1:]):
            assert complaint(message, {**call, "raw": raw}, events) is not None
        if ended_at > call["last_seq"]:
            early = {**message, "last_seq": ended_at - 1}
            assert complaint(early, call, events[: ended_at - 1]) is not None, "before its message's end"


def without_the_first(frames: Iterator[Frame]) -> Iterator[list[Frame]]:
    yield from (batch[1:] or batch for batch in [list(frames)])


emit_module = import_module("recorder.replay.emit")

MISTAKES = [
    ("refused", files, "_batches", without_the_first),
    ("bytes", emit_module, "frame_of", lambda event: event.body),
    ("truth", messages, "call_state", lambda raw, **_: "complete"),
    ("prefix", Decoders, "restore", lambda _: Decoders()),
    ("SQL", rows, "_integer", lambda _: None),
    ("emitted as jsonl", emit_module, "_as_json_line", lambda event: event.body[:-1] + b"\n"),
]
"""A law, and a mistake that breaks it: what is put in which place."""


@pytest.mark.parametrize(("law", "place", "name", "mistake"), MISTAKES, ids=[law for law, *_ in MISTAKES])
def test_a_mistake_breaks_its_law(
    law: str, place: Any, name: str, mistake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, name, mistake)
    anthropic = [recording for recording in RECORDINGS if recording.group == "anthropic.messages"]
    mutants = [mutant(1, number, anthropic) for number in range(20)]
    with pytest.raises(Broken) as broken:
        list(map(tried, mutants))
    assert broken.value.law.startswith(law)


def test_answers_of_a_cassette_are_known_apart_from_its_reader() -> None:
    (cassette,) = [recording for recording in RECORDINGS if recording.format == "cassette"]
    answers = plain_answers(cassette.data)
    assert len(answers) == 2
    assert all(answer.startswith(b"data: {") for answer in answers)
