"""`cohere.v2`: Cohere's chat API, version 2, streamed or whole.

Source: Cohere's API reference, "Chat with Streaming (v2)" and "Chat (v2)", and the guide "Streaming Responses"; that a
stream may go on with `[DONE]` behind `message-end` was measured on recordings.
"""

from __future__ import annotations

from typing import Any

from msgspec import field

from recorder.deltas import BlockItem, BlockKey, MessageStarted, TextChunk, ToolCallChunk, Usage
from recorder.dialects.base import DONE, Dialect, Envelope, is_done
from recorder.dialects.cohere_usage import cohere_counts
from recorder.dialects.finish_reasons import finish_of
from recorder.dialects.frames import Deltas, Frame, finding, malformed, unknown_frame
from recorder.dialects.http import Exchange, begin_answer, end_exchange, fail, stepper
from recorder.dialects.openai_chat_request import read_request
from recorder.dialects.values import (
    ROLES,
    arguments_of,
    cleaned,
    dict_of,
    id_of,
    index_of,
    list_of,
    position_of,
    text_of,
)

_COMPANIONS: dict[str, tuple[str, ...]] = {
    "message-start": ("delta",),
    "content-start": ("index", "delta"),
    "content-delta": ("index", "delta"),
    "content-end": ("index",),
    "tool-plan-delta": ("delta",),
    "tool-call-start": ("index", "delta"),
    "tool-call-delta": ("index", "delta"),
    "tool-call-end": ("index",),
    "citation-start": ("index", "delta"),
    "citation-end": ("index",),
    "message-end": ("delta",),
}
"""The fields that must stand beside a `type` for the frame to be Cohere's only."""
_SAYS_NOTHING = frozenset({"content-end", "tool-call-end", "citation-end", "debug"})
_TEXTS = ("text", "thinking")
_CITED = {"THINKING_CONTENT": "thinking", "PLAN": "tool_plan"}
"""What a citation is about, by its type; else text."""


class State(Exchange):
    """The open message of one exchange."""

    open: bool = False
    latest: dict[str, str] = field(default_factory=dict)
    """The block that was written last of each kind: older servers' citations do not say which one they belong to."""


def recognises(value: Any, event_name: str | None) -> bool:
    """An event type of the API with the fields that belong to it, or a whole answer."""
    del event_name
    fields = dict_of(value)
    kind = fields.get("type")
    if isinstance(kind, str):
        companions = _COMPANIONS.get(kind)
        return companions is not None and all(name in fields for name in companions)
    return _is_whole(fields)


def envelope(value: Any, event_name: str | None) -> Envelope:
    """The kind is the frame's `type`, `message` for a whole answer."""
    if is_done(value):
        return Envelope(kind=DONE)
    fields = dict_of(value)
    kind = cleaned(fields.get("type")) or ("message" if _is_whole(fields) else cleaned(event_name))
    return Envelope(kind=kind or "unknown")


def _is_whole(fields: dict[str, Any]) -> bool:
    message = dict_of(fields.get("message"))
    return isinstance(fields.get("finish_reason"), str) and "role" in message and "choices" not in fields


def _read(state: State, frame: Frame, out: Deltas) -> None:
    value, run_id = frame.value, frame.run_id
    if not isinstance(value, dict):
        out.append(unknown_frame(frame))
        return
    kind = cleaned(value.get("type"))
    delta = dict_of(value.get("delta"))
    message = dict_of(delta.get("message"))
    if kind == "message-start":
        _open_message(state, run_id, value, message, out)
    elif kind in ("content-start", "content-delta"):
        _ensure_open(state, frame, out)
        _read_content(state, run_id, value.get("index"), message.get("content"), out)
    elif kind == "tool-plan-delta":
        _ensure_open(state, frame, out)
        _append(state, run_id, "tool_plan", "tool_plan", text_of(message.get("tool_plan")), out)
    elif kind in ("tool-call-start", "tool-call-delta"):
        _ensure_open(state, frame, out)
        _read_call(run_id, value.get("index"), message.get("tool_calls"), out)
    elif kind == "citation-start":
        _ensure_open(state, frame, out)
        _read_citation(state, run_id, message.get("citations"), out)
    elif kind == "message-end":
        _read_end(state, frame, delta, out)
    elif kind is None and _is_whole(value):
        _open_message(state, run_id, value, dict_of(value.get("message")), out)
        _finish(state, run_id, value, out)
    elif kind == "error" or value.get("error"):
        fail(state, run_id, value.get("error") or value, out)
    elif kind not in _SAYS_NOTHING:
        out.append(unknown_frame(frame, kind))


