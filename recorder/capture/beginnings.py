"""Bytes that come piece by piece, of which nobody said how their frames lie in them."""

from __future__ import annotations

from recorder.capture.refusals import not_a_stream
from recorder.errors import BadInput, NotAStream
from recorder.sources import Format, Frame, Reader, detect, reader_for, recognise
from recorder.sources.detect import HEAD_BYTES
from recorder.sources.frame import Framing


class FoundFrames:
    """Finds the framing out from the beginning of the bytes, and gives their frames from then on."""

    def __init__(self, name: str, *, framing: Framing | None = None, advice: str) -> None:
        """`name`: of the bytes, as messages call them; `framing`: where it is known; `advice`: what to do instead of
        giving a document or gzip data here."""
        self._name, self._advice = name, advice
        self._reader: Reader | None = None if framing is None else reader_for(framing)
        self.framing = framing
        """None until it is found."""
        self._head = b""

    @property
    def is_empty(self) -> bool:
        """Whether nothing has come yet."""
        return self._reader is None and not self._head

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that are whole with these bytes. Raises `NotAStream`, `BadInput`."""
        if self._reader is None:
            self._head += data
            found = recognise(self._head, complete=False)
            if found is None and len(self._head) < HEAD_BYTES:
                return []
            data, self._head = self._head, b""
            self._reader = self._reader_for(found or self._format_of(data, complete=False))
        return self._reader.feed(data)

    def end(self, *, complete: bool = True) -> list[Frame]:
        """The frames of what is left; `complete`: the bytes ended by themselves. Raises `NotAStream`, `BadInput`."""
        if self._reader is not None:
            return self._reader.end()
        self._reader = self._reader_for(self._format_of(self._head, complete=complete))
        return [*self._reader.feed(self._head), *self._reader.end()]

    def _reader_for(self, format: Format) -> Reader:
        if format.framing == "cassette" or format.framing == "har" or format.gzip:
            raise BadInput(f"{self._name} holds a cassette, a HAR file or gzip data; {self._advice}")
        self.framing = format.framing
        return reader_for(format.framing)

    def _format_of(self, head: bytes, *, complete: bool) -> Format:
        if not head:
            raise NotAStream(f"{self._name}: nothing came; nothing was stored")
        try:
            return detect(head, name=self._name, complete=complete)
        except NotAStream as error:
            raise not_a_stream(error, head) from None
