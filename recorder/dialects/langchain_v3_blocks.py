"""The content blocks of a message in version v3: start, deltas, finish.

Source: `langchain_protocol` (the events' types) and langchain-core's `ChatModelStream` (what it makes of them). A block
is known by its place in the message; the provider's own index stands in its start. Its finish restates it whole, with a
call's arguments parsed in the strict sense, and confirms what came.
"""

from __future__ import annotations

from typing import Any

from recorder.deltas import BlockItem, BlockStarted, Executor, TextChunk, ToolCallChunk, ToolMessage
from recorder.dialects.frames import Deltas, Frame, finding, unknown_frame
from recorder.dialects.langgraph_messages import OpenBlock, OpenMessage
from recorder.dialects.values import arguments_of, cleaned, dict_of, id_of, index_of, position_of, text_of

_TEXTS = {"text": "text", "reasoning": "reasoning"}
"""The field that the deltas of a block append to, by the block's type."""
_CHUNKS = ("tool_call_chunk", "server_tool_call_chunk")
_CALLS = ("tool_call", "invalid_tool_call", "server_tool_call", *_CHUNKS)
_DELTAS = {"text-delta": ("text", "text"), "reasoning-delta": ("reasoning", "reasoning"), "data-delta": ("", "data")}
"""Type of block and field, by the type of delta; any block may have data."""


def start(message: OpenMessage, data: dict[str, Any], out: Deltas) -> None:
    """`content-block-start`: the block's type, a call's id and name."""
    content = _content(data)
    kind = cleaned(content.get("type")) or "text"
    key = _place(data)
    if key in message.blocks:
        detail = f"block {key} is opened again"
        out.append(finding(message.run_id, "block-index-reused", detail, "warning"))
        message.blocks[_next_key(message, key)] = message.blocks.pop(key)
    message.blocks[key] = OpenBlock(kind, streamed=kind in _CHUNKS)
    _open(message, key, content, out)


def delta(message: OpenMessage, data: dict[str, Any], frame: Frame, out: Deltas) -> None:
    """`content-block-delta`: text, a call's arguments, or fields of the block."""
    piece = _piece(data)
    kind = text_of(piece.get("type")) or ""
    if kind in _DELTAS:
        of, field = _DELTAS[kind]
        key, block = _block(message, data, of or "non_standard", out)
        _append(message, key, block, field, text_of(piece.get(field)), out)
    elif kind == "tool-call-delta":
        key, block = _block(message, data, "tool_call_chunk", out)
        _append_args(message, key, block, text_of(piece.get("args")), out)
    elif kind == "block-delta":
        _fields(message, data, dict_of(piece.get("fields")), out)
    else:
        out.append(unknown_frame(frame, f"content-block-delta {kind}"))


def finish(message: OpenMessage, data: dict[str, Any], out: Deltas) -> None:
    """`content-block-finish`: the whole block."""
    content = _content(data)
    kind = cleaned(content.get("type")) or "text"
    key = _place(data)
    block = message.blocks.get(key)
    if block is None:
        block = message.blocks[key] = OpenBlock(kind, streamed=False)
        _open(message, key, content, out)
    if kind in _CALLS:
        _finish_call(message, key, block, kind, content, out)
        return
    field = _TEXTS.get(block.kind, "data")
    _confirm(message, key, block, field, text_of(content.get(field)), out)
    for name, value in content.items():
        if name not in ("type", "index", field) or (name == field and not isinstance(value, str)):
            out.append(_item(message, key, block, name, value))
    if kind == "server_tool_result":
        out.append(
            ToolMessage(
                run_id=message.run_id,
                tool_call_id=id_of(content.get("tool_call_id")),
                content=content.get("output"),
                status=text_of(content.get("status")) or "success",
                executor="server",
            )
        )


def _open(message: OpenMessage, key: str, content: dict[str, Any], out: Deltas) -> None:
    """Says that a block is there. Its text, if its start has any, is not counted: its finish has it."""
    kind = message.blocks[key].kind
    if kind in _CALLS:
        args = text_of(content.get("args")) if kind in _CHUNKS else None
        out.append(
            ToolCallChunk(
                run_id=message.run_id,
                index=index_of(content.get("index")),
                id=id_of(content.get("id")) or None,
                name=text_of(content.get("name")) or None,
                args=args,
                block=key,
                executor=_executor(kind),
            )
        )
        message.blocks[key].text.add(args or "")
        return
    known = {name: value for name, value in content.items() if name not in ("type", "index", "data")}
    shown = {name: value for name, value in known.items() if name != _TEXTS.get(kind)}
    out.append(BlockStarted(run_id=message.run_id, block=key, kind=kind, data=shown or None))


