"""Capture of a pipe: every frame is in the log as soon as its bytes have come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import BinaryIO

from msgspec import structs

from recorder.capture.appending import FrameWriter
from recorder.capture.beginnings import FoundFrames
from recorder.capture.captured import Captured, Progress
from recorder.capture.exports import capture_export, is_export, may_be_export
from recorder.capture.interrupts import Interrupts
from recorder.capture.names import checked, name_of_program
from recorder.errors import BadInput
from recorder.ledger import Ledger
from recorder.sources import Frame

_INPUT = "standard input"

Trouble = Callable[[str], None]
"""Told at once what went wrong, where the bytes must still be passed on."""


def capture_pipe(
    ledger: Ledger,
    pipe: BinaryIO,
    name: str | None = None,
    *,
    dialect: str | None = None,
    tee: BinaryIO | None = None,
    progress: Progress | None = None,
    interrupts: Interrupts | None = None,
    trouble: Trouble | None = None,
) -> list[Captured]:
    """Stores what comes through a pipe as a new stream, each frame at once; copies the bytes to `tee` first.

    Of an export (`recorder.capture.exports`) the streams in it are stored, else there is one, `stdin-…` where no name
    is given. Ends with the input, when interrupted, or when nobody reads `tee` any more; what is left then is stored as
    a `partial` event. Interrupted before anything came, it makes no stream. Raises `NotAStream` where no frame can be
    recognised in what came, `BadInput` where a stream of that name exists, `DatabaseUnusable`. With `tee` all bytes are
    passed on before an error is raised, and `trouble` is told of it when it happens.
    """
    interrupts = interrupts or Interrupts()
    with interrupts.installed():
        passing = _Passing(tee, trouble or _tell_nobody)
        passed = passing.on(interrupts.pieces(pipe))
        try:
            stream = checked(name_of_program("stdin") if name is None else name)
            first = _beginning(passed)
            if is_export(first):
                found = _streams_of(ledger, chain([first], passed), name)
            else:
                capture = _PipeCapture(ledger, stream, dialect, progress)
                for data in chain([first] if first else [], passed):
                    capture.feed(data)
                found = [capture.end(stopped=interrupts.stopped)]
            return [structs.replace(captured, passed_on=not passing.failed) for captured in found]
        except Exception as error:
            if passing.works and trouble is not None:
                trouble(f"{error}; from here on the input is passed on and not stored")
            for _ in passed if passing.works else ():
                pass
            raise


def _streams_of(ledger: Ledger, export: Iterator[bytes], name: str | None) -> list[Captured]:
    try:
        return list(capture_export(ledger, export, name=name))
    except BadInput as error:
        raise BadInput(f"{_INPUT}: {error}") from None


def _beginning(pieces: Iterator[bytes]) -> bytes:
    """What comes first: as little as tells whether it is an export."""
    head = b""
    while may_be_export(head) and (data := next(pieces, b"")):
        head += data
    return head


class _Passing:
    """Passes what comes through a pipe on to `tee`, where there is one."""

    def __init__(self, tee: BinaryIO | None, trouble: Trouble) -> None:
        self._tee = tee
        self._trouble = trouble
        self.failed = False

    @property
    def works(self) -> bool:
        return self._tee is not None

    def on(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """The pieces, each passed on before it is given; they end where nobody reads the tee any more."""
        for data in pieces:
            try:
                if self._tee is not None:
                    self._tee.write(data)
                    self._tee.flush()
            except BrokenPipeError:
                # As without a recorder: the program that writes is to find its pipe closed.
                yield data
                return
            except OSError as error:
                self._tee, self.failed = None, True
                reason = (error.strerror or str(error)).lower()
                self._trouble(f"standard output: {reason}; from here on the input is stored and not passed on")
            yield data


def _tell_nobody(_: str) -> None:
    """Nobody asked to be told."""


class _PipeCapture:
    def __init__(self, ledger: Ledger, stream: str, dialect: str | None, progress: Progress | None) -> None:
        if ledger.find(stream) is not None:
            raise BadInput(f"a stream {stream!r} exists already; give this one another name with --name")
        self._ledger, self._stream = ledger, stream
        self._dialect, self._progress = dialect, progress
        self._frames = FoundFrames(_INPUT, advice="capture the file itself")
        self._writer: FrameWriter | None = None

    def feed(self, data: bytes) -> None:
        """Stores the frames that are whole with these bytes."""
        self._store(self._frames.feed(data))

    def end(self, *, stopped: bool) -> Captured:
        """Stores what is left. `stopped`: the input did not end by itself."""
        if not (stopped and self._frames.is_empty):
            self._store(self._frames.end(complete=not stopped), ended=not stopped)
        if self._writer is None:
            return Captured(stream=self._stream, status="stored", events=0, last_seq=0)
        last = self._writer.last_seq
        return Captured(stream=self._writer.stream, status="stored", events=last, last_seq=last)

    def _store(self, frames: list[Frame], *, ended: bool = False) -> None:
        if self._writer is None:
            if self._frames.framing is None:
                return
            self._writer = FrameWriter(
                self._ledger,
                self._stream,
                source="-",
                format=self._frames.framing,
                dialect=self._dialect,
                progress=self._progress,
            )
        self._writer.append_all(frames, ended=ended)
