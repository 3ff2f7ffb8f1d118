"""A message as LangChain.js adds it up from its chunks, all but its tool calls (`langchainjs_gather` has those)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import field

from recorder.deltas import MessageChunk
from recorder.projections.growing import Array, Leaf, Undo, member, object_of
from recorder.projections.langchainjs_merge import (
    add_array,
    add_object,
    add_usage,
    grown,
    is_data_block,
    key_of,
    list_of,
    target_of,
)
from recorder.projections.message_sum import MessageSum
from recorder.projections.rope import Rope
from recorder.projections.text_order import last_text


class LangChainJsMessage(MessageSum, tag="langchainjs"):
    """The sum of a message's chunks, as `AIMessageChunk.concat` of @langchain/core 1.4 has it."""

    content_node: Rope | Array = field(default_factory=Rope)
    with_source: list[int] = field(default_factory=list)
    """Where in the content a block has, or had, a `source_type`: beside blocks of data, text is added otherwise."""

    def add(self, chunk: MessageChunk) -> None:
        """Adds the next chunk. Never raises; `refused` grows by one text for each field that was refused."""
        if not self.begun:
            self.begun = True
            self.message_id = chunk.message_id
            self.usage = chunk.usage
            self.kwargs_node = object_of(chunk.additional_kwargs or {})
            self.metadata_node = object_of(chunk.response_metadata or {})
            content = chunk.content
            self.content_node = Rope([content]) if isinstance(content, str) else self._listed(content)
            return
        self._try("content", lambda undo: self._add_content(chunk.content, undo))
        kwargs, metadata = chunk.additional_kwargs or {}, chunk.response_metadata or {}
        self._try("additional_kwargs", lambda undo: add_object(self.kwargs_node, kwargs, undo))
        self._try("response_metadata", lambda undo: add_object(self.metadata_node, metadata, undo))
        self._try("usage", lambda _: self._add_usage(chunk.usage))
        if self.message_id is None:
            self.message_id = chunk.message_id

    def may_scatter(self, content: str | list[Any]) -> bool:
        """Whether the content's text may go elsewhere than behind the text so far. False is certain."""
        held = self.content_node
        if not isinstance(held, Array):
            return False
        if isinstance(content, str):
            return bool(content and self.with_source)
        end = last_text(held)
        for block in content:
            if not isinstance(block, dict) or "text" not in block:
                continue
            place = target_of(held, block)
            alike = block.get("type") == "text" and (place is None or member(held.items[place], "type") == "text")
            if not alike or (place is not None and (len(content) > 1 or place != end)):
                return True
        return False

    def _add_content(self, content: str | list[Any], undo: Undo) -> None:
        held = self.content_node
        if isinstance(held, Array):
            if isinstance(content, list):
                self._note(content, add_array(held, content, undo))
            elif content:
                block = self._text_block(content)
                undo.push(held, Leaf(block), key_of)
                self._note([block], [len(held.items) - 1])
        elif not held:
            self.content_node = Rope([content]) if isinstance(content, str) else self._listed(content)
        elif isinstance(content, str):
            self.content_node = grown(held, content, undo)
        elif content:
            data = any(is_data_block(Leaf(block)) for block in content)
            kind = {"type": "text", "source_type": "text"} if data else {"type": "text"}
            self.content_node = self._listed([{**kind, "text": held.text}, *content])

    def _listed(self, content: list[Any]) -> Array:
        """The content as the list that it is; nothing in it is added to anything else."""
        self._note(content, range(len(content)))
        return list_of(content)

    def _note(self, blocks: Sequence[Any], places: Sequence[int | None]) -> None:
        for block, place in zip(blocks, places, strict=True):
            if place is not None and isinstance(block, dict) and "source_type" in block:
                self.with_source.append(place)

    def _text_block(self, text: str) -> dict[str, Any]:
        """The block that text becomes behind other blocks: beside blocks of data of the old kind, one of that kind."""
        assert isinstance(self.content_node, Array)
        data = any(is_data_block(self.content_node.items[place]) for place in self.with_source)
        return {"type": "file", "source_type": "text", "text": text} if data else {"type": "text", "text": text}

    def _add_usage(self, usage: dict[str, Any] | None) -> None:
        self.usage = add_usage(self.usage, usage)
