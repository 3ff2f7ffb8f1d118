"""The runs that a handler hears of, from their starts to their ends, and whether an event of theirs is for it."""

from __future__ import annotations

import threading
from typing import Any
from uuid import UUID

from recorder.capture.live.items import Current, Taker
from recorder.capture.live.langchain_runs import MOST_INPUTS, MOST_RUNS, Owner, Run, book_of


class Hearing:
    """A handler's part that keeps its runs. It is called from any thread, for one run by one at a time."""

    def __init__(self, current: Current) -> None:
        self.current = current
        self._runs: dict[UUID, Run] = {}
        self._inputs = 0
        """Bytes of the inputs that are kept."""
        self._owner = Owner(handles=True)
        self._lock = threading.RLock()
        """Held where runs begin and end, not for their events; a signal's handler may come in between."""

    def forget(self) -> None:
        """Drops the runs: nobody records them any more, or they are those of the process that forked this one."""
        self._owner.open.clear()
        self._runs = {}
        self._inputs = 0
        self._owner = Owner(handles=True)
        self._lock = threading.RLock()

    def begin(self, sink: Taker, kind: str, run_id: UUID, parent_run_id: UUID | None) -> Run:
        """A run that begins; it is this handler's where no other one records it into the same sink."""
        book = book_of(sink)
        owner = book.own(run_id, self._owner)
        mine = owner is self._owner or run_id not in owner.open
        if mine and owner is not self._owner:
            # A run of this id is over: programs may use one twice.
            book.take_over(run_id, self._owner)
        run = Run(sink, run_id, kind, book.parents_of(run_id, parent_run_id), mine)
        self._keep(run_id, run)
        return run

    def _late(self, kind: str, run_id: UUID, parent_run_id: UUID | None, told: dict[str, Any]) -> Run | None:
        """A run that began before it was recorded; None where nobody records."""
        if (sink := self.current()) is None:
            return None
        book = book_of(sink)
        mine = book.own(run_id, self._owner) is self._owner
        run = Run(sink, run_id, kind, book.parents_of(run_id, parent_run_id), mine)
        run.begin(None, told.get("tags"), told.get("metadata"))
        self._keep(run_id, run)
        return run

    def _keep(self, run_id: UUID, run: Run) -> None:
        with self._lock:
            self._drop(run_id)
            if len(self._runs) >= MOST_RUNS:
                self._drop(next(iter(self._runs)))
            self._runs[run_id] = run
            if run.mine:
                self._owner.open.add(run_id)

    def _drop(self, run_id: UUID) -> None:
        with self._lock:
            run = self._runs.pop(run_id, None)
            if run is not None:
                self._owner.open.discard(run_id)
                self._inputs -= len(run.input or b"")

    def remember(self, run: Run, data: bytes | None) -> None:
        """Keeps the input for the run's end, where there is room."""
        with self._lock:
            if data is not None and self._inputs + len(data) <= MOST_INPUTS:
                run.input = data
                self._inputs += len(data)

    def heard(self, kind: str, run_id: UUID, parent_run_id: UUID | None, told: dict[str, Any]) -> Run | None:
        """The run of an event that comes now; None where the event is not to be recorded by this handler, or again."""
        run = self._runs.get(run_id) or self._late(kind, run_id, parent_run_id, told)
        if run is None:
            return None
        run.given = 0
        return None if not run.mine or (run.copies > 1 and run.is_repeated()) else run

    def ended(self, kind: str, run_id: UUID, parent_run_id: UUID | None, told: dict[str, Any]) -> Run | None:
        """As `_heard`; the run is over."""
        heard = self.heard(kind, run_id, parent_run_id, told)
        run = self._runs.get(run_id)
        if run is not None and (run.copies == 1 or not run.mine or run.calls % run.copies == 0):
            self._drop(run_id)
        return heard
