"""`gemini.interactions`: Google's Interactions API, streamed or whole.

Source: the Gemini API reference, *Interactions*, and Google's SDK for Python for the first version's events
(`interaction.start`, `content.start`, …), which say the same under other names.
"""

from __future__ import annotations

from typing import Any

from msgspec import field

from recorder.deltas import MessageFinished, MessageStarted, ToolCallChunk, Usage
from recorder.dialects.base import DONE, Dialect, Envelope, is_done
from recorder.dialects.frames import Deltas, Frame, malformed, unknown_frame
from recorder.dialects.gemini_interactions_request import read_request
from recorder.dialects.gemini_steps import Steps, read_delta, start_step, stop_step
from recorder.dialects.gemini_usage import google_counts
from recorder.dialects.http import Exchange, begin_answer, end_exchange, fail, stepper
from recorder.dialects.values import arguments_of, cleaned, dict_of, id_of, list_of, text_of

_CREATED = ("interaction.created", "interaction.start")
_COMPLETED = ("interaction.completed", "interaction.complete")
_STEPS = ("step.start", "step.delta", "step.stop", "content.start", "content.delta", "content.stop")
_NATURAL = ("completed", "requires_action", "idle")
"""Statuses in which nothing was cut off; `requires_action` is a wait for the client's tools. One that is still running
(`in_progress`, `queued`) is none: it comes whole with a later request."""


class State(Exchange):
    """The interaction that is open."""

    open: bool = False
    id: str = ""
    steps: Steps = field(default_factory=Steps)


def recognises(value: Any, event_name: str | None) -> bool:
    """An event type of this API with the fields that belong to it, or an interaction."""
    del event_name
    fields = dict_of(value)
    kind = fields.get("event_type")
    if isinstance(kind, str):
        return (kind.startswith("interaction.") and bool(fields.keys() & {"interaction", "interaction_id"})) or (
            kind in _STEPS and "index" in fields
        )
    return _is_interaction(fields)


def envelope(value: Any, event_name: str | None) -> Envelope:
    """The kind is the frame's `event_type`, `interaction` for a whole one."""
    if is_done(value):
        return Envelope(kind=DONE)
    fields = dict_of(value)
    if kind := cleaned(fields.get("event_type")):
        return Envelope(kind=kind)
    if fields.get("error"):
        return Envelope(kind="error")
    return Envelope(kind="interaction" if _is_interaction(fields) else cleaned(event_name) or "unknown")


def _is_interaction(fields: dict[str, Any]) -> bool:
    if fields.get("object") == "interaction":
        return True
    return isinstance(fields.get("status"), str) and any(
        isinstance(fields.get(name), list) for name in ("steps", "outputs")
    )


def _read(state: State, frame: Frame, out: Deltas) -> None:
    value, run_id = frame.value, frame.run_id
    if not isinstance(value, dict):
        out.append(unknown_frame(frame))
        return
    kind = text_of(value.get("event_type"))
    if kind in _STEPS:
        _ensure_open(state, run_id, out)
        _read_step(state, run_id, str(kind), value, out)
    elif kind in _CREATED:
        _open(state, run_id, dict_of(value.get("interaction")), out)
    elif kind in _COMPLETED:
        _complete(state, run_id, value.get("interaction"), out)
    elif kind == "error" or value.get("error"):
        fail(state, run_id, value.get("error") or value, out)
    elif kind is None and _is_interaction(value):
        _open(state, run_id, value, out)
        _complete(state, run_id, value, out)
    elif kind != "interaction.status_update":
        out.append(unknown_frame(frame, kind))
    if kind is not None:
        _read_usage(run_id, value.get("usage"), out)


def _read_step(state: State, run_id: str, kind: str, value: dict[str, Any], out: Deltas) -> None:
    index = value.get("index")
    if kind.endswith("start"):
        start_step(state.steps, run_id, index, value.get("step", value.get("content")), out, whole=False)
    elif kind.endswith("delta"):
        read_delta(state.steps, run_id, index, value.get("delta"), out)
    else:
        stop_step(state.steps, run_id, index, out)


def _open(state: State, run_id: str, interaction: dict[str, Any], out: Deltas) -> None:
    """A stream that is taken up again says its interaction's start again; under another id it is another one."""
    id = cleaned(interaction.get("id")) or ""
    if state.open and not state.ended and id == state.id:
        return
    restart = state.open and not state.ended
    if state.ended:
        begin_answer(state, run_id, out)
    model = cleaned(interaction.get("model")) or cleaned(interaction.get("agent"))
    out.append(MessageStarted(run_id=run_id, message_id=id or None, role="ai", model=model, restart=restart))
    state.open, state.terminated, state.id, state.steps = True, False, id, Steps()


def _ensure_open(state: State, run_id: str, out: Deltas) -> None:
    if not state.open or state.ended:
        _open(state, run_id, {}, out)


def _complete(state: State, run_id: str, value: object, out: Deltas) -> None:
    """The interaction's end: its status and counts, and all its steps where nothing of them was streamed."""
    if not isinstance(value, dict):
        out.append(malformed(run_id, "interaction", value))
    interaction = dict_of(value)
    _ensure_open(state, run_id, out)
    if not state.id and (id := cleaned(interaction.get("id"))):
        # A stream that was taken up in its middle has no start.
        out.append(MessageStarted(run_id=run_id, message_id=id, model=cleaned(interaction.get("model"))))
        state.id = id
    steps = interaction.get("steps", interaction.get("outputs"))
    if state.steps.by_index:
        _confirm(run_id, list_of(steps), out)
    else:
        for index, step in enumerate(list_of(steps)):
            start_step(state.steps, run_id, index, step, out, whole=True)
    _read_usage(run_id, interaction.get("usage"), out)
    if interaction.get("errors"):
        fail(state, run_id, interaction["errors"], out)
    status = text_of(interaction.get("status"))
    if status is not None:
        out.append(MessageFinished(run_id=run_id, finish_reason=status, truncating=status not in _NATURAL))
    end_exchange(state, run_id, out)


def _confirm(run_id: str, steps: list[Any], out: Deltas) -> None:
    """Calls that were streamed, said again whole."""
    for step in map(dict_of, steps):
        id = id_of(step.get("id"))
        if id and step.get("type") == "function_call":
            args = arguments_of(step.get("arguments"))
            out.append(ToolCallChunk(run_id=run_id, id=id, name=text_of(step.get("name")), args=args, restated=True))


def _read_usage(run_id: str, usage: object, out: Deltas) -> None:
    if counts := google_counts(usage):
        out.append(Usage(run_id=run_id, counts=counts))


GEMINI_INTERACTIONS = Dialect(
    name="gemini.interactions",
    layer="wire",
    state=State,
    recognises=recognises,
    envelope=envelope,
    step=stepper(_read, read_request),
)
