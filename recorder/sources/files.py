"""Files and pipes into frames, in constant memory (but for the frame at hand)."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from recorder.errors import BadInput
from recorder.sources.detect import Format
from recorder.sources.eventstream import EventstreamReader
from recorder.sources.frame import Frame, Framing, Reader
from recorder.sources.json_array import JsonArrayReader
from recorder.sources.ndjson import NdjsonReader
from recorder.sources.sse import SseReader
from recorder.sources.whole import WholeReader

READ_BYTES = 256 * 1024


def reader_for(framing: Framing, resume: bytes = b"", *, midway: bool = False) -> Reader:
    """A reader of this framing; `resume`: the body of the `partial` frame that it goes on from.

    `midway`: what comes is not the start of an input, nor what was added to one that had ended: reading was broken off.
    """
    readers: dict[Framing, Callable[..., Reader]] = {
        "sse": SseReader,
        "ndjson": NdjsonReader,
        "json": WholeReader,
        "eventstream": EventstreamReader,
        "json_array": JsonArrayReader,
    }
    return readers[framing](resume, midway=midway)


def frames(source: Path | str | BinaryIO, format: Format, *, head: bytes = b"", resume: bytes = b"") -> Iterator[Frame]:
    """The frames of a file or of an open binary file, each as soon as its bytes are there.

    `head`: what was read from an open file already, to tell its format. `resume`: as for `reader_for`.
    Raises `BadInput` for gzip data that is damaged or breaks off, after the frames that could be read; `OSError`.
    """
    if format.framing == "cassette" or format.framing == "har":
        raise ValueError("a document holds exchanges, not frames: use read_exchanges")
    reader = reader_for(format.framing, resume)
    damage: BadInput | None = None
    try:
        for data in chunks(source, gzip=format.gzip, head=head):
            yield from reader.feed(data)
    except BadInput as error:
        damage = error
    yield from reader.end()
    if damage is not None:
        raise damage


def chunks(source: Path | str | BinaryIO, *, gzip: bool, head: bytes = b"") -> Iterator[bytes]:
    """The bytes of a file as they come, those inside it where it is gzip. Raises `BadInput` for damaged gzip data."""
    data = _read(source, head)
    return _inflated(data) if gzip else data


def _read(source: Path | str | BinaryIO, head: bytes) -> Iterator[bytes]:
    if head:
        yield head
    if isinstance(source, Path | str):
        with open(source, "rb") as file:
            yield from _read(file, b"")
        return
    # A pipe's `read` waits until it has all that it was asked for; `read1` gives what is there.
    read = getattr(source, "read1", source.read)
    while data := read(READ_BYTES):
        yield data


def _inflated(compressed: Iterator[bytes]) -> Iterator[bytes]:
    """The content of a gzip file of one or more members (RFC 1952, section 2.2), in pieces of bounded size."""
    inflater = zlib.decompressobj(zlib.MAX_WBITS | 16)
    fresh = True
    for data in compressed:
        while data:
            if inflater.eof:
                inflater, fresh = zlib.decompressobj(zlib.MAX_WBITS | 16), True
                data = data.lstrip(b"\0")  # padding behind a member
                if not data:
                    break
            try:
                piece = inflater.decompress(data, READ_BYTES)
            except zlib.error as error:
                raise BadInput(f"gzip data is damaged ({error}): only what came before could be read") from None
            fresh = False
            if piece:
                yield piece
            data = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
    if not inflater.eof and not fresh:
        raise BadInput("gzip data breaks off: only what came before could be read")
