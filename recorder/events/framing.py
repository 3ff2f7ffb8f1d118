"""Templates that rebuild a frame from its body, so that the exact bytes are stored once.

A template is the frame with `{body}`, `{kind}` and `{id}` in the places of the event's body, kind and source id, for
instance `event: {kind}\\ndata: {body}\\n\\n`. Where no template rebuilds a frame exactly, the event keeps the frame.

One that begins with the line `eventstream` is of an AWS message: a line a header (`:event-type: {kind}`), then
`{body}`. Lengths and checksums are computed.
"""

from __future__ import annotations

from recorder.events import eventstream
from recorder.events.event import NewEvent

VERBATIM = "{body}"
"""The frame is the body."""
NONE = ""
"""The event left no bytes in the source (the head of an HTTP exchange)."""
EVENTSTREAM = "eventstream\n"
"""How the template of an AWS message begins."""


def render(template: str, body: bytes, kind: str, source_id: str | None) -> bytes:
    """The frame's bytes from a template."""
    if template.startswith(EVENTSTREAM):
        return _message(template, body, kind)
    head, hole, tail = template.partition("{body}")
    frame = _fill(head, kind, source_id)
    return frame + body + _fill(tail, kind, source_id) if hole else frame


def frame_of(event: NewEvent) -> bytes:
    """The exact bytes of the event's frame as the source had them."""
    return render(event.framing, event.body, event.kind, event.source_id) if event.frame is None else event.frame


def _message(template: str, body: bytes, kind: str) -> bytes:
    headers = (line.partition(": ") for line in template[len(EVENTSTREAM) :].splitlines()[:-1])
    return eventstream.encode({name: kind if value == "{kind}" else value for name, _, value in headers}, body)


def _fill(text: str, kind: str, source_id: str | None) -> bytes:
    if "{" in text:
        text = text.replace("{kind}", kind).replace("{id}", source_id or "")
    return text.encode()
