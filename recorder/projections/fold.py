"""The fold: deltas in, state out. Pure; whoever wants to know what each event did gives an observer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

from msgspec import Struct, field

from recorder.deltas import (
    AnyDelta,
    BlockItem,
    BlockStarted,
    BlockStopped,
    Delta,
    Failure,
    Finding,
    History,
    HistoryAnswer,
    MessageChunk,
    MessageClosed,
    MessageFinished,
    MessageStarted,
    Restatement,
    RunEnded,
    RunStarted,
    TextChunk,
    ToolCallChunk,
    ToolFailed,
    ToolMessage,
    Usage,
)
from recorder.events import Layer
from recorder.projections.gather import GatherStep
from recorder.projections.langchain_gather import LangChainGather, tool_calls_of
from recorder.projections.messages import Message, text_of_content
from recorder.projections.observer import Observer, Silent
from recorder.projections.pairing import Answered, Pairings
from recorder.projections.restatement import calls_differ, chunk_of_restatement, chunks_of_restatement
from recorder.projections.timeline import Timeline
from recorder.projections.wire_gather import WireGather

Gathering = Literal["default", "wire", "langchain"]
"""Which reading gathers the calls; `default` is `wire` for the wire and `langchain` for LangChain's events."""


class FoldState(Struct):
    """All that is open after the event `at`: what a snapshot keeps, with the pairings beside it."""

    at: int = 0
    messages: dict[str, list[Message]] = field(default_factory=dict)
    """The open messages of each run, one per choice."""
    newest: str = ""
    """The ref of the message opened last, be it closed by now; empty before the first."""
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
        self.observer: Observer = observer if observer is not None else Silent()
        self._gathering = gathering
        self._seq = state.at
        self._layer: Layer = "wire"
        self._ordinals: dict[str, int] = {}
        self._steps: dict[type[Any], Callable[[Any], None]] = {
            RunStarted: self._run_started,
            RunEnded: self._run_ended,
            MessageStarted: self._message_started,
            BlockStarted: self._block,
            BlockItem: self._block,
            BlockStopped: _ignore,
            TextChunk: self._text,
            Restatement: self._restatement,
            MessageFinished: self._finished,
            MessageClosed: self._closed,
            Usage: self._usage,
            ToolMessage: self._tool_message,
            ToolFailed: self._tool_failed,
            History: self._history,
            Failure: self._failure,
            Finding: self._finding,
        }

    def apply(self, seq: int, layer: Layer, deltas: Iterable[AnyDelta]) -> None:
        """Applies what the event `seq` says; afterwards the state is the state at `seq`."""
        self._seq, self._layer = seq, layer
        self._ordinals.clear()
        for group in _grouped(deltas):
            head = group[0]
            if isinstance(head, MessageChunk):
                self._chunk(head, group[1:])
            elif isinstance(head, ToolCallChunk):
                self._gather(group)
            else:
                self._steps[type(head)](head)
        self.state.at = seq

    # Runs

    def _run_started(self, delta: RunStarted) -> None:
        self.observer.run_changed(self._seq, self.state.timeline.start(self._seq, self._layer, delta))

    def _run_ended(self, delta: RunEnded) -> None:
        open_messages = bool(self.state.messages.get(delta.run_id))
        run = self.state.timeline.end(self._seq, self._layer, delta)
        if run is not None:
            self.observer.run_changed(self._seq, run)
        if delta.kind == "exchange" and not delta.terminated and (run is not None or open_messages):
            detail = "the exchange ended without its terminator"
            self._found(Finding(run_id=delta.run_id, rule="missing-terminator", severity="warning", detail=detail))
        self._close(delta.run_id, cut_off=not delta.terminated or delta.status == "error")

    def _failure(self, delta: Failure) -> None:
        run = self.state.timeline.fail(self._seq, delta.run_id, delta.error)
        if run is not None:
            self.observer.run_changed(self._seq, run)
        for message in self.state.messages.get(delta.run_id, ()):
            if message.first_seq and not message.finished:
                message.cut_off = True
                self.observer.message_finished(self._seq, message)
        self._found(Finding(run_id=delta.run_id, rule="failure", severity="error", detail=delta.error))

    # Messages

    def _message_started(self, delta: MessageStarted) -> None:
        message = self._find(delta.run_id, delta.choice)
        if message is not None and delta.restart:
            self._supersede(message)
            message = None
        if message is None:
            message = self._open(delta.run_id, delta.choice)
        message.head(delta)
        if self._layer == "wire":
            self._show(message)
        if message.first_seq:
            self._touch(message)

    def _text(self, delta: TextChunk) -> None:
        message = self._shown(delta.run_id, delta.choice)
        grew = message.add_text(delta)
        self.observer.block_changed(self._seq, message, str(delta.block), delta.field, delta.text)
        if grew:
            self.observer.text_added(self._seq, self._next("text"), message, delta.text)

    def _block(self, delta: BlockStarted | BlockItem) -> None:
        message = self._shown(delta.run_id, delta.choice)
        added = message.add_block(delta)
        name = delta.field if isinstance(delta, BlockItem) else "type"
        self.observer.block_changed(self._seq, message, str(delta.block), name, None)
        if added:
            self.observer.text_added(self._seq, self._next("text"), message, added)

    def _chunk(self, delta: MessageChunk, calls: list[Any]) -> None:
        message = self._shown(delta.run_id, 0)
        first = self._ordinals.get("chunk", 0)
        refused = len(message.merged.refused) if message.merged is not None else 0
        self._gathered(message, first, message.add_chunk(self._seq, delta, calls, first))
        for reason in message.merged.refused[refused:] if message.merged is not None else ():
            self._found(Finding(run_id=delta.run_id, rule="langchain-refuses-chunk", severity="error", detail=reason))
        if text := text_of_content(delta.content):
            self.observer.text_added(self._seq, self._next("text"), message, text)

    def _gather(self, chunks: list[Any]) -> None:
        message = self._shown(chunks[0].run_id, chunks[0].choice)
        first = self._ordinals.get("chunk", 0)
        self._gathered(message, first, message.add_calls(self._seq, chunks, first))

    def _gathered(self, message: Message, first: int, steps: list[GatherStep]) -> None:
        """Tells what the chunks did; `first` is the ordinal of the first of them in this event."""
        self._ordinals["chunk"] = first + len(steps)
        for ordinal, step in enumerate(steps, first):
            entry = step.entry
            self.observer.chunk_gathered(self._seq, ordinal, message, step)
            if self.pairings is not None:
                pairing = self.pairings.call(entry.ref, entry.id, entry.name, self._seq, entry.executor)
                self.observer.pairing_changed(self._seq, pairing)
            for rule, severity, detail in step.findings:
                self._found(
                    Finding(
                        run_id=message.run_id,
                        rule=rule,
                        severity="error" if severity == "error" else "info" if severity == "info" else "warning",
                        detail=detail,
                        call_id=entry.id,
                    )
                )
        if message.finished and steps:
            self._calls_final(message)

    def _restatement(self, delta: Restatement) -> None:
        message = self._find(delta.run_id, 0)
        if message is None or not message.first_seq:
            self._chunk(chunk_of_restatement(delta), chunks_of_restatement(delta))
            return
        if not message.gather.entries and (chunks := chunks_of_restatement(delta)):
            self._gather(chunks)
        built, _ = tool_calls_of(message.gather.entries)
        if difference := calls_differ(built, delta.calls):
            finding = Finding(run_id=delta.run_id, rule="restatement-differs", severity="warning", detail=difference)
            self._found(finding)

    def _finished(self, delta: MessageFinished) -> None:
        message = self._find(delta.run_id, delta.choice)
        if message is None:
            return
        message = self._shown(delta.run_id, delta.choice)
        message.finish(delta)
        self._calls_final(message)

    def _closed(self, delta: MessageClosed) -> None:
        self._close(delta.run_id, cut_off=False)

    def _usage(self, delta: Usage) -> None:
        messages = self.state.messages.get(delta.run_id, [])
        # What is counted for all choices together is told once, or sums over messages would count it again.
        first = min((message.choice for message in messages), default=0)
        for message in messages:
            if message.choice == (first if delta.choice is None else delta.choice):
                message.count(delta)
                if message.first_seq:
                    self._touch(message)

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
        answered = self.pairings.answer(self._seq, delta.run_id, answer)
        self._answered(answer, answered, "event", delta.run_id, delta.executor)

    def _tool_failed(self, delta: ToolFailed) -> None:
        if self.pairings is None:
            return
        pairing = self.pairings.failed(self._seq, delta.tool_call_id, delta.name)
        if pairing is not None:
            self.observer.pairing_changed(self._seq, pairing)

    def _history(self, delta: History) -> None:
        if self.pairings is None:
            return
        calls, answers = self.pairings.restated(self._seq, delta.entries)
        for call, pairing in calls:
            self.observer.call_restated(self._seq, call, pairing, delta.run_id, self._layer)
            self.observer.pairing_changed(self._seq, pairing)
        for answer, answered in answers:
            self._answered(answer, answered, delta.source, delta.run_id, answered.pairing.executor)

    def _answered(self, answer: HistoryAnswer, answered: Answered, source: str, run_id: str, executor: str) -> None:
        if not answered.new:
            return
        self.observer.tool_message(self._seq, self._next("tool message"), answer, source, run_id, executor)
        self.observer.pairing_changed(self._seq, answered.pairing)

    # Findings

    def _finding(self, delta: Finding) -> None:
        self._found(delta)

    def _found(self, finding: Finding) -> None:
        self.observer.found(self._seq, self._next("finding"), finding)

    # The messages of a run

    def _find(self, run_id: str, choice: int) -> Message | None:
        for message in self.state.messages.get(run_id, ()):
            if message.choice == choice:
                return message
        return None

    def _open(self, run_id: str, choice: int) -> Message:
        wire = self._gathering == "wire" or (self._gathering == "default" and self._layer == "wire")
        message = Message(
            ref="",
            layer=self._layer,
            run_id=run_id,
            choice=choice,
            gather=WireGather() if wire else LangChainGather(),
        )
        self.state.messages.setdefault(run_id, []).append(message)
        return message

    def _shown(self, run_id: str, choice: int) -> Message:
        """The message that content belongs to, opened where there is none."""
        message = self._find(run_id, choice)
        if message is None:
            message = self._open(run_id, choice)
        self._show(message)
        self._touch(message)
        return message

    def _show(self, message: Message) -> None:
        if not message.first_seq:
            message.ref = f"{self._seq}:{self._next('message')}"
            message.first_seq = self._seq
            # LangChain's first chunk is the one that opens the message, whether or not calls are in it.
            message.gather.add(self._seq, [])
            self.state.newest = message.ref

    def _touch(self, message: Message) -> None:
        message.last_seq = self._seq
        self.observer.message_changed(self._seq, message)

    def _calls_final(self, message: Message) -> None:
        """The message's end was said: its calls have the arguments that they will have."""
        self.observer.message_finished(self._seq, message)
        if self.pairings is not None:
            for entry in message.gather.entries:
                if message.state_of(entry) in ("complete", "empty"):
                    raw = entry.args.text if entry.args is not None else None
                    self.pairings.call_finished(entry.ref, raw)

    def _close(self, run_id: str, *, cut_off: bool) -> None:
        for message in self.state.messages.pop(run_id, ()):
            if not message.first_seq:
                continue
            message.last_seq = self._seq
            if message.layer == "wire" and not (message.finished or message.cut_off or cut_off):
                # Some servers never give one; a gateway whose own source broke off does not either.
                detail = f"message {message.id!r} ended without a reason to stop"
                self._found(Finding(run_id=run_id, rule="missing-finish-reason", severity="warning", detail=detail))
            message.close(cut_off=cut_off)
            self._calls_final(message)
            self.observer.message_closed(self._seq, message)

    def _supersede(self, message: Message) -> None:
        self.state.messages[message.run_id].remove(message)
        if not message.first_seq:
            return
        message.superseded = message.cut_off = True
        message.finished = False
        message.close()
        self.observer.message_finished(self._seq, message)
        for entry in message.gather.entries:
            pairing = self.pairings.call_superseded(entry.ref) if self.pairings is not None else None
            if pairing is not None:
                self.observer.pairing_changed(self._seq, pairing)
        self.observer.message_closed(self._seq, message)
        detail = f"message {message.id!r} was started over"
        self._found(Finding(run_id=message.run_id, rule="message-restarted", severity="warning", detail=detail))

    def _next(self, kind: str) -> int:
        ordinal = self._ordinals.get(kind, 0)
        self._ordinals[kind] = ordinal + 1
        return ordinal


def _grouped(deltas: Iterable[AnyDelta]) -> Iterator[list[AnyDelta]]:
    """Deltas one by one, but an AIMessageChunk with its tool call chunks, and those of one message, together."""
    group: list[AnyDelta] = []
    for delta in deltas:
        if group and not (isinstance(delta, ToolCallChunk) and _same_message(group[0], delta)):
            yield group
            group = []
        group.append(delta)
    if group:
        yield group


def _same_message(head: AnyDelta, chunk: ToolCallChunk) -> bool:
    if isinstance(head, MessageChunk):
        return head.run_id == chunk.run_id
    return isinstance(head, ToolCallChunk) and (head.run_id, head.choice) == (chunk.run_id, chunk.choice)


def _ignore(_: Delta) -> None:
    """A block's stop says nothing that the state shows."""
