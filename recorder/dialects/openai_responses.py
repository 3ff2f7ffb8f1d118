"""`openai.responses`: OpenAI's Responses API, streamed or whole, as OpenAI, Azure, xAI, OpenRouter and others speak it.

Source: OpenAI's API reference, "Responses" (the response object, streaming events); how servers depart from it was
measured on recordings.
"""

from __future__ import annotations

from typing import Any

from msgspec import field

from recorder.deltas import MessageFinished, MessageStarted, Usage
from recorder.dialects.base import DONE, Dialect, Envelope, is_done
from recorder.dialects.finish_reasons import reason_of
from recorder.dialects.frames import Deltas, Frame, finding, malformed, unknown_frame
from recorder.dialects.http import Exchange, begin_answer, end_exchange, error_text, fail, stepper
from recorder.dialects.openai_responses_events import is_event, is_progress, read_event
from recorder.dialects.openai_responses_items import Items
from recorder.dialects.openai_responses_output import restate_items
from recorder.dialects.openai_responses_request import read_request
from recorder.dialects.openai_usage import openai_counts
from recorder.dialects.values import cleaned, dict_of, list_of

_CREATED = "response.created"
_OPENINGS = frozenset({_CREATED, "response.in_progress", "response.queued"})
_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed", "response.cancelled"})
_FAILURES = frozenset({"error", "response.error"})
_OBJECTS = frozenset({"response", "response.compaction"})
"""Whole responses, by their `object`."""
_NOTHING = frozenset({"ping", "keepalive"})
_COMPLETED = "completed"


class State(Exchange):
    """The response that is open."""

    open: bool = False
    id: str = ""
    model: str = ""
    items: Items = field(default_factory=Items)


def recognises(value: Any, event_name: str | None) -> bool:
    """A `response.…` event with what belongs to it, or a whole response; events of the Realtime API have an id."""
    if not isinstance(value, dict):
        return False
    if _object_of(value) and isinstance(value.get("output"), list):
        return True
    kind = value.get("type") or event_name
    if not isinstance(kind, str) or not kind.startswith("response.") or "event_id" in value:
        return False
    return isinstance(value.get("response"), dict) or "output_index" in value or "item_id" in value


def envelope(value: Any, event_name: str | None) -> Envelope:
    """The kind is the frame's `type`, a whole response's `object`, or the SSE event's name."""
    if is_done(value):
        return Envelope(kind=DONE)
    fields = dict_of(value)
    if kind := cleaned(fields.get("type")) or _object_of(fields):
        return Envelope(kind=kind)
    return Envelope(kind=cleaned(event_name) or ("error" if fields.get("error") else "unknown"))


def _object_of(fields: dict[str, Any]) -> str | None:
    kind = fields.get("object")
    return kind if isinstance(kind, str) and kind in _OBJECTS else None


def _read(state: State, frame: Frame, out: Deltas) -> None:
    value, run_id = frame.value, frame.run_id
    if not isinstance(value, dict):
        out.append(unknown_frame(frame))
        return
    kind = cleaned(value.get("type")) or _object_of(value) or frame.kind
    if kind in _OPENINGS:
        _start(state, run_id, kind, value.get("response"), out)
    elif kind in _ENDS:
        _end(state, run_id, kind, value.get("response"), out)
    elif kind in _OBJECTS:
        _read_whole(state, run_id, value, out)
    elif kind in _FAILURES:
        _fail(state, run_id, value.get("error") or value, out)
    elif is_event(kind):
        _ensure_open(state, frame, out)
        read_event(state.items, run_id, kind, value, out)
    elif value.get("error"):
        _fail(state, run_id, value["error"], out)
    elif kind not in _NOTHING and not is_progress(kind):
        out.append(unknown_frame(frame, kind))


def _start(state: State, run_id: str, kind: str, response: object, out: Deltas) -> None:
    """The response begins, or says once more that it is under way.

    A gateway that asks again starts over within one exchange; behind a response that ended, or failed, it is another.
    """
    if not isinstance(response, dict):
        out.append(malformed(run_id, "response", response))
    fields = dict_of(response)
    known = state.open and not state.items.all and (cleaned(fields.get("id")) or "") == state.id
    another = kind == _CREATED and not known
    if another and (state.ended or state.error is not None):
        _begin_another(state, run_id, out)
    if not state.ended:
        _read_head(state, run_id, fields, out, restart=another and state.open)
        _count(run_id, fields, out)


