"""Lines of JSON. What a line says is not read here: a line that is no JSON is a frame all the same."""

from __future__ import annotations

from recorder.sources.buffered import Buffered
from recorder.sources.frame import BOM, Frame, is_whole


class NdjsonReader(Buffered):
    r"""Lines up to `\n` or `\r\n`. A blank line is a `comment` frame.

    Blank lines at the start of an input belong to its first frame: there they are, as a rule, the line end that an
    earlier input of the same source lacked.
    """

    def __init__(self, resume: bytes = b"", *, midway: bool = False) -> None:
        super().__init__(resume)
        self._line = 0
        """Where the open line begins in the buffer; before it lie only the blank lines of the input's start."""
        self._scanned = 0
        """Before this offset there is no line feed that has not been seen."""
        self._at_start = not midway

    def feed(self, data: bytes) -> list[Frame]:
        self._buffer += data
        buffer, frames, start = self._buffer, list[Frame](), 0
        while (stop := buffer.find(b"\n", self._scanned) + 1) > 0:
            line = self._content(bytes(buffer[self._line : stop - 1]).removesuffix(b"\r"))
            self._line = self._scanned = stop
            if self._at_start and not line:
                continue
            self._at_start = False
            frames.append(self._frame(line, start, stop))
            start = stop
        self._scanned = len(buffer)
        if start:
            self._drop(start)
            self._line -= start
            self._scanned -= start
        return frames

    def end(self) -> list[Frame]:
        rest = self.pending
        frames: list[Frame] = []
        if len(rest) > self._old:
            line = self._content(rest[self._line :])
            if is_whole(line) or not line.strip():
                frames.append(self._frame(line.removesuffix(b"\r"), 0, len(rest)))
            else:
                frames.append(self._partial())
        self._clear()
        return frames

    def _content(self, line: bytes) -> bytes:
        return line.removeprefix(BOM) if self._at_start else line

    def _frame(self, line: bytes, start: int, stop: int) -> Frame:
        return Frame(
            body=line,
            raw=self._new(start, stop),
            kind="data" if line.strip() else "comment",
            continues=start < self._old,
        )
