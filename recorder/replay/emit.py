"""A stream given out again: the very bytes that were recorded, or what each event changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from recorder.dialects import base
from recorder.events import Event, jsontext
from recorder.events.framing import EVENTSTREAM, frame_of
from recorder.ledger import Ledger
from recorder.ledger.projector import Projector
from recorder.projections.changes import ChangeCollector
from recorder.projections.fold import Gathering
from recorder.replay.parsed import ParsedCollector

Form = Literal["raw", "jsonl", "sse", "changes", "patch", "values"]

_NATIVE = {"sse": "sse", "jsonl": "ndjson"}
_HEADS = frozenset({base.REQUEST, base.RESPONSE, base.END, base.ERROR})
_NO_PAYLOAD = _HEADS | {base.COMMENT, base.PARTIAL, base.DAMAGED, base.DONE}


def emit(
    ledger: Ledger,
    stream: str,
    form: Form,
    *,
    first: int = 1,
    last: int | None = None,
    gather: Gathering = "default",
    whole_call: bool = False,
) -> Iterator[bytes]:
    """The stream's events `first` to `last` in the form asked for, piece by piece.

    In the form that the stream was captured in, and in `raw`, the pieces joined are the captured bytes (of a cassette
    those of its answers). In the other one, payloads are framed anew: `sse` as `data:` lines, with the name that an AWS
    message had; `jsonl` one JSON value a line (what is no JSON is left out). `changes` is a JSON line an event:
    `{"seq": N, "changes": […]}`. `values` and `patch` are what LangChain's JSON output parsers stream, a line a call
    and event at which its arguments read otherwise than before: `{"seq": N, "call": REF, "id": ID, "value": …}`, or in
    the value's place `"patch": […]`, from the one before; `whole_call`: of name and arguments. Of an erased event
    nothing is given out, in `changes` but its number.
    """
    if form == "changes":
        yield from _changes(ledger, stream, first, last, gather)
        return
    if form == "values" or form == "patch":
        yield from _parsed(ledger, stream, first, last, gather, form, whole_call)
        return
    capture = ledger.store.last_capture(ledger.head(stream))
    verbatim = form == "raw" or (capture is not None and capture.format == _NATIVE[form])
    frame = frame_of if verbatim else _as_sse if form == "sse" else _as_json_line
    for event in ledger.events(stream, first, last):
        if not event.erased:
            yield frame(event)


def _changes(ledger: Ledger, stream: str, first: int, last: int | None, gather: Gathering) -> Iterator[bytes]:
    changes = ChangeCollector()
    projector = Projector(gathering=gather, observer=changes)
    for event in ledger.events(stream, 1, last):
        projector.advance([event])
        found = changes.take()
        if event.seq >= first:
            yield jsontext.encode({"seq": event.seq, "changes": found}).encode() + b"\n"


def _parsed(
    ledger: Ledger,
    stream: str,
    first: int,
    last: int | None,
    gather: Gathering,
    form: Literal["values", "patch"],
    whole_call: bool,
) -> Iterator[bytes]:
    calls = ParsedCollector(whole=whole_call)
    projector = Projector(gathering=gather, observer=calls)
    for event in ledger.events(stream, 1, last):
        projector.advance([event])
        for parsed in calls.take():
            said = {"value": parsed.value} if form == "values" else {"patch": parsed.patch}
            if event.seq >= first and said.get("patch", said) is not None:
                line = {"seq": event.seq, "call": parsed.call_ref, "id": parsed.call_id, **said}
                yield jsontext.encode(line).encode() + b"\n"


def _as_sse(event: Event) -> bytes:
    """The event as server-sent events; parts of an exchange that are not its answer have no place in them."""
    if event.kind in _HEADS or event.kind == base.DAMAGED:
        return b""
    if event.framing.startswith(EVENTSTREAM):
        return f"event: {event.kind}\n".encode() + _data(event.body)
    frame = frame_of(event)
    if frame.lstrip().startswith((b"data:", b"event:", b"id:", b":")):
        return frame
    return _data(event.body)


def _data(body: bytes) -> bytes:
    lines = body.splitlines() or [b""]
    return b"".join(b"data: " + line + b"\n" for line in lines) + b"\n"


def _as_json_line(event: Event) -> bytes:
    """The event's payload as one line of JSON; nothing where it is no JSON."""
    if event.kind in _NO_PAYLOAD or not event.body:
        return b""
    try:
        value = jsontext.decode(event.body)
    except jsontext.NotJson:
        return b""
    if b"\n" not in event.body and b"\r" not in event.body:
        return event.body + b"\n"
    return jsontext.encode(value).encode() + b"\n"
