"""A run's AIMessageChunks added up as LangChain adds them: message and tool calls, which touch in two places."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field

from recorder.deltas import MessageChunk, ToolCallChunk
from recorder.dialects.langchain_chunk import chunk_tool_call_chunks
from recorder.projections.gather import GatherStep
from recorder.projections.growing import plain
from recorder.projections.langchain_gather import LangChainGather
from recorder.projections.merged_message import MergedMessage


class LangChainSum(Struct):
    """What `chunk + chunk + …` is after each chunk."""

    gather: LangChainGather = field(default_factory=LangChainGather)
    message: MergedMessage = field(default_factory=MergedMessage)

    def add(
        self, seq: int, chunk: MessageChunk, calls: Sequence[ToolCallChunk], first_ordinal: int = 0
    ) -> list[GatherStep]:
        """Adds the AIMessageChunk of event `seq` and its tool call chunks; gives a step for each of these."""
        steps = self.gather.add(seq, calls, first_ordinal)
        self.message.add(chunk)
        raw = self.message.kwargs_node.items.get("tool_calls")
        if raw is not None and all(entry.legacy for entry in self.gather.entries):
            whole = chunk_tool_call_chunks({"additional_kwargs": {"tool_calls": plain(raw)}}, chunk.run_id)
            steps += self.gather.open_all(seq, whole, first_ordinal + len(calls))
        self.message.settle(self.gather.entries)
        return steps
