"""The recorder inside a program that `rec capture -- PROGRAM` has started, and what it tells the launcher."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from recorder.capture.live.session import Session
from recorder.capture.live.sink import Counts

SETTINGS, RUN = "REC_LIVE", "REC_LIVE_RUN"
"""Variables of the environment: a `Settings` in JSON, and the run's folder."""
FIRST, MISSING = "first", "missing"
"""Files in the folder: the process that has the stream's own name, and a Python that has no recorder."""
_REPORT = ".json"


class Settings(Struct, frozen=True, kw_only=True):
    """What the processes of a run record into."""

    stream: str
    database: str
    """An absolute path, or a URL."""


class Report(Struct, frozen=True, kw_only=True):
    """What one process says of itself: when it begins, and again when it ends."""

    process: int
    stream: str
    """The name that it asked for; the database may have given it another."""
    uuid: bytes
    spools: list[str]
    """Where events may wait, in their order."""
    counts: Counts | None = None
    """None until it ends: a process that is killed says no more."""


def begin(settings: str, run: str, is_first: bool) -> None:
    """Begins to record this process: into the run's own stream where it is the first, else into `STREAM/PID`."""
    given = msgspec.json.decode(settings, type=Settings)
    name = given.stream if is_first else f"{given.stream}/{os.getpid()}"
    _Launched(name, given.database, None if is_first else given.stream, Path(run)).start()


def reports(run: Path) -> Iterator[Report]:
    """What the processes of a run have said."""
    for path in sorted(run.glob(f"*{_REPORT}")):
        try:
            yield msgspec.json.decode(path.read_bytes(), type=Report)
        except (OSError, msgspec.DecodeError):
            # It was killed while it wrote.
            continue


class _Launched(Session):
    """A session that leaves it to the launcher to tell."""

    def __init__(self, name: str, database: str, parent: str | None, run: Path) -> None:
        super().__init__(name, database=database, parent=parent)
        self._run = run

    def start(self) -> Session:
        self._report(None)
        return super().start()

    def forked(self) -> None:
        super().forked()
        self._report(None)

    def tell(self) -> None:
        if not self._report(self.sink.counts):
            # The launcher has ended before.
            super().tell()

    def _report(self, counts: Counts | None) -> bool:
        sink, process = self.sink, os.getpid()
        report = Report(
            process=process,
            stream=sink.stream,
            uuid=sink.uuid,
            spools=[str(path) for path in sink.places],
            counts=counts,
        )
        path = self._run / f"{process}-{sink.uuid.hex()[-12:]}{_REPORT}"
        try:
            part = path.with_suffix(".part")
            part.write_bytes(msgspec.json.encode(report))
            part.replace(path)
        except OSError:
            return False
        return True
