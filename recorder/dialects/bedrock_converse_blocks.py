"""Content blocks of Bedrock's Converse API: which block a delta belongs to, and what a block or a delta says.

A block is what its one key says: `text`, `toolUse`, `toolResult`, `reasoningContent`, `image`. Of a stream's blocks
only those of tools and images have a start; text and reasoning begin with their first delta.
"""

from __future__ import annotations

import json
from typing import Any

from msgspec import Struct, field

from recorder.deltas import (
    BlockItem,
    BlockStarted,
    BlockStopped,
    ToolCallChunk,
    ToolMessage,
)
from recorder.dialects import anthropic_blocks
from recorder.dialects.anthropic_blocks import append_text, executor_of
from recorder.dialects.frames import Deltas, finding, malformed, unknown_part
from recorder.dialects.values import arguments_of, cleaned, dict_of, id_of, list_of, position_of, text_of

TEXT, THINKING, REDACTED, TOOL_CALL, TOOL_RESULT = "text", "thinking", "redacted_thinking", "tool_call", "tool_result"
_KINDS = {"toolUse": TOOL_CALL, "toolResult": TOOL_RESULT}
_REASONING = {
    "text": (THINKING, "thinking"),
    "signature": (THINKING, "signature"),
    "redactedContent": (REDACTED, "data"),
}
"""Field of a reasoning delta → the kind of block that it opens, and the block's field."""
_WITHOUT_START = frozenset({TEXT, THINKING, REDACTED})


class ToolResult(Struct):
    """A server's tool result, whose content comes in pieces: JSON texts, for it may hold what MessagePack refuses."""

    head: str
    """Its id and status."""
    content: list[str] = field(default_factory=list)


class Block(anthropic_blocks.Block):
    """What a decoder must remember of an open block."""

    result: ToolResult | None = None


class OpenBlocks(Struct):
    """The blocks of the message that is open."""

    by_index: dict[str, Block] = field(default_factory=dict)
    """The open block at each index."""
    uses: dict[str, int] = field(default_factory=dict)
    latest: str | None = None

    def start(self, run_id: str, index: object, kind: str, out: Deltas) -> Block:
        """The block that `contentBlockStart` opens."""
        place = position_of(index, len(self.uses))
        block = self.by_index.get(str(place))
        if block is None or block.started or block.kind != kind:
            block = self._open(run_id, place, kind, out)
        block.started = True
        return block

    def of_delta(self, run_id: str, index: object, kinds: tuple[str, ...], out: Deltas) -> Block:
        """The block that a delta belongs to, one of these kinds; opened as the first of them where none is open."""
        place = position_of(index, self.latest or 0)
        block = self.by_index.get(str(place))
        if block is not None and block.kind in kinds:
            return block
        if kinds[0] not in _WITHOUT_START:
            out.append(finding(run_id, "block-without-start", f"block {place} has deltas but no start", "warning"))
        return self._open(run_id, place, kinds[0], out)

    def stop(self, index: object) -> Block | None:
        """The block that `contentBlockStop` closes; None where none is open."""
        return self.by_index.pop(str(position_of(index, self.latest or 0)), None)

    def _open(self, run_id: str, place: int | str, kind: str, out: Deltas) -> Block:
        """Another block at an index gets a key of its own (`1#2`): nothing of it leaks into the first."""
        name = str(place)
        self.latest = name
        uses = self.uses[name] = self.uses.get(name, 0) + 1
        if uses > 1:
            out.append(finding(run_id, "block-index-reused", f"block index {name} opens a block again", "warning"))
        block = self.by_index[name] = Block(f"{name}#{uses}" if uses > 1 else place, kind, place)
        return block


def start_block(blocks: OpenBlocks, run_id: str, index: object, start: object, out: Deltas) -> None:
    """`contentBlockStart`."""
    if not isinstance(start, dict):
        out.append(malformed(run_id, "start", start))
    name, fields = _member(start)
    block = blocks.start(run_id, index, _KINDS.get(name, name), out)
    if block.kind == TOOL_CALL:
        given = fields.get("input")
        _start_call(block, run_id, fields, arguments_of(given) if given else "", out)
        return
    if block.kind == TOOL_RESULT:
        head = json.dumps([id_of(fields.get("toolUseId")), status_of_result(fields)])
        block.result = ToolResult(head, [json.dumps(piece) for piece in list_of(fields.get("content"))])
    out.append(BlockStarted(run_id=run_id, block=block.key, kind=block.kind, data=fields))


def read_delta(blocks: OpenBlocks, run_id: str, index: object, delta: object, out: Deltas) -> None:
    """`contentBlockDelta`."""
    if not isinstance(delta, dict):
        out.append(malformed(run_id, "delta", delta))
        return
    for name, value in delta.items():
        if name == "text":
            append_text(blocks.of_delta(run_id, index, (TEXT,), out), run_id, "text", value, out)
        elif name == "toolUse":
            _read_input(blocks.of_delta(run_id, index, (TOOL_CALL,), out), run_id, dict_of(value), out)
        elif name == "reasoningContent":
            _read_reasoning(blocks, run_id, index, dict_of(value), out)
        elif name == "citation":
            block = blocks.of_delta(run_id, index, (TEXT,), out)
            out.append(BlockItem(run_id=run_id, block=block.key, kind=block.kind, field="citations", value=value))
        elif name == "toolResult":
            _read_result(blocks.of_delta(run_id, index, (TOOL_RESULT,), out), run_id, value, out)
        else:
            _read_other(blocks, run_id, index, str(name), value, out)


