"""Capture of files: what is new in them goes into the log, whole or not at all known."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from msgspec import structs

from recorder.capture.appending import BATCH_EVENTS, FrameWriter
from recorder.capture.captured import Captured, Progress, Status
from recorder.capture.documents import capture_document
from recorder.capture.names import checked, name_of_file
from recorder.capture.refusals import erased_already, not_a_stream, other_bytes, unreadable
from recorder.dialects import UNKNOWN, base
from recorder.errors import BadInput, NotAStream
from recorder.ledger import Ledger
from recorder.sources import Format, Frame, detect, reader_for
from recorder.sources.detect import HEAD_BYTES
from recorder.sources.files import chunks
from recorder.store import Capture, StreamHead

BATCH_BYTES = 4 * 1024 * 1024


def capture_file(
    ledger: Ledger,
    path: Path,
    *,
    name: str | None = None,
    dialect: str | None = None,
    everything: bool = False,
    progress: Progress | None = None,
) -> Captured:
    """Captures one file as the stream `name` (None: the file's stem).

    The same bytes again are known; a file that has grown is taken up where the last capture ended. `everything`: of a
    HAR file what is no model traffic as well. Raises `BadInput` for a file that cannot be read or holds other bytes
    than the stream of that name, `NotAStream` where no frame can be recognised; then nothing of it was stored.
    """
    format = _format_of(path)
    stream = checked(name_of_file(path) if name is None else name)
    if format.framing == "cassette" or format.framing == "har":
        return capture_document(ledger, path, stream, format.framing, dialect, everything=everything)
    head = ledger.find(stream)
    if head is None:
        return _store_new(ledger, path, stream, format, dialect, progress)
    if ledger.store.erasure_count(head):
        raise erased_already(path, stream)
    known = ledger.store.last_capture(head)
    if known is None or known.format != format.framing:
        raise other_bytes(path, stream)
    return _store_rest(ledger, path, format, dialect, progress, head, known)


def _store_new(
    ledger: Ledger, path: Path, stream: str, format: Format, dialect: str | None, progress: Progress | None
) -> Captured:
    source = _Source(path, format)
    writer = FrameWriter(ledger, stream, source=path.name, format=format.framing, dialect=dialect, progress=progress)
    _append_all(writer, source, b"")
    if writer.stored == 0:
        raise BadInput(f"{path}: no frame could be read ({source.damage or 'it is empty'}); nothing was stored")
    return Captured(
        stream=writer.stream, status="stored", events=writer.stored, last_seq=writer.last_seq, note=source.damage
    )


def _store_rest(
    ledger: Ledger,
    path: Path,
    format: Format,
    dialect: str | None,
    progress: Progress | None,
    head: StreamHead,
    known: Capture,
) -> Captured:
    """Takes a file up where the last capture of it ended. Raises `BadInput` where it does not begin with the same."""
    partial, spoken = b"", None
    if head.last_seq:
        (last,) = ledger.events(head.name, head.last_seq, head.last_seq)
        partial = last.body if last.kind == base.PARTIAL else b""
        spoken = None if last.dialect == UNKNOWN else last.dialect
    source = _Source(path, format)
    writer = FrameWriter(
        ledger,
        head.name,
        source=path.name,
        format=format.framing,
        dialect=dialect or spoken,
        head=head,
        progress=progress,
    )
    for data in source.first(known.bytes):
        writer.skip(data)
    if source.position < known.bytes or writer.digest != known.digest:
        raise other_bytes(path, head.name)
    _append_all(writer, source, partial, midway=not known.complete)
    if writer.stored == 0 and source.damage is None and not known.complete:
        with ledger.store.transaction() as transaction:
            transaction.save_capture(head, structs.replace(known, complete=True))
    status: Status = "extended" if writer.stored else "known"
    return Captured(
        stream=writer.stream, status=status, events=writer.stored, last_seq=writer.last_seq, note=source.damage
    )


class _Source:
    """The bytes of one file, read once from its start to its end or to where it is damaged."""

    def __init__(self, path: Path, format: Format) -> None:
        self._path, self.format = path, format
        self._pieces = self._read()
        self._left = b""
        self.position = 0
        """How many bytes were given out."""
        self.damage: str | None = None
        """Why not all could be read; None where all could."""

    def first(self, count: int) -> Iterator[bytes]:
        """The first `count` bytes, or all there are."""
        for data in self._pieces:
            wanted = count - self.position
            taken, self._left = data[:wanted], data[wanted:]
            self.position += len(taken)
            yield taken
            if self.position == count:
                return

    def rest(self) -> Iterator[bytes]:
        """The bytes behind those given out."""
        if self._left:
            yield self._left
        yield from self._pieces

    def _read(self) -> Iterator[bytes]:
        try:
            yield from chunks(self._path, gzip=self.format.gzip)
        except BadInput as damage:
            self.damage = str(damage)
        except OSError as error:
            raise unreadable(self._path, error) from error


def _append_all(writer: FrameWriter, source: _Source, partial: bytes, *, midway: bool = False) -> None:
    """Stores the rest of the source; `partial` is the body of the partial frame that the stream ends with.

    `midway`: the capture before was broken off where the source went on.
    """
    batches = _batches(_frames(source, partial, midway=midway))
    batch = next(batches, [])
    while batch:
        # One batch ahead, so that the last one is known to be it.
        following = next(batches, [])
        writer.append(batch, ended=not following and source.damage is None)
        batch = following


def _frames(source: _Source, partial: bytes, *, midway: bool) -> Iterator[Frame]:
    assert source.format.framing != "cassette"
    assert source.format.framing != "har"
    reader = reader_for(source.format.framing, partial, midway=midway)
    for data in source.rest():
        yield from reader.feed(data)
    yield from reader.end()


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


def _format_of(path: Path) -> Format:
    try:
        with open(path, "rb") as file:
            head = file.read(HEAD_BYTES)
    except IsADirectoryError:
        raise BadInput(f"{path}: is a folder; name the recordings in it") from None
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error
    try:
        return detect(head, name=str(path), complete=len(head) < HEAD_BYTES)
    except NotAStream as error:
        raise not_a_stream(error, head) from None
