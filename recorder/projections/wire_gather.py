"""The `wire` reading of gathering: which call a chunk belongs to, by identity rules that survive hostile servers.

Servers give every parallel call index 0, leave the index or the id out, repeat id and name on every chunk, write the
index as text, send a whole call once more at the end. Each rule below stands for one that was really seen; what a rule
had to decide against the chunk's own word is a finding.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from msgspec import Struct, field

from recorder.deltas import ToolCallChunk
from recorder.projections.gather import Entry, GatherStep
from recorder.projections.json_extent import JsonExtent
from recorder.projections.rope import Rope


class WireGather(Struct, tag="wire"):
    """Gathers the chunks of one message. `entries` are its calls in the order in which they were opened."""

    entries: list[Entry] = field(default_factory=list)
    extents: list[JsonExtent] = field(default_factory=list)
    """Beside each entry, how far its arguments are as JSON."""

    def add(self, seq: int, chunks: Sequence[ToolCallChunk], first_ordinal: int = 0) -> list[GatherStep]:
        """Takes the chunks of one event, in order; says for each what it did to which entry."""
        return [self._add(seq, chunk, first_ordinal + offset) for offset, chunk in enumerate(chunks)]

    def _add(self, seq: int, chunk: ToolCallChunk, ordinal: int) -> GatherStep:
        findings: list[tuple[str, str, str]] = []
        position = self._find(chunk, findings)
        opened = position is None
        if position is None:
            position = len(self.entries)
            self.entries.append(
                Entry(
                    ref=f"{seq}:{ordinal}",
                    index=_plain_index(chunk.index),
                    id=chunk.id or None,
                    name=None,
                    args=None,
                    first_seq=seq,
                    last_seq=seq,
                    seqs=[],
                    executor=chunk.executor,
                    block=chunk.block,
                    legacy=chunk.legacy,
                )
            )
            self.extents.append(JsonExtent())
        entry = self.entries[position]
        entry.touch(seq)
        if entry.id is None and chunk.id:
            entry.id = chunk.id
        step = GatherStep(entry=entry, opened=opened, name=None, args=None, findings=findings)
        if not self._restates(position, chunk, findings):
            step.name = _add_name(entry, chunk.name, findings)
            step.args = self._add_args(position, chunk.args, findings)
        elif entry.name is None and chunk.name:
            step.name = entry.name = chunk.name
        return step

    # Which entry

    def _find(self, chunk: ToolCallChunk, findings: list[tuple[str, str, str]]) -> int | None:
        """The position of the entry that the chunk belongs to, None where it opens one."""
        index = _plain_index(chunk.index)
        at_index = self._last_at(index) if index is not None else None
        if chunk.id:
            return self._find_by_id(chunk, chunk.id, at_index, findings)
        if chunk.legacy:
            return next((i for i, entry in enumerate(self.entries) if entry.legacy), None)
        target = at_index if at_index is not None else self._last_open(index, findings)
        if target is None:
            return None
        if chunk.name:
            return self._find_by_name(chunk, chunk.name, target)
        newest = len(self.entries) - 1
        if target != newest and self.extents[target].complete and not self.extents[newest].complete:
            findings.append(("index-of-finished-call", "warning", f"index {chunk.index!r} is a finished call's"))
            return newest
        return target

    def _find_by_id(
        self, chunk: ToolCallChunk, id: str, at_index: int | None, findings: list[tuple[str, str, str]]
    ) -> int | None:
        known = self._last_with_id(id)
        if known is not None:
            return known
        if at_index is None:
            return None
        entry = self.entries[at_index]
        if entry.id is None and (entry.name is None or not chunk.name or chunk.name == entry.name):
            return at_index
        if chunk.name:
            findings.append(("index-reused", "warning", f"index {chunk.index!r} was call {entry.id!r}, is now {id!r}"))
            return None
        findings.append(("id-changed", "warning", f"call {entry.id!r} goes on under the id {id!r}"))
        return at_index

    def _find_by_name(self, chunk: ToolCallChunk, name: str, target: int) -> int | None:
        """An id-less chunk with a name: the same call again, or the next call of a server that gives no ids."""
        entry = self.entries[target]
        if entry.name is None:
            return target
        if self.extents[target].complete:
            return target if chunk.restated or not chunk.args else None
        return target if name == entry.name or not entry.args else None

    def _last_at(self, index: int | str) -> int | None:
        return next((i for i in range(len(self.entries) - 1, -1, -1) if self.entries[i].index == index), None)

    def _last_with_id(self, id: str) -> int | None:
        return next((i for i in range(len(self.entries) - 1, -1, -1) if self.entries[i].id == id), None)

    def _last_open(self, index: int | str | None, findings: list[tuple[str, str, str]]) -> int | None:
        """The call opened last, for a chunk whose index (or lack of one) names none."""
        for position in range(len(self.entries) - 1, -1, -1):
            entry = self.entries[position]
            if entry.legacy:
                continue
            if index is not None and entry.index is not None:
                return None
            if index is not None:
                findings.append(("index-appeared", "info", f"index {index!r} on a call that was opened without one"))
            return position
        return None

    # What it adds

    def _restates(self, position: int, chunk: ToolCallChunk, findings: list[tuple[str, str, str]]) -> bool:
        """Whether the chunk says again what was gathered: it confirms and is not appended."""
        entry, extent = self.entries[position], self.extents[position]
        if not chunk.args:
            return chunk.restated
        if not entry.args:
            return False
        if not chunk.restated and not (extent.complete and _is_whole(chunk.args)):
            return False
        if not _same_json(entry.args.text, chunk.args):
            findings.append(("restatement-differs", "warning", f"the wire restates call {entry.id!r} otherwise"))
        return True

    def _add_args(self, position: int, args: str | None, findings: list[tuple[str, str, str]]) -> str | None:
        if args is None:
            return None
        entry, extent = self.entries[position], self.extents[position]
        if entry.args is None:
            entry.args = Rope()
        elif extent.complete and args.strip():
            findings.append(("arguments-after-end", "warning", f"call {entry.id!r} goes on after its arguments closed"))
        entry.args.append(args)
        extent.feed(args)
        return args


def _add_name(entry: Entry, name: str | None, findings: list[tuple[str, str, str]]) -> str | None:
    """A name that repeats unchanged is not appended; another one goes on where the call has no arguments yet."""
    if not name or name == entry.name:
        return None
    if entry.name is None:
        entry.name = name
        return name
    if entry.args:
        findings.append(("name-changed", "warning", f"call {entry.name!r} is named {name!r} after its arguments began"))
        return None
    entry.name += name
    return name


def _plain_index(index: int | str | None) -> int | str | None:
    """Index 0 and "0" are one."""
    if isinstance(index, str) and index.isdecimal() and index.isascii():
        return int(index)
    return index


def _is_whole(args: str) -> bool:
    extent = JsonExtent()
    extent.feed(args)
    return extent.complete


def _same_json(gathered: str, restated: str) -> bool:
    """Whether both texts hold the same value; a restatement may be JSON-encoded twice."""
    if gathered == restated:
        return True
    try:
        left, right = json.loads(gathered), json.loads(restated)
        if isinstance(right, str) and not isinstance(left, str):
            right = json.loads(right)
    except (ValueError, RecursionError):
        return False
    return bool(left == right)
