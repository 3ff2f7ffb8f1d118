"""Decoders of one stream: which one reads an event, and the state that each has kept."""

from __future__ import annotations

from typing import Any

import msgspec

from recorder import dialects
from recorder.deltas import AnyDelta, Erased
from recorder.dialects import Dialect, base
from recorder.events import Event


class Decoders:
    """On the wire every exchange has a decoder of its own; a framework's dialect has one for the whole stream."""

    def __init__(self) -> None:
        self._states: dict[str, Any] = {}
        self._latest: tuple[str, str | None, Dialect, str] | None = None
        """Dialect and run of the latest event, and what they lead to: the next event is mostly of the same."""

    def decode(self, event: Event) -> list[AnyDelta]:
        """What the event says. Of an erased event nothing but that is known."""
        if event.erased:
            return [Erased(run_id=event.run_id or "")]
        latest = self._latest
        if latest is None or event.run_id != latest[1] or event.dialect != latest[0]:
            found = dialects.get(event.dialect)
            place = f"{found.name} {event.run_id or ''}" if found.layer == "wire" else found.name
            latest = self._latest = (event.dialect, event.run_id, found, place)
        _, _, dialect, key = latest
        state = self._states.get(key)
        if dialect.piece is not None and state is not None and (piece := dialect.piece(state, event)) is not None:
            return [piece]
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
