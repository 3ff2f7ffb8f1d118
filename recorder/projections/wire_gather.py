"""The `wire` reading of gathering: what the provider meant, by rules that survive hostile servers.

`wire_identity` says which call a chunk belongs to; here is what it adds. A server may repeat the name or the whole
call, send all that it sent so far with every chunk, or open a call with `{}` before its real arguments.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field

from recorder.deltas import ToolCallChunk
from recorder.projections.gather import Entry, GatherStep, entry_of
from recorder.projections.json_extent import JsonExtent, is_whole, same_json
from recorder.projections.rope import Rope
from recorder.projections.wire_identity import Findings, Places, find_entry, plain_index

_PLACEHOLDERS = frozenset({"{}", "null", '""'})
"""Arguments that servers send before they have any."""


class WireGather(Struct, tag="wire", dict=True):
    """Gathers the chunks of one message. `entries` are its calls in the order in which they were opened."""

    entries: list[Entry] = field(default_factory=list)
    extents: list[JsonExtent] = field(default_factory=list)
    """Beside each entry, how far its arguments are as JSON."""
    placeholders: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Event and ordinal of the chunk that brought a placeholder, by the ref of the entry that has nothing else."""

    def __post_init__(self) -> None:
        # No field: a snapshot need not keep what the entries say.
        self._places = Places(self.entries)

    def add(self, seq: int, chunks: Sequence[ToolCallChunk], first_ordinal: int = 0) -> list[GatherStep]:
        """Takes the chunks of one event, in order; says for each what it did to which entry."""
        return [self._add(seq, chunk, first_ordinal + offset) for offset, chunk in enumerate(chunks)]

    def _add(self, seq: int, chunk: ToolCallChunk, ordinal: int) -> GatherStep:
        if (entry := self.go_on(chunk)) is not None:
            entry.touch(seq)
            return GatherStep(entry=entry, opened=False, name=None, args=chunk.args)
        findings: Findings = []
        position = find_entry(self.entries, self.extents, self._places, chunk, findings)
        opened = position is None
        if position is None:
            position = self._open(seq, chunk, ordinal)
        entry, extent = self.entries[position], self.extents[position]
        entry.touch(seq)
        if entry.id is None and chunk.id:
            entry.id = chunk.id
            self._places.named(position, entry, chunk.id)
        entry.error = entry.error or chunk.error
        step = GatherStep(entry=entry, opened=opened, name=None, args=None, findings=findings)
        if _restates(entry, extent, chunk, findings):
            if entry.name is None and chunk.name:
                step.name = entry.name = chunk.name
            return step
        step.name = _add_name(entry, chunk.name, findings)
        step.cleared = self._drop_placeholder(position, chunk.args, findings)
        step.args = self._add_args(position, chunk.args, findings)
        if chunk.args is not None and step.args == chunk.args and entry.args is not None and _is_placeholder(entry):
            self.placeholders.setdefault(entry.ref, (seq, ordinal))
        return step

    def go_on(self, chunk: ToolCallChunk) -> Entry | None:
        """The call that a mere fragment continues, as nearly every chunk does, with the fragment's text added to it.

        None, and nothing added, where there is anything to decide: `find_entry` and those below do the same for
        it, step by step.
        """
        args = chunk.args
        if not args or chunk.id or chunk.name or chunk.restated or chunk.error or chunk.legacy or not self.entries:
            return None
        entry, extent = self.entries[-1], self.extents[-1]
        is_its = entry.index == chunk.index if chunk.block is None else entry.block == chunk.block
        if not is_its or chunk.index.__class__ is not int or entry.args is None or entry.legacy or entry.free_text:
            return None
        if not extent.begun or extent.complete or entry.ref in self.placeholders:
            return None
        if extent.in_string and args[0] in "{[" and len(args) > extent.length:
            return None
        entry.args.append(args)
        extent.feed(args)
        return entry

    def _open(self, seq: int, chunk: ToolCallChunk, ordinal: int) -> int:
        entry = entry_of(seq, ordinal, chunk)
        entry.index, entry.id = plain_index(chunk.index), chunk.id or None
        self.entries.append(entry)
        self.extents.append(JsonExtent())
        position = len(self.entries) - 1
        self._places.add(position, entry)
        return position

    def _drop_placeholder(self, position: int, args: str | None, findings: Findings) -> tuple[int, int] | None:
        """Clears `{}` and its like where real arguments follow; gives the chunk whose text no longer counts."""
        entry = self.entries[position]
        if not args or not args.lstrip().startswith("{") or entry.ref not in self.placeholders:
            return None
        findings.append(("placeholder-arguments", "info", f"call {entry.id!r} opened with a placeholder"))
        entry.args, self.extents[position] = None, JsonExtent()
        return self.placeholders.pop(entry.ref)

    def _add_args(self, position: int, args: str | None, findings: Findings) -> str | None:
        if args is None:
            return None
        entry, extent = self.entries[position], self.extents[position]
        if entry.args is None:
            entry.args = Rope()
        if entry.free_text:
            entry.args.append(args)
            return args
        if extent.complete and args.strip():
            findings.append(("arguments-after-end", "warning", f"call {entry.id!r} goes on after its arguments closed"))
        elif extent.in_string and len(args) > extent.length and args.startswith(("{", "[")):
            # Inside a string nothing begins with all of the text again, unless every chunk repeats what came before.
            gathered = entry.args.text
            if args.startswith(gathered):
                findings.append(("cumulative-arguments", "warning", f"call {entry.id!r} repeats its arguments so far"))
                args = args[len(gathered) :]
        entry.args.append(args)
        extent.feed(args)
        if args.strip() and not _is_placeholder(entry):
            self.placeholders.pop(entry.ref, None)
        return args


def _restates(entry: Entry, extent: JsonExtent, chunk: ToolCallChunk, findings: Findings) -> bool:
    """Whether the chunk says again what was gathered: it confirms and is not appended."""
    if not chunk.args:
        return chunk.restated
    if not entry.args:
        return False
    if not chunk.restated and not (extent.complete and is_whole(chunk.args)):
        return False
    gathered = entry.args.text
    if gathered == chunk.args or (not entry.free_text and same_json(gathered, chunk.args)):
        return True
    if _is_placeholder(entry):
        return False
    findings.append(("restatement-differs", "warning", f"the wire restates call {entry.id!r} otherwise"))
    return True


def _add_name(entry: Entry, name: str | None, findings: Findings) -> str | None:
    """A name that repeats is not appended, whole or grown; another one goes on where the call has no arguments yet."""
    if not name or name == entry.name:
        return None
    if entry.name is None:
        entry.name = name
        return name
    if entry.args:
        findings.append(("name-changed", "warning", f"call {entry.name!r} is named {name!r} after its arguments began"))
        return None
    added = name.removeprefix(entry.name)
    entry.name += added
    return added


def _is_placeholder(entry: Entry) -> bool:
    if entry.args is None or entry.free_text:
        return False
    return len(entry.args.parts) == 1 and entry.args.parts[0].strip() in _PLACEHOLDERS
