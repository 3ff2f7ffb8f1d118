"""The ground floor: events, their hashes, their clocks and ids, and JSON text as it occurs in recordings."""

from recorder.events.event import ENVELOPE_VERSION, Encoding, Event, Layer, NewEvent

__all__ = ["ENVELOPE_VERSION", "Encoding", "Event", "Layer", "NewEvent"]
