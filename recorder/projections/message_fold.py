"""The part of the fold that is about messages: which message a delta belongs to, and how it grows, ends and closes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct, field

from recorder.deltas import (
    BlockItem,
    BlockStarted,
    MessageChunk,
    MessageClosed,
    MessageFinished,
    MessageStarted,
    Restatement,
    Runtime,
    TextChunk,
    ToolCallChunk,
    Usage,
)
from recorder.events import jsontext
from recorder.projections.gather import Entry, GatherStep
from recorder.projections.messages import Message, text_of_content
from recorder.projections.pairing import Pairings
from recorder.projections.readings import Gathering, begin, tool_calls
from recorder.projections.restatement import calls_differ, chunk_of_restatement, chunks_of_restatement
from recorder.projections.second_reading import second_reading
from recorder.projections.telling import Telling


class OpenMessages(Struct):
    """The messages that are open: what a snapshot keeps of them."""

    by_run: dict[str, list[Message]] = field(default_factory=dict)
    """The open messages of each run, one per choice."""
    newest: str = ""
    """The ref of the message opened last, be it closed by now; empty before the first."""

    @property
    def shown(self) -> list[Message]:
        """Those of which content has come."""
        return [message for found in self.by_run.values() for message in found if message.first_seq]

    def of_run(self, run_id: str) -> list[Message]:
        return self.by_run.get(run_id, [])

    def taken(self, run_id: str, choice: int | None) -> list[Message]:
        """The run's messages, or the one of a choice, which are open no more."""
        found = self.by_run.pop(run_id, [])
        kept = [message for message in found if choice is not None and message.choice != choice]
        if kept:
            self.by_run[run_id] = kept
        return [message for message in found if choice is None or message.choice == choice]

    def find(self, run_id: str, choice: int) -> Message | None:
        for message in self.by_run.get(run_id, ()):
            if message.choice == choice:
                return message
        return None


