"""The other reading of a message's chunks, gathered beside the one that is shown, until the two part.

What a provider streamed is shown as the wire means it: here is what LangChain would make of the same chunks. What
LangChain streamed is shown as LangChain adds it up: here is what the wire's rules make of it. Where one of them opens
a call and the other does not, or they add a piece to different calls, that chunk is where somebody must look.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from recorder.deltas import AnyDelta, ToolCallChunk
from recorder.events import Layer
from recorder.projections.gather import Entry, GatherStep
from recorder.projections.langchain_gather import LangChainGather
from recorder.projections.wire_gather import WireGather


class SecondReading(Struct):
    """The reading that is not shown. It is dropped once it has parted: from there on everything differs."""

    gather: WireGather | LangChainGather

    def begin(self, seq: int) -> None:
        """The message's first event, whether or not calls are in it."""
        self.gather.add(seq, [])

    def parts(self, seq: int, chunks: Sequence[ToolCallChunk], ordinal: int, shown: Sequence[GatherStep]) -> str | None:
        """Takes the chunks of one event, of which the reading that is shown made these steps.

        Gives where the two part, in one line; None where they agree.
        """
        of_wire = isinstance(self.gather, LangChainGather)
        for offset, (chunk, step) in enumerate(zip(chunks, shown, strict=True)):
            if of_wire and chunk.restated and not step.opened:
                continue  # What a provider says again at the end its integrations leave out.
            if of_wire and step.args == chunk.args and self._goes_to(seq, chunk, step):
                continue
            (other,) = self.gather.add(seq, [chunk], ordinal + offset)
            if of_wire:
                # Which call a chunk goes to does not depend on what was gathered: the text need not be kept twice.
                other.entry.args = None
            if (told := self._told(chunk, step, other)) is not None:
                return told
        return None

    def compares(self, chunks: Sequence[ToolCallChunk], shown: Sequence[GatherStep]) -> bool:
        """Whether the steps are of these chunks one by one. Text that is no JSON has no second reading."""
        return len(shown) == len(chunks) and not any(chunk.free_text for chunk in chunks)

    def _goes_to(self, seq: int, chunk: ToolCallChunk, shown: GatherStep) -> bool:
        """Whether the chunk is a mere fragment that LangChain adds to the same call: nothing of it need be gathered."""
        if shown.opened or shown.name is not None or shown.cleared is not None:
            return False
        return self.follows(seq, chunk, [shown.entry])

    def follows(self, seq: int, delta: AnyDelta, shown: Sequence[Entry]) -> bool:
        """Whether the delta is a mere fragment that LangChain, too, adds to the entry that is shown (one, or none)."""
        if not isinstance(self.gather, LangChainGather) or not isinstance(delta, ToolCallChunk):
            return False
        other = self.gather.of_fragment(seq, delta)
        return other is not None and bool(shown) and other.ref == shown[0].ref

    def _told(self, chunk: ToolCallChunk, shown: GatherStep, other: GatherStep) -> str | None:
        wire, langchain = (other, shown) if isinstance(self.gather, WireGather) else (shown, other)
        if wire.entry.ref != langchain.entry.ref:
            if wire.opened:
                return f"the wire opens call {_of(wire)}, LangChain adds it to call {_of(langchain)}"
            if langchain.opened:
                return f"the wire goes on with call {_of(wire)}, LangChain makes another call of the chunk"
            return f"a piece of call {_of(wire)} goes to call {_of(langchain)} in LangChain"
        if chunk.restated:
            return None
        if (wire.name or "") != (langchain.name or ""):
            return f"call {_of(wire)} is {wire.entry.name!r} on the wire and {langchain.entry.name!r} in LangChain"
        if (wire.args or "") != (langchain.args or "") or wire.cleared is not None:
            return f"LangChain adds arguments to call {_of(wire)} that the wire only repeats"
        return None


def second_reading(layer: Layer) -> SecondReading:
    """The reading that messages of this layer are not shown in."""
    return SecondReading(LangChainGather() if layer == "wire" else WireGather())


def _of(step: GatherStep) -> str:
    return repr(step.entry.id) if step.entry.id else f"of {step.entry.name!r} without an id"
