"""Documents of exchanges: whichever recorder wrote one, its exchanges come apart into the same parts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from recorder.sources.detect import DocumentFormat
from recorder.sources.exchange import Part


def read_exchanges(source: Path | str | BinaryIO, format: DocumentFormat) -> Iterator[Part]:
    """The parts of all exchanges of a document, in its order. Raises as `read_cassette` and `read_har` do."""
    # Imported here: a capture of frames starts without either.
    if format == "har":
        from recorder.sources.har import read_har

        return read_har(source)
    from recorder.sources.cassette import read_cassette

    return read_cassette(source)
