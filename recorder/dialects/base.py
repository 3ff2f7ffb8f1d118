"""What a dialect is: a name, an eye for its own frames, and two pure functions.

A dialect file has no I/O and no state of its own. `envelope` reads from a frame what the event's envelope says of it;
`step` turns the events of one exchange (on the wire) or of one stream (a framework) into deltas.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct, structs

from recorder.deltas import AnyDelta
from recorder.events import Event, Layer, NewEvent

DONE = "done"
"""Kind of a terminator that is no JSON (`[DONE]`)."""
COMMENT = "comment"
"""Kind of an SSE comment or of a block without data."""
PARTIAL = "partial"
"""Kind of a remainder at the end of the input: no frame yet."""
DAMAGED = "damaged"
"""Kind of bytes that are no frame, or of one that is not as it was sent (its checksum does not fit)."""
REQUEST, RESPONSE, END, ERROR = "http.request", "http.response", "http.end", "http.error"
"""Kinds of the parts of an exchange."""
_NO_FRAMES = frozenset({DONE, COMMENT, PARTIAL, DAMAGED, REQUEST, RESPONSE, END, ERROR})


def is_done(value: object) -> bool:
    """Whether a frame's value is the terminator that is no JSON."""
    return isinstance(value, str) and value.strip() == "[DONE]"


class Envelope(Struct, frozen=True, kw_only=True):
    """What a dialect reads from a frame for the event's envelope. None leaves the field to the source."""

    kind: str
    run_id: str | None = None
    parent_run_id: str | None = None
    name: str | None = None
    occurred_at: int | None = None


class Dialect(Struct, frozen=True, kw_only=True):
    """One wire (or framework) that agents speak.

    `start()` gives the decoder's state before the first event: a msgspec Struct of plain values, for it is kept in
    snapshots. `step(state, event)` gives the state after the event and the deltas that the event says; it may reuse
    (and mutate) the state that it was given, never raises, and says `Finding` where it cannot read.
    """

    name: str
    layer: Layer
    state: type[Struct]
    recognises: Callable[[Any, str | None], bool]
    """Whether a frame's JSON value (and its SSE event name) can only be this dialect's."""
    envelope: Callable[[Any, str | None], Envelope]
    """The envelope of a frame: its JSON value (or `[DONE]` as text) and its SSE event name.

    Whatever the frame calls itself, its kind is none of those that say that an event is no frame.
    """
    step: Callable[[Any, Event | NewEvent], tuple[Any, list[AnyDelta]]]
    piece: Callable[[Any, Event | NewEvent], AnyDelta | None] | None = None
    """`piece(state, event)`: a short way through `step` for the frames that nearly all are, one more piece of what is
    open. It gives the only delta that `step` would give, of an event that leaves the state as it is; None for others.
    """

    def __post_init__(self) -> None:
        structs.force_setattr(self, "envelope", _of_frames(self.envelope))

    def start(self) -> Struct:
        return self.state()


def _of_frames(read: Callable[[Any, str | None], Envelope]) -> Callable[[Any, str | None], Envelope]:
    """The reader of envelopes, to which a frame that says `"type": "http.end"` of itself is of an unknown kind."""

    def envelope(value: Any, event_name: str | None) -> Envelope:
        found = read(value, event_name)
        if found.kind not in _NO_FRAMES or (found.kind == DONE and is_done(value)):
            return found
        return structs.replace(found, kind="unknown")

    return envelope
