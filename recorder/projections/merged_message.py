"""A message as LangChain adds it up from its chunks, all but its tool calls (`langchain_gather` has those)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from recorder.deltas import MessageChunk
from recorder.projections.gather import Entry
from recorder.projections.growing import Leaf, Undo, object_of, plain
from recorder.projections.langchain_gather import tool_calls_of
from recorder.projections.merge import add_content, add_object, add_usage, better_id
from recorder.projections.message_sum import MessageSum
from recorder.projections.rope import Rope
from recorder.projections.text_order import may_scatter


class MergedMessage(MessageSum, tag="langchain"):
    """The sum of a message's chunks, as `AIMessageChunk.__add__` of langchain-core 1.8 has it.

    It refuses two floats that differ as well.
    """

    position: str | None = None
    """`last` once a chunk said so."""

    def add(self, chunk: MessageChunk) -> None:
        """Adds the next chunk. Never raises; `refused` grows by one text for each field that was refused."""
        if not self.begun:
            self._begin(chunk)
            return
        self._try("content", lambda undo: self._add_content(chunk.content, undo))
        if chunk.additional_kwargs:
            kwargs = chunk.additional_kwargs
            self._try("additional_kwargs", lambda undo: add_object(self.kwargs_node, kwargs, undo))
        if chunk.response_metadata:
            metadata = chunk.response_metadata
            self._try("response_metadata", lambda undo: add_object(self.metadata_node, metadata, undo))
        if chunk.usage:
            self._try("usage", lambda _: self._add_usage(chunk.usage))
        self.message_id = better_id(self.message_id, chunk.message_id)
        self.position = "last" if "last" in (self.position, chunk.position) else None

    def may_scatter(self, content: str | list[Any]) -> bool:
        """Whether the content's text may go elsewhere than behind the text so far. False is certain."""
        return may_scatter(self.content_node, content)

    def settle(self, entries: Sequence[Entry]) -> None:
        """Does to the content what LangChain does to a message of output version v1 that holds its last chunk.

        Blocks of type `tool_call_chunk` whose id is that of a call in `entries` become that call; server tool calls get
        their arguments parsed, in the strict sense. To be called after `add`, with the calls gathered up to that chunk.
        """
        if self.position != "last" or plain(self.metadata_node.items.get("output_version", Leaf(None))) != "v1":
            return
        content = self.content
        if not isinstance(content, list):
            return
        calls = {
            call["id"]: {key: call[key] for key in ("type", "name", "args", "id")} for call in tool_calls_of(entries)[0]
        }
        self.content_node = Leaf([_parsed_server_call(_whole_call(block, calls)) for block in content])

    def _begin(self, chunk: MessageChunk) -> None:
        self.begun = True
        self.content_node = Rope([chunk.content]) if isinstance(chunk.content, str) else Leaf(chunk.content)
        self.kwargs_node = object_of(chunk.additional_kwargs or {})
        self.metadata_node = object_of(chunk.response_metadata or {})
        self.usage = chunk.usage
        self.message_id = chunk.message_id
        self.position = chunk.position

    def _add_content(self, content: str | list[Any], undo: Undo) -> None:
        self.content_node = add_content(self.content_node, content, undo)

    def _add_usage(self, usage: dict[str, Any] | None) -> None:
        self.usage = add_usage(self.usage, usage)


def _whole_call(block: Any, calls: dict[str | None, dict[str, Any]]) -> Any:
    if not isinstance(block, dict) or block.get("type") != "tool_call_chunk":
        return block
    id = block.get("id")
    call = calls.get(id) if isinstance(id, str) and id else None
    if call is None:
        return block
    if "extras" in block:
        # Two blocks with one id are one object in the library: the extras of the second show in the first.
        call["extras"] = block["extras"]
    return call


def _parsed_server_call(block: Any) -> Any:
    if not isinstance(block, dict) or block.get("type") not in ("server_tool_call", "server_tool_call_chunk"):
        return block
    text = block.get("args") or "{}"
    if not isinstance(text, str):
        return block
    try:
        args = json.loads(text)
    except (ValueError, RecursionError):
        return block
    return {**block, "type": "server_tool_call", "args": args} if isinstance(args, dict) else block
