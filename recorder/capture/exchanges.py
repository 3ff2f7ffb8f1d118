"""The exchanges of a document into events: each a run with the dialect of its own."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from msgspec import Struct, field

from recorder import dialects
from recorder.capture.recording import FrameRecorder, dialect_of_frames
from recorder.dialects import UNKNOWN
from recorder.events import NewEvent, ids
from recorder.sources import Part

MAY_CALL_A_MODEL = ("POST", "PUT", "PATCH", "")
"""Methods (the last one: it was not recorded) by which a URL says what comes back. A browser asks by `OPTIONS` first,
and what `GET` brings from the same address is a list of earlier answers."""


class Taken(Struct):
    """What a document's exchanges come to."""

    events: list[NewEvent] = field(default_factory=list)
    exchanges: int = 0
    left_out: int = 0
    """How many exchanges are no model traffic and were not wanted."""


def exchange_events(
    stream: bytes, parts: Iterable[Part], *, dialect: str | None = None, everything: bool = True
) -> Taken:
    """The events of a document for the stream with this UUID, in order.

    A `dialect` that is given is believed. Without `everything` an exchange is taken only if its own dialect is known,
    if its answer was streamed, whatever in, or if it may be in the dialect that is given. Ids of runs come from the
    exchange's place in the document: they do not depend on what is left out.
    """
    recorder = FrameRecorder(stream, dialect=dialect)
    taken = Taken()
    for exchange, found in groupby(parts, key=lambda part: part.exchange):
        group = list(found)
        taken.exchanges += 1
        own = _dialect_of(group)
        if not (
            everything or own != UNKNOWN or _was_streamed(group) or (dialect is not None and _asks_for_work(group))
        ):
            taken.left_out += 1
            continue
        recorder.dialect = dialect or own
        run_id = ids.derived_run_id(stream, exchange)
        for part in group:
            if part.frame is not None:
                event = recorder.event(part.frame, exchange=exchange, meta=part.meta, occurred_at=part.occurred_at)
            else:
                event = recorder.part(part.kind, run_id, part.meta or {}, part.body, occurred_at=part.occurred_at)
            taken.events.append(event)
    return taken


def _dialect_of(parts: list[Part]) -> str:
    """What the frames show, or what the URL says, where none shows it (an error, an empty body)."""
    shown = dialect_of_frames(part.frame for part in parts if part.frame is not None)
    if shown is not None:
        return shown
    request, response = _meta(parts, "http.request"), _meta(parts, "http.response")
    status = response.get("status") or 0
    if not (_asks_for_work(parts) or status == 101) or 300 <= status < 400:
        return UNKNOWN
    return dialects.dialect_of_url(str(request.get("url", ""))) or UNKNOWN


def _asks_for_work(parts: list[Part]) -> bool:
    return str(_meta(parts, "http.request").get("method", "")).upper() in MAY_CALL_A_MODEL


def _was_streamed(parts: list[Part]) -> bool:
    return any(part.kind == "http.response" and part.framing != "json" for part in parts)


def _meta(parts: list[Part], kind: str) -> dict[str, Any]:
    return next((part.meta or {} for part in parts if part.kind == kind), {})
