"""What the fuzzer changes: the shipped recordings and, where it is, the corpus of real traffic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from recorder.capture.recording import dialect_of_frames
from recorder.dialects import UNKNOWN
from recorder.errors import NotAStream
from recorder.sources import DocumentFormat, Frame, detect, reader_for
from recorder.sources.frame import Framing
from tests.corpus import CORPUS
from tests.streams import CASSETTES

_NOBODYS = b"""event: note
data: {"speaker": "a", "words": "one"}

: still here

data: {"speaker": "b", "words": [1, {"two": null}]}

data: no JSON at all

data: [DONE]

"""
"""What no provider sends."""
_NO_RECORDING = (".md", ".csv", ".meta.json")
_HEAD_BYTES = 64 * 1024


class Recording(Struct, frozen=True):
    """A file that capture takes."""

    name: str
    format: Framing | DocumentFormat
    data: bytes
    group: str
    """Its dialect, or for a document its format: every group is changed equally often."""


def shipped() -> list[Recording]:
    """The recordings of the project itself, and one of a provider that no dialect knows."""
    unknown = Recording("unknown.sse", "sse", _NOBODYS, UNKNOWN)
    return [*_read(path for path in CASSETTES.iterdir() if path.name != "made_with.json"), unknown]


def corpus() -> list[Recording]:
    """The real traffic; empty where it is not there."""
    folders = (CORPUS / name for name in ("streams", "langchain_events", "cassettes", "reported/streams"))
    return list(_read(path for folder in folders if folder.is_dir() for path in folder.iterdir()))


def frames_of(format: Framing, data: bytes) -> list[Frame]:
    """The frames of a recording that is no document."""
    reader = reader_for(format)
    return [*reader.feed(data), *reader.end()]


def _read(paths: Iterable[Path]) -> Iterator[Recording]:
    for path in sorted(paths):
        data = b"" if path.name.endswith(_NO_RECORDING) else path.read_bytes()
        if not data:
            continue
        try:
            format = detect(data[:_HEAD_BYTES], complete=len(data) <= _HEAD_BYTES)
        except NotAStream:
            continue
        if format.framing == "cassette" or format.framing == "har":
            yield Recording(path.name, format.framing, data, format.framing)
        elif not format.gzip:
            group = dialect_of_frames(frames_of(format.framing, data)) or UNKNOWN
            yield Recording(path.name, format.framing, data, group)
