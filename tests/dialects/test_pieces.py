"""The short way through a dialect: for a frame that is one more piece it says what the long way says, and no more."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest

from recorder import dialects
from recorder.dialects import base
from recorder.errors import BadInput, NotAStream
from recorder.events import Event
from tests.corpus import STREAMS, needs_corpus
from tests.fuzzing import mutations
from tests.fuzzing.recordings import shipped
from tests.streams import RECORDINGS, events_of

SHORT = [name for name, dialect in dialects.DIALECTS.items() if dialect.piece is not None]
MUTANTS = 150


def pieces(events: Iterable[Event]) -> tuple[int, int]:
    """How many of the events are frames, and how many of them went the short way, which is held to be the long one."""
    states: dict[str, msgspec.Struct] = {}
    frames = short = 0
    for event in events:
        dialect = dialects.get(event.dialect)
        if dialect.piece is None:
            continue
        state = states.get(event.run_id or "") or dialect.start()
        before = msgspec.to_builtins(state, str_keys=True)
        piece = dialect.piece(state, event)
        assert msgspec.to_builtins(state, str_keys=True) == before
        state, deltas = dialect.step(state, event)
        states[event.run_id or ""] = state
        frames += event.kind not in (base.DONE, base.COMMENT)
        if piece is not None:
            short += 1
            assert deltas == [piece], event.seq
            assert msgspec.to_builtins(state, str_keys=True) == before, event.seq
    return frames, short


def _is_short(path: Path) -> bool:
    return bool(events_of(path)) and events_of(path)[0].dialect in SHORT


@pytest.mark.parametrize("path", [path for path in RECORDINGS if _is_short(path)], ids=lambda path: path.name)
def test_the_short_way_says_what_the_long_way_says(path: Path) -> None:
    pieces(events_of(path))


@needs_corpus
def test_the_short_way_says_what_the_long_way_says_of_real_traffic() -> None:
    frames = short = 0
    for path in STREAMS:
        if path.suffix in (".sse", ".jsonl", ".ndjson"):
            counted = pieces(events_of(path))
            frames, short = frames + counted[0], short + counted[1]
    # Or nobody would gain by it.
    assert short > frames / 2


@pytest.mark.parametrize("name", SHORT)
def test_the_short_way_says_what_the_long_way_says_of_changed_frames(name: str) -> None:
    own = [recording for recording in shipped() if recording.group == name]
    assert own
    rng, short = random.Random(7), 0
    for number in range(MUTANTS):
        changed = mutations.changed(rng, own[number % len(own)], own)
        try:
            events = events_of(changed.data)
        except (NotAStream, BadInput):  # no recording any more
            continue
        short += pieces(events)[1]
    assert short > MUTANTS