def _block(message: OpenMessage, data: dict[str, Any], kind: str, out: Deltas) -> tuple[str, OpenBlock]:
    """The block that a delta belongs to, opened where it was not."""
    key = _place(data)
    block = message.blocks.get(key)
    if block is None:
        block = message.blocks[key] = OpenBlock(kind)
        detail = f"a delta for block {key}, which was not opened"
        out.append(finding(message.run_id, "block-without-start", detail, "warning"))
    return key, block


def _append(message: OpenMessage, key: str, block: OpenBlock, field: str, text: str | None, out: Deltas) -> None:
    if text:
        block.text.add(text)
        out.append(TextChunk(run_id=message.run_id, block=key, text=text, kind=block.kind, field=field))


def _append_args(message: OpenMessage, key: str, block: OpenBlock, args: str | None, out: Deltas) -> None:
    if args:
        block.text.add(args)
        out.append(ToolCallChunk(run_id=message.run_id, args=args, block=key, executor=_executor(block.kind)))


def _fields(message: OpenMessage, data: dict[str, Any], fields: dict[str, Any], out: Deltas) -> None:
    """`block-delta`: fields to set; of a call's chunk all arguments so far, as older versions of the core send them."""
    kind = cleaned(fields.get("type")) or "text"
    key, block = _block(message, data, kind, out)
    if block.kind not in _CALLS:
        for name, value in fields.items():
            if name not in ("type", "index", _TEXTS.get(block.kind)):
                out.append(_item(message, key, block, name, value))
        return
    args = text_of(fields.get("args")) or ""
    added = args[block.text.length :] if block.text.begins(args) else ""
    if args and not block.text.begins(args):
        out.append(_differs(message, f"call of block {key}: its arguments so far are not those that came"))
    block.text.add(added)
    out.append(
        ToolCallChunk(
            run_id=message.run_id,
            id=id_of(fields.get("id")) or None,
            args=added or None,
            block=key,
            executor=_executor(block.kind),
        )
    )


def _finish_call(
    message: OpenMessage, key: str, block: OpenBlock, kind: str, content: dict[str, Any], out: Deltas
) -> None:
    args = arguments_of(content.get("args"))
    if block.streamed and not block.text.length and args == "{}":
        # Nothing was streamed, and `{}` is what that is read as.
        args = ""
    error = text_of(content.get("error")) or "invalid" if kind == "invalid_tool_call" else None
    out.append(
        ToolCallChunk(
            run_id=message.run_id,
            id=id_of(content.get("id")) or None,
            name=text_of(content.get("name")) or None,
            args=args,
            block=key,
            executor=_executor(block.kind),
            restated=True,
            error=error,
        )
    )


def _confirm(message: OpenMessage, key: str, block: OpenBlock, field: str, whole: str | None, out: Deltas) -> None:
    """Compares a block's text with what came of it; what is missing at its end is added."""
    if not whole:
        return
    if not block.text.begins(whole):
        out.append(_differs(message, f"block {key}: its text is not what came of it"))
    else:
        _append(message, key, block, field, whole[block.text.length :], out)


def _differs(message: OpenMessage, detail: str) -> Any:
    return finding(message.run_id, "restatement-differs", detail, "warning")


def _item(message: OpenMessage, key: str, block: OpenBlock, name: str, value: Any) -> BlockItem:
    return BlockItem(run_id=message.run_id, block=key, field=name, value=value, kind=block.kind, replace=True)


def _executor(kind: str) -> Executor:
    return "server" if kind.startswith("server_") else "client"


def _content(data: dict[str, Any]) -> dict[str, Any]:
    """The block of a start or a finish; `content_block` is what earlier versions called it."""
    return dict_of(data.get("content")) or dict_of(data.get("content_block"))


def _piece(data: dict[str, Any]) -> dict[str, Any]:
    """The delta; earlier versions had a piece of the block in its place."""
    block = dict_of(data.get("content_block"))
    if "delta" in data or not block:
        return dict_of(data.get("delta"))
    kind = text_of(block.get("type"))
    if kind in _CHUNKS:
        return {"type": "tool-call-delta", "args": block.get("args")}
    if kind in _TEXTS:
        return {"type": f"{kind}-delta", _TEXTS[kind]: block.get(_TEXTS[kind])}
    return {"type": "data-delta", "data": block.get("data")}


def _place(data: dict[str, Any]) -> str:
    return str(position_of(data.get("index")))


def _next_key(message: OpenMessage, key: str) -> str:
    """A name for a block whose place another one takes."""
    number = 1
    while f"{key}#{number}" in message.blocks:
        number += 1
    return f"{key}#{number}"
