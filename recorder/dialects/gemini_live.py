"""`gemini.live`: the messages of Google's Live API, one a frame, as a websocket carried them.

Source: the Live API reference, `BidiGenerateContentServerMessage` and `BidiGenerateContentClientMessage`. A session is
one exchange of many turns. The client's messages are read as well, where a recording has them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recorder.deltas import Finding, History, RunStarted, ToolFailed, ToolMessage, Usage
from recorder.dialects.base import Dialect, Envelope
from recorder.dialects.frames import Deltas, Frame, malformed, unknown_frame
from recorder.dialects.gemini_calls import read_call
from recorder.dialects.gemini_names import named
from recorder.dialects.gemini_parts import read_content
from recorder.dialects.gemini_request import history_of
from recorder.dialects.gemini_tools import result
from recorder.dialects.gemini_turns import INTERRUPTED, TurnState, content_target, end_turn, finish, tool_call_target
from recorder.dialects.gemini_usage import google_counts
from recorder.dialects.http import fail, stepper
from recorder.dialects.values import cleaned, dict_of, id_of, list_of, text_of
from recorder.events.jsontext import clean

_ITS_OWN = ("setupComplete", "serverContent", "toolCall", "toolCallCancellation", "goAway")
"""Fields that only the Live API's server sends."""
_SILENT = ("goAway", "realtimeInput", "sessionResumptionUpdate", "voiceActivity", "voiceActivityDetectionSignal")
"""What is about the connection, and input that is heard, not read."""
_TRANSCRIPTIONS = {
    "inputTranscription": "input_transcription",
    "interimInputTranscription": "interim_input_transcription",
    "outputTranscription": "output_transcription",
}
"""Their blocks. An interim one is said anew each time, the others grow."""
_READ_BY_NAME = {
    *_TRANSCRIPTIONS,
    "generationComplete",
    "interrupted",
    "modelTurn",
    "turnComplete",
    "turnCompleteReason",
}
_GOOD_REASONS = ("TURN_COMPLETE_REASON_UNSPECIFIED", "NEED_MORE_INPUT")
"""Reasons for a turn's end that cut nothing off; all others are refusals and failures."""


def recognises(value: Any, event_name: str | None) -> bool:
    """A server's message. What others have too (`usageMetadata`, `error`) belongs to the frames around it."""
    del event_name
    fields = named(value)
    return any(isinstance(fields.get(name), dict) for name in _ITS_OWN)


def envelope(value: Any, event_name: str | None) -> Envelope:
    """The kind is the name of the message's own field; counts stand beside it, or alone."""
    names = list(named(value))
    known = [name for name in names if name in _READERS or name in _SILENT]
    return Envelope(kind=cleaned(next(iter(known or names), None)) or cleaned(event_name) or "unknown")


def _read(state: TurnState, frame: Frame, out: Deltas) -> None:
    fields = named(frame.value)
    for name, read in _READERS.items():
        if fields.get(name) is not None:
            read(state, frame.run_id, fields[name], out)
    if state.phase and (counts := google_counts(fields.get("usageMetadata"))):
        out.append(Usage(run_id=frame.run_id, counts=counts))
    if not any(name in fields for name in (*_READERS, *_SILENT, "usageMetadata")):
        out.append(unknown_frame(frame))


# What the server says


def _read_setup_complete(state: TurnState, run_id: str, value: object, out: Deltas) -> None:
    if not state.phase:
        state.terminated = True  # between turns a connection may be closed
    if (session := cleaned(named(value).get("sessionId"))) is not None:
        out.append(RunStarted(run_id=run_id, kind="exchange", metadata={"session_id": session}))


