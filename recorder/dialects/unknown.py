"""`unknown`: frames that no dialect recognised; they are counted, and an exchange around them is still a run."""

from __future__ import annotations

from typing import Any

from recorder.deltas import AnyDelta
from recorder.dialects.base import END, Dialect, Envelope
from recorder.dialects.frames import Deltas, finding, seen
from recorder.dialects.http import Exchange, read_part
from recorder.dialects.values import cleaned, dict_of
from recorder.events import Event, NewEvent
from recorder.events.framing import VERBATIM

_KIND_FIELDS = ("type", "event", "object", "event_type", "kind")


def recognises(value: Any, event_name: str | None) -> bool:
    """Nothing is recognised as unknown: it is what remains."""
    del value, event_name
    return False


def envelope(value: Any, event_name: str | None) -> Envelope:
    """The kind is the SSE event's name, or a field that looks like one, so that a reader sees more than `unknown`."""
    fields = dict_of(value)
    named = (fields[key] for key in _KIND_FIELDS if isinstance(fields.get(key), str))
    return Envelope(kind=cleaned(event_name) or cleaned(next(named, None)) or "unknown")


def step(state: Exchange, event: Event | NewEvent) -> tuple[Exchange, list[AnyDelta]]:
    """Says a finding for every frame, but for the one frame of an answer that was not streamed: most of what a program
    fetches is nothing that a model said. The end of an unknown exchange is a proper one: nobody knows its terminator.
    """
    out: Deltas = []
    if event.kind == END:
        state.terminated = True
    if not read_part(state, event, out) and not (_is_whole_answer(state, event) and event.dialect == UNKNOWN.name):
        detail = f"{event.kind}: not in any known dialect: {seen(event.body)}"
        out.append(finding(event.run_id or "", "unknown-frame", detail))
    return state, out


def _is_whole_answer(state: Exchange, event: Event | NewEvent) -> bool:
    """Whether the frame is all of an answer's body (or a web socket's message): nothing frames it."""
    return state.status is not None and event.framing == VERBATIM and event.frame is None


UNKNOWN = Dialect(
    name="unknown",
    layer="wire",
    state=Exchange,
    recognises=recognises,
    envelope=envelope,
    step=step,
)
