"""The fold: deltas in, state out. Pure; whoever wants to know what each event did gives an observer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct, field

from recorder.deltas import (
    AnyDelta,
    BlockStopped,
    Delta,
    Erased,
    Failure,
    Finding,
    History,
    HistoryAnswer,
    MessageChunk,
    RunEnded,
    RunStarted,
    ToolCallChunk,
    ToolFailed,
    ToolMessage,
)
from recorder.events import Layer
from recorder.projections.message_fold import MessageFold, OpenMessages
from recorder.projections.observer import Observer, Silent
from recorder.projections.pairing import Answered, Pairing, Pairings
from recorder.projections.piece_runs import PieceRuns, Run
from recorder.projections.readings import Gathering
from recorder.projections.telling import Telling
from recorder.projections.timeline import Timeline

__all__ = ["Fold", "FoldState", "Gathering"]

UNREADABLE = frozenset({"not-json", "partial-frame", "damaged-frame"})
"""Findings that say: this frame's content is lost to whoever reads the message."""


class FoldState(Struct):
    """All that is open after the event `at`: what a snapshot keeps, with the pairings beside it."""

    at: int = 0
    messages: OpenMessages = field(default_factory=OpenMessages)
    timeline: Timeline = field(default_factory=Timeline)


class Fold:
    """Applies deltas to a state. `pairings` may be left out by whoever wants messages only."""

    def __init__(
        self,
        state: FoldState,
        pairings: Pairings | None,
        *,
        gathering: Gathering = "default",
        observer: Observer | None = None,
    ) -> None:
        self.state = state
        self.pairings = pairings
        self._telling = Telling(observer if observer is not None else Silent())
        self._messages = MessageFold(state.messages, pairings, gathering, self._telling)
        self._pieces = PieceRuns(state.messages, pairings, self._telling)
        self._steps: dict[type[Any], Callable[[Any], None]] = {
            **self._messages.steps,
            BlockStopped: _ignore,
            RunStarted: self._run_started,
            RunEnded: self._run_ended,
            ToolMessage: self._tool_message,
            ToolFailed: self._tool_failed,
            History: self._history,
            Failure: self._failure,
            Finding: self._finding,
            Erased: self._erased,
        }

    @property
    def observer(self) -> Observer:
        """Who is told what each event did; may be changed between two events."""
        return self._telling.observer

    @observer.setter
    def observer(self, observer: Observer) -> None:
        self._telling.observer = observer

    def apply(self, seq: int, layer: Layer, deltas: Sequence[AnyDelta]) -> None:
        """Applies what the event `seq` says; afterwards the state is the state at `seq`."""
        self._telling.begin(seq, layer)
        for head, chunks in _grouped(deltas) if len(deltas) > 1 else ((delta, []) for delta in deltas):
            step = self._steps.get(type(head))
            if step is not None:
                step(head)
            elif isinstance(head, MessageChunk):
                self._messages.chunk(head, chunks)
            elif isinstance(head, ToolCallChunk):
                self._messages.gather([head, *chunks])
        self.state.at = seq

    def apply_run(self, layer: Layer, run: Run) -> None:
        """As `apply`, for a run of events each of which says one piece; see `recorder.projections.piece_runs`."""
        seq, delta = run[0]
        self.apply(seq, layer, (delta,))
        done = 1
        if len(run) > 1 and not self.observer.wants_each:
            done += self._pieces.apply(layer, run[1:])
        for seq, delta in run[done:]:
            self.apply(seq, layer, (delta,))
        self.state.at = run[-1][0]

    # Runs

    def _run_started(self, delta: RunStarted) -> None:
        run = self.state.timeline.start(self._telling.seq, self._telling.layer, delta)
        self._telling.observer.run_changed(self._telling.seq, run)

    def _run_ended(self, delta: RunEnded) -> None:
        had_messages = bool(self.state.messages.of_run(delta.run_id))
        run = self.state.timeline.end(self._telling.seq, self._telling.layer, delta)
        if run is not None:
            self._telling.observer.run_changed(self._telling.seq, run)
        if delta.kind == "exchange" and not delta.terminated and (run is not None or had_messages):
            detail = "the exchange ended without its terminator"
            self._telling.found(delta.run_id, "missing-terminator", "warning", detail)
        self._messages.close(delta.run_id, cut_off=not delta.terminated or delta.status == "error")

    def _failure(self, delta: Failure) -> None:
        run = self.state.timeline.fail(self._telling.seq, delta.run_id, delta.error)
        if run is not None:
            self._telling.observer.run_changed(self._telling.seq, run)
        self._messages.cut_off(delta.run_id)
        self._telling.found(delta.run_id, "failure", "error", delta.error)

    def _finding(self, delta: Finding) -> None:
        if delta.rule in UNREADABLE:
            self._messages.gap(delta.run_id)
        self._telling.tell(delta)

    def _erased(self, delta: Erased) -> None:
        self._messages.erase(delta.run_id)
        if self.pairings is not None:
            self.pairings.erased = True

    # Tools

    def _tool_message(self, delta: ToolMessage) -> None:
        if self.pairings is None:
            return
        answer = HistoryAnswer(
            tool_call_id=delta.tool_call_id,
            content=delta.content,
            name=delta.name,
            status=delta.status,
            artifact=delta.artifact,
            message_id=delta.message_id,
            additional_kwargs=delta.additional_kwargs,
            response_metadata=delta.response_metadata,
        )
        answered = self.pairings.answer(self._telling.seq, delta.run_id, answer)
        self._answered(answer, answered, "event", delta.run_id, delta.executor)

    def _tool_failed(self, delta: ToolFailed) -> None:
        if self.pairings is None:
            return
        pairing = self.pairings.failed(self._telling.seq, delta.tool_call_id, delta.name)
        if pairing is not None:
            self._paired(self.pairings, pairing)

    def _history(self, delta: History) -> None:
        if self.pairings is None:
            return
        seq, observer = self._telling.seq, self._telling.observer
        calls, answers = self.pairings.restated(seq, delta.entries)
        for call, pairing in calls:
            observer.call_restated(seq, call, pairing, delta.run_id, self._telling.layer)
            observer.pairing_changed(seq, pairing)
        for answer, answered in answers:
            self._answered(answer, answered, delta.source, delta.run_id, answered.pairing.executor)

    def _answered(self, answer: HistoryAnswer, answered: Answered, source: str, run_id: str, executor: str) -> None:
        if not answered.new:
            return
        seq, ordinal = self._telling.seq, self._telling.take("tool message")
        self._telling.observer.tool_message(seq, ordinal, answer, source, run_id, executor)
        if self.pairings is not None:
            self._paired(self.pairings, answered.pairing)

    def _paired(self, pairings: Pairings, pairing: Pairing) -> None:
        """Tells that a pairing changed, and the one of the same call on the other layer with it."""
        self._telling.observer.pairing_changed(self._telling.seq, pairing)
        if (twin := pairings.twin_of(pairing)) is not None:
            self._telling.observer.pairing_changed(self._telling.seq, twin)


def _grouped(deltas: Sequence[AnyDelta]) -> Iterator[tuple[AnyDelta, list[ToolCallChunk]]]:
    """Deltas one by one, but with an AIMessageChunk or a tool call chunk those of the same message that follow it."""
    head: AnyDelta | None = None
    chunks: list[ToolCallChunk] = []
    for delta in deltas:
        if head is not None and isinstance(delta, ToolCallChunk) and _same_message(head, delta):
            chunks.append(delta)
            continue
        if head is not None:
            yield head, chunks
        head, chunks = delta, []
    if head is not None:
        yield head, chunks


def _same_message(head: AnyDelta, chunk: ToolCallChunk) -> bool:
    if isinstance(head, MessageChunk):
        return head.run_id == chunk.run_id
    return isinstance(head, ToolCallChunk) and (head.run_id, head.choice) == (chunk.run_id, chunk.choice)


def _ignore(_: Delta) -> None:
    """A block's stop says nothing that the state shows."""