def _read_server_content(state: TurnState, run_id: str, value: object, out: Deltas) -> None:
    """A piece of the turn, what was heard and said as text, and how far the turn is."""
    if not isinstance(value, dict):
        out.append(malformed(run_id, "serverContent", value))
        return
    fields = named(value)
    model_turn = fields.get("modelTurn")
    spoken = {name: named(fields.get(name)) for name in _TRANSCRIPTIONS}
    if dict_of(model_turn).get("parts") or any(text_of(each.get("text")) for each in spoken.values()):
        target = content_target(state, run_id, out)
        for name, transcription in spoken.items():
            for field, item in transcription.items():
                if field == "text" and isinstance(item, str) and name != "interimInputTranscription":
                    target.add_text(_TRANSCRIPTIONS[name], _TRANSCRIPTIONS[name], item, "text")
                elif item is not None:
                    target.add_item(_TRANSCRIPTIONS[name], _TRANSCRIPTIONS[name], cleaned(field) or "", item)
        read_content(target, model_turn, "serverContent.modelTurn")
    if state.phase:
        for field, item in fields.items():
            if field not in _READ_BY_NAME and item is not None and item not in ({}, []):
                state.target(run_id, out).add_said(cleaned(field) or "", item)
        _read_marks(state, run_id, fields, out)


def _read_marks(state: TurnState, run_id: str, fields: dict[str, Any], out: Deltas) -> None:
    """A turn was interrupted, or all of it was generated, or it is over; only of some ends a reason is said."""
    if fields.get("interrupted") is True:
        finish(state, run_id, INTERRUPTED, out, truncating=True)
    if fields.get("generationComplete") is True:
        finish(state, run_id, None, out)
    if fields.get("turnComplete") is True:
        reason = cleaned(fields.get("turnCompleteReason")) or None
        finish(state, run_id, reason, out, truncating=reason is not None and reason.upper() not in _GOOD_REASONS)
        end_turn(state)


def _read_tool_call(state: TurnState, run_id: str, value: object, out: Deltas) -> None:
    """The server asks for calls to be run: the message that says so is the last of them."""
    target = tool_call_target(state, run_id, out)
    for call in list_of(named(value).get("functionCalls")):
        read_call(target, call)
    if not target.answer.going_on:
        finish(state, run_id, None, out)


def _read_cancellation(state: TurnState, run_id: str, value: object, out: Deltas) -> None:
    """The user spoke before the calls were answered: their answers are no longer wanted."""
    del state
    for id in map(id_of, list_of(named(value).get("ids"))):
        if id is not None:
            out.append(ToolFailed(run_id=run_id, tool_call_id=id, name=None, error="cancelled by the server"))
            detail = clean(f"the server takes call {id!r} back")
            out.append(Finding(run_id=run_id, rule="call-cancelled", severity="info", detail=detail, call_id=id))


def _read_error(state: TurnState, run_id: str, value: object, out: Deltas) -> None:
    """A gateway's; Google closes the connection instead."""
    fail(state, run_id, value, out)


# What the client says


def _read_setup(state: TurnState, run_id: str, value: object, out: Deltas) -> None:
    del run_id, out
    state.model = cleaned(named(value).get("model")) or state.model


def _read_client_content(state: TurnState, run_id: str, value: object, out: Deltas) -> None:
    del state
    if entries := list(history_of(list_of(named(value).get("turns")))):
        out.append(History(run_id=run_id, entries=entries, source="request"))


def _read_tool_response(state: TurnState, run_id: str, value: object, out: Deltas) -> None:
    for response in list_of(named(value).get("functionResponses")):
        found = result("functionResponse", named(response))
        out.append(
            ToolMessage(
                run_id=run_id,
                tool_call_id=found.id,
                content=found.content,
                name=found.name,
                status=found.status,
            )
        )
    end_turn(state)


_READERS: dict[str, Callable[[TurnState, str, Any, Deltas], None]] = {
    "setup": _read_setup,
    "clientContent": _read_client_content,
    "toolResponse": _read_tool_response,
    "setupComplete": _read_setup_complete,
    "serverContent": _read_server_content,
    "toolCall": _read_tool_call,
    "toolCallCancellation": _read_cancellation,
    "error": _read_error,
}

GEMINI_LIVE = Dialect(
    name="gemini.live",
    layer="wire",
    state=TurnState,
    recognises=recognises,
    envelope=envelope,
    step=stepper(_read, lambda frame, out: None),
)
