"""Server-sent events, framed as the WHATWG HTML standard (section 9.2.6) parses them, without losing a byte."""

from __future__ import annotations

import re

from recorder.sources.buffered import Buffered
from recorder.sources.frame import BOM, Frame, is_whole

_BLOCK_END = re.compile(rb"(?>\r\n|\r|\n)(?>\r\n|\r|\n)")
"""Two line ends; the groups are atomic so that one CRLF is never taken for two."""
_BLOCK_END_BYTES = 4
_BLANK_LINES = re.compile(rb"[\r\n]*")
_LINE_END = re.compile(rb"(?>\r\n|\r|\n)\Z")
_CR = 0x0D


class SseReader(Buffered):
    """Blocks up to their blank line. Further blank lines belong to the frame that follows them."""

    def __init__(self, resume: bytes = b"", *, midway: bool = False) -> None:
        super().__init__(resume)
        self._block = 0
        """Where the open block begins in the buffer: behind the byte order mark and blank lines."""
        self._scanned = 0
        """Before this offset no block ends: without it a long block would be searched again at every feed."""
        self._at_start = not midway

    def feed(self, data: bytes) -> list[Frame]:
        self._buffer += data
        return self._take(ended=False)

    def end(self) -> list[Frame]:
        frames = self._take(ended=True)
        if len(self._buffer) > self._old:
            frames.append(self._remainder())
        self._clear()
        return frames

    def _take(self, *, ended: bool) -> list[Frame]:
        buffer, frames, start = self._buffer, list[Frame](), 0
        while True:
            self._skip_to_block()
            match = _BLOCK_END.search(buffer, max(self._block, self._scanned))
            if match is None:
                self._scanned = max(self._block, len(buffer) - _BLOCK_END_BYTES + 1)
                break
            stop = match.end()
            if stop == len(buffer) and buffer[-1] == _CR and not ended:
                # The line feed of this carriage return may be on its way, and is this frame's.
                self._scanned = match.start()
                break
            if stop > self._old:
                frames.append(self._frame(bytes(buffer[self._block : match.start()]), start, stop))
            start = self._block = self._scanned = stop
            self._at_start = False
        if start:
            self._drop(start)
            self._block -= start
            self._scanned -= start
        return frames

    def _skip_to_block(self) -> None:
        if self._at_start and self._block == 0 and self._buffer.startswith(BOM):
            self._block = len(BOM)
        blank = _BLANK_LINES.match(self._buffer, self._block)
        if blank is not None:
            self._block = blank.end()

    def _frame(self, block: bytes, start: int, stop: int) -> Frame:
        data, event, id = _fields(block)
        return Frame(
            body=block if data is None else data,
            raw=self._new(start, stop),
            event=event,
            id=id,
            kind="comment" if data is None else "data",
            continues=start < self._old,
        )

    def _remainder(self) -> Frame:
        rest = self.pending
        lines = rest[self._block :]
        block = _LINE_END.sub(b"", lines)
        data, _, _ = _fields(block)
        if _is_whole_block(lines, data) if data is not None else _says_nothing(lines):
            return self._frame(block, 0, len(rest))
        return self._partial()


def _is_whole_block(lines: bytes, data: bytes) -> bool:
    """Whether only the blank line is missing: the data is whole, and no other field breaks off behind it."""
    return (lines.endswith((b"\r", b"\n")) or lines.splitlines()[-1].startswith(b"data:")) and is_whole(data)


def _says_nothing(lines: bytes) -> bool:
    """Whether these are whole lines of comments and white space only: more input could not change their meaning."""
    whole = not lines or lines.endswith((b"\r", b"\n"))
    return whole and all(line.startswith(b":") or not line.strip() for line in lines.splitlines())


def _fields(block: bytes) -> tuple[bytes | None, str | None, str | None]:
    """Data (None where no line gives any), event name and id of a block's lines."""
    if block.startswith(b"data: ") and b"\n" not in block and b"\r" not in block:
        return block[6:], None, None
    data: list[bytes] = []
    event: str | None = None
    id: str | None = None
    for line in block.splitlines():
        name, _, value = line.partition(b":")
        if name == b"data":
            data.append(value[1:] if value.startswith(b" ") else value)
        elif name == b"event":
            event = value.removeprefix(b" ").decode("utf-8", "replace") or None
        elif name == b"id" and b"\0" not in value:
            id = value.removeprefix(b" ").decode("utf-8", "replace")
    return b"\n".join(data) if data else None, event, id
