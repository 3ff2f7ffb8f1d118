"""Frames cut while they come are those that the whole answer has, and codings come off wherever the reads end."""

from __future__ import annotations

import gzip
import json
import random
import zlib

import pytest
import zstandard

from recorder.capture.live.cutting import AnswerCutter, CutFrame
from recorder.capture.live.decoding import Decoding
from recorder.sources.answer_framing import framing_of
from recorder.sources.content_coding import decode_content
from recorder.sources.files import reader_for
from recorder.sources.frame import Frame
from recorder.sources.whole import WholeReader
from tests.command import CASSETTES

RECORDED = sorted(path for path in CASSETTES.iterdir() if path.suffix in (".sse", ".bin", ".jsonl", ".json"))
SMALL = {
    "nothing": b"",
    "a document": b'{"a": 1}',
    "a document in lines": b'{\n "a": [\n{}\n]\n}\n',
    "an error under the type of a stream": b'{"error": {"message": "no"}}\n',
    "lines": b'{"a": 1}\n{"a": 2}\n{"a": 3}',
    "a ping": b": ping\n\ndata: 1\n\n",
    "names first": b"event: x\r\ndata: {}\r\n\r\nid: 7\r\ndata: [1]\r\n\r\n",
    "a rest": b'data: {"a": 1}\n\ndata: {"a',
    "marked": b"\xef\xbb\xbfdata: {}\n\n",
    "a page": b"<html>\n<script>\ndata: {\n</script>",
    "an array": b'[{"candidates": [{"content": {}}]}\n,\n{"candidates": []}]',
    "another array": b'[{"a": 1}, {"b": 2}]',
    "text": b"no stream at all",
}
BODIES = SMALL | {path.name: path.read_bytes() for path in RECORDED}
TYPES = ("", "text/event-stream", "application/json", "application/x-ndjson", "application/vnd.amazon.eventstream")


def whole(body: bytes, media_type: str) -> list[Frame]:
    framing = framing_of(body, media_type)
    reader = WholeReader(trusted=True) if framing == "json" else reader_for(framing)
    return [*reader.feed(body), *reader.end()]


def reads(body: bytes, longest: int, seed: int) -> list[bytes]:
    chance, found, at = random.Random(seed), [], 0
    while at < len(body):
        size = chance.randint(1, longest)
        found.append(body[at : at + size])
        at += size
    return found


def cut(cutter: AnswerCutter, pieces: list[bytes]) -> list[CutFrame]:
    """Read number n ends at microsecond n."""
    found = [frame for number, piece in enumerate(pieces) for frame in cutter.feed(piece, number)]
    return [*found, *cutter.end(whole=True)]


@pytest.mark.parametrize("media_type", TYPES)
@pytest.mark.parametrize("name", BODIES)
def test_frames_do_not_depend_on_where_reads_end(name: str, media_type: str) -> None:
    body = BODIES[name]
    expected = whole(body, media_type)
    for longest, seed in [(1, 0), (9, 1), (200, 2), (5000, 3), (10**9, 4)]:
        if len(body) > 3000 * longest:
            continue  # a read of a few bytes is slow, and is seen in the others
        pieces = reads(body, longest, seed)
        cutter = AnswerCutter(media_type, None)
        found = cut(cutter, pieces)
        assert [each.frame for each in found] == expected, longest
        assert cutter.framing == framing_of(body, media_type)
        ends = [sum(map(len, pieces[: number + 1])) for number in range(len(pieces))]
        start = 0
        for each in found:
            stop = start + len(each.frame.raw)
            inside = [[end - start, number] for number, end in enumerate(ends) if start < end < stop]
            assert json.loads(each.cuts or b"[]") == inside
            assert each.arrived_at == next(number for number, end in enumerate(ends) if end >= stop)
            start = stop


@pytest.mark.parametrize("name", ["names first", "a ping", "weather.sse", "converse.bin", "ollama.jsonl"])
def test_a_frame_is_there_with_its_last_byte(name: str) -> None:
    body = BODIES[name]
    media_type = "application/x-ndjson" if name.endswith("jsonl") else ""
    expected = whole(body, media_type)
    cutter, found, at = AnswerCutter(media_type, None), 0, 0
    for frame in expected:
        found += len(cutter.feed(body[at : at + len(frame.raw)], 0))
        at += len(frame.raw)
        if name != "a ping" or found:  # A comment alone is of no stream for sure.
            assert found >= expected.index(frame) + 1
    assert found == len(expected)


TEXT = b"".join(b'data: {"n": %d}\n\n' % number for number in range(500))


def bare(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


CODED = {
    ("gzip", "gzip"): gzip.compress(TEXT),
    ("deflate", "deflate"): zlib.compress(TEXT),
    ("deflate", "bare deflate"): bare(TEXT),
    ("zstd", "zstd"): zstandard.ZstdCompressor().compress(TEXT),
    ("gzip, zstd", "two"): zstandard.ZstdCompressor().compress(gzip.compress(TEXT)),
    ("gzip", "not coded"): TEXT,
    ("zstd", "not coded"): TEXT,
    ("deflate", "not coded"): TEXT,
    ("br", "not coded"): TEXT,
    ("identity", "not coded"): TEXT,
    ("gzip", "one byte"): b"\x1f",
    ("gzip", "broken off"): gzip.compress(TEXT)[:-20],
    ("gzip", "damaged"): gzip.compress(TEXT)[:300] + b"\xff" * 90,
    ("gzip", "more behind"): gzip.compress(TEXT) + b"more",
    ("gzip", "nothing"): b"",
}


@pytest.mark.parametrize(("encoding", "what"), CODED)
def test_codings_come_off_as_they_do_from_the_whole(encoding: str, what: str) -> None:
    data = CODED[encoding, what]
    expected = decode_content(data, encoding)
    for longest, seed in [(1, 0), (50, 1), (10**9, 2)]:
        decoding = Decoding(encoding)
        found = b"".join(map(decoding.feed, reads(data, longest, seed)))
        found += decoding.end(whole=True)
        assert (decoding.problem is None) == (expected.problem is None), (decoding.problem, expected.problem)
        if expected.problem is None:
            assert found == expected.body
        else:
            assert expected.body.startswith(found) or found.startswith(expected.body)


def test_what_can_be_read_of_a_coded_stream_is_read_at_once() -> None:
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    decoding = Decoding("gzip")
    for number in range(20):
        text = b"piece %d" % number
        assert decoding.feed(packer.compress(text) + packer.flush(zlib.Z_SYNC_FLUSH)) == text
    assert decoding.end(whole=False) == b""
    assert decoding.problem is None, "the program has closed it: nothing is wrong"


def test_a_body_that_nobody_can_decode_is_kept() -> None:
    decoding = Decoding("br")
    data = bytes(range(128, 256))
    assert decoding.feed(data[:50]) + decoding.feed(data[50:]) + decoding.end(whole=True) == b""
    assert decoding.problem is not None
    assert decoding.kept in (data, b"")
