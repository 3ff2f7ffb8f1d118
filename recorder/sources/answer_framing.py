"""How the frames of an HTTP answer lie in its body."""

from __future__ import annotations

import re

from recorder.sources.detect import recognise
from recorder.sources.frame import BOM, Framing

_BY_TYPE: dict[str, Framing] = {
    "text/event-stream": "sse",
    "application/x-ndjson": "ndjson",
    "application/ndjson": "ndjson",
    "application/jsonl": "ndjson",
    "application/stream+json": "ndjson",
    "application/vnd.amazon.eventstream": "eventstream",
}
_SSE = rb"\s*(?::|(?:data|event|id|retry)(?:[:\r\n]|$))"
_JSON = rb"\s*[\[{]"
_BEGINNINGS = {"sse": re.compile(_SSE), "ndjson": re.compile(_JSON)}
"""How the first line of a stream looks. Line by line a page with a script in it may look like a stream as well."""
_MAY_BE_A_STREAM = re.compile(rb"%b|%b|[\x00\x01]" % (_SSE, _JSON))
"""AWS's messages begin with their length, which is below 32 MiB. What begins otherwise need not be looked through."""


def framing_of_type(media_type: str) -> Framing | None:
    """The framing that a media type (in lower case, without parameters) says; None where it says none."""
    return _BY_TYPE.get(media_type)


def framing_of(body: bytes, media_type: str) -> Framing:
    """The framing of an answer's decoded body: by its looks, and by its media type where its looks say nothing.

    Types alone do not do: recorders leave headers out, and servers stream under `text/plain` and `text/html`.
    """
    looks = _looks(body)
    by_type = framing_of_type(media_type)
    if looks is not None and looks not in ("ndjson", "json"):
        return looks
    if by_type == "ndjson" or (looks == "ndjson" and len(body.split(b"\n", 2)) > 2):
        return "ndjson"
    if by_type is not None and looks is None:
        return by_type
    return "json"


def _looks(body: bytes) -> Framing | None:
    text = body.removeprefix(BOM)
    found = recognise(body, complete=True) if _MAY_BE_A_STREAM.match(text) else None
    if found is None or found.gzip or found.framing == "cassette" or found.framing == "har":
        return None
    beginning = _BEGINNINGS.get(found.framing)
    return found.framing if beginning is None or beginning.match(text) else None
