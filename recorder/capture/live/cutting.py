"""An answer's frames, cut while it comes, and where the network's reads ended inside them."""

from __future__ import annotations

from collections import deque

import msgspec
from msgspec import Struct

from recorder.capture.live.decoding import Decoding
from recorder.events import jsontext
from recorder.sources.answer_framing import framing_of
from recorder.sources.detect import HEAD_BYTES
from recorder.sources.files import reader_for
from recorder.sources.frame import BOM, Frame, Framing, Reader
from recorder.sources.whole import WholeReader

_OFTEN_BYTES = 4096
"""So long every read is asked what the framing is, then ever fewer."""
_PRELUDE_BYTES = 12
"""An AWS message can be told by them."""


class CutFrame(Struct, frozen=True):
    """A frame, when the last of it came, and `[[offset, microseconds], …]`: the reads that ended inside it."""

    frame: Frame
    arrived_at: int
    cuts: bytes | None


class AnswerCutter:
    """Cuts one answer's body, as it came over the network, into frames.

    `decoded`: content-codings are off already. `framing` is None until the bytes tell it; a document that is one frame
    tells it at its end only.
    """

    def __init__(self, media_type: str, encoding: str | None, *, decoded: bool = False) -> None:
        self._media_type = media_type
        self._decoding = Decoding(encoding, decoded=decoded)
        self.framing: Framing | None = None
        self._reader: Reader | None = None
        self._undecided = bytearray()
        self._ask_at = 0
        self._read = 0
        """Decoded bytes that came so far."""
        self._framed = 0
        """Those of them that are in frames."""
        self._ends: deque[tuple[int, int]] = deque()
        """Where reads ended behind the last frame: offset in the decoded body, microseconds."""
        self._last_at = 0

    @property
    def takes_off(self) -> bool:
        """Whether content-codings are taken off here."""
        return self._decoding.takes_off

    @property
    def head(self) -> bytes:
        """The bytes of which the framing is not known yet."""
        return bytes(self._undecided[:HEAD_BYTES])

    @property
    def undecided(self) -> int:
        """How many bytes wait for that."""
        return len(self._undecided)

    def feed(self, data: bytes, at: int) -> list[CutFrame]:
        """The frames that are whole with the bytes of one read, which ended at this moment."""
        return self._take(self._decoding.feed(data), at)

    def end(self, *, whole: bool) -> list[CutFrame]:
        """What is left. `whole`: the answer came to its end."""
        found = self._take(self._decoding.end(whole=whole), self._last_at)
        if self.framing is None:
            self._decide(framing_of(bytes(self._undecided), self._media_type))
        if self.framing == "json":
            self._reader = WholeReader(trusted=whole)
        assert self._reader is not None
        frames = self._reader.feed(bytes(self._undecided))
        self._undecided.clear()
        return [*found, *map(self._cut, [*frames, *self._reader.end()])]

    @property
    def problem(self) -> str | None:
        """Why the body could not be decoded, or not to its end."""
        return self._decoding.problem

    @property
    def kept(self) -> bytes:
        """The body as it came, where it could not be decoded."""
        return self._decoding.kept

    def _take(self, data: bytes, at: int) -> list[CutFrame]:
        if not data:
            return []
        self._read += len(data)
        self._last_at = at
        self._ends.append((self._read, at))
        if self._reader is None:
            self._undecided += data
            self._ask()
            if self._reader is None:
                return []
            data = bytes(self._undecided)
            self._undecided.clear()
        return list(map(self._cut, self._reader.feed(data)))

    def _ask(self) -> None:
        count = len(self._undecided)
        if count < self._ask_at or self._ask_at > HEAD_BYTES:
            return
        self._ask_at = 0 if count < _OFTEN_BYTES else count + count // 2
        found = framing_so_far(self.head, self._media_type)
        if found is not None:
            self._decide(found)

    def _decide(self, framing: Framing) -> None:
        self.framing = framing
        if framing != "json":
            self._reader = reader_for(framing)

    def _cut(self, frame: Frame) -> CutFrame:
        start, stop = self._framed, self._framed + len(frame.raw)
        self._framed = stop
        inside: list[list[int]] = []
        while self._ends and self._ends[0][0] < stop:
            offset, at = self._ends.popleft()
            inside.append([offset - start, at])
        # The read that brought the frame's last byte ended with it, or inside a later one.
        at = self._ends[0][1] if self._ends else self._last_at
        if self._ends and self._ends[0][0] == stop:
            self._ends.popleft()
        return CutFrame(frame, at, msgspec.json.encode(inside) if inside else None)


def framing_so_far(head: bytes, media_type: str) -> Framing | None:
    """The framing of a body that begins so, as `framing_of` would tell it of the whole; None where more must come."""
    text = head.removeprefix(BOM).lstrip()
    if not text or (text[0] in (0, 1) and len(text) < _PRELUDE_BYTES):
        return None
    found, by_type = framing_of(head, media_type), framing_of(b"", media_type)
    if text[:1] in (b"{", b"["):
        if found == "ndjson":
            certain = by_type == "ndjson" and text[:1] == b"{"
            return found if certain or _is_json(text.splitlines()[0]) else None
        return found if found == "json_array" else None
    if text[0] in (0, 1):
        return found if found == "eventstream" else None
    # What its type says of it does not fit its looks, as far as they are seen.
    guessed = found == by_type and found != "sse"
    return found if found != "json" and not guessed and (b"\n" in text or b"\r" in text) else None


def _is_json(line: bytes) -> bool:
    try:
        jsontext.decode_leniently(line)
    except jsontext.NotJson:
        return False
    return True
