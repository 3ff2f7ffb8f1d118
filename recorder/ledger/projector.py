"""The projector of one stream: events in, read model rows and snapshots out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from recorder.deltas import AnyDelta
from recorder.errors import ProjectionFailed
from recorder.events import Event
from recorder.ledger import snapshots
from recorder.ledger.decoding import Decoders
from recorder.projections.fold import Fold, FoldState, Gathering
from recorder.projections.observer import Observer, Silent
from recorder.projections.pairing import Pairings
from recorder.projections.piece_runs import Run, is_more
from recorder.projections.rows import RowCollector

VERSION = 3
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
        """Folds the next events of the stream. They must follow `at` without a gap.

        Raises `ProjectionFailed`; then the projector is of no use any more.
        """
        at, run = self.at, list[tuple[int, AnyDelta]]()
        for event in events:
            if event.seq != at + 1:
                raise ValueError(f"event {event.seq} cannot follow event {at}")
            at = event.seq
            try:
                deltas = self._decoders.decode(event)
            except Exception as error:
                raise ProjectionFailed(at, error) from error
            is_piece = len(deltas) == 1 and event.layer == "wire"
            if run and not (is_piece and is_more(run[-1][1], deltas[0])):
                self._apply_run(run)
                run = []
            if is_piece:
                run.append((at, deltas[0]))
                continue
            try:
                self.fold.apply(at, event.layer, deltas)
            except Exception as error:
                raise ProjectionFailed(at, error) from error
        if run:
            self._apply_run(run)

    def _apply_run(self, run: Run) -> None:
        try:
            self.fold.apply_run("wire", run)
        except Exception as error:
            # Its first event that is not applied; more of it may not be.
            raise ProjectionFailed(self.at + 1, error) from error

    def open_state(self) -> snapshots.OpenState:
        """What a snapshot must keep to go on from here, besides the pairings."""
        return snapshots.OpenState(fold=self.fold.state, decoders=self._decoders.save())


class RowProjector:
    """A projector that also collects the read model's rows and says when a snapshot is due."""

    def __init__(self, base: snapshots.Base | None = None) -> None:
        """Goes on from a snapshot, or begins at the start."""
        self._rows = RowCollector()
        if base is None:
            self._projector = Projector(observer=self._rows)
        else:
            self._projector = Projector(open_state=base.open_state, pairings=base.pairings, observer=self._rows)
        self._open_pace = snapshots.Pace(base.open_weight if base is not None else 0)
        self._pairings_pace = snapshots.Pace(base.pairings_weight if base is not None else 0)

    @property
    def at(self) -> int:
        return self._projector.at

    def advance(self, events: Iterable[Event]) -> None:
        """Folds the next events. Raises `ProjectionFailed`."""
        self._projector.advance(self._counted(events))

    def catch_up(self, events: Iterable[Event]) -> None:
        """Folds events whose rows are in the read model already. Raises `ProjectionFailed`."""
        fold = self._projector.fold
        fold.observer = Silent()
        self.advance(events)
        fold.observer = self._rows
        self._rows.assume_written({message.ref for message in fold.state.messages.shown})

    def take_rows(self) -> tuple[Mapping[str, Sequence[Mapping[str, Any]]], list[str]]:
        """Rows by table since the last call, and the refs of messages whose pieces are no longer needed."""
        return self._rows.take()

    def snapshot(self) -> dict[str, bytes]:
        """Both parts of a snapshot at `at`."""
        assert self._projector.fold.pairings is not None
        return {
            snapshots.OPEN: snapshots.pack(self._projector.open_state()),
            snapshots.PAIRINGS: snapshots.pack(self._projector.fold.pairings),
        }

    def take_snapshot(self) -> dict[str, bytes]:
        """The parts of a snapshot at `at` that are due.

        The pairings are of use beside the open state only: they wait until that is due as well, or a long message would
        be kept whole each time.
        """
        if not self._open_pace.due:
            return {}
        parts = {snapshots.OPEN: snapshots.pack(self._projector.open_state())}
        self._open_pace.taken(len(parts[snapshots.OPEN]))
        if self._pairings_pace.due:
            assert self._projector.fold.pairings is not None
            parts[snapshots.PAIRINGS] = snapshots.pack(self._projector.fold.pairings)
            self._pairings_pace.taken(len(parts[snapshots.PAIRINGS]))
        return parts

    def _counted(self, events: Iterable[Event]) -> Iterable[Event]:
        size = 0
        for event in events:
            size += len(event.body)
            yield event
        self._open_pace.folded(size)
        self._pairings_pace.folded(size)
