"""The projector of one stream: events in, read model rows and snapshots out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from recorder.events import Event
from recorder.ledger import snapshots
from recorder.ledger.decoding import Decoders
from recorder.projections.fold import Fold, FoldState, Gathering
from recorder.projections.observer import Observer
from recorder.projections.pairing import Pairings
from recorder.projections.rows import RowCollector

VERSION = 1
"""Version of what the projections make of the log. A read model of another version is rebuilt before it is used."""


class Projector:
    """Decodes and folds the events of one stream, from its start or from a snapshot."""

    def __init__(
        self,
        *,
        open_state: snapshots.OpenState | None = None,
        pairings: Pairings | None = None,
        with_pairings: bool = True,
        gathering: Gathering = "default",
        observer: Observer | None = None,
    ) -> None:
        state = open_state.fold if open_state is not None else FoldState()
        self._decoders = Decoders.restore(open_state.decoders) if open_state is not None else Decoders()
        held = pairings if pairings is not None else Pairings()
        self.fold = Fold(state, held if with_pairings else None, gathering=gathering, observer=observer)

    @property
    def at(self) -> int:
        """The event whose state this is; 0 before the first."""
        return self.fold.state.at

    def advance(self, events: Iterable[Event]) -> None:
        """Folds the next events of the stream. They must follow `at` without a gap."""
        for event in events:
            if event.seq != self.at + 1:
                raise ValueError(f"event {event.seq} cannot follow event {self.at}")
            self.fold.apply(event.seq, event.layer, self._decoders.decode(event))

    def open_state(self) -> snapshots.OpenState:
        """What a snapshot must keep to go on from here, besides the pairings."""
        return snapshots.OpenState(fold=self.fold.state, decoders=self._decoders.save())


class RowProjector:
    """A projector that also collects the read model's rows and says when a snapshot is due."""

    def __init__(self, projector: Projector, rows: RowCollector) -> None:
        self._projector = projector
        self._rows = rows
        self._pace = snapshots.Pace()

    @classmethod
    def resumed(cls, base: tuple[snapshots.OpenState, Pairings] | None) -> RowProjector:
        """A projector that goes on from a snapshot, or from the start."""
        rows = RowCollector()
        if base is None:
            return cls(Projector(observer=rows), rows)
        return cls(Projector(open_state=base[0], pairings=base[1], observer=rows), rows)

    @property
    def at(self) -> int:
        return self._projector.at

    def advance(self, events: Sequence[Event]) -> None:
        self._projector.advance(events)
        self._pace.folded(sum(len(event.body) for event in events))

    def catch_up(self, events: Iterable[Event]) -> None:
        """Folds events whose rows are in the read model already."""
        self._projector.advance(events)
        self._rows.forget()
        messages = (message for found in self._projector.fold.state.messages.values() for message in found)
        self._rows.assume_written({message.ref for message in messages})

    def take_rows(self) -> tuple[Mapping[str, Sequence[Mapping[str, Any]]], list[str]]:
        """Rows by table since the last call, and the refs of messages whose pieces are no longer needed."""
        return self._rows.take()

    def take_snapshot(self) -> dict[str, bytes] | None:
        """The parts of a snapshot at `at`, None while none is due."""
        if not self._pace.due:
            return None
        fold = self._projector.fold
        assert fold.pairings is not None
        parts = {
            snapshots.OPEN: snapshots.pack(self._projector.open_state()),
            snapshots.PAIRINGS: snapshots.pack(fold.pairings),
        }
        self._pace.taken(sum(len(part) for part in parts.values()))
        return parts
