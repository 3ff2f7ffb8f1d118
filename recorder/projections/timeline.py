"""Runs: when each chain, model, tool, retriever or exchange began and ended, and how."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, field

from recorder.deltas import RunEnded, RunStarted
from recorder.events import Layer

RunStatus = Literal["open", "ok", "error", "truncated"]


class Run(Struct):
    run_id: str
    layer: Layer
    kind: str
    first_seq: int
    last_seq: int
    name: str | None = None
    parent_run_id: str | None = None
    tags: list[str] | None = None
    metadata: dict[str, Any] | None = None
    status: RunStatus = "open"
    error: str | None = None
    input_seq: int | None = None
    """The event that has what the run was given, and the JSON path to it in the event's body."""
    input_path: str | None = None
    output_seq: int | None = None
    """The same for what it gave back."""
    output_path: str | None = None

    def given(self, seq: int, path: str | None) -> None:
        """The run's input stands there; the first one counts."""
        if path is not None and self.input_path is None:
            self.input_seq, self.input_path = seq, path


class Timeline(Struct):
    """The runs that are open. Nothing is kept of those that ended, or snapshots would grow with the stream."""

    open: dict[str, Run] = field(default_factory=dict)

    def start(self, seq: int, layer: Layer, delta: RunStarted) -> Run:
        run = self.open.get(delta.run_id)
        if run is None:
            run = self.open[delta.run_id] = Run(
                run_id=delta.run_id,
                layer=layer,
                kind=delta.kind,
                first_seq=seq,
                last_seq=seq,
            )
        run.last_seq = seq
        run.name = delta.name or run.name
        run.parent_run_id = delta.parent_run_id or run.parent_run_id
        run.tags = delta.tags or run.tags
        if delta.metadata:
            run.metadata = {**(run.metadata or {}), **delta.metadata}
        run.given(seq, delta.input)
        return run

    def end(self, seq: int, layer: Layer, delta: RunEnded) -> Run | None:
        """The run that ended; None where the end of an exchange was said before, for a wire may say it twice."""
        run = self.open.pop(delta.run_id, None)
        if run is None:
            if delta.kind == "exchange":
                return None
            run = Run(run_id=delta.run_id, layer=layer, kind=delta.kind, first_seq=seq, last_seq=seq)
        run.last_seq = seq
        if run.status == "open":
            run.status = delta.status if delta.terminated else "truncated"
        run.error = run.error or delta.error
        run.given(seq, delta.input)
        if delta.output is not None:
            run.output_seq, run.output_path = seq, delta.output
        return run

    def fail(self, seq: int, run_id: str, error: str) -> Run | None:
        """Notes an error on an open run; it goes on until its end is said."""
        run = self.open.get(run_id)
        if run is not None:
            run.last_seq = seq
            run.status, run.error = "error", error
        return run
