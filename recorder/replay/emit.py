"""A stream given out again: the very bytes that were recorded, or what each event changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from recorder.dialects import base
from recorder.events import Event, jsontext
from recorder.events.framing import frame_of
from recorder.ledger import Ledger
from recorder.ledger.projector import Projector
from recorder.projections.changes import ChangeCollector
from recorder.projections.fold import Gathering

Form = Literal["jsonl", "sse", "changes"]

_NATIVE = {"sse": "sse", "jsonl": "ndjson"}
_NO_PAYLOAD = frozenset({base.COMMENT, base.PARTIAL, base.DONE, base.REQUEST, base.RESPONSE, base.END, base.ERROR})


def emit(
    ledger: Ledger,
    stream: str,
    form: Form,
    *,
    first: int = 1,
    last: int | None = None,
    gather: Gathering = "default",
) -> Iterator[bytes]:
    """The stream's events `first` to `last` in the form asked for, piece by piece.

    In the form that the stream was captured in, the pieces joined are the captured bytes. In the other one, payloads
    are framed anew: `sse` as `data:` lines, `jsonl` one JSON value a line (what is no JSON is left out). `changes` is a
    JSON line an event: `{"seq": N, "changes": […]}`.
    """
    if form == "changes":
        yield from _changes(ledger, stream, first, last, gather)
        return
    capture = ledger.store.last_capture(ledger.head(stream))
    verbatim = capture is not None and capture.format == _NATIVE[form]
    frame = frame_of if verbatim else _as_sse if form == "sse" else _as_json_line
    for event in ledger.events(stream, first, last):
        yield frame(event)


def _changes(ledger: Ledger, stream: str, first: int, last: int | None, gather: Gathering) -> Iterator[bytes]:
    changes = ChangeCollector()
    projector = Projector(gathering=gather, observer=changes)
    for event in ledger.events(stream, 1, last):
        projector.advance([event])
        found = changes.take()
        if event.seq >= first:
            yield jsontext.encode({"seq": event.seq, "changes": found}).encode() + b"\n"


def _as_sse(event: Event) -> bytes:
    """The event as server-sent events; parts of an exchange that are not its answer have no place in them."""
    if event.kind in (base.REQUEST, base.RESPONSE, base.END, base.ERROR):
        return b""
    frame = frame_of(event)
    if frame.lstrip().startswith((b"data:", b"event:", b"id:", b":")):
        return frame
    lines = event.body.splitlines() or [b""]
    return b"".join(b"data: " + line + b"\n" for line in lines) + b"\n"


def _as_json_line(event: Event) -> bytes:
    """The event's payload as one line of JSON."""
    if event.kind in _NO_PAYLOAD or not event.body:
        return b""
    if b"\n" not in event.body and b"\r" not in event.body:
        return event.body + b"\n"
    try:
        return jsontext.encode(jsontext.decode(event.body)).encode() + b"\n"
    except jsontext.NotJson:
        return b""