def _open_message(state: State, run_id: str, value: dict[str, Any], message: dict[str, Any], out: Deltas) -> None:
    """`message-start`, or a whole message; the fields of a start are empty as a rule."""
    if state.ended:
        begin_answer(state, run_id, out)
    role = text_of(message.get("role")) or "assistant"
    out.append(
        MessageStarted(
            run_id=run_id, message_id=cleaned(value.get("id")), role=ROLES.get(role, role), restart=state.open
        )
    )
    state.open, state.latest = True, {}
    _append(state, run_id, "tool_plan", "tool_plan", text_of(message.get("tool_plan")), out)
    content = message.get("content")
    for index, part in enumerate([content] if isinstance(content, str) else list_of(content)):
        _read_content(state, run_id, index, {"text": part} if isinstance(part, str) else part, out)
    for index, call in enumerate(list_of(message.get("tool_calls"))):
        _read_call(run_id, index, call, out)
    for citation in list_of(message.get("citations")):
        _read_citation(state, run_id, citation, out)


def _ensure_open(state: State, frame: Frame, out: Deltas) -> None:
    if state.open:
        return
    if state.ended:
        begin_answer(state, frame.run_id, out)
    state.open, state.latest = True, {}
    out.append(finding(frame.run_id, "message-without-start", f"{frame.kind} comes before message-start", "warning"))
    out.append(MessageStarted(run_id=frame.run_id, role="ai"))


def _read_content(state: State, run_id: str, index: object, content: object, out: Deltas) -> None:
    """A part's start or delta: its kind is the name of the field that holds its text."""
    if not isinstance(content, dict):
        out.append(malformed(run_id, "delta.message.content", content))
        return
    place = position_of(index)
    for kind in _TEXTS:
        _append(state, run_id, f"{kind} {place}", kind, text_of(content.get(kind)), out)
    other = cleaned(content.get("type"))
    if other is None or other in _TEXTS:
        return
    for name, value in content.items():
        if name != "type" and value is not None:
            block = f"{other} {place}"
            out.append(BlockItem(run_id=run_id, block=block, kind=other, field=name, value=value, replace=True))


def _append(state: State, run_id: str, block: str, kind: str, text: str | None, out: Deltas) -> None:
    if text is None:
        return
    state.latest[kind] = block
    if text:
        out.append(TextChunk(run_id=run_id, block=block, kind=kind, field=kind, text=text))


def _read_call(run_id: str, index: object, call: object, out: Deltas) -> None:
    """The start of a call, or a piece of it; one object, though the field has a plural's name."""
    if not isinstance(call, dict):
        out.append(malformed(run_id, "delta.message.tool_calls", call))
        return
    function = dict_of(call.get("function"))
    out.append(
        ToolCallChunk(
            run_id=run_id,
            index=index_of(index),
            id=id_of(call.get("id")),
            name=text_of(function.get("name")),
            args=arguments_of(function.get("arguments")),
        )
    )


def _read_citation(state: State, run_id: str, citation: object, out: Deltas) -> None:
    """A citation has an index of its own; the text that it is about is named by `content_index`, or is the latest."""
    fields = dict_of(citation)
    kind = _CITED.get(text_of(fields.get("type")) or "", "text")
    place = fields.get("content_index")
    block: BlockKey = f"{kind} {position_of(place)}" if place is not None else state.latest.get(kind, f"{kind} 0")
    if kind == "tool_plan":
        block = kind
    out.append(BlockItem(run_id=run_id, block=block, kind=kind, field="citations", value=citation))


def _read_end(state: State, frame: Frame, delta: dict[str, Any], out: Deltas) -> None:
    if not state.open and state.ended:
        out.append(finding(frame.run_id, "message-without-start", "message-end comes after message-end", "warning"))
        return
    _ensure_open(state, frame, out)
    if delta.get("error"):
        fail(state, frame.run_id, delta["error"], out)
    _finish(state, frame.run_id, delta, out)


def _finish(state: State, run_id: str, fields: dict[str, Any], out: Deltas) -> None:
    """The reason to stop and the counts, of `message-end` or of a whole answer; nothing follows them."""
    if (finished := finish_of(run_id, fields.get("finish_reason"))) is not None:
        out.append(finished)
    if counts := cohere_counts(fields.get("usage")):
        out.append(Usage(run_id=run_id, counts=counts))
    state.open = False
    end_exchange(state, run_id, out)


COHERE_V2 = Dialect(
    name="cohere.v2",
    layer="wire",
    state=State,
    recognises=recognises,
    envelope=envelope,
    step=stepper(_read, read_request),
)
