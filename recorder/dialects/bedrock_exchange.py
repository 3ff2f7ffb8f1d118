"""What Bedrock's streams have in common, whichever model answers: exceptions in place of events, and the URL.

Source: the Bedrock Runtime API reference, "ConverseStream" and "InvokeModelWithResponseStream" (path, errors), and the
Smithy specification, "Amazon Event Stream Specification" (messages of type `exception` and `error`).
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

from recorder.dialects.base import REQUEST
from recorder.dialects.frames import Deltas, read_meta
from recorder.dialects.http import Exchange, begin, fail
from recorder.dialects.values import cleaned, dict_of
from recorder.events import Event, NewEvent
from recorder.events.jsontext import NotJson, decode_leniently

_MODEL = re.compile(r"/model/(.+)/(?:converse|invoke)")
_EXCEPTION = re.compile(r"[A-Za-z]+Exception")


class BedrockExchange(Exchange):
    """What the decoders of Bedrock's own forms have in common."""

    model: str | None = None
    """Of the request's URL: no frame names it."""


def model_of(event: Event | NewEvent) -> str | None:
    """The id or ARN of the model in a request's URL."""
    url = cleaned(read_meta(event).get("url")) if event.kind == REQUEST else None
    found = _MODEL.search(url) if url else None
    return cleaned(unquote(found[1])) if found else None


def exception_in(fields: dict[str, Any]) -> str | None:
    """The name of an exception that stands under it, as the SDKs give events out: `{"throttlingException": {…}}`."""
    return next(
        (name for name, value in fields.items() if _EXCEPTION.fullmatch(name) and isinstance(value, dict)), None
    )


def read_error(state: Exchange, event: Event | NewEvent) -> Deltas | None:
    """What a message says that is an exception or an error in place of an event; None where it is an event.

    An exception's payload has its message; an error has no payload, only headers. Exceptions are known by their names
    as well, for not every recording has the headers.
    """
    headers = dict_of(read_meta(event).get("headers"))
    if not (_EXCEPTION.fullmatch(event.kind) or headers.get(":message-type") in ("error", "exception")):
        return None
    out: Deltas = []
    if not state.begun:
        begin(state, event, out)
    fields = _fields(event)
    told = (fields.get("message"), fields.get("Message"), headers.get(":error-message"))
    message = next((text for text in told if isinstance(text, str) and text), None)
    fail(state, event.run_id or "", {"type": event.kind} | ({"message": message} if message else {}), out)
    return out


def _fields(event: Event | NewEvent) -> dict[str, Any]:
    """The payload's object; in a recording without framing it stands under the exception's name."""
    try:
        value, _ = decode_leniently(event.body)
    except NotJson:
        return {}
    fields = dict_of(value)
    return dict_of(fields.get(event.kind)) or fields
