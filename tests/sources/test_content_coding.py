"""Content-codings are taken off where they are there."""

from __future__ import annotations

import gzip
import random
import zlib

import pytest

from recorder.sources.content_coding import Decoded, decode_content

TEXT = b'data: {"a":1}\n\n'


def bare_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (gzip.compress(TEXT, mtime=0), "gzip"),
        (gzip.compress(TEXT, mtime=0), "X-GZIP"),
        (zlib.compress(TEXT), "deflate"),
        (bare_deflate(TEXT), "deflate"),
        (gzip.compress(zlib.compress(TEXT), mtime=0), "deflate, gzip"),
    ],
)
def test_a_coded_body_is_decoded(body: bytes, encoding: str) -> None:
    assert decode_content(body, encoding) == Decoded(TEXT, True)


@pytest.mark.parametrize("encoding", [None, "", "identity", "gzip", "deflate", "br", "zstd", "gzip, br"])
def test_a_body_that_the_recorder_decoded_stays(encoding: str | None) -> None:
    assert decode_content(TEXT, encoding) == Decoded(TEXT, False)


@pytest.mark.parametrize("encoding", ["br", "deflate", "gzip", "zstd", "gzip, deflate"])
def test_a_binary_body_that_its_recorder_decodes_stays(encoding: str) -> None:
    body = b"\xff\xd8\xff\xe0 an image"
    assert decode_content(body, encoding, lenient=True) == Decoded(body, False)


def test_a_packed_body_that_is_damaged_is_a_problem_all_the_same() -> None:
    found = decode_content(gzip.compress(TEXT, mtime=0)[:-8], "gzip", lenient=True)
    assert (found.body, found.changed) == (TEXT, True)
    assert found.problem is not None


def test_a_body_that_breaks_off_gives_what_there_was() -> None:
    text = random.Random(1).randbytes(20_000)
    found = decode_content(gzip.compress(text, mtime=0)[:-5000], "gzip")
    assert text.startswith(found.body)
    assert len(found.body) > 10_000
    assert found.problem is not None
    assert "breaks off" in found.problem


def test_a_body_damaged_from_its_start_stays() -> None:
    body = b"\x1f\x8b\x08\0" + b"\xff" * 20
    found = decode_content(body, "gzip")
    assert (found.body, found.changed) == (body, False)
    assert found.problem is not None


def test_bytes_behind_the_end_are_not_dropped_in_silence() -> None:
    found = decode_content(gzip.compress(TEXT, mtime=0) + b"x" * 9000, "gzip")
    assert found == Decoded(TEXT, True, "9000 bytes follow the end of the gzip body")
