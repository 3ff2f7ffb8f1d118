"""Content blocks of Anthropic's messages: which block a delta belongs to, and what a block or a delta says.

Keys of blocks are the wire's indices; an index that is used again within one message gets a key of its own (`1#2`), so
that nothing of the second block leaks into the first.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from recorder.deltas import (
    BlockItem,
    BlockKey,
    BlockStarted,
    BlockStopped,
    Executor,
    TextChunk,
    ToolCallChunk,
    ToolMessage,
)
from recorder.dialects.frames import Deltas, finding, malformed, unknown_part
from recorder.dialects.http import Exchange
from recorder.dialects.values import arguments_of, cleaned, compact, dict_of, id_of, position_of, text_of

TOOL_CALL = "tool_call"
_TEXT_DELTAS = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("thinking", "signature"),
}
"""Delta type → the kind of block it belongs to, and its field."""


class Block(Struct):
    """What a decoder must remember of a block."""

    key: BlockKey
    kind: str
    index: int | str
    """As the wire said it."""
    executor: Executor = "client"
    started: bool = False


class OpenBlocks(Struct):
    """The blocks of the message that is open."""

    by_index: dict[str, Block] = field(default_factory=dict)
    """The latest block at each index."""
    uses: dict[str, int] = field(default_factory=dict)
    latest: str | None = None

    def start(self, run_id: str, index: object, kind: str, executor: Executor, out: Deltas) -> Block:
        """The block that `content_block_start` opens."""
        place = position_of(index, len(self.uses))
        name = str(place)
        block = self.by_index.get(name)
        self.latest = name
        if block is not None and not block.started:
            # Its deltas came first.
            block.started = True
            return block
        uses = self.uses[name] = self.uses.get(name, 0) + 1
        if uses > 1:
            out.append(finding(run_id, "block-index-reused", f"block index {name} opens a block again", "warning"))
        block = Block(f"{name}#{uses}" if uses > 1 else place, kind, place, executor, started=True)
        self.by_index[name] = block
        return block

    def of_delta(self, run_id: str, index: object, kind: str, out: Deltas) -> Block:
        """The block that a delta belongs to; one that nobody started is opened, with a finding."""
        place = position_of(index, self.latest or 0)
        name = str(place)
        block = self.by_index.get(name)
        if block is None:
            out.append(finding(run_id, "block-without-start", f"block {name} has deltas but no start", "warning"))
            self.uses[name] = self.uses.get(name, 0) + 1
            block = self.by_index[name] = Block(place, kind, place)
            self.latest = name
        return block

    def stop(self, index: object) -> Block | None:
        return self.by_index.get(str(position_of(index, self.latest or 0)))


class State(Exchange):
    """The open message of one exchange."""

    open: bool = False
    blocks: OpenBlocks = field(default_factory=OpenBlocks)


def executor_of(kind: str) -> Executor | None:
    """Who runs the tool of a `…tool_use` block; None where the block is no call."""
    if kind == "tool_use":
        return "client"
    return "server" if kind.endswith("_tool_use") else None


def start_block(blocks: OpenBlocks, run_id: str, index: object, value: object, out: Deltas, *, whole: bool) -> None:
    """`content_block_start`, or (`whole`) a block of an answer that was not streamed."""
    if not isinstance(value, dict):
        out.append(malformed(run_id, "content_block", value))
    fields = dict_of(value)
    kind = cleaned(fields.get("type")) or "unknown"
    executor = executor_of(kind)
    block = blocks.start(run_id, index, TOOL_CALL if executor else kind, executor or "client", out)
    if executor is not None:
        _start_call(block, run_id, fields, out, whole=whole)
        return
    # What is empty yet grows by its deltas.
    data = {
        key: item
        for key, item in fields.items()
        if key != "type" and item is not None and item != "" and (key, item) != ("citations", [])
    }
    out.append(BlockStarted(run_id=run_id, block=block.key, kind=block.kind, data=data or None))
    if kind.endswith("_tool_result"):
        out.append(
            ToolMessage(
                run_id=run_id,
                tool_call_id=id_of(fields.get("tool_use_id")),
                content=fields.get("content"),
                status=status_of_result(fields),
                executor="server",
            )
        )


def read_delta(blocks: OpenBlocks, run_id: str, index: object, value: object, out: Deltas) -> None:
    """`content_block_delta`."""
    if not isinstance(value, dict):
        out.append(malformed(run_id, "delta", value))
        return
    kind = cleaned(value.get("type")) or "unknown"
    if kind == "input_json_delta":
        _read_input(blocks, run_id, index, value, out)
    elif kind in _TEXT_DELTAS:
        block_kind, name = _TEXT_DELTAS[kind]
        block = blocks.of_delta(run_id, index, block_kind, out)
        append_text(block, run_id, name, value.get(name), out)
    elif kind == "citations_delta":
        block = blocks.of_delta(run_id, index, "text", out)
        item = BlockItem(
            run_id=run_id, block=block.key, kind=block.kind, field="citations", value=value.get("citation")
        )
        out.append(item)
    else:
        _read_other(blocks.of_delta(run_id, index, kind.removesuffix("_delta"), out), run_id, kind, value, out)


def stop_block(blocks: OpenBlocks, run_id: str, index: object, out: Deltas) -> None:
    """`content_block_stop`; of a block that never was it says nothing."""
    if (block := blocks.stop(index)) is not None:
        out.append(BlockStopped(run_id=run_id, block=block.key))


def append_text(block: Block, run_id: str, name: str, text: object, out: Deltas) -> None:
    """More of a block's text; anything else in its place is a finding."""
    if isinstance(text, str):
        out.append(TextChunk(run_id=run_id, block=block.key, kind=block.kind, field=name, text=text))
    elif text is not None:
        out.append(malformed(run_id, f"delta.{name}", text))


