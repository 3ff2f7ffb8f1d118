"""`openai.realtime`: OpenAI's Realtime API, the events of a session as they were recorded, one a line.

Source: OpenAI's API reference, "Realtime": server events, client events, and the names of the beta that the general
release changed (`response.text.delta` is `response.output_text.delta`). Azure and xAI speak it too; that their items
and parts come in another order or with fewer fields was measured on recordings.

A session is one run that holds many answers. The provider calls them responses: each is a message of its own, known by
its id, for two may be open at once. A message is finished by its `response.done` alone: that an item is done says
nothing of a response that is cancelled afterwards.
"""

from __future__ import annotations

from typing import Any

from msgspec import field

from recorder.deltas import MessageClosed, MessageFinished, MessageStarted, Usage
from recorder.dialects.base import Dialect, Envelope
from recorder.dialects.finish_reasons import reason_of
from recorder.dialects.frames import Deltas, Frame, finding, unknown_frame
from recorder.dialects.http import Exchange, error_text, stepper
from recorder.dialects.openai_realtime_conversation import ITEM_KINDS, read_conversation_item, read_tool_choice
from recorder.dialects.openai_realtime_items import Response, Target, read_output, read_response_event
from recorder.dialects.openai_usage import openai_counts
from recorder.dialects.values import cleaned, dict_of

_QUIET = (
    "transcription_session.",
    "conversation.",
    "input_audio_buffer.",
    "output_audio_buffer.",
    "mcp_list_tools.",
    "rate_limits.",
)
_SERVER = (*_QUIET, "session.", "response.")
"""How the types of events begin that a server gives an `event_id`."""
_CLIENT = {"session.update": "session", "conversation.item.create": "item", "input_audio_buffer.append": "audio"}
"""Types of a client's events, whose id is optional, with a field that only they have."""
_CLIENTS_OWN = ("response.create", "response.cancel")
"""What a client says of responses."""
_SAYS_NOTHING = (*_QUIET, *_CLIENTS_OWN, "session.update", "session.close", "response.mcp_call.", "ping")
"""How the types of the rest begin. How a server's call goes is told by its item, and may outlast its response."""
_FAILURES = ("error", "conversation.item.input_audio_transcription.failed", "mcp_list_tools.failed")
_MOST_ENDED = 16
"""Responses of which the end is remembered."""


class State(Exchange):
    """The responses of one session that are open, by their ids."""

    responses: dict[str, Response] = field(default_factory=dict)
    ended_responses: list[str] = field(default_factory=list)
    model: str | None = None
    forced: str | None = None
    """The tool that the session's settings force, as it was told last."""


def recognises(value: Any, event_name: str | None) -> bool:
    """A server's event with its id, or one of a client. The Responses API's events have a sequence number instead."""
    del event_name
    fields = dict_of(value)
    kind = fields.get("type")
    if not isinstance(kind, str):
        return False
    if kind in _CLIENT:
        return _CLIENT[kind] in fields
    return kind.startswith(_SERVER) and isinstance(fields.get("event_id"), str) and "sequence_number" not in fields


def envelope(value: Any, event_name: str | None) -> Envelope:
    """The kind is the event's `type`."""
    return Envelope(kind=cleaned(dict_of(value).get("type")) or cleaned(event_name) or "unknown")


def _read(state: State, frame: Frame, out: Deltas) -> None:
    value, run_id = dict_of(frame.value), frame.run_id
    kind = cleaned(value.get("type")) or ""
    if kind.startswith("response.") and kind not in _CLIENTS_OWN and not kind.startswith("response.mcp_call."):
        _read_response(state, frame, kind, value, out)
    elif kind in ITEM_KINDS:
        read_conversation_item(run_id, kind, value, _items_of(state), out)
    elif kind in ("session.created", "session.updated"):
        session = dict_of(value.get("session"))
        state.model = cleaned(session.get("model")) or state.model
        state.forced = read_tool_choice(run_id, session, out, known=state.forced)
    elif kind == "response.create":
        read_tool_choice(run_id, dict_of(value.get("response")), out)
    elif kind in _FAILURES:
        # The session goes on, and so do the responses that are open.
        out.append(finding(run_id, "failure", error_text(value.get("error") or value), "error"))
    elif not kind.startswith(_SAYS_NOTHING):
        out.append(unknown_frame(frame, kind or None))
    state.terminated = not state.responses


def _items_of(state: State) -> set[str]:
    return {item for response in state.responses.values() for item in response.items}


def _read_response(state: State, frame: Frame, kind: str, value: dict[str, Any], out: Deltas) -> None:
    fields = dict_of(value.get("response"))
    id = cleaned(fields.get("id")) or cleaned(value.get("response_id")) or next(reversed(state.responses), "")
    if id in state.ended_responses:
        out.append(finding(frame.run_id, "message-without-start", f"{kind} comes after response.done", "warning"))
        return
    response = state.responses.get(id)
    if response is None:
        if kind not in ("response.created", "response.done"):
            detail = f"{kind} comes before response.created"
            out.append(finding(frame.run_id, "message-without-start", detail, "warning"))
        response = _open(state, frame.run_id, id, out)
    target = Target(frame.run_id, response, out)
    if kind == "response.done":
        _finish(state, target, id, value, fields)
    elif kind != "response.created" and not read_response_event(target, kind, value):
        out.append(unknown_frame(frame, kind))


def _open(state: State, run_id: str, id: str, out: Deltas) -> Response:
    """A new response. Its message is choice 0 of the session, unless that one is open: then the next that is free."""
    taken = {response.choice for response in state.responses.values()}
    choice = next(number for number in range(len(taken) + 1) if number not in taken)
    response = state.responses[id] = Response(choice=choice)
    out.append(MessageStarted(run_id=run_id, choice=choice, message_id=id or None, role="ai", model=state.model))
    return response


def _finish(state: State, target: Target, id: str, value: dict[str, Any], fields: dict[str, Any]) -> None:
    """`response.done`: the output again, the counts (xAI's stand beside the response), and how it ended."""
    run_id, choice, out = target.run_id, target.response.choice, target.out
    read_output(target, fields.get("output"))
    if counts := openai_counts(fields.get("usage")) or openai_counts(value.get("usage")):
        out.append(Usage(run_id=run_id, choice=choice, counts=counts))
    status = reason_of(fields.get("status"))
    details = dict_of(fields.get("status_details"))
    if status == "failed":
        out.append(finding(run_id, "failure", error_text(details.get("error") or details or status), "error"))
    if status is not None:
        reason = reason_of(details.get("reason")) or status
        truncating = status != "completed"
        out.append(MessageFinished(run_id=run_id, choice=choice, finish_reason=reason, truncating=truncating))
    out.append(MessageClosed(run_id=run_id, choice=choice))
    del state.responses[id]
    if id:
        state.ended_responses = [*state.ended_responses, id][-_MOST_ENDED:]


def _read_request(frame: Frame, out: Deltas) -> None:
    """The request that opens a session asks for nothing: the session's events do."""


OPENAI_REALTIME = Dialect(
    name="openai.realtime",
    layer="wire",
    state=State,
    recognises=recognises,
    envelope=envelope,
    step=stepper(_read, _read_request),
)
