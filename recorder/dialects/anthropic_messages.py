"""`anthropic.messages`: Anthropic's Messages API, streamed or whole; Vertex AI and Bedrock carry the same frames.

Source: Anthropic's API reference, "Streaming messages" (event types, content block delta types), "Messages" (blocks,
stop reasons), and the pages on server tools, MCP, citations and compaction.
"""

from __future__ import annotations

from typing import Any

from recorder.deltas import MessageStarted, Usage
from recorder.dialects.anthropic_blocks import OpenBlocks, State, read_delta, start_block, stop_block
from recorder.dialects.anthropic_piece import piece
from recorder.dialects.anthropic_request import read_request
from recorder.dialects.base import DONE, Dialect, Envelope, is_done
from recorder.dialects.finish_reasons import finish_of
from recorder.dialects.frames import Deltas, Frame, finding, unknown_frame
from recorder.dialects.http import begin_answer, end_exchange, fail, stepper
from recorder.dialects.usage import counts_of
from recorder.dialects.values import ROLES, cleaned, dict_of, list_of, text_of

_COMPANIONS: dict[str, tuple[str, ...]] = {
    "message_start": ("message",),
    "content_block_start": ("index", "content_block"),
    "content_block_delta": ("index", "delta"),
    "content_block_stop": ("index",),
    "message_delta": ("delta",),
    "message_stop": (),
    "message": ("role", "content", "stop_reason"),
}
"""The fields that must stand beside a `type` for the frame to be Anthropic's only."""
_COUNTS = {"input_tokens": "input_tokens", "output_tokens": "output_tokens"}
_DETAILS = {
    "cache_read_input_tokens": ("input_token_details", "cache_read"),
    "cache_creation_input_tokens": ("input_token_details", "cache_creation"),
}
_OUTPUT_DETAILS = {"thinking_tokens": ("output_token_details", "reasoning")}
"""Of the object `output_tokens_details`."""


def recognises(value: Any, event_name: str | None) -> bool:
    """An event type of the Messages API with the fields that belong to it; `ping` and `error` are others' words too."""
    del event_name
    fields = dict_of(value)
    companions = _COMPANIONS.get(kind) if isinstance(kind := fields.get("type"), str) else None
    return companions is not None and all(name in fields for name in companions)


def envelope(value: Any, event_name: str | None) -> Envelope:
    """The kind is the frame's `type`."""
    if is_done(value):
        return Envelope(kind=DONE)
    fields = dict_of(value)
    if kind := cleaned(fields.get("type")):
        return Envelope(kind=kind)
    return Envelope(kind="error" if fields.get("error") else cleaned(event_name) or "unknown")


def _read(state: State, frame: Frame, out: Deltas) -> None:
    value, run_id = frame.value, frame.run_id
    if not isinstance(value, dict):
        out.append(unknown_frame(frame))
        return
    kind = cleaned(value.get("type"))
    if kind == "content_block_delta":
        _ensure_open(state, frame, out)
        read_delta(state.blocks, run_id, value.get("index"), value.get("delta"), out)
    elif kind == "content_block_start":
        _ensure_open(state, frame, out)
        start_block(state.blocks, run_id, value.get("index"), value.get("content_block"), out, whole=False)
    elif kind == "content_block_stop":
        stop_block(state.blocks, run_id, value.get("index"), out)
    elif kind == "message_start":
        _open_message(state, run_id, dict_of(value.get("message")), out)
    elif kind == "message_delta":
        if state.ended and not state.open:
            out.append(finding(run_id, "message-without-start", "message_delta comes after message_stop", "warning"))
            return
        _ensure_open(state, frame, out)
        _read_stop(state, run_id, dict_of(value.get("delta")), out)
        _read_usage(run_id, value.get("usage"), out)
    elif kind == "message_stop":
        state.open = False
        end_exchange(state, run_id, out)
    elif kind == "message":
        _open_message(state, run_id, value, out)
        state.open = False
        end_exchange(state, run_id, out)
    elif kind == "error" or value.get("error"):
        fail(state, run_id, value.get("error") or value, out)
    elif kind != "ping":
        out.append(unknown_frame(frame, kind))


def _open_message(state: State, run_id: str, message: dict[str, Any], out: Deltas) -> None:
    """`message_start`, or a whole message.

    A proxy that retries upstream starts over within one exchange; after a stop reason it is another message.
    """
    if state.ended or (state.open and state.terminated):
        begin_answer(state, run_id, out)
        state.open = False
    role = text_of(message.get("role")) or "assistant"
    out.append(
        MessageStarted(
            run_id=run_id,
            message_id=cleaned(message.get("id")),
            role=ROLES.get(role, role),
            model=cleaned(message.get("model")),
            restart=state.open,
        )
    )
    state.open, state.terminated, state.blocks = True, False, OpenBlocks()
    for index, block in enumerate(list_of(message.get("content"))):
        start_block(state.blocks, run_id, index, block, out, whole=True)
    _read_stop(state, run_id, message, out)
    _read_usage(run_id, message.get("usage"), out)


def _ensure_open(state: State, frame: Frame, out: Deltas) -> None:
    if not state.open:
        if state.ended:
            begin_answer(state, frame.run_id, out)
        state.open, state.blocks = True, OpenBlocks()
        out.append(
            finding(frame.run_id, "message-without-start", f"{frame.kind} comes before message_start", "warning")
        )
        out.append(MessageStarted(run_id=frame.run_id, role="ai"))


def _read_stop(state: State, run_id: str, delta: dict[str, Any], out: Deltas) -> None:
    if (finished := finish_of(run_id, delta.get("stop_reason"))) is not None:
        out.append(finished)
        state.terminated = True


def _read_usage(run_id: str, usage: object, out: Deltas) -> None:
    """Anthropic counts cached input beside `input_tokens`, not within it; the counts stay as they came."""
    output = counts_of(dict_of(usage).get("output_tokens_details"), {}, _OUTPUT_DETAILS)
    if counts := counts_of(usage, _COUNTS, _DETAILS) | output:
        out.append(Usage(run_id=run_id, counts=counts))


ANTHROPIC_MESSAGES = Dialect(
    name="anthropic.messages",
    layer="wire",
    state=State,
    recognises=recognises,
    envelope=envelope,
    step=stepper(_read, read_request),
    piece=piece,
)
