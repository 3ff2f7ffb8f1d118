"""Sources: bytes into frames. They know where a frame begins and ends, not what it says or where it is kept."""

from recorder.sources.detect import DocumentFormat, Format, detect, recognise
from recorder.sources.documents import read_exchanges
from recorder.sources.eventstream import EventstreamReader
from recorder.sources.exchange import Part
from recorder.sources.files import frames, reader_for
from recorder.sources.frame import Frame, Framing, Reader
from recorder.sources.json_array import JsonArrayReader
from recorder.sources.ndjson import NdjsonReader
from recorder.sources.sse import SseReader
from recorder.sources.templates import template_of
from recorder.sources.whole import WholeReader

__all__ = [
    "DocumentFormat",
    "EventstreamReader",
    "Format",
    "Frame",
    "Framing",
    "JsonArrayReader",
    "NdjsonReader",
    "Part",
    "Reader",
    "SseReader",
    "WholeReader",
    "detect",
    "frames",
    "read_exchanges",
    "reader_for",
    "recognise",
    "template_of",
]