def _end(state: State, run_id: str, kind: str, response: object, out: Deltas) -> None:
    """The response as it is in the end. That of a response that ended before says nothing, if it is the same."""
    if not isinstance(response, dict):
        out.append(malformed(run_id, "response", response))
    fields = dict_of(response)
    if state.ended:
        if cleaned(fields.get("id")) in (None, state.id):
            out.append(finding(run_id, "event-repeated", f"{kind}: the response has ended before"))
            return
        _begin_another(state, run_id, out)
    _read_head(state, run_id, fields, out)
    restate_items(state.items, run_id, list_of(fields.get("output")), out, streamed=True)
    status, said = kind.removeprefix("response."), cleaned(fields.get("status"))
    # Some servers say `completed` of every end; the response knows better.
    if said is not None and status == _COMPLETED and f"response.{said}" in _ENDS:
        status = said
    _finish(state, run_id, fields, status, out)


def _read_whole(state: State, run_id: str, fields: dict[str, Any], out: Deltas) -> None:
    """A response that was not streamed. One that is still being made says all that there is to say here."""
    if state.open or state.ended:
        _begin_another(state, run_id, out)
    _read_head(state, run_id, fields, out)
    restate_items(state.items, run_id, list_of(fields.get("output")), out, streamed=False)
    _finish(state, run_id, fields, cleaned(fields.get("status")) or _COMPLETED, out)


def _finish(state: State, run_id: str, fields: dict[str, Any], status: str, out: Deltas) -> None:
    """Any status but `completed` means that the output is not whole; so does a call that is said to be incomplete."""
    _count(run_id, fields, out)
    if fields.get("error") or status == "failed":
        _fail(state, run_id, fields.get("error") or "the response failed", out)
    reason = status
    if status == "incomplete":
        reason = reason_of(dict_of(fields.get("incomplete_details")).get("reason")) or status
    truncating = status != _COMPLETED or any(item.incomplete for item in state.items.all)
    out.append(MessageFinished(run_id=run_id, finish_reason=reason, truncating=truncating))
    state.open, state.items = False, Items()
    end_exchange(state, run_id, out)


def _read_head(state: State, run_id: str, fields: dict[str, Any], out: Deltas, *, restart: bool = False) -> None:
    """Says the message's start, and again where a later event knows more of its head."""
    if restart:
        state.id, state.model, state.items = "", "", Items()
    id = "" if state.id else cleaned(fields.get("id")) or ""
    model = "" if state.model else cleaned(fields.get("model")) or ""
    if not state.open or restart or id or model:
        out.append(
            MessageStarted(run_id=run_id, message_id=id or None, role="ai", model=model or None, restart=restart)
        )
    state.open, state.id, state.model = True, state.id or id, state.model or model


def _ensure_open(state: State, frame: Frame, out: Deltas) -> None:
    if state.open:
        return
    if state.ended:
        _begin_another(state, frame.run_id, out)
    detail = f"{frame.kind} comes before {_CREATED}"
    out.append(finding(frame.run_id, "message-without-start", detail, "warning"))
    _read_head(state, frame.run_id, {}, out)


def _begin_another(state: State, run_id: str, out: Deltas) -> None:
    begin_answer(state, run_id, out)
    state.open, state.id, state.model, state.items = False, "", "", Items()


def _fail(state: State, run_id: str, error: object, out: Deltas) -> None:
    """An error is told once, though an `error` event and the failed response both say it."""
    if state.error is None or error_text(error) != state.error:
        fail(state, run_id, error, out)


def _count(run_id: str, fields: dict[str, Any], out: Deltas) -> None:
    if counts := openai_counts(fields.get("usage")):
        out.append(Usage(run_id=run_id, counts=counts))


OPENAI_RESPONSES = Dialect(
    name="openai.responses",
    layer="wire",
    state=State,
    recognises=recognises,
    envelope=envelope,
    step=stepper(_read, read_request),
)
