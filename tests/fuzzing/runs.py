"""Runs of the fuzzer: mutants made from a seed, the laws tried on each, and the smallest that breaks one."""

from __future__ import annotations

import random
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from recorder.errors import NotAStream
from recorder.sources import detect
from tests.fuzzing import documents, mutations
from tests.fuzzing.laws import Broken, Outcome, hold
from tests.fuzzing.recordings import Recording, frames_of

_MOST_TRIALS = 300


class Mutant(Struct, frozen=True):
    """A recording that was changed."""

    number: int
    origin: Recording
    data: bytes
    what: list[str]
    seed: str
    """Of the choices that are made while the laws are tried."""

    @property
    def is_document(self) -> bool:
        return self.origin.format == "cassette" or self.origin.format == "har"


def mutant(seed: int, number: int, recordings: Sequence[Recording]) -> Mutant:
    """The mutant of this number: the same one for the same seed and recordings. Groups take turns."""
    rng = random.Random(f"{seed}:{number}")
    groups = sorted({recording.group for recording in recordings})
    group = groups[number % len(groups)]
    origin = rng.choice([recording for recording in recordings if recording.group == group])
    change = documents.changed if origin.format in ("cassette", "har") else mutations.changed
    made = change(rng, origin, recordings)
    return Mutant(number, origin, made.data, made.what, f"{seed}:{number}:laws")


def tried(one: Mutant) -> Outcome:
    """Tries all laws on the mutant. Raises `Broken`; what should never be raised is the law `exception`."""
    with tempfile.TemporaryDirectory(prefix="recorder-fuzz-") as name:
        folder = Path(name)
        path = folder / one.origin.name
        path.write_bytes(one.data)
        try:
            return hold(random.Random(one.seed), path, folder, document=_is_document(one))
        except Broken:
            raise
        except Exception:
            raise Broken("exception", traceback.format_exc()) from None


def smallest(one: Mutant, law: str) -> Mutant:
    """The mutant with as many frames taken out as can be while the law stays broken."""
    if one.origin.format == "cassette" or one.origin.format == "har":
        return one
    pieces = [frame.raw for frame in frames_of(one.origin.format, one.data)]
    size, trials = max(1, len(pieces) // 2), 0
    while trials < _MOST_TRIALS:
        start, before = 0, len(pieces)
        while start < len(pieces) and trials < _MOST_TRIALS:
            fewer = pieces[:start] + pieces[start + size :]
            trials += 1
            if fewer and _breaks(_with(one, fewer), law):
                pieces = fewer
            else:
                start += size
        if size == 1 and len(pieces) == before:
            break
        size = max(1, size // 2)
    return _with(one, pieces)


def _with(one: Mutant, pieces: list[bytes]) -> Mutant:
    return Mutant(one.number, one.origin, b"".join(pieces), one.what, one.seed)


def _breaks(one: Mutant, law: str) -> bool:
    try:
        tried(one)
    except Broken as broken:
        return broken.law == law
    return False


def _is_document(one: Mutant) -> bool:
    """Whether capture takes it for a document: a change may have made one of it."""
    try:
        format = detect(one.data[: 64 * 1024], complete=len(one.data) <= 64 * 1024)
    except NotAStream:
        return False
    return format.framing == "cassette" or format.framing == "har"
