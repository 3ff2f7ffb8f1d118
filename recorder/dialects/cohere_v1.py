"""`cohere.v1`: Cohere's chat API, version 1, streamed or whole. Its calls have no ids: they pair by name and order.

Source: Cohere's API reference, "Chat with Streaming (v1)" and "Chat (v1)"; the whole answer inside `stream-end` was
measured on recordings.
"""

from __future__ import annotations

from typing import Any

from msgspec import field

from recorder.deltas import BlockItem, MessageStarted, TextChunk, ToolCallChunk, Usage
from recorder.dialects.base import Dialect, Envelope
from recorder.dialects.cohere_usage import cohere_counts
from recorder.dialects.cohere_v1_request import read_request
from recorder.dialects.finish_reasons import finish_of
from recorder.dialects.frames import Deltas, Frame, malformed, unknown_frame
from recorder.dialects.http import Exchange, begin_answer, end_exchange, fail, stepper
from recorder.dialects.values import arguments_of, cleaned, dict_of, index_of, list_of, text_of

_KINDS = frozenset(
    {
        "stream-start",
        "search-queries-generation",
        "search-results",
        "text-generation",
        "citation-generation",
        "tool-calls-chunk",
        "tool-calls-generation",
        "stream-end",
        "debug",
    }
)
_LISTS = ("citations", "documents", "search_queries", "search_results")
"""What belongs to the text, each event's items behind the earlier ones."""


class State(Exchange):
    """The open message of one exchange."""

    open: bool = False
    said: list[str] = field(default_factory=list)
    """Which of text, tool plan and the lists were streamed: the whole answer at the end says them again."""


def recognises(value: Any, event_name: str | None) -> bool:
    """An `event_type` of the API beside `is_finished`, or a whole answer."""
    del event_name
    fields = dict_of(value)
    kind = fields.get("event_type")
    if isinstance(kind, str):
        return kind in _KINDS and isinstance(fields.get("is_finished"), bool)
    return _is_whole(fields)


def envelope(value: Any, event_name: str | None) -> Envelope:
    """The kind is the frame's `event_type`, `message` for a whole answer."""
    fields = dict_of(value)
    kind = cleaned(fields.get("event_type")) or ("message" if _is_whole(fields) else cleaned(event_name))
    return Envelope(kind=kind or "unknown")


def _is_whole(fields: dict[str, Any]) -> bool:
    return isinstance(fields.get("text"), str) and isinstance(fields.get("generation_id"), str) and "meta" in fields


def _read(state: State, frame: Frame, out: Deltas) -> None:
    value, run_id = frame.value, frame.run_id
    if not isinstance(value, dict):
        out.append(unknown_frame(frame))
        return
    kind = cleaned(value.get("event_type"))
    if kind == "stream-start":
        _open_message(state, run_id, value.get("generation_id"), out)
    elif kind == "stream-end":
        _read_end(state, run_id, value, out)
    elif kind is None and _is_whole(value):
        _read_end(state, run_id, {"response": value}, out)
    elif kind in _KINDS:
        if kind != "debug":
            _ensure_open(state, run_id, out)
            _read_content(state, run_id, kind, value, out)
    elif value.get("error"):
        fail(state, run_id, value["error"], out)
    else:
        out.append(unknown_frame(frame, kind))


def _open_message(state: State, run_id: str, id: object, out: Deltas) -> None:
    if state.ended:
        begin_answer(state, run_id, out)
    out.append(MessageStarted(run_id=run_id, message_id=cleaned(id), role="ai", restart=state.open))
    state.open, state.said = True, []


def _ensure_open(state: State, run_id: str, out: Deltas) -> None:
    """Some gateways leave `stream-start` out: it says nothing but an id."""
    if not state.open:
        _open_message(state, run_id, None, out)


def _read_content(state: State, run_id: str, kind: str, value: dict[str, Any], out: Deltas) -> None:
    if kind == "text-generation":
        _append(state, run_id, "text", value.get("text"), out)
    elif kind == "tool-calls-chunk":
        call = value.get("tool_call_delta")
        _append(state, run_id, "tool_plan", value.get("text"), out)
        if call is not None:
            _append(state, run_id, "tool_plan", dict_of(call).get("text"), out)
            _read_call(run_id, dict_of(call).get("index"), call, out, whole=False)
    elif kind == "tool-calls-generation":
        if "tool_plan" not in state.said:
            _append(state, run_id, "tool_plan", value.get("text"), out)
        _read_calls(run_id, value.get("tool_calls"), out)
    else:
        _add_lists(state, run_id, value, _LISTS, out)


def _append(state: State, run_id: str, block: str, text: object, out: Deltas) -> None:
    if isinstance(text, str) and text:
        if block not in state.said:
            state.said.append(block)
        out.append(TextChunk(run_id=run_id, block=block, kind=block, field=block, text=text))


def _add_lists(state: State, run_id: str, value: dict[str, Any], names: tuple[str, ...], out: Deltas) -> None:
    for name in names:
        for item in list_of(value.get(name)):
            if name not in state.said:
                state.said.append(name)
            out.append(BlockItem(run_id=run_id, block="text", field=name, value=item))


def _read_calls(run_id: str, calls: object, out: Deltas) -> None:
    for index, call in enumerate(list_of(calls)):
        _read_call(run_id, index, call, out, whole=True)


def _read_call(run_id: str, index: object, call: object, out: Deltas, *, whole: bool) -> None:
    """A piece of a call; `whole`: all of it, which says again what the pieces said, if there were any."""
    if not isinstance(call, dict):
        out.append(malformed(run_id, "tool_calls", call))
        return
    if "name" in call or "parameters" in call:
        out.append(
            ToolCallChunk(
                run_id=run_id,
                index=index_of(index),
                name=text_of(call.get("name")),
                args=arguments_of(call.get("parameters")),
                restated=whole,
            )
        )


def _read_end(state: State, run_id: str, value: dict[str, Any], out: Deltas) -> None:
    """`stream-end`, or a whole answer: what was not streamed is taken from it, and the calls are compared."""
    response = dict_of(value.get("response"))
    if not state.open:
        _open_message(state, run_id, response.get("generation_id"), out)
    calls = list_of(response.get("tool_calls"))
    if "text" not in state.said and "tool_plan" not in state.said:
        # With calls, the text is the plan that led to them.
        _append(state, run_id, "tool_plan" if calls else "text", response.get("text"), out)
    _add_lists(state, run_id, response, tuple(name for name in _LISTS if name not in state.said), out)
    _read_calls(run_id, calls, out)
    finished = finish_of(run_id, value.get("finish_reason")) or finish_of(run_id, response.get("finish_reason"))
    if finished is not None:
        out.append(finished)
    if counts := cohere_counts(response.get("meta")):
        out.append(Usage(run_id=run_id, counts=counts))
    state.open = False
    end_exchange(state, run_id, out)


COHERE_V1 = Dialect(
    name="cohere.v1",
    layer="wire",
    state=State,
    recognises=recognises,
    envelope=envelope,
    step=stepper(_read, read_request),
)
