"""Sources: bytes into frames. They know where a frame begins and ends, not what it says or where it is kept."""

from recorder.sources.cassette import Part, read_cassette
from recorder.sources.detect import Format, detect, recognise
from recorder.sources.files import frames, reader_for
from recorder.sources.frame import Frame, Framing, Reader
from recorder.sources.ndjson import NdjsonReader
from recorder.sources.sse import SseReader
from recorder.sources.templates import template_of
from recorder.sources.whole import WholeReader

__all__ = [
    "Format",
    "Frame",
    "Framing",
    "NdjsonReader",
    "Part",
    "Reader",
    "SseReader",
    "WholeReader",
    "detect",
    "frames",
    "read_cassette",
    "reader_for",
    "recognise",
    "template_of",
]
