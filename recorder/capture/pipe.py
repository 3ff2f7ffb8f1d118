"""Capture of a pipe: every frame is in the log as soon as its bytes have come."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from types import FrameType
from typing import BinaryIO

from recorder.capture.files import BATCH_EVENTS, Captured, Progress
from recorder.capture.recording import FrameRecorder
from recorder.errors import BadInput
from recorder.ledger import Ledger
from recorder.sources import Format, Frame, Reader, detect, reader_for, recognise
from recorder.store import Capture

READ_BYTES = 256 * 1024


class Interrupts:
    """Turns Ctrl-C and SIGTERM into an end of the input: what was read is stored before the program stops.

    The signal raises only while the pipe is waited for; in the middle of an append it is noted, and acted on after.
    """

    def __init__(self) -> None:
        self.stopped = False
        self._waiting = False

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Handles both signals inside the block, where this is the main thread."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self._handle) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def read(self, read: Callable[[int], bytes]) -> bytes:
        """What the pipe has, or nothing once the program was told to stop."""
        try:
            self._waiting = True
            if self.stopped:
                return b""
            return read(READ_BYTES)
        except KeyboardInterrupt:
            return b""
        finally:
            self._waiting = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.stopped = True
        if self._waiting:
            raise KeyboardInterrupt


def capture_pipe(
    ledger: Ledger,
    pipe: BinaryIO,
    stream: str,
    *,
    dialect: str | None = None,
    tee: BinaryIO | None = None,
    progress: Progress | None = None,
    interrupts: Interrupts | None = None,
) -> Captured:
    """Stores what comes through a pipe as the new stream `stream`, each frame at once; copies the bytes to `tee` first.

    Ends with the input or when interrupted; what is left then is stored as a `partial` event. Raises `NotAStream`
    where no frame could be recognised in all that came, `BadInput` where a stream of that name exists.
    """
    if ledger.find(stream) is not None:
        raise BadInput(f"a stream {stream!r} exists already; give this one another name with --name")
    capture = _PipeCapture(ledger, stream, dialect, progress)
    interrupts = interrupts or Interrupts()
    read: Callable[[int], bytes] = getattr(pipe, "read1", pipe.read)
    with interrupts.installed():
        while data := interrupts.read(read):
            if tee is not None:
                tee.write(data)
                tee.flush()
            capture.feed(data)
        return capture.end()


class _PipeCapture:
    def __init__(self, ledger: Ledger, stream: str, dialect: str | None, progress: Progress | None) -> None:
        self._ledger = ledger
        self._writer = ledger.writer(stream)
        self._recorder = FrameRecorder(self._writer.uuid, dialect=dialect)
        self._progress = progress
        self._reader: Reader | None = None
        self._format: Format | None = None
        self._head = b""
        self._digest = sha256()
        self._bytes = 0
        self._last = 0

    def feed(self, data: bytes) -> None:
        """Stores the frames that are whole with these bytes."""
        if self._reader is None:
            self._head += data
            found = recognise(self._head, complete=False)
            if found is None:
                return
            data = self._begin(found)
        assert self._reader is not None
        self._store(self._reader.feed(data))

    def end(self) -> Captured:
        if self._reader is None:
            head = self._begin(detect(self._head, name="standard input", complete=True))
            self.feed(head)
        assert self._reader is not None
        self._store(self._reader.end())
        return Captured(stream=self._writer.stream, status="stored", events=self._last, last_seq=self._last)

    def _begin(self, format: Format) -> bytes:
        if format.framing == "cassette" or format.gzip:
            raise BadInput("standard input holds a cassette or gzip data; capture the file itself")
        self._format = format
        self._reader = reader_for(format.framing)
        return self._head

    def _store(self, frames: list[Frame]) -> None:
        assert self._format is not None
        for start in range(0, len(frames), BATCH_EVENTS):
            batch = frames[start : start + BATCH_EVENTS]
            events = [self._recorder.event(frame) for frame in batch]
            for frame in batch:
                self._digest.update(frame.raw)
                self._bytes += len(frame.raw)
            with self._ledger.store.transaction() as transaction:
                receipt = self._writer.append_in(transaction, events, expected=self._last)
                capture = Capture(
                    source="-",
                    format=self._format.framing,
                    bytes=self._bytes,
                    digest=self._digest.digest(),
                    first_seq=receipt.first_seq,
                    last_seq=receipt.last_seq,
                )
                transaction.save_capture(self._writer.required_head, capture)
            self._last = receipt.last_seq
            if self._progress is not None:
                self._progress(self._last, self._bytes)
