"""The frame, and what every reader of frames offers."""

from __future__ import annotations

from typing import Literal, Protocol

from msgspec import Struct

from recorder.events import jsontext
from recorder.events.eventstream import Headers

Framing = Literal["sse", "ndjson", "json", "eventstream", "json_array"]
"""How frames lie in the bytes. `json`: all of the bytes are one frame (a document, an answer that was not streamed);
`eventstream`: AWS's binary messages; `json_array`: the elements of an array, as Google streams them."""
FrameKind = Literal["data", "comment", "partial", "damaged"]

BOM = b"\xef\xbb\xbf"


class Frame(Struct, frozen=True, kw_only=True):
    """One frame, as it lay in the source. All `raw` of an input, joined, are the input."""

    body: bytes
    """The payload: SSE data (its lines joined by a line feed), an NDJSON line without its line end, a message's
    payload, an array's element; of a block without data the block's own lines, of a partial or damaged frame all of its
    bytes."""
    raw: bytes
    """The exact bytes of the frame, line ends and all that precedes it included."""
    event: str | None = None
    """The SSE event name; of an AWS message the name of its event, exception or error."""
    id: str | None = None
    """The SSE id that this block itself gives."""
    kind: FrameKind = "data"
    """`comment`: no data in it (an SSE block of comments, an empty line); `partial`: what was left at the end;
    `damaged`: bytes between AWS messages, or one whose checksum does not fit."""
    headers: Headers | None = None
    """An AWS message's headers; None where there are none that can be read."""
    continues: bool = False
    """The frame began in an earlier input: `body` is the whole payload, `raw` only the bytes that are new."""


class Reader(Protocol):
    """Cuts bytes into frames as they come.

    Where the calls of `feed` cut the bytes makes no difference to the frames. A reader that is made with `resume`, the
    body of a `partial` frame that an earlier reader of the same source ended with, goes on from there: its first frame
    `continues`.
    """

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that are whole with these bytes."""
        ...

    def end(self) -> list[Frame]:
        """What is left, at the end of the input: a frame if it is whole but for its line ends, else a `partial` one."""
        ...

    @property
    def pending(self) -> bytes:
        """The bytes that are in no frame yet, those it was resumed with included."""
        ...


def is_whole(payload: bytes) -> bool:
    """Whether a payload without its line end can be trusted to be all of it: a JSON object or array, or `[DONE]`.

    A number or a bare word might go on; these cannot.
    """
    text = payload.strip()
    if text == b"[DONE]":
        return True
    if not text.startswith((b"{", b"[")):
        return False
    try:
        jsontext.decode_leniently(text)
    except jsontext.NotJson:
        return False
    return True
