"""A frame of `anthropic.messages` that is one more piece of an open block: of its text, thinking or call's arguments.

Nearly every frame of an answer is one. It decodes as one of the structs below, which name all the fields that it may
have; whatever does not is read field by field, as `read_delta` does.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct

from recorder.deltas import AnyDelta, TextChunk, ToolCallChunk
from recorder.dialects.anthropic_blocks import TOOL_CALL, State
from recorder.dialects.http import is_streaming
from recorder.events import Event, NewEvent

KIND = "content_block_delta"


class _Text(Struct, tag="text_delta", forbid_unknown_fields=True):
    text: str


class _Thinking(Struct, tag="thinking_delta", forbid_unknown_fields=True):
    thinking: str


class _Input(Struct, tag="input_json_delta", forbid_unknown_fields=True):
    partial_json: str


class _Frame(Struct, forbid_unknown_fields=True):
    type: Literal["content_block_delta"]
    index: int
    delta: _Text | _Thinking | _Input


_decode = msgspec.json.Decoder(_Frame).decode


def piece(state: State, event: Event | NewEvent) -> AnyDelta | None:
    """The one delta that `step` would give for the frame, with the state as it is; None for any other frame."""
    if event.kind != KIND or not state.open or not is_streaming(state):
        return None
    try:
        frame = _decode(event.body)
    except msgspec.DecodeError:
        return None
    block = state.blocks.by_index.get(str(frame.index))
    if block is None:
        return None
    run_id, delta = event.run_id or "", frame.delta
    if isinstance(delta, _Text):
        return TextChunk(run_id=run_id, block=block.key, kind=block.kind, field="text", text=delta.text)
    if isinstance(delta, _Thinking):
        return TextChunk(run_id=run_id, block=block.key, kind=block.kind, field="thinking", text=delta.thinking)
    if block.kind != TOOL_CALL:
        return None
    return ToolCallChunk(
        run_id=run_id, index=block.index, args=delta.partial_json, block=block.key, executor=block.executor
    )
