"""The `langchain` reading of gathering: exactly what langchain-core 1.8 computes when the chunks are added.

Source: `add_ai_message_chunks` and `init_tool_calls` (`langchain_core/messages/ai.py`) over `merge_lists`, after
pydantic's validation of each chunk. Its surprises are kept: names are always appended, two calls that share an index
stay apart only while their ids tell them, an id-less chunk goes to the first of them, no index means no merging.

Events of version v3 name a content block instead: what has no index and names a block goes to the block's call.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct, field, structs

from recorder.deltas import Severity, ToolCallChunk
from recorder.dialects.langchain_chunk import chunk_tool_call_chunks
from recorder.projections.gather import Entry, GatherStep, entry_of
from recorder.projections.json_extent import same_json
from recorder.projections.langchain_validation import valid_index, valid_text
from recorder.projections.partial_json import INVALID, parse_partial
from recorder.projections.rope import Rope

__all__ = ["LangChainGather", "chunk_tool_call_chunks", "chunks_of", "tool_calls_of"]

REFUSED = "langchain-refuses-chunk"


class Slot(Struct):
    """The calls that share an index, by their positions among the entries."""

    first: int
    by_id: dict[str, int] = field(default_factory=dict)
    """The first call with each id."""
    without_id: list[int] = field(default_factory=list)

    def find(self, id: str | None) -> int | None:
        """The first call whose id does not contradict; either side without an id contradicts nothing."""
        if not id:
            return self.first
        named = self.by_id.get(id)
        if self.without_id and (named is None or self.without_id[0] < named):
            return self.without_id[0]
        return named

    def open(self, position: int, id: str | None) -> None:
        """Notes a call that was opened at the index."""
        if id:
            self.by_id.setdefault(id, position)
        else:
            self.without_id.append(position)

    def name(self, position: int, id: str) -> None:
        """Notes that a call which `find` gave for the id had none, and has it now."""
        self.without_id.remove(position)
        self.by_id[id] = position


class LangChainGather(Struct, tag="langchain"):
    """Gathers the tool call chunks of one run's AIMessageChunks, which `add` takes in order.

    The chunks of the first AIMessageChunk are never merged with each other. So `add` must see every AIMessageChunk,
    those without tool call chunks too (as an empty list, before or after the event's other deltas), else a later one
    is taken for the first.
    """

    entries: list[Entry] = field(default_factory=list)
    by_index: dict[str, Slot] = field(default_factory=dict)
    """By the index as text, which is unambiguous once validated: a snapshot may be JSON, whose keys are texts."""
    begun_at: int | None = None
    """The event of the first AIMessageChunk."""

    def add(self, seq: int, chunks: Sequence[ToolCallChunk], first_ordinal: int = 0) -> list[GatherStep]:
        """Takes all tool call chunks of one AIMessageChunk, in order. Never raises.

        Gives one step for each chunk that LangChain reads. A value that it refuses is taken as text where it was none,
        and the step carries a finding.
        """
        if self.begun_at is None:
            self.begun_at = seq
        merging = self.begun_at != seq
        read = [found for chunk in chunks if (found := _as_read(chunk)) is not None]
        return [self._add(seq, chunk, first_ordinal + offset, merging) for offset, chunk in enumerate(read)]

    def open_all(self, seq: int, chunks: Sequence[ToolCallChunk], first_ordinal: int = 0) -> list[GatherStep]:
        """Opens an entry for each chunk: for those that LangChain makes of the whole sum's `additional_kwargs`.

        It does so while there are no calls: raw calls that were malformed chunk by chunk may be whole once added.
        """
        return [self._add(seq, chunk, first_ordinal + offset, merging=False) for offset, chunk in enumerate(chunks)]

    def of_fragment(self, seq: int, chunk: ToolCallChunk) -> Entry | None:
        """The entry that `add` would add a mere fragment to, which has an index and text; None for any other chunk."""
        if chunk.id is not None or chunk.name is not None or chunk.restated or chunk.legacy or chunk.free_text:
            return None
        if chunk.index.__class__ is not int or not isinstance(chunk.args, str) or self.begun_at == seq:
            return None
        slot = self.by_index.get(str(chunk.index))
        return self.entries[slot.first] if slot is not None else None

    def _add(self, seq: int, chunk: ToolCallChunk, ordinal: int, merging: bool) -> GatherStep:
        faults: list[str] = []
        index = valid_index(chunk.index, faults)
        id = valid_text("id", chunk.id, faults)
        name = valid_text("name", chunk.name, faults)
        args = valid_text("args", chunk.args, faults)
        entry = self._find(chunk, index, id, merging=merging)
        if entry is not None and chunk.restated:
            return GatherStep(entry, False, None, None) if _is_providers(chunk) else say_again(entry, seq, chunk)
        opened = entry is None
        if entry is None:
            entry = entry_of(seq, ordinal, chunk)
            entry.index, entry.id, entry.name = index, id, name
            entry.args = None if args is None else Rope([args])
            self._open(entry)
        else:
            entry.name = _sum(entry.name, name)
            if args is not None:
                entry.args = entry.args if entry.args is not None else Rope()
                entry.args.append(args)
        entry.touch(seq)
        findings: list[tuple[str, Severity, str]] = [(REFUSED, "error", fault) for fault in faults]
        return GatherStep(entry=entry, opened=opened, name=name, args=args, findings=findings)

    def _open(self, entry: Entry) -> None:
        if entry.index is not None and not entry.legacy:
            position = len(self.entries)
            self.by_index.setdefault(str(entry.index), Slot(position)).open(position, entry.id)
        self.entries.append(entry)

    def _find(self, chunk: ToolCallChunk, index: int | str | None, id: str | None, *, merging: bool) -> Entry | None:
        """The entry that a chunk is added to, or says again; None where it opens one."""
        if chunk.legacy:
            return self._legacy()
        if chunk.block is not None and index is None:
            return self._of_block(chunk.block, id)
        return self._match(index, id) if merging else None

    def _match(self, index: int | str | None, id: str | None) -> Entry | None:
        """The entry that a chunk is added to, its id with it; None where there is none."""
        slot = self.by_index.get(str(index)) if index is not None else None
        position = slot.find(id) if slot is not None else None
        if slot is None or position is None:
            return None
        entry = self.entries[position]
        if not entry.id and id is not None:
            entry.id = id
            if id:
                slot.name(position, id)
        return entry

    def _of_block(self, block: int | str, id: str | None) -> Entry | None:
        """The entry that is this content block; an id that comes late is taken."""
        entry = next((entry for entry in reversed(self.entries) if entry.block == block), None)
        if entry is not None and not entry.id:
            entry.id = id
        return entry

    def _legacy(self) -> Entry | None:
        """The `function_call`, of which a message has one; `merge_dicts` adds its parts wherever they come."""
        return next((entry for entry in self.entries if entry.legacy), None)


def _as_read(chunk: ToolCallChunk) -> ToolCallChunk | None:
    """The chunk as LangChain reads it: of a custom tool's input, which is no JSON, nothing before its end.

    Source: langchain-openai, which streams OpenAI's responses so.
    """
    if not chunk.free_text or not _is_providers(chunk):
        return chunk
    if not chunk.restated:
        return None
    return structs.replace(chunk, args=json.dumps(_free_arguments(chunk.args)), free_text=False)


def _is_providers(chunk: ToolCallChunk) -> bool:
    """Whether a provider streamed the chunk for its client. What such a one says again, LangChain does not read."""
    return chunk.executor == "client" and chunk.index is not None


def _free_arguments(text: str | None) -> dict[str, Any]:
    """What langchain-openai makes of the input of a custom tool."""
    return {"__arg1": text or ""}


def say_again(entry: Entry, seq: int, chunk: ToolCallChunk) -> GatherStep:
    """What a chunk adds that says its call again: what was missing. What was streamed counts, whatever it says."""
    entry.touch(seq)
    entry.error = entry.error or chunk.error
    step = GatherStep(entry=entry, opened=False, name=None, args=None)
    if chunk.name and not entry.name:
        step.name = entry.name = chunk.name
    if not chunk.args:
        return step
    if not entry.args:
        entry.args = Rope([chunk.args])
        step.args = chunk.args
    elif not same_json(entry.args.text, chunk.args):
        step.findings = [("restatement-differs", "warning", f"the end of call {entry.id!r} gives other arguments")]
    return step


def tool_calls_of(entries: Iterable[Entry]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """`tool_calls` and `invalid_tool_calls` as LangChain's message has them.

    Arguments that are not yet whole are read as far as they go; no arguments are `{}`. Invalid is what no reading makes
    an object, and what LangChain itself said is. That a call is among the first does not mean that it is complete.
    """
    calls: list[dict[str, Any]] = []
    invalid: list[dict[str, Any]] = []
    for entry in entries:
        if entry.legacy:
            continue
        text = _args_of(entry)
        if entry.free_text:
            value: Any = _free_arguments(text)
        else:
            value = INVALID if entry.error is not None else parse_partial(text) if text else {}
        if value is not INVALID and isinstance(value, dict):
            calls.append({"name": entry.name or "", "args": value, "id": entry.id, "type": "tool_call"})
        else:
            invalid.append(
                {"name": entry.name, "args": text, "id": entry.id, "error": entry.error, "type": "invalid_tool_call"}
            )
    return calls, invalid


def chunks_of(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    """`tool_call_chunks` as LangChain's message has them."""
    return [
        {"name": entry.name, "args": _args_of(entry), "id": entry.id, "index": entry.index, "type": "tool_call_chunk"}
        for entry in entries
        if not entry.legacy
    ]


def _args_of(entry: Entry) -> str | None:
    return entry.args.text if entry.args is not None else None


def _sum(left: str | None, right: str | None) -> str | None:
    if left is None or right is None:
        return left if right is None else right
    return left + right
