"""Frames of one source into the log, and beside them how much of the source that is."""

from __future__ import annotations

from hashlib import sha256

from recorder.capture.captured import Progress
from recorder.capture.recording import FrameRecorder
from recorder.capture.refusals import taken_meanwhile
from recorder.ledger import Ledger
from recorder.sources import Frame
from recorder.store import Capture, StreamHead

BATCH_EVENTS = 500


class FrameWriter:
    """Appends the frames of one source to one stream.

    With every append, and in the same transaction, it notes how many bytes of the source the stream holds and their
    digest: whatever ends the program, the note fits the log. Without a `head` the stream is to be a new one: raises
    `BadInput` where there is one of that name.
    """

    def __init__(
        self,
        ledger: Ledger,
        stream: str,
        *,
        source: str,
        format: str,
        dialect: str | None = None,
        head: StreamHead | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._ledger = ledger
        self._writer = ledger.writer(stream)
        if head is None and self._writer.head is not None:
            # With that stream's UUID these frames would get the ids of its events.
            raise taken_meanwhile(stream)
        self._source, self._format, self._progress = source, format, progress
        self.last_seq = head.last_seq if head is not None else 0
        self._first_seq = self.last_seq + 1
        self._recorder = FrameRecorder(self._writer.uuid, last=self.last_seq, dialect=dialect)
        self._digest = sha256()
        self._bytes = 0
        self._capture = 0

    @property
    def stream(self) -> str:
        """The name that the stream has: it may be renamed while events come."""
        return self._writer.head.name if self._writer.head is not None else self._writer.stream

    @property
    def stored(self) -> int:
        """How many events were appended here."""
        return self.last_seq - self._first_seq + 1

    @property
    def digest(self) -> bytes:
        """SHA-256 over the bytes that were skipped and appended."""
        return self._digest.digest()

    def skip(self, data: bytes) -> None:
        """Bytes of the source that the stream has already."""
        self._digest.update(data)
        self._bytes += len(data)

    def append_all(self, frames: list[Frame], *, ended: bool = False) -> None:
        """As `append`, in as many transactions as it takes."""
        for start in range(0, max(len(frames), 1), BATCH_EVENTS):
            last = start + BATCH_EVENTS >= len(frames)
            self.append(frames[start : start + BATCH_EVENTS], ended=ended and last)

    def append(self, frames: list[Frame], *, ended: bool = False) -> None:
        """Stores frames in one transaction. `ended`: they are the source's last.

        Raises `BadInput` where somebody else has made the stream that this append was to make, `Conflict` where
        somebody else appends to it.
        """
        if not frames and not (ended and self._writer.head is not None):
            return
        self._recorder.look_ahead(frames)
        events = [self._recorder.event(frame) for frame in frames]
        for frame in frames:
            self.skip(frame.raw)
        with self._ledger.store.transaction() as transaction:
            last = self.last_seq
            if self._writer.head is None and transaction.head(self._writer.stream) is not None:
                raise taken_meanwhile(self._writer.stream)
            if events:
                last = self._writer.append_in(transaction, events, expected=last).last_seq
            capture = Capture(
                source=self._source,
                format=self._format,
                bytes=self._bytes,
                digest=self.digest,
                first_seq=self._first_seq,
                last_seq=last,
                complete=ended,
                capture=self._capture,
            )
            number = transaction.save_capture(self._writer.required_head, capture)
        self.last_seq, self._capture = last, number
        if self._progress is not None:
            self._progress(self.stored, self._bytes)
