"""Messages that a HAR entry holds beside its answer, or in its place: of web sockets, of event sources.

They stand in no specification. Chrome's inspector and mitmproxy write `_webSocketMessages`; `_eventSourceMessages` is
the name under which recorders of Chrome's protocol keep what its `eventSourceMessageReceived` tells.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from recorder.sources.exchange import SocketMessage
from recorder.sources.http_body import compact_json
from recorder.sources.http_headers import text_of

_TEXT, _BINARY = 1, 2
_EVENT_SOURCE = ("_eventSourceMessages", "_eventStreamMessages")
_LATEST_SECONDS = 1e11
"""A larger number of seconds is one of milliseconds."""


def socket_messages(entry: Mapping[str, Any]) -> list[SocketMessage] | None:
    """The messages of the entry's web socket, both ways, in their order; None where it is none."""
    messages = entry.get("_webSocketMessages")
    if not isinstance(messages, list):
        return None
    return [_message(message) for message in messages]


def event_source_body(entry: Mapping[str, Any]) -> bytes:
    """The entry's server-sent events as a server would send them; empty where there are none."""
    for key in _EVENT_SOURCE:
        if isinstance(entry.get(key), list):
            return b"".join(block for message in entry[key] if isinstance(message, dict) for block in _block(message))
    return b""


def _message(message: object) -> SocketMessage:
    if not isinstance(message, dict):
        return SocketMessage(data=compact_json(message), sent=False, control=True)
    text, opcode = message.get("data", ""), message.get("opcode", _TEXT)
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else compact_json(text)
    if opcode == _BINARY:
        # Where it is no base64, a recorder wrote it as text.
        with suppress(binascii.Error):
            data = base64.b64decode(data, validate=True)
    return SocketMessage(
        data=data,
        sent=message.get("type") in ("send", "sent", "outgoing"),
        control=opcode not in (_TEXT, _BINARY),
        occurred_at=_moment(message.get("time")),
    )


def _moment(value: object) -> int | None:
    """Seconds since the epoch (milliseconds with some) → microseconds."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < _LATEST_SECONDS * 1000:
        return None
    return round(value * 1e6) if value < _LATEST_SECONDS else round(value * 1e3)


def _block(message: Mapping[str, Any]) -> Iterator[bytes]:
    for field, key in (("event", "eventName"), ("id", "eventId")):
        value = text_of(message.get(key) or "")
        if value and (field, value) != ("event", "message"):
            yield f"{field}: {value}\n".encode()
    for line in text_of(message.get("data", "")).split("\n"):
        yield f"data: {line}\n".encode()
    yield b"\n"
