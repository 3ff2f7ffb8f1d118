"""An input that is one frame: a JSON document, an answer that was not streamed."""

from __future__ import annotations

from recorder.sources.frame import Frame, is_whole


class WholeReader:
    """Gives its one frame at the end. `trusted`: the input is whole by other knowledge, whatever it holds."""

    def __init__(self, resume: bytes = b"", *, midway: bool = False, trusted: bool = False) -> None:
        self._buffer = bytearray(resume)
        self._old = len(resume)
        self._trusted = trusted

    @property
    def pending(self) -> bytes:
        return bytes(self._buffer)

    def feed(self, data: bytes) -> list[Frame]:
        self._buffer += data
        return []

    def end(self) -> list[Frame]:
        body, old = self.pending, self._old
        self._buffer, self._old = bytearray(), 0
        if len(body) <= old:
            return []
        whole = self._trusted or is_whole(body)
        return [Frame(body=body, raw=body[old:], kind="data" if whole else "partial", continues=old > 0)]
