"""What every reading of gathering gives: entries that grow, and for each chunk a step that says what it did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from recorder.deltas import Severity, ToolCallChunk
from recorder.projections.rope import Rope


class Entry(Struct):
    """A tool call as it is gathered. `args` is None until the first text came, be it empty."""

    ref: str
    """Unique in the stream: `{seq}:{ordinal}` of the chunk that opened it."""
    index: int | str | None
    id: str | None
    name: str | None
    args: Rope | None
    first_seq: int
    last_seq: int
    seqs: list[list[int]]
    """The events that built it, as closed ranges: `[[3, 12], [14, 14]]`."""
    executor: str = "client"
    block: int | str | None = None
    legacy: bool = False
    """OpenAI's `function_call`: no index and no id, and not among LangChain's tool calls."""
    free_text: bool = False
    """The arguments are text as it is, and whole when the provider says so."""
    erased: bool = False
    """An event that came while the call was being gathered was erased: it may have held a piece of it."""
    late: bool = False
    """Text came after its message was said to be finished: of this text nobody has said so."""
    error: str | None = None
    """Why the framework takes the call's arguments for invalid; None where it did not say so."""

    def touch(self, seq: int) -> None:
        """Notes that event `seq` (not before the last one) added to the entry."""
        self.last_seq = seq
        if self.seqs and self.seqs[-1][1] >= seq - 1:
            self.seqs[-1][1] = seq
        else:
            self.seqs.append([seq, seq])


def entry_of(seq: int, ordinal: int, chunk: ToolCallChunk) -> Entry:
    """The entry that a chunk opens. What it has for index, id, name and arguments is the reading's own affair."""
    return Entry(
        ref=f"{seq}:{ordinal}",
        index=None,
        id=None,
        name=None,
        args=None,
        first_seq=seq,
        last_seq=seq,
        seqs=[],
        executor=chunk.executor,
        block=chunk.block,
        legacy=chunk.legacy,
        free_text=chunk.free_text,
        error=chunk.error,
    )


class GatherStep(Struct):
    """What one chunk did to its entry."""

    entry: Entry
    opened: bool
    name: str | None
    """The name text that it set or appended."""
    args: str | None
    """The arguments' text that it appended."""
    cleared: tuple[int, int] | None = None
    """Event and ordinal of an earlier chunk whose arguments turned out to be a placeholder and no longer count."""
    renamed: bool = False
    """The name takes the place of the one that was there."""
    findings: list[tuple[str, Severity, str]] = []
    """Rule, severity and detail of what an audit wants to know."""


class Gather(Protocol):
    """A reading of gathering, for the chunks of one message."""

    entries: list[Entry]

    def add(self, seq: int, chunks: Sequence[ToolCallChunk], first_ordinal: int = 0) -> list[GatherStep]:
        """Takes all tool call chunks of one event, in order; gives one step for each."""
        ...
