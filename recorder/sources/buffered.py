"""What readers of frames have in common: the bytes that came and are in no frame yet."""

from __future__ import annotations

from recorder.sources.frame import Frame


class Buffered:
    """A buffer of input, of which an earlier input of the same source may have brought the beginning (`resume`)."""

    def __init__(self, resume: bytes) -> None:
        self._buffer = bytearray(resume)
        self._old = len(resume)
        """How many bytes at the buffer's start came with an earlier input."""

    @property
    def pending(self) -> bytes:
        return bytes(self._buffer)

    def _new(self, start: int, stop: int) -> bytes:
        """What of these bytes did not come with an earlier input."""
        return bytes(self._buffer[max(start, self._old) : stop])

    def _drop(self, count: int) -> None:
        """The first bytes are in frames now."""
        del self._buffer[:count]
        self._old = max(0, self._old - count)

    def _clear(self) -> None:
        self._buffer, self._old = bytearray(), 0

    def _partial(self) -> Frame:
        """All that is left, of which nobody knows how it goes on."""
        rest = self.pending
        return Frame(body=rest, raw=rest[self._old :], kind="partial", continues=self._old > 0)
