"""The `langchainjs` reading of gathering: exactly what @langchain/core 1.4 computes when the chunks are added.

Source: `AIMessageChunk.concat` (`messages/ai.ts`) over `_mergeLists`. The chunks of a message are a list like any other
to it: every member of a chunk is added, known or not, the name is replaced, an index is a number or any text, and where
there is none the ids say what belongs together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field

from recorder.deltas import ToolCallChunk
from recorder.dialects.values import compact, id_of, index_of, text_of
from recorder.projections.gather import Entry, GatherStep, entry_of
from recorder.projections.growing import Array, Leaf, Node, Undo, member, plain
from recorder.projections.langchain_gather import say_again
from recorder.projections.langchainjs_calls import Chunk, collapsed
from recorder.projections.langchainjs_merge import add_element, grown, key_of, target_of
from recorder.projections.rope import Rope

REFUSED = "langchain-refuses-chunk"


class CallList(Struct):
    """One list of calls that a message has, and which entry each of them is."""

    items: Array = field(default_factory=Array)
    """What has been added up. Of chunks without their arguments, which their entries hold."""
    entries: list[int] = field(default_factory=list)
    told: list[tuple[int, int]] = field(default_factory=list)
    """Of each call, event and ordinal of the chunk that brought its arguments, where these came parsed."""


class LangChainJsGather(Struct, tag="langchainjs"):
    """Gathers the tool call chunks of one run's AIMessageChunks, which `add` takes in order.

    The chunks of the first AIMessageChunk are never merged with each other. So `add` must see every AIMessageChunk,
    those without tool call chunks too, else a later one is taken for the first.
    """

    entries: list[Entry] = field(default_factory=list)
    lists: dict[str, CallList] = field(default_factory=dict)
    """By where the chunks stood in their messages. What stood in different places is never added to each other."""
    begun_at: int | None = None
    """The event of the first AIMessageChunk."""

    def add(self, seq: int, chunks: Sequence[ToolCallChunk], first_ordinal: int = 0) -> list[GatherStep]:
        """Takes all tool call chunks of one AIMessageChunk, in order; gives one step for each.

        Never raises: of what the library refuses the arguments are taken all the same, and the step has a finding.
        """
        if self.begun_at is None:
            self.begun_at = seq
        merging = self.begun_at != seq
        return [self._add(seq, chunk, first_ordinal + offset, merging) for offset, chunk in enumerate(chunks)]

    def tool_call_chunks(self) -> list[dict[str, Any]]:
        """`tool_call_chunks` as the library's message has them; what it leaves undefined of the five fields is None."""
        return [
            {
                "name": chunk.fields.get("name"),
                "args": chunk.args,
                "id": chunk.fields.get("id"),
                "index": chunk.fields.get("index"),
                "type": "tool_call_chunk",
                **{key: value for key, value in chunk.fields.items() if key not in ("name", "id", "index", "args")},
            }
            for chunk in self._chunks()
        ]

    def tool_calls(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """`tool_calls` and `invalid_tool_calls` as the library's message has them.

        Without a single chunk those count that came parsed. With one they are lost, and the chunks are grouped anew:
        what was not added up, for want of an id, is parsed together where the index is the same.
        """
        chunks = self._chunks()
        if chunks:
            return collapsed(chunks)
        parsed = self.lists.get("tool_calls")
        return (plain(parsed.items) if parsed is not None else []), []

    def _chunks(self) -> list[Chunk]:
        held = self.lists.get("tool_call_chunks")
        if held is None:
            return []
        texts = (self.entries[place].args for place in held.entries)
        return [
            Chunk(fields=plain(item), args=None if args is None else args.text)
            for item, args in zip(held.items.items, texts, strict=True)
        ]

    def _add(self, seq: int, chunk: ToolCallChunk, ordinal: int, merging: bool) -> GatherStep:
        if chunk.legacy:
            return self._add_legacy(seq, chunk, ordinal)
        held = self.lists.setdefault(chunk.found_in if chunk.executor == "client" else chunk.executor, CallList())
        fields, faults = _fields_of(chunk), _faults_of(chunk)
        known = self._known(held, chunk, fields, merging)
        if known is not None and chunk.restated:
            entry = self.entries[held.entries[known]]
            providers = chunk.executor == "client" and chunk.index is not None
            # What a provider says again, LangChain does not read.
            return GatherStep(entry, False, None, None) if providers else say_again(entry, seq, chunk)
        position = _added(held, known, fields, faults)
        opened = position == len(held.entries)
        if opened:
            held.entries.append(len(self.entries))
            held.told.append((seq, ordinal))
            self.entries.append(entry_of(seq, ordinal, chunk))
        entry = self.entries[held.entries[position]]
        entry.touch(seq)
        step = GatherStep(entry=entry, opened=opened, name=None, args=None)
        _take_head(step, held.items.items[position])
        if chunk.found_in == "tool_calls":
            _take_parsed(step, held, position, (seq, ordinal))
        elif chunk.args is not None:
            _append_args(step, chunk.args)
        if self._reads(chunk):
            step.findings = [(REFUSED, "error", fault) for fault in faults]
        return step

    def _reads(self, chunk: ToolCallChunk) -> bool:
        """Whether the library adds the chunk to its calls; another's refusal is none of its own."""
        parsed = chunk.found_in == "tool_calls" and "tool_call_chunks" not in self.lists
        return chunk.found_in == "tool_call_chunks" or parsed

    def _known(self, held: CallList, chunk: ToolCallChunk, fields: dict[str, Any], merging: bool) -> int | None:
        """The call that a chunk is added to. Events of version v3 name a content block instead of an index."""
        if chunk.block is not None and chunk.index is None:
            places = range(len(held.entries) - 1, -1, -1)
            return next((place for place in places if self.entries[held.entries[place]].block == chunk.block), None)
        return target_of(held.items, fields) if merging or chunk.restated else None

    def _add_legacy(self, seq: int, chunk: ToolCallChunk, ordinal: int) -> GatherStep:
        """The `function_call`, of which a message has one: its name is replaced, its arguments grow."""
        entry = next((entry for entry in self.entries if entry.legacy), None)
        opened = entry is None
        if entry is None:
            entry = entry_of(seq, ordinal, chunk)
            self.entries.append(entry)
        entry.touch(seq)
        step = GatherStep(entry=entry, opened=opened, name=None, args=None)
        if chunk.name and chunk.name != entry.name:
            step.name, step.renamed, entry.name = chunk.name, bool(entry.name), chunk.name
        if chunk.args is not None:
            _append_args(step, chunk.args)
        return step


def _fields_of(chunk: ToolCallChunk) -> dict[str, Any]:
    """What is added up of a chunk: all that LangChain's message had there, but for a text of arguments."""
    if chunk.fields is not None and chunk.found_in == "tool_calls":
        return chunk.fields
    if chunk.fields is not None and chunk.found_in == "tool_call_chunks":
        return {key: value for key, value in chunk.fields.items() if key != "args"}
    given = {"index": chunk.index, "id": chunk.id, "name": chunk.name, "isCustomTool": chunk.free_text or None}
    return {key: value for key, value in given.items() if value is not None}


def _faults_of(chunk: ToolCallChunk) -> list[str]:
    args = (chunk.fields or {}).get("args") if chunk.found_in == "tool_call_chunks" else None
    return [] if args is None or isinstance(args, str) else [f"args {args!r} is no text"]


def _added(held: CallList, known: int | None, fields: dict[str, Any], faults: list[str]) -> int:
    """Adds a chunk's members to the call that is known, or opens one; gives its position."""
    undo = Undo()
    if known is not None:
        try:
            add_element(held.items, known, fields, undo)
        except (TypeError, RecursionError) as error:
            undo.back()
            faults.append(str(error))
        return known
    undo.push(held.items, Leaf(fields), key_of)
    return len(held.items.items) - 1


def _take_head(step: GatherStep, call: Node) -> None:
    """Takes over into the entry what the call's members are now, but for its arguments."""
    entry = step.entry
    entry.index, entry.id = index_of(member(call, "index")), id_of(member(call, "id"))
    # What a call is is said where it opens: its value is read so from then on.
    entry.free_text = member(call, "isCustomTool") is True if step.opened else entry.free_text
    name = text_of(member(call, "name"))
    if name != entry.name:
        step.name, step.renamed, entry.name = name, bool(entry.name), name


def _append_args(step: GatherStep, text: str) -> None:
    step.args = text
    step.entry.args = grown(step.entry.args if step.entry.args is not None else Rope(), text, Undo())


def _take_parsed(step: GatherStep, held: CallList, position: int, here: tuple[int, int]) -> None:
    """Parsed arguments are written back as text; where more were added to them, that text replaces the one before."""
    text = compact(member(held.items.items[position], "args"))
    before = step.entry.args
    if before is None or before.text != text:
        step.cleared = None if before is None else held.told[position]
        step.args, step.entry.args, held.told[position] = text, Rope([text]), here
