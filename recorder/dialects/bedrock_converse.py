"""`bedrock.converse`: Amazon Bedrock's Converse API, streamed or whole; Nova speaks it within `bedrock.invoke` too.

Source: the Bedrock Runtime API reference, "ConverseStream" (ConverseStreamOutput and the types of its events) and
"Converse". What an event is says its message's `:event-type`, not its payload; recordings without the framing write
`{"messageStart": …}`, as the SDKs give events out, or the payload alone.
"""

from __future__ import annotations

from typing import Any

from msgspec import field

from recorder.deltas import AnyDelta, MessageStarted, Usage
from recorder.dialects.base import Dialect, Envelope
from recorder.dialects.bedrock_converse_blocks import (
    OpenBlocks,
    read_delta,
    read_whole,
    start_block,
    stop_all,
    stop_block,
)
from recorder.dialects.bedrock_converse_request import read_request
from recorder.dialects.bedrock_exchange import BedrockExchange, exception_in, model_of, read_error
from recorder.dialects.finish_reasons import finish_of
from recorder.dialects.frames import Deltas, Frame, finding, malformed, unknown_frame
from recorder.dialects.http import begin_answer, end_exchange, fail, stepper
from recorder.dialects.usage import counts_of
from recorder.dialects.values import ROLES, cleaned, dict_of, list_of, text_of
from recorder.events import Event, NewEvent

_FIELDS: dict[str, tuple[str, ...]] = {
    "messageStart": ("role",),
    "contentBlockStart": ("contentBlockIndex", "start"),
    "contentBlockDelta": ("contentBlockIndex", "delta"),
    "contentBlockStop": ("contentBlockIndex",),
    "messageStop": ("stopReason",),
    "metadata": ("usage",),
}
"""The events, and what the payload of each must have; where the name is missing it is told by that, in this order."""
_COUNTS = {"inputTokens": "input_tokens", "outputTokens": "output_tokens", "totalTokens": "total_tokens"}
_DETAILS = {
    "cacheReadInputTokens": ("input_token_details", "cache_read"),
    "cacheWriteInputTokens": ("input_token_details", "cache_creation"),
    "cacheReadInputTokenCount": ("input_token_details", "cache_read"),
    "cacheWriteInputTokenCount": ("input_token_details", "cache_creation"),
}
"""Converse's names, and those that Nova writes."""


class State(BedrockExchange):
    """The open message of one exchange."""

    open: bool = False
    counted: bool = False
    """Whether the message's `metadata`, as a rule its last event, came before its stop."""
    blocks: OpenBlocks = field(default_factory=OpenBlocks)


def recognises(value: Any, event_name: str | None) -> bool:
    """An event's payload under or beside its name, or alone where nobody else has its fields; a whole answer."""
    fields = dict_of(value)
    if (name := _wrapper(fields)) is not None:
        return _has(fields[name], name)
    if event_name in _FIELDS:
        return _has(fields, event_name)
    return "contentBlockIndex" in fields or _is_whole(fields)


def envelope(value: Any, event_name: str | None) -> Envelope:
    """The kind is the event's name; `message` for a whole answer."""
    fields = dict_of(value)
    if _is_whole(fields):
        return Envelope(kind="message")
    name = _wrapper(fields) or cleaned(event_name) or exception_in(fields) or _name_by_fields(fields)
    return Envelope(kind=name or ("error" if fields.get("error") else "unknown"))


def step(state: State, event: Event | NewEvent) -> tuple[State, list[AnyDelta]]:
    """As every exchange, with the model that the URL names, and AWS's exceptions."""
    state.model = model_of(event) or state.model
    failure = read_error(state, event)
    return (state, failure) if failure is not None else _step(state, event)


