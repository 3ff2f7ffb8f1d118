"""Templates rebuild frames exactly, or are not used."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.events.framing import VERBATIM, render
from recorder.sources import Frame, NdjsonReader, SseReader, template_of


def only(text: bytes) -> Frame:
    reader = SseReader()
    (frame,) = [*reader.feed(text), *reader.end()]
    return frame


@pytest.mark.parametrize(
    ("raw", "kind", "template"),
    [
        (b"data: {}\n\n", "chunk", "data: {body}\n\n"),
        (b"data:{}\n\n", "chunk", "data:{body}\n\n"),
        (b"data: {}\r\n\r\n", "chunk", "data: {body}\r\n\r\n"),
        (b"data: {}\r\r", "chunk", "data: {body}\r\r"),
        (b"data: {}", "chunk", "data: {body}"),
        (b"data: {}\n", "chunk", "data: {body}\n"),
        (b"event: ping\ndata: {}\n\n", "ping", "event: {kind}\ndata: {body}\n\n"),
        (b"event:ping\ndata:{}\n\n", "ping", "event:{kind}\ndata:{body}\n\n"),
        (b"event: data\ndata: {}\n\n", "on_chain_start", "event: data\ndata: {body}\n\n"),
        (b"event: data\r\ndata: {}\r\n\r\n", "on_chain_start", "event: data\r\ndata: {body}\r\n\r\n"),
        (b"id: 7\ndata: {}\n\n", "chunk", "id: {id}\ndata: {body}\n\n"),
        (b"id: 7\nevent: a\ndata: {}\n\n", "a", "id: {id}\nevent: {kind}\ndata: {body}\n\n"),
        (b"event: a\nid: 7\ndata: {}\n\n", "a", "event: {kind}\nid: {id}\ndata: {body}\n\n"),
        (b": ping\n\n", "comment", "{body}\n\n"),
        (b"event: end\n\n", "comment", "{body}\n\n"),
        (b"data: {", "partial", "{body}"),
    ],
)
def test_usual_frames_have_a_template(raw: bytes, kind: str, template: str) -> None:
    frame = only(raw)
    assert template_of(frame, kind) == (template, None)
    assert render(template, frame.body, kind, frame.id) == raw


@pytest.mark.parametrize(
    "raw",
    [
        b"data: a\ndata: b\n\n",
        b": hi\ndata: a\n\n",
        b"\ndata: a\n\n",
        b"event: run-7f3a\ndata: a\n\n",
        b"event: \xff\ndata: a\n\n",
        b"event: {kind}\ndata: a\n\n",
        b"\xef\xbb\xbfdata: a\n\n",
    ],
)
def test_other_frames_keep_their_bytes(raw: bytes) -> None:
    assert template_of(only(raw), "chunk") == (VERBATIM, raw)


def test_lines_have_a_template() -> None:
    reader = NdjsonReader()
    frames = [*reader.feed(b'{}\n{}\r\n\n{"a":1}'), *reader.end()]
    assert [template_of(frame, "x")[0] for frame in frames] == ["{body}\n", "{body}\r\n", "{body}\n", "{body}"]


@pytest.mark.parametrize(("old", "new"), [(b"data: {", b"}\n\n"), (b"retry: 5\n", b"data: {}\n\n")])
def test_a_continued_frame_keeps_its_new_bytes(old: bytes, new: bytes) -> None:
    reader = SseReader(old)
    (frame,) = reader.feed(new)
    assert template_of(frame, "chunk") == (VERBATIM, new)


@pytest.mark.parametrize("raw", [b"event: a\0b\ndata: {}\n\n", b"id: 7\0\ndata: {}\n\n"])
def test_a_name_that_is_stored_in_another_spelling_makes_no_template(raw: bytes) -> None:
    frame = only(raw)
    assert template_of(frame, frame.event or "chunk") == (VERBATIM, raw)


def test_a_kind_that_is_no_text_is_no_error() -> None:
    frame = Frame(body=b"a", raw=b"event: x\ndata: a\n\n", event="\ud83d")
    assert template_of(frame, "\ud83d") == (VERBATIM, frame.raw)


words = st.sampled_from(["a", "data", "{kind}", "{id}", "{body}", "x9", "", " ", "ä"])


@given(
    body=st.binary(max_size=6).filter(lambda data: not {10, 13} & set(data)),
    event=st.none() | words,
    id=st.none() | words,
    kind=words,
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    gap=st.sampled_from(["", " "]),
)
def test_what_template_of_says_gives_the_frame(
    body: bytes, event: str | None, id: str | None, kind: str, end: str, gap: str
) -> None:
    head = "" if event is None else f"event:{gap}{event}{end}"
    head += "" if id is None else f"id:{gap}{id}{end}"
    frame = only(f"{head}data:{gap}".encode() + body + (end * 2).encode())
    template, explicit = template_of(frame, kind)
    assert (render(template, frame.body, kind, frame.id) if explicit is None else explicit) == frame.raw
