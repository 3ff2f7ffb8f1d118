"""Capture of files: what is new in them goes into the log, whole or not at all known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Literal

from msgspec import Struct

from recorder.capture.exchanges import exchange_events
from recorder.capture.names import name_of_file
from recorder.capture.recording import FrameRecorder
from recorder.dialects import base
from recorder.errors import BadInput, Conflict, IdentityClash
from recorder.events import NewEvent
from recorder.ledger import Ledger
from recorder.sources import Format, Frame, Reader, detect, read_cassette, reader_for
from recorder.sources.detect import HEAD_BYTES
from recorder.sources.files import chunks
from recorder.store import Capture, StreamHead

BATCH_EVENTS = 500
BATCH_BYTES = 4 * 1024 * 1024

Progress = Callable[[int, int], None]
"""Told after every batch: events stored so far, bytes read so far."""


class Captured(Struct, frozen=True, kw_only=True):
    """What a capture did."""

    stream: str
    status: Literal["stored", "extended", "known"]
    """`known`: the same bytes were captured under this name before, nothing was stored."""
    events: int
    """How many events were stored now."""
    last_seq: int
    note: str | None = None
    """What the user should know: the file could be read in part only."""


def capture_file(
    ledger: Ledger,
    path: Path,
    *,
    name: str | None = None,
    dialect: str | None = None,
    progress: Progress | None = None,
) -> Captured:
    """Captures one file as the stream `name` (None: the file's stem).

    The same bytes again are known; a file that has grown is taken up where the last capture ended. Raises `BadInput`
    for a file that cannot be read or holds other bytes than the stream of that name, `NotAStream` where no frame can
    be recognised; then nothing of it was stored.
    """
    stream = name or name_of_file(path)
    format = _format_of(path)
    head = ledger.find(stream)
    if format.framing == "cassette":
        return _capture_cassette(ledger, path, stream, dialect)
    return _FileCapture(ledger, path, stream, format, dialect, head, progress).run()


class _FileCapture:
    """One pass over one file of frames."""

    def __init__(
        self,
        ledger: Ledger,
        path: Path,
        stream: str,
        format: Format,
        dialect: str | None,
        head: StreamHead | None,
        progress: Progress | None,
    ) -> None:
        self._ledger, self._path, self._stream, self._format = ledger, path, stream, format
        self._progress = progress
        self._writer = ledger.writer(stream)
        self._known = ledger.store.last_capture(head) if head is not None else None
        self._head = head
        self._last = head.last_seq if head is not None else 0
        self._digest = sha256()
        self._bytes = 0
        self._stored = 0
        self._note: str | None = None
        self._dialect = dialect

    def run(self) -> Captured:
        if self._head is not None and (self._known is None or self._known.format == "cassette"):
            raise _other_bytes(self._path, self._stream)
        reader, recorder = self._begin()
        for batch in _batches(self._frames(reader)):
            recorder.look_ahead(batch)
            self._store([recorder.event(frame) for frame in batch], batch)
        if self._head is None and self._stored == 0:
            raise BadInput(f"{self._path}: no frame could be read ({self._note or 'empty'}); nothing was stored")
        status: Literal["stored", "extended", "known"] = "stored"
        if self._head is not None:
            status = "extended" if self._stored else "known"
        return Captured(stream=self._stream, status=status, events=self._stored, last_seq=self._last, note=self._note)

    def _begin(self) -> tuple[Reader, FrameRecorder]:
        """A reader and a recorder at the point where the last capture of the file ended."""
        assert self._format.framing != "cassette"
        resume, dialect = b"", self._dialect
        if self._head is not None and self._last:
            (last,) = self._ledger.events(self._stream, self._last, self._last)
            resume = last.body if last.kind == base.PARTIAL else b""
            dialect = dialect or last.dialect
        recorder = FrameRecorder(self._writer.uuid, last=self._last, dialect=dialect)
        return reader_for(self._format.framing, resume), recorder

    def _frames(self, reader: Reader) -> Iterator[Frame]:
        """The frames of the file that the stream does not have yet."""
        skip = self._known.bytes if self._known is not None else 0
        try:
            for data in chunks(self._path, gzip=self._format.gzip):
                if skip:
                    known, data = data[:skip], data[skip:]
                    self._digest.update(known)
                    skip -= len(known)
                    if skip == 0:
                        self._compare()
                if data:
                    yield from reader.feed(data)
        except BadInput as damage:
            self._note = str(damage)
        except OSError as error:
            raise BadInput(f"{self._path}: {error.strerror or error}") from error
        if skip:
            raise _other_bytes(self._path, self._stream)
        yield from reader.end()

    def _compare(self) -> None:
        assert self._known is not None
        self._bytes = self._known.bytes
        if self._digest.digest() != self._known.digest:
            raise _other_bytes(self._path, self._stream)

    def _store(self, events: list[NewEvent], frames: list[Frame]) -> None:
        for frame in frames:
            self._digest.update(frame.raw)
            self._bytes += len(frame.raw)
        with self._ledger.store.transaction() as transaction:
            receipt = self._writer.append_in(transaction, events, expected=self._last)
            capture = Capture(
                source=self._path.name,
                format=self._format.framing,
                bytes=self._bytes,
                digest=self._digest.digest(),
                first_seq=receipt.first_seq,
                last_seq=receipt.last_seq,
            )
            transaction.save_capture(self._writer.required_head, capture)
        self._last = receipt.last_seq
        self._stored += len(events)
        if self._progress is not None:
            self._progress(self._stored, self._bytes)


def _capture_cassette(ledger: Ledger, path: Path, stream: str, dialect: str | None) -> Captured:
    """A cassette is rewritten as a whole when it grows, so that its events are compared, not its bytes."""
    writer = ledger.writer(stream)
    try:
        events = list(exchange_events(writer.uuid, read_cassette(path), dialect=dialect))
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror or error}") from error
    if not events:
        raise BadInput(f"{path}: a cassette without an exchange; nothing was stored")
    digest = sha256(path.read_bytes())
    before = writer.last_seq
    try:
        with ledger.store.transaction() as transaction:
            receipt = writer.append_in(transaction, events)
            if receipt.status != "known":
                capture = Capture(
                    source=path.name,
                    format="cassette",
                    bytes=path.stat().st_size,
                    digest=digest.digest(),
                    first_seq=receipt.first_seq,
                    last_seq=receipt.last_seq,
                )
                transaction.save_capture(writer.required_head, capture)
    except (IdentityClash, Conflict):
        raise _other_bytes(path, stream) from None
    if receipt.status == "known" and len(events) < before:
        raise _other_bytes(path, stream)
    status: Literal["stored", "extended", "known"] = "known" if receipt.status == "known" else "stored"
    return Captured(
        stream=stream,
        status="extended" if before and status == "stored" else status,
        events=len(receipt.events),
        last_seq=max(receipt.last_seq, before),
    )


def _format_of(path: Path) -> Format:
    try:
        with open(path, "rb") as file:
            head = file.read(HEAD_BYTES)
            complete = len(head) < HEAD_BYTES
    except IsADirectoryError:
        raise BadInput(f"{path}: is a folder; name the recordings in it") from None
    except OSError as error:
        raise BadInput(f"{path}: {(error.strerror or str(error)).lower()}") from error
    return detect(head, name=str(path), complete=complete)


def _batches(frames: Iterator[Frame]) -> Iterator[list[Frame]]:
    """Frames in batches that fit into memory."""
    while batch := list(islice(_bounded(frames), BATCH_EVENTS)):
        yield batch


def _bounded(frames: Iterator[Frame]) -> Iterator[Frame]:
    size = 0
    for frame in frames:
        yield frame
        size += len(frame.raw)
        if size >= BATCH_BYTES:
            return


def _other_bytes(path: Path, stream: str) -> BadInput:
    return BadInput(f"{path}: the stream {stream!r} holds other bytes; give this recording another name with --name")
