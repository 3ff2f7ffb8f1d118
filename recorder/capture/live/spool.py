"""The spool: a file that takes events while the database is away, and gives them back in their order.

Its first line names the stream; each further one is an event with its id, so that an event of which nobody knows
whether it was stored can be given to the database again. A line that a crash cut off is no event.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from recorder.errors import BadInput
from recorder.events import NewEvent

SUFFIX = ".spool"


class SpoolHead(Struct, frozen=True, kw_only=True):
    """The first line: whose events these are."""

    spool: int = 1
    """Version of the format."""
    stream: str
    uuid: bytes
    parent: str | None = None


_encode = msgspec.json.Encoder().encode
_decode_event = msgspec.json.Decoder(NewEvent).decode
_decode_head = msgspec.json.Decoder(SpoolHead).decode


class Spool:
    """One stream's spool. The file is there only while it holds something."""

    def __init__(self, path: Path, head: SpoolHead) -> None:
        self.path = path
        self._head = head
        self._file: int | None = None

    @property
    def holds(self) -> bool:
        """Whether something waits in it."""
        return self._file is not None

    def add(self, events: Sequence[NewEvent]) -> None:
        """Appends events; they are with the operating system when this returns. Raises `OSError`; then none is kept."""
        lines = b"".join(_encode(event) + b"\n" for event in events)
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_EXCL, 0o600)
            _lock(self._file)
            lines = _encode(self._head) + b"\n" + lines
        end = os.fstat(self._file).st_size
        try:
            _write(self._file, lines)
        except OSError:
            os.ftruncate(self._file, end)
            if end == 0:
                self.remove()
            raise

    def remove(self) -> None:
        """Removes the file: what it held is stored."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
            self.path.unlink(missing_ok=True)

    def leave(self) -> None:
        """Closes the file and leaves it where it is, for another process to take in."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


@contextmanager
def taken(path: Path) -> Iterator[None]:
    """Keeps a spool from others while it is taken in. Raises `BadInput` where a program writes to it, `OSError`."""
    with path.open("rb") as file:
        if not _lock(file.fileno()):
            raise BadInput(f"{path}: a program that runs is writing to it: take it in when that has ended")
        yield


def read_head(path: Path) -> SpoolHead:
    """Whose events a spool holds. Raises `BadInput` where the file is none, `OSError`."""
    with path.open("rb") as file:
        return _parsed_head(path, file.readline())


def read_events(path: Path, batch: int = 500) -> Iterator[list[NewEvent]]:
    """The events of a spool in batches. Raises `BadInput` for a line that is none, unless a crash cut it off."""
    found: list[NewEvent] = []
    with path.open("rb") as file:
        _parsed_head(path, file.readline())
        for number, line in enumerate(file, 2):
            if not line.endswith(b"\n"):
                break
            try:
                found.append(_decode_event(line))
            except msgspec.DecodeError as error:
                raise BadInput(f"{path}, line {number}: no event of a spool: {error}") from None
            if len(found) == batch:
                yield found
                found = []
    if found:
        yield found


def _parsed_head(path: Path, line: bytes) -> SpoolHead:
    try:
        head = _decode_head(line)
    except msgspec.DecodeError:
        raise BadInput(f"{path} is no spool") from None
    if head.spool != 1 or len(head.uuid) != 16:
        raise BadInput(f"{path} is a spool of version {head.spool}, which this program does not know: upgrade recorder")
    return head


def _lock(file: int) -> bool:
    """Takes the lock that lasts until the file is closed everywhere; false where somebody else has it."""
    try:
        import fcntl
    except ImportError:
        # There nobody can remove a file that is open.
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # A file system without locks.
        return True
    return True


def _write(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]
