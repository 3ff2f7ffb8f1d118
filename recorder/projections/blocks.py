"""Content blocks in wire order: thinking, text, tool calls, and whatever else a provider puts into a message."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from recorder.deltas import BlockItem, BlockKey, BlockStarted, TextChunk
from recorder.projections.rope import Rope

TOOL_CALL = "tool_call"


class Block(Struct):
    """One block as it grows: strings that are appended to are ropes, everything else is as it came."""

    kind: str
    texts: dict[str, Rope] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    call: str | None = None
    """The ref of the call that this block is, for tool calls."""


class Blocks(Struct):
    """The blocks of one message, by key, in the order in which they opened."""

    by_key: dict[str, Block] = field(default_factory=dict)

    def start(self, delta: BlockStarted) -> None:
        block = self._block(delta.block, delta.kind)
        for name, value in (delta.data or {}).items():
            if name == "type":
                continue
            if isinstance(value, str) and name in ("text", "thinking", "signature", "refusal"):
                if value:
                    block.texts.setdefault(name, Rope()).append(value)
            else:
                block.values[name] = value

    def append(self, delta: TextChunk) -> Block:
        """Appends text; gives the block that it went to."""
        block = self._block(delta.block, delta.kind)
        rope = block.texts.get(delta.field)
        if rope is None:
            rope = block.texts[delta.field] = Rope()
        rope.append(delta.text)
        return block

    def add_item(self, delta: BlockItem) -> None:
        values = self._block(delta.block, delta.kind).values
        items = values.get(delta.field)
        if delta.replace:
            values[delta.field] = delta.value
        elif isinstance(items, list):
            items.append(delta.value)
        else:
            values[delta.field] = [delta.value]

    def add_call(self, key: BlockKey | None, ref: str) -> None:
        """Notes where in the order of blocks a call stands."""
        self.by_key.setdefault(_text(key) if key is not None else f"call {ref}", Block(kind=TOOL_CALL)).call = ref

    @property
    def last_text(self) -> Block | None:
        """The last one of the blocks whose text is the answer's."""
        for block in reversed(self.by_key.values()):
            if block.kind == "text" and "text" in block.texts:
                return block
        return None

    @property
    def text(self) -> str:
        """All text blocks' text, joined."""
        return "".join(
            block.texts["text"].text for block in self.by_key.values() if block.kind == "text" and "text" in block.texts
        )

    def _block(self, key: BlockKey, kind: str) -> Block:
        text = _text(key)
        block = self.by_key.get(text)
        if block is None:
            block = self.by_key[text] = Block(kind=kind)
        return block


def render(block: Block) -> dict[str, Any]:
    """A block that is no tool call, in the contract's shape: `{"type": …, then its fields}`."""
    fields = {name: rope.text for name, rope in block.texts.items()}
    if block.kind in ("text", "thinking", "refusal"):
        fields.setdefault(block.kind, "")
    return {"type": block.kind, **fields, **block.values}


def _text(key: BlockKey) -> str:
    """Keys are text in a snapshot; 1 and "1" are the same block."""
    return str(key)
