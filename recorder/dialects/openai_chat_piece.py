"""A chunk of `openai.chat` that is one more piece of what is open, read without looking at everything it may hold.

Nearly every chunk of an answer is one: a piece of its text, of its thinking, or of one call's arguments, under the head
that all chunks repeat. Such a chunk decodes as the structs below, which name all the fields that it may have, each with
the type in which it says nothing else. Whatever does not decode so is read field by field, as `read` does.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from recorder.deltas import AnyDelta, TextChunk, ToolCallChunk
from recorder.dialects.http import is_streaming
from recorder.dialects.message_head import WHOLE
from recorder.dialects.openai_chat_delta import State
from recorder.events import Event, NewEvent

KIND = "chat.completion.chunk"
_LARGEST_INDEX = 1 << 16


class _Function(Struct, forbid_unknown_fields=True):
    arguments: str | None = None
    name: str | None = None


class _Call(Struct, forbid_unknown_fields=True):
    index: int
    function: _Function
    id: str | None = None
    type: str | None = None


class _Delta(Struct, forbid_unknown_fields=True):
    content: str | None = None
    tool_calls: list[_Call] | None = None
    role: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    refusal: None = None
    function_call: None = None
    reasoning_details: None = None
    audio: None = None


class _Choice(Struct, forbid_unknown_fields=True):
    delta: _Delta
    index: int
    finish_reason: None = None
    logprobs: None = None
    native_finish_reason: None = None
    stop_reason: None = None
    token_ids: None = None
    content_filter_results: dict[str, dict[str, bool | str]] | None = None


class _Chunk(Struct, forbid_unknown_fields=True):
    id: str
    choices: list[_Choice]
    object: str | None = None
    created: int | None = None
    model: str | None = None
    system_fingerprint: str | None = None
    service_tier: str | None = None
    provider: str | None = None
    obfuscation: str | None = None
    usage: None = None


_decode = msgspec.json.Decoder(_Chunk).decode


def piece(state: State, event: Event | NewEvent) -> AnyDelta | None:
    """The one delta that `read` would give for the chunk, with the state as it is; None for any other chunk."""
    if event.kind != KIND or not is_streaming(state):
        return None
    try:
        chunk = _decode(event.body)
    except msgspec.DecodeError:
        return None
    if chunk.id != state.id or len(chunk.choices) != 1:
        return None
    (choice,) = chunk.choices
    known = state.choices.get(choice.index)
    if known is None or known.head != WHOLE:
        return None
    run_id, delta = event.run_id or "", choice.delta
    thinking = delta.reasoning_content or delta.reasoning
    if delta.tool_calls:
        return None if delta.content or thinking else _call(run_id, choice.index, delta.tool_calls)
    if delta.content and not thinking:
        return TextChunk(
            run_id=run_id, choice=choice.index, block="text", kind="text", field="text", text=delta.content
        )
    if thinking and not delta.content:
        return TextChunk(
            run_id=run_id, choice=choice.index, block="thinking", kind="thinking", field="thinking", text=thinking
        )
    return None


def _call(run_id: str, choice: int, calls: list[_Call]) -> ToolCallChunk | None:
    call = calls[0]
    if len(calls) > 1 or not 0 <= call.index < _LARGEST_INDEX:
        return None
    function = call.function
    return ToolCallChunk(
        run_id=run_id, choice=choice, index=call.index, id=call.id, name=function.name, args=function.arguments
    )
