"""Frames into events: which dialect a frame is in, and what the envelope says of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from recorder import dialects
from recorder.dialects import UNKNOWN, base
from recorder.events import NewEvent, clock, framing, ids, jsontext
from recorder.sources import Frame, template_of

_KINDS = {"partial": base.PARTIAL, "comment": base.COMMENT, "damaged": base.DAMAGED}


class FrameRecorder:
    """Makes the events of one stream from the frames of one source.

    `stream` is the stream's UUID, `last` the number of events that it has. A `dialect` that is given is believed. Else
    the first frame to show one decides for the frames after it: a server's error object looks the same in all of them.
    """

    def __init__(self, stream: bytes, *, last: int = 0, dialect: str | None = None) -> None:
        self._stream = stream
        self._ordinal = last
        self._given = dialect is not None
        self.dialect = dialect if dialect is not None else UNKNOWN
        self._run_of_exchange = (0, "")

    def look_ahead(self, frames: Iterable[Frame]) -> None:
        """Lets later frames tell the dialect of earlier ones."""
        if not self._wanted:
            return
        self.dialect = dialect_of_frames(frames) or UNKNOWN

    def event(
        self, frame: Frame, *, exchange: int = 1, meta: dict[str, Any] | None = None, occurred_at: int | None = None
    ) -> NewEvent:
        """The next event: the frame as the `exchange`-th answer of the stream streams it.

        `meta` and `occurred_at` are what the source says of it beside the frame.
        """
        envelope = self._envelope(frame) if frame.kind == "data" else base.Envelope(kind=_KINDS[frame.kind])
        template, explicit = template_of(frame, envelope.kind)
        dialect = dialects.get(self.dialect)
        run_id = envelope.run_id
        if run_id is None and dialect.layer == "wire":
            run_id = self._run_of(exchange)
        return NewEvent(
            event_id=self.next_id(),
            dialect=self.dialect,
            layer=dialect.layer,
            kind=envelope.kind,
            body=frame.body,
            framing=template,
            frame=explicit,
            arrived_at=clock.now(),
            run_id=run_id,
            parent_run_id=envelope.parent_run_id,
            name=envelope.name,
            source_id=frame.id,
            occurred_at=envelope.occurred_at if occurred_at is None else occurred_at,
            meta=_meta(meta, None if explicit is None else frame.headers),
        )

    def part(
        self,
        kind: str,
        run_id: str,
        meta: dict[str, Any],
        body: bytes = b"",
        *,
        arrived_at: int | None = None,
        occurred_at: int | None = None,
    ) -> NewEvent:
        """The next event: a part of an exchange that is no frame (`http.request`, `http.end`).

        `meta` by kind as in `recorder.sources.exchange.Part`; `arrived_at`: microseconds, None for now.
        """
        redacted = meta.get("redacted")
        return NewEvent(
            event_id=self.next_id(),
            dialect=self.dialect,
            layer=dialects.get(self.dialect).layer,
            kind=kind,
            body=body,
            framing=framing.NONE,
            arrived_at=clock.now() if arrived_at is None else arrived_at,
            occurred_at=occurred_at,
            run_id=run_id,
            meta=msgspec.json.encode(meta) if meta else None,
            redacted=", ".join(redacted) if redacted else None,
        )

    @property
    def _wanted(self) -> bool:
        """Whether the dialect is still to be found out."""
        return self.dialect == UNKNOWN and not self._given

    def next_id(self) -> bytes:
        """The id of the next event of this source."""
        self._ordinal += 1
        return ids.derived_event_id(self._stream, self._ordinal)

    def _run_of(self, exchange: int) -> str:
        if self._run_of_exchange[0] != exchange:
            self._run_of_exchange = (exchange, ids.derived_run_id(self._stream, exchange))
        return self._run_of_exchange[1]

    def _envelope(self, frame: Frame) -> base.Envelope:
        value = _value(frame.body)
        if self._wanted and (found := dialects.recognise(value, frame.event)):
            self.dialect = found.name
        return dialects.get(self.dialect).envelope(value, frame.event)


def dialect_of_frames(frames: Iterable[Frame]) -> str | None:
    """The dialect that the first frame shows which shows one."""
    for frame in frames:
        if frame.kind == "data" and (found := dialects.recognise(_value(frame.body), frame.event)):
            return found.name
    return None


def _meta(told: dict[str, Any] | None, headers: Mapping[str, Any] | None) -> bytes | None:
    """What the source says beside the frame, and an AWS message's headers, where the template does not say them."""
    meta = (told or {}) | ({"headers": headers} if headers else {})
    return jsontext.encode(meta).encode() if meta else None


def _value(body: bytes) -> Any:
    """The frame's JSON value, or its text where it is none."""
    try:
        return jsontext.decode_leniently(body)[0]
    except jsontext.NotJson:
        return body.decode("utf-8", "replace")
