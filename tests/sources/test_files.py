"""Files and pipes are read as they come, in bounded memory."""

from __future__ import annotations

import gzip
import io
import os
import tracemalloc
from pathlib import Path

import pytest

from recorder.errors import BadInput
from recorder.sources import Format, frames

LINE = b'{"a":1}\n'
NDJSON = Format(framing="ndjson")
PACKED = Format(framing="ndjson", gzip=True)


def test_a_file_and_an_open_file_give_the_same_frames(tmp_path: Path) -> None:
    path = tmp_path / "x.ndjson"
    path.write_bytes(LINE * 3)
    found = list(frames(path, NDJSON))
    assert [frame.raw for frame in found] == [LINE] * 3
    assert list(frames(str(path), NDJSON)) == found
    with path.open("rb") as file:
        assert list(frames(file, NDJSON, head=file.read(5))) == found


def test_gzip_members_and_their_padding_are_read_as_one_text(tmp_path: Path) -> None:
    path = tmp_path / "x.ndjson.gz"
    path.write_bytes(gzip.compress(LINE) + gzip.compress(LINE) + b"\0" * 7)
    assert [frame.raw for frame in frames(path, PACKED)] == [LINE] * 2


def test_gzip_data_that_breaks_off_gives_what_there_was_and_says_so() -> None:
    text = b"".join(b'{"a":%d}\n' % number for number in range(100_000))
    packed = gzip.compress(text)
    found = []
    with pytest.raises(BadInput, match="breaks off"):
        found.extend(frames(io.BytesIO(packed[: len(packed) // 2]), PACKED))
    # `extend` keeps what came before the error.
    assert text.startswith(b"".join(frame.raw for frame in found))
    assert len(found) > 1000


def test_damaged_gzip_data_gives_what_came_before_and_says_so() -> None:
    with pytest.raises(BadInput, match="damaged"):
        list(frames(io.BytesIO(gzip.compress(LINE)[:-8] + b"\0" * 8), PACKED))


def test_a_resumed_file_continues_its_partial_frame() -> None:
    (frame,) = frames(io.BytesIO(b"1}\n"), NDJSON, resume=b'{"a":')
    assert (frame.body, frame.raw, frame.continues) == (b'{"a":1}', b"1}\n", True)


def test_a_pipes_frame_is_there_before_the_pipe_ends() -> None:
    reading, writing = os.pipe()
    with open(reading, "rb") as pipe, open(writing, "wb", buffering=0) as end:
        end.write(b"data: a\n\nda")
        found = frames(pipe, Format(framing="sse"))
        assert next(found).body == b"a"
        end.write(b"ta: b\n\n")
        assert next(found).body == b"b"


def test_a_long_file_takes_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "long.ndjson"
    path.write_bytes(LINE * (4_000_000 // len(LINE)))
    tracemalloc.start()
    count = sum(1 for _ in frames(path, NDJSON))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 500_000
    assert peak < 32 << 20


def test_a_cassette_is_not_read_as_frames() -> None:
    with pytest.raises(ValueError, match="read_exchanges"):
        list(frames(io.BytesIO(), Format(framing="cassette")))
