"""AWS event streams: a frame is a message, its body the message's payload."""

from __future__ import annotations

from recorder.events import eventstream
from recorder.sources.buffered import Buffered
from recorder.sources.frame import Frame

_NAMES = (":event-type", ":exception-type", ":error-code")
"""Headers that say what a message is; by its `:message-type` it has one of them."""


class EventstreamReader(Buffered):
    """Messages whose checksums fit.

    What is damaged is one frame of kind `damaged` up to the next place where a message begins: botocore gives up there,
    but what follows was sent as well. At the end of the input, where nobody knows how much is still to come, all that
    is left is a `partial` frame.
    """

    def __init__(self, resume: bytes = b"", *, midway: bool = False) -> None:
        del midway  # Where a message begins does not depend on what came before it.
        super().__init__(resume)
        self._damaged = False
        """Whether no sound message begins at the buffer's start."""
        self._searched = 1
        """Before this offset no message begins behind the damage."""

    def feed(self, data: bytes) -> list[Frame]:
        self._buffer += data
        return self._take(ended=False)

    def end(self) -> list[Frame]:
        frames = self._take(ended=True)
        if len(self._buffer) > self._old:
            frames.append(self._partial())
        self._clear()
        self._damaged, self._searched = False, 1
        return frames

    def _take(self, *, ended: bool) -> list[Frame]:
        frames, start = list[Frame](), 0
        while (stop := self._stop(start, ended=ended)) is not None:
            if stop > self._old:
                frames.append(self._frame(start, stop))
            start, self._damaged, self._searched = stop, False, stop + 1
        if start:
            self._drop(start)
            self._searched -= start
        return frames

    def _stop(self, start: int, *, ended: bool) -> int | None:
        """Where the message, or the damage, that begins at `start` ends; None where that is not to be seen (yet)."""
        buffer = self._buffer
        there = len(buffer) - start
        if there < eventstream.PRELUDE_BYTES:
            return None
        if not self._damaged:
            size = eventstream.message_bytes(buffer, start)
            if size is not None and size <= there and eventstream.is_sound(bytes(buffer[start : start + size])):
                return start + size
            if size is not None and size > there and not ended:
                return None
            # A message that is not whole at the end is damaged if another one begins in what there is of it.
            self._damaged = True
        found = eventstream.find_message(buffer, self._searched)
        if found is None:
            self._searched = max(self._searched, len(buffer) - eventstream.PRELUDE_BYTES + 1)
        return found

    def _frame(self, start: int, stop: int) -> Frame:
        whole = bytes(self._buffer[start:stop])
        raw, continues = self._new(start, stop), start < self._old
        if self._damaged:
            return Frame(body=whole, raw=raw, kind="damaged", continues=continues)
        headers, payload = eventstream.decode(whole)
        named = (headers[name] for name in _NAMES if headers is not None and name in headers)
        name = next(named, None)
        return Frame(
            body=payload,
            raw=raw,
            event=name if isinstance(name, str) else None,
            headers=headers,
            continues=continues,
        )
