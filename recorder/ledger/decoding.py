"""Decoders of one stream: which one reads an event, and the state that each has kept."""

from __future__ import annotations

from typing import Any

import msgspec

from recorder import dialects
from recorder.deltas import AnyDelta, Erased
from recorder.dialects import base
from recorder.events import Event


class Decoders:
    """On the wire every exchange has a decoder of its own; a framework's dialect has one for the whole stream."""

    def __init__(self) -> None:
        self._states: dict[str, Any] = {}

    def decode(self, event: Event) -> list[AnyDelta]:
        """What the event says. Of an erased event nothing but that is known."""
        if event.erased:
            return [Erased(run_id=event.run_id or "")]
        dialect = dialects.get(event.dialect)
        key = f"{dialect.name} {event.run_id or ''}" if dialect.layer == "wire" else dialect.name
        state = self._states.get(key)
        state, deltas = dialect.step(dialect.start() if state is None else state, event)
        if event.kind in (base.END, base.ERROR) and dialect.layer == "wire":
            self._states.pop(key, None)
        else:
            self._states[key] = state
        return deltas

    def save(self) -> dict[str, Any]:
        """The states as plain values, for a snapshot."""
        return {key: msgspec.to_builtins(state, str_keys=True) for key, state in self._states.items()}

    @classmethod
    def restore(cls, saved: dict[str, Any]) -> Decoders:
        """The decoders as they were saved."""
        decoders = cls()
        for key, plain in saved.items():
            kind = dialects.get(key.partition(" ")[0]).state
            decoders._states[key] = msgspec.convert(plain, kind, str_keys=True)
        return decoders
