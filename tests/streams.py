"""Streams without a database: a recording's events, and states folded from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from recorder.capture.recording import FrameRecorder
from recorder.events import Event, NewEvent, jsontext
from recorder.ledger import snapshots
from recorder.ledger.projector import Projector
from recorder.ledger.state import ClosedParts, in_order, pairing_rows
from recorder.projections import render
from recorder.projections.fold import Gathering
from recorder.projections.pairing import Pairings
from recorder.sources import detect, reader_for

CASSETTES = Path(__file__).parent.parent / "cassettes"
RECORDINGS = sorted(
    path
    for path in CASSETTES.iterdir()
    if path.suffix in (".sse", ".jsonl", ".bin", ".json") and path.name != "made_with.json"
)
"""The project's recordings that are frames, and no documents of exchanges."""
STREAM = bytes(range(16))


def stored(event: NewEvent, seq: int) -> Event:
    """The event as it would come back from a store, without its hashes."""
    fields = {name: getattr(event, name) for name in event.__struct_fields__}
    return Event(seq=seq, recorded_at=0, salt=None, body_hash=b"", hash=b"", **fields)


def events_of(recording: Path | bytes) -> list[Event]:
    """The events of a recording that is no cassette."""
    data = recording if isinstance(recording, bytes) else recording.read_bytes()
    format = detect(data[:65536], complete=len(data) < 65536)
    assert format.framing != "cassette"
    reader = reader_for(format.framing)
    frames = [*reader.feed(data), *reader.end()]
    recorder = FrameRecorder(STREAM)
    recorder.look_ahead(frames)
    return [stored(recorder.event(frame), seq) for seq, frame in enumerate(frames, 1)]


class Folding:
    """A fold that can be looked at after every event, and resumed from a snapshot of itself."""

    def __init__(self, gathering: Gathering = "default", base: Folding | None = None) -> None:
        self._gathering = gathering
        self._closed = ClosedParts()
        if base is None:
            self._projector = Projector(gathering=gathering, observer=self._closed)
            return
        assert base._projector.fold.pairings is not None
        open_state = snapshots.pack(base._projector.open_state())
        pairings = snapshots.pack(base._projector.fold.pairings)
        self._closed.messages += base._closed.messages
        self._closed.tool_messages += base._closed.tool_messages
        self._closed.findings += base._closed.findings
        self._projector = Projector(
            open_state=snapshots.unpack(open_state, snapshots.OpenState),
            pairings=snapshots.unpack(pairings, Pairings),
            gathering=gathering,
            observer=self._closed,
        )

    def resumed(self) -> Folding:
        """A fold that goes on from a snapshot of this one."""
        return Folding(self._gathering, base=self)

    def advance(self, *events: Event) -> Folding:
        self._projector.advance(events)
        return self

    @property
    def state(self) -> dict[str, Any]:
        """The state as it is printed."""
        fold = self._projector.fold
        assert fold.pairings is not None
        state = {
            "messages": in_order([*self._closed.messages, *map(render.message, fold.state.messages.shown)]),
            "tool_messages": self._closed.tool_messages,
            "pairings": pairing_rows(fold.pairings),
            "findings": self._closed.findings,
        }
        loaded: dict[str, Any] = json.loads(jsontext.encode(state))
        return loaded


def state_of(events: list[Event], n: int | None = None, gathering: Gathering = "default") -> dict[str, Any]:
    """The state after the first `n` events."""
    return Folding(gathering).advance(*events[:n]).state