def status_of_result(fields: dict[str, Any]) -> str:
    """`error` where a result says `is_error`, or its content is an `…_error` object."""
    kind = text_of(dict_of(fields.get("content")).get("type")) or ""
    return "error" if fields.get("is_error") is True or kind.endswith("_error") else "success"


def _start_call(block: Block, run_id: str, fields: dict[str, Any], out: Deltas, *, whole: bool) -> None:
    """A streamed call starts with an empty input whose text follows; a non-empty one is all there is."""
    given = fields.get("input")
    args = compact(given) if given or (whole and given is not None) else ""
    out.append(
        ToolCallChunk(
            run_id=run_id,
            index=block.index,
            id=id_of(fields.get("id")),
            name=text_of(fields.get("name")),
            args=given if isinstance(given, str) else args,
            block=block.key,
            executor=block.executor,
        )
    )
    for key, value in fields.items():
        if key not in ("type", "id", "name", "input") and value is not None:
            out.append(
                BlockItem(run_id=run_id, block=block.key, kind=TOOL_CALL, field=str(key), value=value, replace=True)
            )


def _read_input(blocks: OpenBlocks, run_id: str, index: object, value: dict[str, Any], out: Deltas) -> None:
    block = blocks.of_delta(run_id, index, TOOL_CALL, out)
    if block.kind != TOOL_CALL:
        out.append(finding(run_id, "malformed-field", f"block {block.key} of {block.kind} gets tool input", "warning"))
    out.append(
        ToolCallChunk(
            run_id=run_id,
            index=block.index,
            args=arguments_of(value.get("partial_json")),
            block=block.key,
            executor=block.executor,
        )
    )


def _read_other(block: Block, run_id: str, kind: str, value: dict[str, Any], out: Deltas) -> None:
    """A delta of a type that came later than this decoder: strings grow, everything else is kept as it is."""
    if kind != "compaction_delta":
        out.append(unknown_part(run_id, kind, value))
    for name, item in value.items():
        if name == "type" or item is None:
            continue
        if isinstance(item, str) and name in (kind.removesuffix("_delta"), "content"):
            append_text(block, run_id, str(name), item, out)
        else:
            out.append(
                BlockItem(run_id=run_id, block=block.key, kind=block.kind, field=str(name), value=item, replace=True)
            )
