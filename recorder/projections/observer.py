"""Who is told what a fold does, step by step: the read model, a list of changes, nobody."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from recorder.deltas import Finding, HistoryAnswer, HistoryCall
from recorder.projections.gather import Entry, GatherStep
from recorder.projections.messages import Message
from recorder.projections.pairing import Pairing
from recorder.projections.timeline import Run


class Observer(Protocol):
    """What a fold tells while it applies the event `seq`. Ordinals count within the event, each kind for itself.

    Messages, entries, runs and pairings are the fold's own mutable objects: read them, or copy what must last.
    """

    wants_each: bool
    """Whether it must be told of every piece at its own event. Who need not is told of a run of pieces at once."""

    def text_grew(self, message: Message, pieces: Sequence[tuple[int, str]]) -> None:
        """The message's text grew over a run of events: their numbers, and what each added."""

    def call_grew(self, message: Message, entry: Entry, pieces: Sequence[tuple[int, str]]) -> None:
        """A call's arguments grew over a run of events: their numbers, and what each added."""

    def message_changed(self, seq: int, message: Message) -> None:
        """A message was opened, or its head, finish or usage changed."""

    def calls_settled(self, seq: int, message: Message, entries: Sequence[Entry]) -> None:
        """The states of these of the message's calls changed, or may have: it finished, was cut off or superseded."""

    def message_closed(self, seq: int, message: Message) -> None:
        """Nothing of the message will change any more."""

    def text_added(self, seq: int, ordinal: int, message: Message, text: str) -> None:
        """The message's text grew."""

    def block_changed(self, seq: int, message: Message, key: str, field: str, text: str | None) -> None:
        """A block that is no tool call opened, or its `field` grew by `text`; None: the field was set or extended."""

    def chunk_gathered(self, seq: int, ordinal: int, message: Message, step: GatherStep) -> None:
        """A tool call chunk was gathered."""

    def run_changed(self, seq: int, run: Run) -> None:
        """A run started, failed or ended."""

    def pairing_changed(self, seq: int, pairing: Pairing) -> None:
        """A call or an answer was paired, or is waiting."""

    def call_restated(self, seq: int, call: HistoryCall, pairing: Pairing, run_id: str, layer: str) -> None:
        """A call that was never streamed is first seen in a history."""

    def tool_message(
        self, seq: int, ordinal: int, answer: HistoryAnswer, source: str, run_id: str, executor: str
    ) -> None:
        """A tool message that was not known came in."""

    def found(self, seq: int, ordinal: int, finding: Finding) -> None:
        """A finding."""


class Silent:
    """Tells nobody."""

    wants_each = False

    def text_grew(self, message: Message, pieces: Sequence[tuple[int, str]]) -> None: ...

    def call_grew(self, message: Message, entry: Entry, pieces: Sequence[tuple[int, str]]) -> None: ...

    def message_changed(self, seq: int, message: Message) -> None: ...

    def calls_settled(self, seq: int, message: Message, entries: Sequence[Entry]) -> None: ...

    def message_closed(self, seq: int, message: Message) -> None: ...

    def text_added(self, seq: int, ordinal: int, message: Message, text: str) -> None: ...

    def block_changed(self, seq: int, message: Message, key: str, field: str, text: str | None) -> None: ...

    def chunk_gathered(self, seq: int, ordinal: int, message: Message, step: GatherStep) -> None: ...

    def run_changed(self, seq: int, run: Run) -> None: ...

    def pairing_changed(self, seq: int, pairing: Pairing) -> None: ...

    def call_restated(self, seq: int, call: HistoryCall, pairing: Pairing, run_id: str, layer: str) -> None: ...

    def tool_message(
        self, seq: int, ordinal: int, answer: HistoryAnswer, source: str, run_id: str, executor: str
    ) -> None: ...

    def found(self, seq: int, ordinal: int, finding: Finding) -> None: ...
