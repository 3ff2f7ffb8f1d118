"""Framing of JSON lines."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.sources import Frame, NdjsonReader


def read(*pieces: bytes, resume: bytes = b"") -> list[Frame]:
    reader = NdjsonReader(resume)
    frames = [frame for piece in pieces for frame in reader.feed(piece)]
    return frames + reader.end()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b'{"a":1}\n{"b":2}\n', [("data", b'{"a":1}'), ("data", b'{"b":2}')]),
        (b'{"a":1}\r\n', [("data", b'{"a":1}')]),
        (b'{"a":1}\n\n \n{"b":2}\n', [("data", b'{"a":1}'), ("comment", b""), ("comment", b" "), ("data", b'{"b":2}')]),
        (b"no json\n\xff\0\n", [("data", b"no json"), ("data", b"\xff\0")]),
        (b'\xef\xbb\xbf{"a":1}\n', [("data", b'{"a":1}')]),
        (b'{"a":1}', [("data", b'{"a":1}')]),
        (b'{"a":1}\r', [("data", b'{"a":1}')]),
        (b"[1]\n[DONE]", [("data", b"[1]"), ("data", b"[DONE]")]),
        (b'{"a":', [("partial", b'{"a":')]),
        (b"12", [("partial", b"12")]),
        (b"\n\n", [("comment", b"")]),
        (b"", []),
    ],
)
def test_lines_are_frames(text: bytes, expected: list[tuple[str, bytes]]) -> None:
    frames = read(text)
    assert [(frame.kind, frame.body) for frame in frames] == expected
    assert b"".join(frame.raw for frame in frames) == text


def test_the_missing_line_end_of_a_whole_last_line_makes_no_event() -> None:
    assert read(b'\n{"b":2}\n') == [Frame(body=b'{"b":2}', raw=b'\n{"b":2}\n')]
    assert read(b'\r\n{"b":2}\n') == [Frame(body=b'{"b":2}', raw=b'\r\n{"b":2}\n')]


def test_a_resumed_reader_gives_the_whole_line_but_only_the_new_bytes() -> None:
    (partial,) = read(b'{"a":')
    assert read(b"1}\n", b'{"b":2}\n', resume=partial.body) == [
        Frame(body=b'{"a":1}', raw=b"1}\n", continues=True),
        Frame(body=b'{"b":2}', raw=b'{"b":2}\n'),
    ]


def test_a_resumed_reader_without_new_bytes_gives_nothing() -> None:
    assert read(resume=b'{"a":') == []


texts = st.lists(st.sampled_from([b"{}", b'{"a":', b"\n", b"\r\n", b"\r", b" ", b"\xef\xbb\xbf", b"x"]), max_size=20)


@given(text=texts.map(b"".join), cuts=st.lists(st.integers(0, 60)))
def test_frames_lose_no_byte_and_do_not_depend_on_the_reads(text: bytes, cuts: list[int]) -> None:
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    whole = read(text)
    assert b"".join(frame.raw for frame in whole) == text
    assert read(*(text[a:b] for a, b in pairwise(places))) == whole


@given(text=texts.map(b"".join), cut=st.integers(0, 60))
def test_a_source_read_in_two_inputs_loses_no_byte(text: bytes, cut: int) -> None:
    before = read(text[:cut])
    resume = before[-1].body if before and before[-1].kind == "partial" else b""
    after = read(text[cut:], resume=resume)
    assert b"".join(frame.raw for frame in before + after) == text
