"""Runs of pieces: events one behind the other that each bring more of one text, or of one call's arguments.

Most of what a model streams comes in such runs. The first piece of a run is applied like any delta; of the others it is
known by then which message, block and call they go to, so that they cost what they add. What is left when the run is
through is what applying them one by one leaves.
"""

from __future__ import annotations

from collections.abc import Sequence

from recorder.deltas import AnyDelta, TextChunk, ToolCallChunk
from recorder.events import Layer
from recorder.projections.message_fold import OpenMessages
from recorder.projections.messages import Message
from recorder.projections.pairing import Pairings
from recorder.projections.telling import Telling
from recorder.projections.wire_gather import WireGather

Run = Sequence[tuple[int, AnyDelta]]
"""Numbers of events, each one above the one before, and what each of them says."""


def is_more(head: AnyDelta, delta: AnyDelta) -> bool:
    """Whether a delta is another piece of what the head is a piece of."""
    if isinstance(delta, TextChunk):
        return (
            isinstance(head, TextChunk)
            and head.run_id == delta.run_id
            and head.block == delta.block
            and head.field == delta.field
            and head.choice == delta.choice
            and head.kind == delta.kind
        )
    return (
        isinstance(delta, ToolCallChunk)
        and isinstance(head, ToolCallChunk)
        and head.run_id == delta.run_id
        and head.index == delta.index
        and head.block == delta.block
        and head.choice == delta.choice
        and delta.id is None
        and delta.name is None
    )


class PieceRuns:
    """Applies what follows the first piece of a run."""

    def __init__(self, messages: OpenMessages, pairings: Pairings | None, telling: Telling) -> None:
        self._messages = messages
        self._pairings = pairings
        self._telling = telling

    def apply(self, layer: Layer, run: Run) -> int:
        """Applies as many of the pieces as there is nothing to decide about; gives their number.

        The piece before them was applied just now, and `is_more` says that they go on with it.
        """
        _, head = run[0]
        message = self._messages.find(head.run_id, head.choice) if isinstance(head, TextChunk | ToolCallChunk) else None
        if message is None or message.merged is not None or message.finished or message.cut_off or message.erased:
            return 0
        count = self._texts(message, run) if isinstance(head, TextChunk) else self._fragments(message, run)
        if count:
            self._telling.begin(run[count - 1][0], layer)
            message.last_seq = self._telling.seq
            self._telling.observer.message_changed(self._telling.seq, message)
        return count

    def _texts(self, message: Message, run: Run) -> int:
        head = run[0][1]
        assert isinstance(head, TextChunk)
        block = message.blocks.by_key.get(str(head.block))
        rope = block.texts.get(head.field) if block is not None else None
        if block is None or rope is None:
            return 0
        pieces = [(seq, delta.text) for seq, delta in run if isinstance(delta, TextChunk) and delta.text]
        rope.parts += [text for _, text in pieces]
        if block.kind == "text" and head.field == "text":
            self._telling.observer.text_grew(message, pieces)
        return len(run)

    def _fragments(self, message: Message, run: Run) -> int:
        gather = message.gather
        if not isinstance(gather, WireGather):
            return 0
        if message.second is not None and not message.second.follows(*run[0], gather.entries[-1:]):
            return 0
        pieces: list[tuple[int, str]] = []
        entry = None
        for seq, delta in run:
            assert isinstance(delta, ToolCallChunk)
            if (found := gather.go_on(delta)) is None:
                break
            entry = found
            pieces.append((seq, delta.args or ""))
        if entry is None:
            return 0
        first, last = pieces[0][0], pieces[-1][0]
        entry.touch(first)
        entry.last_seq = entry.seqs[-1][1] = last
        self._telling.observer.call_grew(message, entry, pieces)
        if self._pairings is not None:
            pairing = self._pairings.call(entry.ref, entry.id, entry.name, last, entry.executor, message.layer)
            self._telling.observer.pairing_changed(last, pairing)
        return len(pieces)
