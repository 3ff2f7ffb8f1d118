"""Events of older envelope versions, read as today's: one small function a step.

The chain's hash was made over the event as it was stored: verify first, upcast after.
"""

from __future__ import annotations

from collections.abc import Callable

from recorder.errors import Corrupt
from recorder.events.event import ENVELOPE_VERSION, Event

STEPS: dict[int, Callable[[Event], Event]] = {}
"""From a version to the next one: `STEPS[1]` takes an event of version 1 and gives one of version 2."""


def upcast(event: Event) -> Event:
    """The event in today's version. Raises `Corrupt` for a version that this program does not know."""
    while event.version != ENVELOPE_VERSION:
        step = STEPS.get(event.version)
        if step is None:
            raise Corrupt(
                f"event {event.seq} has version {event.version}, which this program does not know: upgrade recorder"
            )
        event = step(event)
    return event
