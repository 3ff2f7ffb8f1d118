"""An input that is one frame: a JSON document, an answer that was not streamed."""

from __future__ import annotations

from msgspec import structs

from recorder.sources.buffered import Buffered
from recorder.sources.frame import Frame, is_whole


class WholeReader(Buffered):
    """Gives its one frame at the end. `trusted`: the input is whole by other knowledge, whatever it holds."""

    def __init__(self, resume: bytes = b"", *, midway: bool = False, trusted: bool = False) -> None:
        super().__init__(resume)
        self._trusted = trusted

    def feed(self, data: bytes) -> list[Frame]:
        self._buffer += data
        return []

    def end(self) -> list[Frame]:
        old, frame = self._old, self._partial()
        self._clear()
        if len(frame.body) <= old:
            return []
        whole = self._trusted or is_whole(frame.body)
        return [structs.replace(frame, kind="data") if whole else frame]