def stop_block(blocks: OpenBlocks, run_id: str, index: object, out: Deltas) -> None:
    """`contentBlockStop`; of a block that never was it says nothing."""
    if (block := blocks.stop(index)) is not None:
        _stop(block, run_id, out)


def stop_all(blocks: OpenBlocks, run_id: str, out: Deltas) -> None:
    """The message's end closes what is open."""
    for block in blocks.by_index.values():
        _stop(block, run_id, out)
    blocks.by_index = {}


def read_whole(blocks: OpenBlocks, run_id: str, index: int, content: object, out: Deltas) -> None:
    """A block of an answer that was not streamed."""
    if not isinstance(content, dict):
        out.append(malformed(run_id, f"content[{index}]", content))
    name, fields = _member(content)
    if name == "text":
        append_text(blocks.start(run_id, index, TEXT, out), run_id, "text", dict_of(content).get("text"), out)
    elif name == "toolUse":
        _start_call(blocks.start(run_id, index, TOOL_CALL, out), run_id, fields, arguments_of(fields.get("input")), out)
    elif name == "reasoningContent":
        _read_reasoning(blocks, run_id, index, dict_of(fields.get("reasoningText")) or fields, out)
    elif name == "citationsContent":
        _read_cited(blocks.start(run_id, index, TEXT, out), run_id, fields, out)
    else:
        start_block(blocks, run_id, index, {name: fields}, out)


def status_of_result(fields: dict[str, Any]) -> str:
    """`error` where a tool result says so."""
    return "error" if fields.get("status") == "error" else "success"


def _member(union: object) -> tuple[str, dict[str, Any]]:
    """The one key of a block, and the object under it."""
    fields = dict_of(union)
    name = next(iter(fields), "")
    return cleaned(name) or "unknown", dict_of(fields.get(name))


def _start_call(block: Block, run_id: str, fields: dict[str, Any], args: str | None, out: Deltas) -> None:
    block.executor = executor_of(text_of(fields.get("type")) or "") or "client"
    out.append(
        ToolCallChunk(
            run_id=run_id,
            index=block.index,
            id=id_of(fields.get("toolUseId")),
            name=text_of(fields.get("name")),
            args=args,
            block=block.key,
            executor=block.executor,
        )
    )


def _read_input(block: Block, run_id: str, fields: dict[str, Any], out: Deltas) -> None:
    args = arguments_of(fields.get("input"))
    chunk = ToolCallChunk(run_id=run_id, index=block.index, args=args, block=block.key, executor=block.executor)
    out.append(chunk)


def _read_reasoning(blocks: OpenBlocks, run_id: str, index: object, fields: dict[str, Any], out: Deltas) -> None:
    for name, value in fields.items():
        if name in _REASONING:
            kind, place = _REASONING[name]
            other = REDACTED if kind == THINKING else THINKING
            append_text(blocks.of_delta(run_id, index, (kind, other), out), run_id, place, value, out)
        elif value is not None:
            _read_other(blocks, run_id, index, THINKING, {name: value}, out)


def _read_result(block: Block, run_id: str, pieces: object, out: Deltas) -> None:
    for piece in list_of(pieces):
        if block.result is not None:
            block.result.content.append(json.dumps(piece))
        out.append(BlockItem(run_id=run_id, block=block.key, kind=block.kind, field="content", value=piece))
    if not isinstance(pieces, list):
        out.append(malformed(run_id, "delta.toolResult", pieces))


def _stop(block: Block, run_id: str, out: Deltas) -> None:
    """A server's tool result is told once all of it is there."""
    out.append(BlockStopped(run_id=run_id, block=block.key))
    if (result := block.result) is not None:
        tool_call_id, status = json.loads(result.head)
        content = [json.loads(piece) for piece in result.content]
        message = ToolMessage(
            run_id=run_id, tool_call_id=tool_call_id, content=content, status=status, executor="server"
        )
        out.append(message)


def _read_cited(block: Block, run_id: str, fields: dict[str, Any], out: Deltas) -> None:
    for piece in list_of(fields.get("content")):
        append_text(block, run_id, "text", dict_of(piece).get("text"), out)
    for citation in list_of(fields.get("citations")):
        out.append(BlockItem(run_id=run_id, block=block.key, kind=block.kind, field="citations", value=citation))


def _read_other(blocks: OpenBlocks, run_id: str, index: object, name: str, value: object, out: Deltas) -> None:
    """A delta of a kind that came later than this decoder, or an image's: its fields are kept as they come."""
    kind = cleaned(name) or "unknown"
    if kind != "image":
        out.append(unknown_part(run_id, f"delta.{kind}", value))
    block = blocks.of_delta(run_id, index, (kind,), out)
    for key, item in (value if isinstance(value, dict) else {kind: value}).items():
        if key != "type":
            out.append(BlockItem(run_id=run_id, block=block.key, kind=block.kind, field=str(key), value=item))