class MessageFold:
    """Applies what an event says of messages to those that are open."""

    def __init__(
        self, messages: OpenMessages, pairings: Pairings | None, gathering: Gathering, telling: Telling
    ) -> None:
        self.messages = messages
        self._pairings = pairings
        self._gathering = gathering
        self._telling = telling
        self.steps: dict[type[Any], Callable[[Any], None]] = {
            MessageStarted: self._start,
            BlockStarted: self._block,
            BlockItem: self._block,
            TextChunk: self._text,
            Restatement: self._restate,
            MessageFinished: self._finish,
            MessageClosed: self._close_properly,
            Usage: self._count,
        }
        """What is done for each kind of delta; chunks go to `chunk` and `gather` with those of the same message."""

    def chunk(self, delta: MessageChunk, calls: list[ToolCallChunk]) -> None:
        """Adds an AIMessageChunk and its tool call chunks."""
        message = self._shown(delta.run_id, 0, delta.runtime)
        refused = len(message.merged.refused) if message.merged is not None else 0
        first = self._telling.peek("chunk")
        steps = message.add_chunk(self._telling.seq, delta, calls, first)
        self._compare(message, calls, first, steps)
        self._gathered(message, steps)
        for reason in message.merged.refused[refused:] if message.merged is not None else ():
            self._telling.found(delta.run_id, "langchain-refuses-chunk", "error", reason)
        text = text_of_content(delta.content)
        if text or (message.scattered and delta.content):
            self._tell_text(message, text)

    def gather(self, chunks: list[ToolCallChunk]) -> None:
        """Adds the tool call chunks that one event has for one message."""
        message = self._shown(chunks[0].run_id, chunks[0].choice)
        first = self._telling.peek("chunk")
        steps = message.add_calls(self._telling.seq, chunks, first)
        self._compare(message, chunks, first, steps)
        self._gathered(message, steps)

    def gap(self, run_id: str) -> None:
        """A frame could not be read. Without a run it may have been any open message's."""
        for message in self.messages.of_run(run_id) or (self.messages.shown if self._telling.layer != "wire" else ()):
            message.gaps.append(self._telling.seq)

    def erase(self, run_id: str) -> None:
        """An event of the run was erased. Without a run it may have been any open message's."""
        for message in self.messages.of_run(run_id) or (self.messages.shown if self._telling.layer != "wire" else ()):
            if message.first_seq and not message.finished:
                message.erase()
                self._telling.observer.calls_settled(self._telling.seq, message, message.gather.entries)

    def cut_off(self, run_id: str) -> None:
        """An error was reported: what was not finished by now is cut off, though more may come."""
        for message in self.messages.of_run(run_id):
            if message.first_seq and not message.finished:
                message.cut_off = True
                self._telling.observer.calls_settled(self._telling.seq, message, message.gather.entries)

    def close(self, run_id: str, *, cut_off: bool, choice: int | None = None) -> None:
        """Nothing more will come for the run's messages, or for one; `cut_off`: it did not end properly."""
        for message in self.messages.taken(run_id, choice):
            if not message.first_seq:
                continue
            message.last_seq = self._telling.seq
            if message.layer == "wire" and not (message.finished or message.cut_off or message.erased or cut_off):
                # Some servers never give one; a gateway whose own source broke off does not either.
                detail = f"message {message.id!r} ended without a reason to stop"
                self._telling.found(run_id, "missing-finish-reason", "warning", detail)
            message.close(cut_off=cut_off)
            self._settle(message, message.gather.entries)
            self._telling.observer.message_closed(self._telling.seq, message)

    # One step a delta

    def _start(self, delta: MessageStarted) -> None:
        message = self.messages.find(delta.run_id, delta.choice)
        if message is not None and delta.restart:
            self._supersede(message)
            message = None
        if message is None:
            message = self._open(delta.run_id, delta.choice)
        message.head(delta)
        if self._telling.layer == "wire":
            self._show(message)
        if message.first_seq:
            self._touch(message)

    def _text(self, delta: TextChunk) -> None:
        message = self._shown(delta.run_id, delta.choice)
        grew = message.add_text(delta)
        self._tell_block(message, delta, delta.field, delta.text)
        if grew:
            self._tell_text(message, delta.text)

    def _block(self, delta: BlockStarted | BlockItem) -> None:
        message = self._shown(delta.run_id, delta.choice)
        added = message.add_block(delta)
        self._tell_block(message, delta, delta.field if isinstance(delta, BlockItem) else "type", None)
        if added:
            self._tell_text(message, added)

    def _restate(self, delta: Restatement) -> None:
        message = self.messages.find(delta.run_id, 0)
        if message is None or not message.first_seq:
            self.chunk(chunk_of_restatement(delta), chunks_of_restatement(delta))
            return
        if not message.gather.entries and (chunks := chunks_of_restatement(delta)):
            self.gather(chunks)
        built, _ = tool_calls(message.gather)
        if difference := calls_differ(built, delta.calls):
            self._telling.found(delta.run_id, "restatement-differs", "warning", difference)

    def _finish(self, delta: MessageFinished) -> None:
        if self.messages.find(delta.run_id, delta.choice) is not None:
            message = self._shown(delta.run_id, delta.choice)
            message.finish(delta)
            self._settle(message, message.gather.entries)

    def _close_properly(self, delta: MessageClosed) -> None:
        self.close(delta.run_id, cut_off=False, choice=delta.choice)

    def _count(self, delta: Usage) -> None:
        messages = self.messages.of_run(delta.run_id)
        if not messages:
            detail = f"counts come while no message is open: {jsontext.encode(delta.counts)}"
            self._telling.found(delta.run_id, "usage-without-message", "info", detail)
        # What is counted for all choices together is told once, or sums over messages would count it again.
        first = min((message.choice for message in messages), default=0)
        for message in messages:
            if message.choice == (first if delta.choice is None else delta.choice):
                message.count(delta)
                if message.first_seq:
                    self._touch(message)

    # One message

    def _open(self, run_id: str, choice: int) -> Message:
        layer = self._telling.layer
        gather = begin(self._gathering, layer, "python")
        message = Message(ref="", layer=layer, run_id=run_id, choice=choice, gather=gather)
        self.messages.by_run.setdefault(run_id, []).append(message)
        return message

    def _shown(self, run_id: str, choice: int, runtime: Runtime = "python") -> Message:
        """The message that content belongs to, opened where there is none."""
        message = self.messages.find(run_id, choice) or self._open(run_id, choice)
        if not message.first_seq:
            # A message that only has a head does not say who adds it up.
            message.gather = begin(self._gathering, message.layer, runtime)
            self._show(message)
        self._touch(message)
        return message

    def _show(self, message: Message) -> None:
        if not message.first_seq:
            message.ref = f"{self._telling.seq}:{self._telling.take('message')}"
            message.first_seq = self._telling.seq
            # LangChain's first chunk is the one that opens the message, whether or not calls are in it.
            message.gather.add(self._telling.seq, [])
            if self._gathering == "default":
                message.second = second_reading(message.layer)
                message.second.begin(self._telling.seq)
            self.messages.newest = message.ref

    def _touch(self, message: Message) -> None:
        message.last_seq = self._telling.seq
        self._telling.observer.message_changed(self._telling.seq, message)

    def _compare(
        self, message: Message, chunks: Sequence[ToolCallChunk], first: int, steps: Sequence[GatherStep]
    ) -> None:
        """Holds what the chunks did against what they do in the other reading, and tells once where the two part."""
        second = message.second
        if second is None or not chunks:
            return
        if message.erased or not second.compares(chunks, steps):
            message.second = None
        elif (told := second.parts(self._telling.seq, chunks, first, steps)) is not None:
            message.second = None
            self._telling.found(message.run_id, "readings-part", "warning", told, steps[0].entry.id)

    def _gathered(self, message: Message, steps: list[GatherStep]) -> None:
        """Tells what the chunks did, pairs the calls that they opened or named."""
        message.note_growth(steps)
        first = self._telling.take("chunk", len(steps))
        seq, observer = self._telling.seq, self._telling.observer
        for ordinal, step in enumerate(steps, first):
            entry = step.entry
            observer.chunk_gathered(seq, ordinal, message, step)
            if self._pairings is not None:
                pairing = self._pairings.call(entry.ref, entry.id, entry.name, seq, entry.executor, message.layer)
                observer.pairing_changed(seq, pairing)
            for rule, severity, detail in () if entry.erased else step.findings:
                self._telling.found(message.run_id, rule, severity, detail, entry.id)
        if steps and (message.finished or message.cut_off):
            self._settle(message, list({step.entry.ref: step.entry for step in steps}.values()))

    def _settle(self, message: Message, entries: Sequence[Entry]) -> None:
        """The message's end was said: these of its calls have the arguments that they will have."""
        self._telling.observer.calls_settled(self._telling.seq, message, entries)
        if self._pairings is not None:
            for entry in entries:
                if message.state_of(entry) in ("complete", "empty"):
                    raw = entry.args.text if entry.args is not None else None
                    self._pairings.call_finished(entry.ref, raw)

    def _supersede(self, message: Message) -> None:
        self.messages.by_run[message.run_id].remove(message)
        if not message.first_seq:
            return
        seq, observer = self._telling.seq, self._telling.observer
        message.superseded = message.cut_off = True
        message.finished = False
        message.close()
        observer.calls_settled(seq, message, message.gather.entries)
        for entry in message.gather.entries:
            pairing = self._pairings.call_superseded(entry.ref) if self._pairings is not None else None
            if pairing is not None:
                observer.pairing_changed(seq, pairing)
        observer.message_closed(seq, message)
        self._telling.found(message.run_id, "message-restarted", "warning", f"message {message.id!r} was started over")

    def _tell_text(self, message: Message, text: str) -> None:
        self._telling.observer.text_added(self._telling.seq, self._telling.take("text"), message, text)

    def _tell_block(
        self, message: Message, delta: TextChunk | BlockStarted | BlockItem, name: str, text: str | None
    ) -> None:
        self._telling.observer.block_changed(self._telling.seq, message, str(delta.block), name, text)
