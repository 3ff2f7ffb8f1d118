"""SSE framing against the rules of the WHATWG HTML standard, and against losing a byte."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.sources import Frame, SseReader

LINE_ENDS = [b"\n", b"\r\n", b"\r"]


def read(*pieces: bytes, resume: bytes = b"") -> list[Frame]:
    reader = SseReader(resume)
    frames = [frame for piece in pieces for frame in reader.feed(piece)]
    return frames + reader.end()


def bodies(text: bytes) -> list[tuple[str, bytes]]:
    return [(frame.kind, frame.body) for frame in read(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"data: a\n\n", [("data", b"a")]),
        (b"data:a\n\n", [("data", b"a")]),
        (b"data:  a\n\n", [("data", b" a")]),
        (b"data\n\n", [("data", b"")]),
        (b"data:\n\n", [("data", b"")]),
        (b"data\ndata\n\n", [("data", b"\n")]),
        (b"data: a\ndata: b\n\n", [("data", b"a\nb")]),
        (b"data: a\r\ndata: b\r\n\r\n", [("data", b"a\nb")]),
        (b"data: a: b\n\n", [("data", b"a: b")]),
        (b": ping\n\n", [("comment", b": ping")]),
        (b":\n\n", [("comment", b":")]),
        (b": ping\ndata: a\n\n", [("data", b"a")]),
        (b"retry: 100\n\n", [("comment", b"retry: 100")]),
        (b"event: end\n\n", [("comment", b"event: end")]),
        (b"database: a\n\n", [("comment", b"database: a")]),
        (b"Data: a\n\n", [("comment", b"Data: a")]),
        (b' data: {"a":1}\n\ndata: b\n\n', [("comment", b' data: {"a":1}'), ("data", b"b")]),
        (b"data: a\n\n\n\ndata: b\n\n", [("data", b"a"), ("data", b"b")]),
        (b"\xef\xbb\xbfdata: a\n\n", [("data", b"a")]),
        (b"\xef\xbb\xbf\n\ndata: a\n\n", [("data", b"a")]),
        (b"data: a\n\n\xef\xbb\xbfdata: b\n\n", [("data", b"a"), ("comment", b"\xef\xbb\xbfdata: b")]),
        (b"data: \xff\xfe\x00\n\n", [("data", b"\xff\xfe\x00")]),
        (b"data: a\n \n\n", [("data", b"a")]),
        (b"", []),
    ],
)
def test_blocks_are_framed_as_the_standard_says(text: bytes, expected: list[tuple[str, bytes]]) -> None:
    assert bodies(text) == expected


@pytest.mark.parametrize("end", LINE_ENDS)
def test_every_line_end_ends_lines_and_blocks(end: bytes) -> None:
    first, second = read(end.join([b"event: x", b"id: 7", b"data: a", b"", b"data: b", b"", b""]))
    assert (first.event, first.id, first.body) == ("x", "7", b"a")
    assert (second.event, second.id, second.body) == (None, None, b"b")


def test_a_crlf_cut_by_two_reads_is_one_line_end() -> None:
    reader = SseReader()
    assert reader.feed(b"data: a\r") == []
    assert reader.feed(b"\ndata: b\r\n\r") == []
    (frame,) = reader.feed(b"\n")
    assert frame == Frame(body=b"a\nb", raw=b"data: a\r\ndata: b\r\n\r\n")


def test_mixed_line_ends_end_a_block() -> None:
    assert bodies(b"data: a\r\n\ndata: b\n\r\ndata: c\r\r\n") == [("data", b"a"), ("data", b"b"), ("data", b"c")]


@pytest.mark.parametrize(
    ("lines", "event", "id"),
    [
        (b"event: a\nevent: b", "b", None),
        (b"event", None, None),
        (b"event:", None, None),
        (b"event:  a", " a", None),
        (b"id: 1\nid", None, ""),
        (b"id: a\0b", None, None),
        (b"event: \xff", "\N{REPLACEMENT CHARACTER}", None),
    ],
)
def test_event_name_and_id_are_the_last_that_count(lines: bytes, event: str | None, id: str | None) -> None:
    (frame,) = read(lines + b"\ndata: x\n\n")
    assert (frame.event, frame.id) == (event, id)


def test_a_byte_order_mark_counts_only_at_the_start() -> None:
    frames = read(b"\xef\xbb", b"\xbfdata: a\n\n", b"\xef\xbb\xbfdata: b\n\n")
    assert [frame.kind for frame in frames] == ["data", "comment"]


def test_an_id_is_not_carried_to_the_next_block() -> None:
    assert [frame.id for frame in read(b"id: 1\ndata: a\n\ndata: b\n\n")] == ["1", None]


def test_further_blank_lines_lie_in_the_frame_behind_them() -> None:
    assert [frame.raw for frame in read(b"data: a\n\n\n\ndata: b\n\n")] == [b"data: a\n\n", b"\n\ndata: b\n\n"]


def test_blank_lines_at_the_end_are_an_empty_comment() -> None:
    assert read(b"data: a\n\n\n\r\n")[1:] == [Frame(body=b"", raw=b"\n\r\n", kind="comment")]


@pytest.mark.parametrize(
    ("rest", "kind", "body"),
    [
        (b'data: {"a":1}', "data", b'{"a":1}'),
        (b'data: {"a":1}\n', "data", b'{"a":1}'),
        (b'event: x\r\ndata: {"a":1}\r\n', "data", b'{"a":1}'),
        (b"data: [DONE]", "data", b"[DONE]"),
        (b"data: [DONE] \n", "data", b"[DONE] "),
        (b'data: {"a":1}\nid: 5\n', "data", b'{"a":1}'),
        (b'data: {"a":1}\nid: 5', "partial", b'data: {"a":1}\nid: 5'),
        (b'data: {"a":', "partial", b'data: {"a":'),
        (b"data: 12", "partial", b"data: 12"),
        (b"data: text\n", "partial", b"data: text\n"),
        (b"event: x\n", "partial", b"event: x\n"),
        (b"dat", "partial", b"dat"),
        (b": pi", "partial", b": pi"),
        (b": ping\n", "comment", b": ping"),
        (b" \n", "comment", b" "),
        (b"\xef\xbb\xbfda", "partial", b"\xef\xbb\xbfda"),
    ],
)
def test_a_remainder_is_a_frame_only_if_it_is_whole(rest: bytes, kind: str, body: bytes) -> None:
    (frame,) = read(rest)
    assert (frame.kind, frame.body, frame.raw) == (kind, body, rest)


def test_a_partial_remainder_does_not_come_before_the_end() -> None:
    reader = SseReader()
    assert reader.feed(b"data: {") == []
    assert reader.pending == b"data: {"
    assert [frame.kind for frame in reader.end()] == ["partial"]
    assert reader.pending == b""


def test_a_resumed_reader_gives_the_whole_payload_but_only_the_new_bytes() -> None:
    (partial,) = read(b'event: x\ndata: {"a":')
    first, second = read(b'1}\n\ndata: {"b":2}\n\n', resume=partial.body)
    assert first == Frame(body=b'{"a":1}', raw=b"1}\n\n", event="x", continues=True)
    assert second == Frame(body=b'{"b":2}', raw=b'data: {"b":2}\n\n')


def test_a_remainder_may_grow_by_many_inputs() -> None:
    (one,) = read(b"data: {")
    (two,) = read(b'"a"', resume=one.body)
    (three,) = read(b":1}\n\n", resume=two.body)
    assert two == Frame(body=b'data: {"a"', raw=b'"a"', kind="partial", continues=True)
    assert three == Frame(body=b'{"a":1}', raw=b":1}\n\n", continues=True)
    assert read(resume=two.body) == []


@pytest.mark.parametrize("missing", [b"\n", b"\n\n", b"\r\n\r\n"])
def test_the_missing_line_ends_of_a_whole_last_frame_make_no_event(missing: bytes) -> None:
    assert read(missing + b"data: b\n\n") == [Frame(body=b"b", raw=missing + b"data: b\n\n")]


@pytest.mark.slow
def test_a_long_frame_in_small_reads_is_searched_once() -> None:
    reader, reads = SseReader(), 1 << 13
    reader.feed(b'data: {"a":"')
    for _ in range(reads):  # searching all of it at every read would take minutes
        assert reader.feed(b"x" * 4096) == []
    (frame,) = reader.feed(b'"}\n\n')
    assert len(frame.body) == reads * 4096 + len(b'{"a":""}')


pieces = st.sampled_from(
    [b"data", b"data: ", b"event: x", b"id: 1", b":", b" ", b"\n", b"\n\n", b"\r", b"\r\n", b"\r\n\r\n", b"a"]
) | st.sampled_from([b'{"a":1}', b"[DONE]", b"\xef\xbb\xbf", b"\xff", b"\0", b"retry: 1"])
texts = st.lists(pieces, max_size=30).map(b"".join)


@given(text=texts, cuts=st.lists(st.integers(0, 120)))
def test_frames_lose_no_byte_and_do_not_depend_on_the_reads(text: bytes, cuts: list[int]) -> None:
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    whole = read(text)
    assert b"".join(frame.raw for frame in whole) == text
    assert read(*(text[a:b] for a, b in pairwise(places))) == whole


@given(text=texts, cut=st.integers(0, 120))
def test_a_source_read_in_two_inputs_loses_no_byte(text: bytes, cut: int) -> None:
    before = read(text[:cut])
    resume = before[-1].body if before and before[-1].kind == "partial" else b""
    after = read(text[cut:], resume=resume)
    assert b"".join(frame.raw for frame in before + after) == text
    assert all(frame.raw for frame in before + after)


@given(text=texts)
def test_data_is_what_the_standards_algorithm_dispatches(text: bytes) -> None:
    ended = text + b"\n\n"  # the standard drops a block without its blank line; nothing is left open here
    assert [frame.body for frame in read(ended) if frame.kind == "data"] == dispatched(ended)


def dispatched(text: bytes) -> list[bytes]:
    """Section 9.2.6, read line by line: the data of each event, the last line feed taken off."""
    text = text.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    events: list[bytes] = []
    buffer = b""
    for line in text.split(b"\n")[:-1]:
        if not line:
            if buffer:
                events.append(buffer[:-1])
            buffer = b""
            continue
        name, _, value = line.partition(b":")
        if name == b"data":
            buffer += value.removeprefix(b" ") + b"\n"
    return events
