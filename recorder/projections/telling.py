"""What a fold knows while it applies one event, and how it tells its observer."""

from __future__ import annotations

from recorder.deltas import Finding, Severity
from recorder.events import Layer
from recorder.projections.observer import Observer


class Telling:
    """The event at hand: its number, its layer, and how many things of each kind it has said so far."""

    def __init__(self, observer: Observer) -> None:
        self.observer = observer
        self.seq = 0
        self.layer: Layer = "wire"
        self._ordinals: dict[str, int] = {}

    def begin(self, seq: int, layer: Layer) -> None:
        """The next event."""
        self.seq, self.layer = seq, layer
        self._ordinals.clear()

    def take(self, kind: str, count: int = 1) -> int:
        """The ordinal of the next thing of a kind in this event, or of the first of `count`."""
        ordinal = self._ordinals.get(kind, 0)
        self._ordinals[kind] = ordinal + count
        return ordinal

    def peek(self, kind: str) -> int:
        """The ordinal that the next thing of a kind will have."""
        return self._ordinals.get(kind, 0)

    def found(self, run_id: str, rule: str, severity: Severity, detail: str, call_id: str | None = None) -> None:
        """A finding of the fold's own."""
        self.tell(Finding(run_id=run_id, rule=rule, severity=severity, detail=detail, call_id=call_id))

    def tell(self, finding: Finding) -> None:
        """A finding that an event said itself."""
        self.observer.found(self.seq, self.take("finding"), finding)
