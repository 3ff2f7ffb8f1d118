"""A message as it is gathered from the deltas of its run: content, tool calls, usage, and how it ended."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct, field

from recorder.deltas import (
    BlockItem,
    BlockStarted,
    MessageChunk,
    MessageFinished,
    MessageStarted,
    TextChunk,
    ToolCallChunk,
    Usage,
)
from recorder.events import Layer
from recorder.projections.blocks import Blocks
from recorder.projections.calls import CallState, call_state
from recorder.projections.gather import Entry, GatherStep
from recorder.projections.json_extent import is_whole
from recorder.projections.langchain_gather import LangChainGather
from recorder.projections.langchain_sum import LangChainSum
from recorder.projections.langchainjs_gather import LangChainJsGather
from recorder.projections.langchainjs_message import LangChainJsMessage
from recorder.projections.merged_message import MergedMessage
from recorder.projections.readings import Gathered
from recorder.projections.second_reading import SecondReading
from recorder.projections.usage import replace_counts
from recorder.projections.wire_gather import WireGather


class Message(Struct):
    """One answer of a model: one choice of one run. Mutable while open; the struct is what a snapshot keeps."""

    ref: str
    """Unique in the stream: `{first_seq}:{ordinal}`."""
    layer: Layer
    run_id: str
    choice: int
    gather: Gathered
    message_id: str | None = None
    role: str | None = None
    model: str | None = None
    first_seq: int = 0
    """0 until the first of its content came: a message that only has a head is not shown."""
    last_seq: int = 0
    finish_reason: str | None = None
    finished: bool = False
    cut_off: bool = False
    closed: bool = False
    superseded: bool = False
    scattered: bool = False
    """Some text came elsewhere than behind all other text: `text` is not what came, joined."""
    blocks: Blocks = field(default_factory=Blocks)
    """What providers stream as blocks."""
    merged: MergedMessage | LangChainJsMessage | None = None
    """What LangChain streams as chunks; then `blocks` holds nothing."""
    counts: dict[str, Any] = field(default_factory=dict)
    second: SecondReading | None = None
    """The reading that is not shown; None once the two have parted, or where nobody asks."""
    erased: bool = False
    """An event that came while it was open was erased."""
    gaps: list[int] = field(default_factory=list)
    """Events among the message's that could not be read: pieces of it may be lost."""

    def head(self, delta: MessageStarted) -> None:
        """More of the message's head became known; what is known stays."""
        self.message_id = self.message_id or delta.message_id
        self.role = self.role or delta.role
        self.model = self.model or delta.model

    def add_text(self, delta: TextChunk) -> bool:
        """Appends to a block; says whether the answer's text grew by it."""
        block = self.blocks.append(delta)
        if block.kind != "text" or delta.field != "text" or not delta.text:
            return False
        self.scattered = self.scattered or block is not self.blocks.last_text
        return True

    def add_block(self, delta: BlockStarted | BlockItem) -> str:
        """Opens a block, or adds to its fields; gives the text that the answer's text grew by."""
        if isinstance(delta, BlockItem):
            self.blocks.add_item(delta)
            return ""
        if delta.kind != "text" or not delta.data:
            self.blocks.start(delta)
            return ""
        before = self.text
        self.blocks.start(delta)
        self.scattered = self.scattered or not self.text.startswith(before)
        return self.text[len(before) :]

    def add_calls(self, seq: int, chunks: list[ToolCallChunk], first_ordinal: int) -> list[GatherStep]:
        """Gathers the tool call chunks of one event; gives what each of them did."""
        steps = self.gather.add(seq, chunks, first_ordinal)
        if self.merged is None:
            for step in steps:
                if step.opened:
                    self.blocks.add_call(step.entry.block, step.entry.ref)
        return steps

    def add_chunk(
        self, seq: int, chunk: MessageChunk, calls: list[ToolCallChunk], first_ordinal: int
    ) -> list[GatherStep]:
        """Adds an AIMessageChunk and its tool call chunks; gives what each of these did."""
        if self.merged is None:
            self.merged = self._sum_of(chunk)
        looked_at = self.merged.begun and self.merged.may_scatter(chunk.content)
        before = self.text if looked_at else None
        if isinstance(self.gather, LangChainGather) and isinstance(self.merged, MergedMessage):
            steps = LangChainSum(self.gather, self.merged).add(seq, chunk, calls, first_ordinal)
        else:
            steps = self.gather.add(seq, calls, first_ordinal)
            self.merged.add(chunk)
            if isinstance(self.merged, MergedMessage):
                self.merged.settle(self.gather.entries)
        if before is not None and self.text != before + text_of_content(chunk.content):
            self.scattered = True
        return steps

    def _sum_of(self, chunk: MessageChunk) -> MergedMessage | LangChainJsMessage:
        """What adds the chunks up: a reading's own library; where the calls are the wire's, the one that sent them."""
        if isinstance(self.gather, WireGather):
            return LangChainJsMessage() if chunk.runtime == "javascript" else MergedMessage()
        return LangChainJsMessage() if isinstance(self.gather, LangChainJsGather) else MergedMessage()

    def count(self, delta: Usage) -> None:
        replace_counts(self.counts, delta.counts)

    def finish(self, delta: MessageFinished) -> None:
        self.finish_reason = delta.finish_reason or self.finish_reason
        self.finished = True
        self.cut_off = self.cut_off or delta.truncating
        self._settle_late()

    def close(self, *, cut_off: bool = False) -> None:
        """Nothing more will come. `cut_off`: a message that never said why it stopped was broken off.

        One that had said so stands, but for the calls that grew after that.
        """
        self.closed = True
        self.cut_off = self.cut_off or (cut_off and not self.finished)
        self.finished = True
        if not cut_off:
            self._settle_late()

    def note_growth(self, steps: Iterable[GatherStep]) -> None:
        """Notes which calls grew after the message was said to be finished: they wait until that is said again."""
        if self.finished:
            for step in steps:
                step.entry.late = step.entry.late or step.opened or bool(step.args)

    def _settle_late(self) -> None:
        for entry in self.gather.entries:
            entry.late = False

    def state_of(self, entry: Entry) -> CallState:
        """The truth-state of one of the message's calls."""
        # An open call's text is left alone: to join it at every event would cost its length each time.
        finished, cut_off = self.finished and not entry.late, self.cut_off or (self.closed and entry.late)
        raw = entry.args.text if finished and not cut_off and entry.args is not None else None
        return call_state(
            raw, finished=finished, cut_off=cut_off, free_text=entry.free_text, erased=self._is_erased(entry)
        )

    def _is_erased(self, entry: Entry) -> bool:
        """Whether a piece of the call, its head, or the reason for which it ended may have been erased."""
        unexplained = self.finished and self.finish_reason is None
        return entry.erased or (self.erased and (not entry.name or unexplained))

    def erase(self) -> None:
        """An event that may have been the message's was erased: calls that were not whole by then are not known."""
        self.erased = True
        for entry in self.gather.entries:
            if entry.args is None or not is_whole(entry.args.text):
                entry.erased = True

    @property
    def id(self) -> str | None:
        """The provider's id, or in the langchain layer the one that adding the chunks gives."""
        merged = self.merged.message_id if self.merged is not None else None
        return merged or self.message_id

    @property
    def usage(self) -> dict[str, Any]:
        merged = self.merged.usage if self.merged is not None else None
        return merged or self.counts

    @property
    def text(self) -> str:
        """The answer's text: all its text blocks, joined."""
        return self.blocks.text if self.merged is None else text_of_content(self.merged.content)


def text_of_content(content: str | list[Any]) -> str:
    """The text of LangChain content: the string, or its text blocks joined, as `BaseMessage.text` gives it."""
    if isinstance(content, str):
        return content
    return "".join(
        block if isinstance(block, str) else block["text"]
        for block in content
        if isinstance(block, str)
        or (isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str))
    )