def _read(state: State, frame: Frame, out: Deltas) -> None:
    value, run_id = frame.value, frame.run_id
    if not isinstance(value, dict):
        out.append(unknown_frame(frame))
        return
    if _is_whole(value):
        _read_answer(state, run_id, value, out)
        return
    name = _wrapper(value)
    fields = value if name is None else value[name]
    name = name or (frame.kind if frame.kind in _FIELDS else _name_by_fields(value))
    index = fields.get("contentBlockIndex")
    if name == "contentBlockDelta":
        _ensure_open(state, run_id, name, out)
        read_delta(state.blocks, run_id, index, fields.get("delta"), out)
    elif name == "contentBlockStart":
        _ensure_open(state, run_id, name, out)
        start_block(state.blocks, run_id, index, fields.get("start"), out)
    elif name == "contentBlockStop":
        stop_block(state.blocks, run_id, index, out)
    elif name == "messageStart":
        _open_message(state, run_id, fields.get("role"), out)
    elif name == "messageStop":
        _read_stop(state, run_id, fields, out)
    elif name == "metadata":
        _read_metadata(state, run_id, fields, out)
    elif value.get("error"):
        fail(state, run_id, value["error"], out)
    else:
        out.append(unknown_frame(frame))


def _read_answer(state: State, run_id: str, value: dict[str, Any], out: Deltas) -> None:
    """An answer that was not streamed."""
    message = value["output"]["message"]
    _open_message(state, run_id, message.get("role"), out)
    for index, content in enumerate(list_of(message.get("content"))):
        read_whole(state.blocks, run_id, index, content, out)
    _finish(state, run_id, value, out)
    _read_usage(run_id, value.get("usage"), out)
    _close(state, run_id, out)


def _open_message(state: State, run_id: str, role: object, out: Deltas) -> None:
    """A second start supersedes an open message, unless that had its stop: then it is another one."""
    if state.ended or (state.open and state.terminated):
        begin_answer(state, run_id, out)
        state.open = False
    said = text_of(role) or "assistant"
    out.append(MessageStarted(run_id=run_id, role=ROLES.get(said, said), model=state.model, restart=state.open))
    state.open, state.terminated, state.counted, state.blocks = True, False, False, OpenBlocks()


def _ensure_open(state: State, run_id: str, name: str, out: Deltas) -> None:
    """Content before a start, or behind a stop, begins a message all the same."""
    if not state.open or state.terminated:
        out.append(finding(run_id, "message-without-start", f"{name} comes before messageStart", "warning"))
        _open_message(state, run_id, None, out)


def _read_stop(state: State, run_id: str, fields: dict[str, Any], out: Deltas) -> None:
    if not state.open and state.ended:
        out.append(finding(run_id, "message-without-start", "messageStop comes after the message's end", "warning"))
        return
    if not state.open:
        _ensure_open(state, run_id, "messageStop", out)
    _finish(state, run_id, fields, out)
    if state.counted:
        _close(state, run_id, out)


def _finish(state: State, run_id: str, fields: dict[str, Any], out: Deltas) -> None:
    stop_all(state.blocks, run_id, out)
    state.terminated = True
    if (finished := finish_of(run_id, fields.get("stopReason"))) is not None:
        out.append(finished)


def _read_metadata(state: State, run_id: str, fields: dict[str, Any], out: Deltas) -> None:
    """It follows the stop, and nothing follows it; what a recorder put before the stop does not end the message."""
    _read_usage(run_id, fields.get("usage"), out)
    state.counted = True
    if state.open and state.terminated:
        _close(state, run_id, out)


def _close(state: State, run_id: str, out: Deltas) -> None:
    state.open = False
    end_exchange(state, run_id, out)


def _read_usage(run_id: str, usage: object, out: Deltas) -> None:
    """Cached input is counted beside `inputTokens`, not within it; the counts stay as they came."""
    if counts := counts_of(usage, _COUNTS, _DETAILS):
        out.append(Usage(run_id=run_id, counts=counts))
    elif usage is not None and not isinstance(usage, dict):
        out.append(malformed(run_id, "usage", usage))


def _wrapper(fields: dict[str, Any]) -> str | None:
    """The event's name where the payload stands under it."""
    return next((name for name in _FIELDS if isinstance(fields.get(name), dict)), None)


def _name_by_fields(fields: dict[str, Any]) -> str | None:
    return next((name for name in _FIELDS if _has(fields, name)), None)


def _has(fields: dict[str, Any], name: str) -> bool:
    return all(each in fields for each in _FIELDS[name])


def _is_whole(fields: dict[str, Any]) -> bool:
    return isinstance(dict_of(fields.get("output")).get("message"), dict)


_step = stepper(_read, read_request)

BEDROCK_CONVERSE = Dialect(
    name="bedrock.converse",
    layer="wire",
    state=State,
    recognises=recognises,
    envelope=envelope,
    step=step,
)
