"""The exchanges of a cassette into events: each a run with the dialect of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

import msgspec

from recorder import dialects
from recorder.capture.recording import FrameRecorder
from recorder.dialects import UNKNOWN
from recorder.events import NewEvent, clock, framing, ids
from recorder.sources import Part


def exchange_events(stream: bytes, parts: Iterable[Part], *, dialect: str | None = None) -> Iterator[NewEvent]:
    """The events of a cassette for the stream with this UUID, in order."""
    recorder = FrameRecorder(stream, dialect=dialect)
    for exchange, found in groupby(parts, key=lambda part: part.exchange):
        group = list(found)
        recorder.dialect = dialect or UNKNOWN
        recorder.look_ahead(part.frame for part in group if part.frame is not None)
        if dialect is None and recorder.dialect == UNKNOWN:
            recorder.dialect = _dialect_of_request(group) or UNKNOWN
        run_id = ids.derived_run_id(stream, exchange)
        for part in group:
            if part.frame is not None:
                yield recorder.event(part.frame, exchange=exchange)
            else:
                yield _event(recorder, part, run_id)


def _event(recorder: FrameRecorder, part: Part, run_id: str) -> NewEvent:
    meta: dict[str, Any] = part.meta or {}
    redacted = meta.get("redacted")
    return NewEvent(
        event_id=recorder.next_id(),
        dialect=recorder.dialect,
        layer=dialects.get(recorder.dialect).layer,
        kind=part.kind,
        body=part.body,
        framing=framing.NONE,
        arrived_at=clock.now(),
        run_id=run_id,
        meta=msgspec.json.encode(meta) if meta else None,
        redacted=", ".join(redacted) if redacted else None,
    )


def _dialect_of_request(parts: list[Part]) -> str | None:
    """What the URL says, for an answer in which no frame shows its dialect (an error, an empty body)."""
    for part in parts:
        if part.kind == "http.request" and part.meta is not None:
            return dialects.dialect_of_url(str(part.meta.get("url", "")))
    return None
