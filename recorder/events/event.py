"""The event: one thing as it was received, and never changed since."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Layer = Literal["wire", "framework"]
Encoding = Literal["utf-8", "binary"]

ENVELOPE_VERSION = 1
"""Version of the envelope below; older ones are upcast on read (`recorder.events.upcast`)."""


class NewEvent(Struct, frozen=True, kw_only=True):
    """An event on its way into the log: everything the outside knows of it, nothing the store adds.

    Times are microseconds since the epoch, UTC (`recorder.events.clock`).
    """

    event_id: bytes
    """16 bytes, unique within the stream; a retry carries the same one."""
    dialect: str
    """What the body is written in (`openai.chat`); `unknown` where nobody recognised it."""
    layer: Layer
    kind: str
    """The dialect's own name for it (`content_block_delta`), or `http.request`, `comment`, `partial` and their like."""
    body: bytes
    """The payload, byte for byte."""
    framing: str
    """The template that rebuilds the frame from the body (`recorder.events.framing`)."""
    arrived_at: int
    run_id: str | None = None
    parent_run_id: str | None = None
    name: str | None = None
    source_id: str | None = None
    """The id that the source itself gave (an SSE `id:`), if any."""
    occurred_at: int | None = None
    frame: bytes | None = None
    """The exact bytes of the whole frame where `framing` cannot rebuild them; None nearly always."""
    cuts: bytes | None = None
    """JSON `[[offset, microseconds], …]`: where, and when, network reads ended inside the frame."""
    meta: bytes | None = None
    """JSON object: URL, status and headers of an exchange's parts."""
    encoding: Encoding = "utf-8"
    """The store makes it `binary` where the body is no UTF-8."""
    redacted: str | None = None
    """What was taken out before storage, and by which rule; None where nothing was."""


class Event(NewEvent, frozen=True, kw_only=True):
    """A stored event. `body` is empty and `erased` true where an erasure blanked it."""

    seq: int
    """1, 2, 3 … within the stream, without gaps."""
    recorded_at: int
    salt: bytes | None
    body_hash: bytes
    """32 bytes: SHA-256 over the salt and the content (`recorder.events.chain.content_hash`)."""
    hash: bytes
    """32 bytes: the chain's link (`recorder.events.chain.link`)."""
    erased: bool = False
    version: int = ENVELOPE_VERSION
