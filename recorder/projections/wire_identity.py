"""Which call a chunk on the wire belongs to: rules for chunks whose index, id or name cannot be trusted.

Each rule stands for servers that were really seen: those that give every call index 0, leave index or id out, count
the index up with every chunk, repeat or change the id, write the index as text. What had to be decided against the
chunk's own word is a finding.
"""

from __future__ import annotations

from collections.abc import Sequence

from recorder.deltas import Severity, ToolCallChunk
from recorder.projections.gather import Entry
from recorder.projections.json_extent import JsonExtent, is_whole, same_json

Findings = list[tuple[str, Severity, str]]
"""Rule, severity, detail."""


class Places:
    """The positions of a message's entries by what chunks name them by; of several the one that was opened last."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.of_block: dict[int | str, int] = {}
        self.of_index: dict[int | str, int] = {}
        self.of_id: dict[str, int] = {}
        self.of_id_and_index: dict[tuple[str, int | str | None], int] = {}
        self.legacy: int | None = None
        self.newest: int | None = None
        """The one opened last that is no `function_call`."""
        for position, entry in enumerate(entries):
            self.add(position, entry)

    def add(self, position: int, entry: Entry) -> None:
        """An entry was opened behind all others."""
        if entry.block is not None:
            self.of_block[entry.block] = position
        if entry.index is not None:
            self.of_index[entry.index] = position
        if entry.legacy:
            self.legacy = position
        else:
            self.newest = position
        if entry.id:
            self.named(position, entry, entry.id)

    def named(self, position: int, entry: Entry, id: str) -> None:
        """The id of an entry became known."""
        self.of_id[id] = max(position, self.of_id.get(id, 0))
        both = (id, entry.index)
        self.of_id_and_index[both] = max(position, self.of_id_and_index.get(both, 0))


def find_entry(
    entries: Sequence[Entry], extents: Sequence[JsonExtent], places: Places, chunk: ToolCallChunk, findings: Findings
) -> int | None:
    """The position of the entry that the chunk belongs to, None where it opens one."""
    if chunk.block is not None:
        # A provider with blocks says itself where one ends: nothing leaks from one into another.
        return places.of_block.get(chunk.block)
    if chunk.legacy:
        return places.legacy
    index = plain_index(chunk.index)
    at_index = places.of_index.get(index) if index is not None else None
    if chunk.id:
        return _by_id(entries, extents, places, chunk, chunk.id, at_index, findings)
    target = at_index if at_index is not None else _newest(entries, extents, places, index, chunk, findings)
    if target is None:
        return None
    if chunk.name:
        return _by_name(entries[target], extents[target], chunk, chunk.name, target)
    return _unnamed(entries, extents, chunk, target, findings)


def plain_index(index: int | str | None) -> int | str | None:
    """Index 0 and "0" are one."""
    if isinstance(index, str) and (text := index.strip()).isdecimal() and text.isascii():
        return int(text)
    return int(index) if isinstance(index, bool) else index


def _by_id(
    entries: Sequence[Entry],
    extents: Sequence[JsonExtent],
    places: Places,
    chunk: ToolCallChunk,
    id: str,
    at_index: int | None,
    findings: Findings,
) -> int | None:
    known = places.of_id_and_index.get((id, plain_index(chunk.index)), places.of_id.get(id))
    if known is not None:
        if not _another_call(entries[known], extents[known], chunk):
            return known
        findings.append(("id-reused", "warning", f"two calls have the id {id!r}"))
        return None
    if at_index is None:
        return _late_id(entries, extents, places.newest, chunk, id, findings)
    entry = entries[at_index]
    if entry.id is None and _names_agree(entry, chunk):
        return at_index
    if chunk.name:
        findings.append(("index-reused", "warning", f"index {chunk.index!r} was call {entry.id!r}, is now {id!r}"))
        return None
    findings.append(("id-changed", "warning", f"call {entry.id!r} goes on under the id {id!r}"))
    return at_index


def _another_call(entry: Entry, extent: JsonExtent, chunk: ToolCallChunk) -> bool:
    """Whether a chunk with a known id is a second call under that id: at another index, with a name, and otherwise."""
    index = plain_index(chunk.index)
    if not chunk.name or index is None or entry.index is None or index == entry.index:
        return False
    if entry.name is not None and chunk.name != entry.name:
        return True
    both_whole = extent.complete and bool(entry.args) and is_whole(chunk.args or "")
    return both_whole and entry.args is not None and not same_json(entry.args.text, chunk.args or "")


def _late_id(
    entries: Sequence[Entry],
    extents: Sequence[JsonExtent],
    newest: int | None,
    chunk: ToolCallChunk,
    id: str,
    findings: Findings,
) -> int | None:
    """An id that nobody has, without an index that names a call: the call opened last gets it, or goes on under it."""
    if newest is None or plain_index(chunk.index) is not None or extents[newest].complete:
        return None
    entry = entries[newest]
    if entry.index is not None:
        return None
    if entry.id is None:
        return newest if _names_agree(entry, chunk) else None
    if chunk.name:
        return None
    findings.append(("id-changed", "warning", f"call {entry.id!r} goes on under the id {id!r}"))
    return newest


def _by_name(entry: Entry, extent: JsonExtent, chunk: ToolCallChunk, name: str, target: int) -> int | None:
    """An id-less chunk with a name: the same call again, or the next call of a server that gives no ids."""
    if entry.name is None:
        return target
    if extent.complete:
        return target if chunk.restated or not chunk.args else None
    return target if name == entry.name or not entry.args else None


def _unnamed(
    entries: Sequence[Entry],
    extents: Sequence[JsonExtent],
    chunk: ToolCallChunk,
    target: int,
    findings: Findings,
) -> int:
    """A mere fragment goes to the call at its index, unless that one is finished and a newer one is not."""
    newest = len(entries) - 1
    if target == newest or not extents[target].complete or extents[newest].complete:
        return target
    args, gathered = chunk.args or "", entries[target].args
    if not args.strip() or (gathered is not None and is_whole(args) and same_json(gathered.text, args)):
        return target
    findings.append(("index-of-finished-call", "warning", f"index {chunk.index!r} is a finished call's"))
    return newest


def _newest(
    entries: Sequence[Entry],
    extents: Sequence[JsonExtent],
    places: Places,
    index: int | str | None,
    chunk: ToolCallChunk,
    findings: Findings,
) -> int | None:
    """The call opened last, for a chunk without an id whose index, or lack of one, names none."""
    newest = places.newest
    if newest is None or index is None:
        return newest
    if entries[newest].index is None:
        findings.append(("index-appeared", "info", f"index {index!r} on a call that was opened without one"))
        return newest
    if not chunk.name and extents[newest].begun and not extents[newest].complete:
        findings.append(("index-changed", "warning", f"index {index!r} on a fragment of an unfinished call"))
        return newest
    return None


def _names_agree(entry: Entry, chunk: ToolCallChunk) -> bool:
    return entry.name is None or not chunk.name or chunk.name == entry.name
