"""The template that rebuilds a frame (`recorder.events.framing`), so that its bytes are stored once.

Templates are few and fixed: the same frame gets the same one in every run, and a log full of event names that are
unique does not become a log full of templates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from recorder.events.eventstream import Headers
from recorder.events.framing import EVENTSTREAM, VERBATIM, render
from recorder.sources.frame import Frame

_LINE_ENDS = ("\n", "\r\n", "\r")
_NAME = re.compile(r"[A-Za-z_./|-]{1,32}")
"""Event names that may stand in a template as themselves. No digits: those may be of an id, new in each frame."""
_BEFORE_ELEMENT = ("[", "[\n", "[\n  ", ",", ", ", ",\n", ",\n  ", "\n,\n", "\n,")
"""What stands before the elements of a streamed JSON array, with `\\n` for the line end."""
_KNOWN_LIMIT = 512
_MESSAGE_HEADERS = frozenset({":message-type", ":event-type", ":exception-type", ":content-type"})
"""Headers of AWS messages that say the same again and again."""

_known: dict[tuple[int, str | None, str], tuple[bytes, bytes, str]] = {}
"""What fitted last: (count of bytes around the body, event name, kind) → those before, those behind, the template."""


def template_of(frame: Frame, kind: str) -> tuple[str, bytes | None]:
    """The template with which `render` gives `frame.raw`, and None; where none does, `{body}` and the raw bytes.

    `kind` is the kind that the event will be stored with. The event's source id must be `frame.id`.
    """
    body, raw = frame.body, frame.raw
    around = len(raw) - len(body)
    if frame.continues or around < 0 or "\0" in kind or (frame.id is not None and "\0" in frame.id):
        return VERBATIM, raw  # A NUL is stored as its escape, which would rebuild another frame.
    if frame.headers is not None:
        message = _template_of_message(frame.headers, frame.event, kind)
        return (VERBATIM, raw) if message is None or render(message, body, kind, None) != raw else (message, None)
    key = (around, frame.event, kind)
    if frame.id is None and (known := _known.get(key)) is not None:
        head, tail, template = known
        if head + body + tail == raw:
            return template, None
    for template in _candidates(frame, kind):
        parts = _around(template, kind, frame.id)
        if parts is not None and len(parts[0]) + len(parts[1]) == around and parts[0] + body + parts[1] == raw:
            if frame.id is None:
                if len(_known) >= _KNOWN_LIMIT:
                    _known.clear()
                _known[key] = (*parts, template)
            return template, None
    return VERBATIM, raw


def _template_of_message(headers: Headers, event: str | None, kind: str) -> str | None:
    """The template of an AWS message that has but the usual headers."""
    lines = [EVENTSTREAM]
    for name, value in headers.items():
        if name not in _MESSAGE_HEADERS or not isinstance(value, str):
            return None
        if value == event == kind:
            value = "{kind}"
        elif not _NAME.fullmatch(value):
            return None
        lines.append(f"{name}: {value}\n")
    return "".join([*lines, "{body}"])


def _around(template: str, kind: str, source_id: str | None) -> tuple[bytes, bytes] | None:
    head, _, tail = template.partition("{body}")
    try:
        return render(head, b"", kind, source_id), render(tail, b"", kind, source_id)
    except UnicodeEncodeError:  # a kind that came from JSON may hold a lone surrogate
        return None


def _candidates(frame: Frame, kind: str) -> Iterator[str]:
    """Templates that may fit, the usual ones first."""
    heads = [""] if frame.kind != "data" else ["", *_heads(frame, kind)]
    for head in reversed(heads):
        for line_end in _LINE_ENDS:
            start = head.replace("\n", line_end)
            yield f"{start}{{body}}{line_end}{line_end}"
            yield f"{start}{{body}}{line_end}"
        yield head + "{body}"
    if frame.kind == "data" and frame.event is None and frame.id is None:
        for before in _BEFORE_ELEMENT:
            yield from dict.fromkeys(before.replace("\n", line_end) + "{body}" for line_end in _LINE_ENDS)


def _heads(frame: Frame, kind: str) -> Iterator[str]:
    """What can stand before the data, with `\\n` for the line end."""
    for gap in ("", " "):
        data = f"data:{gap}"
        id = f"id:{gap}{{id}}\n"
        name = (
            "{kind}" if frame.event == kind else frame.event if frame.event and _NAME.fullmatch(frame.event) else None
        )
        event = f"event:{gap}{name}\n"
        if frame.id is not None and name is not None:
            yield event + id + data
            yield id + event + data
        elif frame.id is not None:
            yield id + data
        elif name is not None:
            yield event + data
        else:
            yield data
