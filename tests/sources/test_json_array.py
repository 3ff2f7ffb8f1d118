"""Framing of a JSON array by its elements."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.sources import Format, Frame, JsonArrayReader, detect, recognise, template_of
from recorder.sources.answer_framing import framing_of


def read(*pieces: bytes, resume: bytes = b"", midway: bool = False) -> list[Frame]:
    reader = JsonArrayReader(resume, midway=midway)
    frames = [frame for piece in pieces for frame in reader.feed(piece)]
    return frames + reader.end()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b'[{"a":1},{"b":2}]', [("data", b'{"a":1}'), ("data", b'{"b":2}'), ("comment", b"]")]),
        (
            b'[{\n  "a": [1]\n}\n,\n{\n  "b": {}\n}\n]\n',
            [("data", b'{\n  "a": [1]\n}'), ("data", b'{\n  "b": {}\n}'), ("comment", b"\n]")],
        ),
        (b'[{"a":"]}\\"[{"}]', [("data", b'{"a":"]}\\"[{"}'), ("comment", b"]")]),
        (b'[{"a":"\\\\"},{}]', [("data", b'{"a":"\\\\"}'), ("data", b"{}"), ("comment", b"]")]),
        (b'\xef\xbb\xbf\n[{"a":1}]', [("data", b'{"a":1}'), ("comment", b"]")]),
        (b'[1, "x,]", null ]', [("data", b"1"), ("data", b'"x,]"'), ("data", b"null"), ("comment", b" ]")]),
        (b"[[2, [3]], []]", [("data", b"[2, [3]]"), ("data", b"[]"), ("comment", b"]")]),
        (b"[]", [("comment", b"[]")]),
        (b"[ ]\n[{}]\n", [("data", b"{}"), ("comment", b"]")]),
        (b'[{"a":1}\n', [("data", b'{"a":1}'), ("comment", b"")]),
        (b'[{"a":1}\n,\n', [("data", b'{"a":1}'), ("partial", b"\n,\n")]),
        (b'[{"a":1},{"b":', [("data", b'{"a":1}'), ("partial", b',{"b":')]),
        (b'[{"a":"x\\', [("partial", b'[{"a":"x\\')]),
        (b"[12", [("partial", b"[12")]),
        (b"[{}} x,{}]", [*(("data", x) for x in (b"{}", b"}", b"x", b"{}")), ("comment", b"]")]),
        (b"", []),
    ],
)
def test_elements_are_frames(text: bytes, expected: list[tuple[str, bytes]]) -> None:
    frames = read(text)
    assert [(frame.kind, frame.body) for frame in frames] == expected
    assert b"".join(frame.raw for frame in frames) == text


def test_an_element_is_given_with_its_last_byte() -> None:
    reader = JsonArrayReader()
    assert reader.feed(b'[{"a":{"b":1}') == []
    assert [frame.body for frame in reader.feed(b"}")] == [b'{"a":{"b":1}}']
    assert reader.pending == b""


def test_what_stands_between_elements_belongs_to_the_one_that_follows() -> None:
    assert [frame.raw for frame in read(b'[{"a":1}\n,\n{"b":2}\n]')] == [b'[{"a":1}', b'\n,\n{"b":2}', b"\n]"]


@pytest.mark.parametrize(
    "text",
    [
        b'[{"a":1}\n,\n{"a":2}\n]',
        b'[{"a":1}\r\n,\r\n{"a":2}\r\n]\r\n',
        b'[{"a":1},{"a":2}]\n',
        b'[{"a":1}, {"a":2}]',
        b'[\n{"a":1},\n{"a":2}\n]',
        b'[\n  {"a":1},\n  {"a":2}\n]\n',
    ],
)
def test_frames_of_the_usual_spellings_are_rebuilt_from_templates(text: bytes) -> None:
    assert [template_of(frame, "chunk")[1] for frame in read(text)] == [None, None, None]


def test_a_resumed_reader_gives_the_whole_element_but_only_the_new_bytes() -> None:
    *_, partial = read(b'[{"a":1},{"b":"}')
    assert read(b'"},{"c":3}]', resume=partial.body) == [
        Frame(body=b'{"b":"}"}', raw=b'"}', continues=True),
        Frame(body=b'{"c":3}', raw=b',{"c":3}'),
        Frame(body=b"]", raw=b"]", kind="comment"),
    ]


def test_a_reader_that_goes_on_midway_knows_that_an_array_is_open() -> None:
    assert [frame.body for frame in read(b"[1], [2]]", midway=True)] == [b"[1]", b"[2]", b"]"]


def test_a_resumed_reader_without_new_bytes_gives_nothing() -> None:
    assert read(resume=b'[{"a":') == []


TOKENS = [b"[", b"]", b"{", b"}", b",", b'"', b"\\", b"\n", b" ", b"12", b"x", b'{"a":1}', b"\xef\xbb\xbf"]
texts = st.lists(st.sampled_from(TOKENS), max_size=20)


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


RESPONSE = b'{"candidates":[{"content":{"parts":[]}}]}'
PRETTY = json.dumps([json.loads(RESPONSE)] * 2, indent=2).encode()


@pytest.mark.parametrize(
    "text",
    [
        b"[" + RESPONSE + b"\n,\n" + RESPONSE + b"\n]",
        b"[" + RESPONSE + b"," + RESPONSE + b"]",
        b"\xef\xbb\xbf \n[" + RESPONSE + b"]\n",
        PRETTY,
        PRETTY[:-1],
        PRETTY[:60],
        b'[{"promptFeedback": {"blockReason": "SAFETY"}}]',
        b'[{"usageMetadata": {}, "modelVersion": "m"}, ',
        b'[{\n  "candidates": [\n    {',
        b'[{"candidates": [{"finishReason": "SAFETY"}]',
    ],
)
def test_an_array_of_googles_responses_is_streamed_be_its_end_missing(text: bytes) -> None:
    assert detect(text, complete=True) == Format(framing="json_array")
    assert recognise(text, complete=False) == Format(framing="json_array")
    assert framing_of(text, "application/json") == framing_of(text, "") == "json_array"


@pytest.mark.parametrize(
    ("text", "framing"),
    [
        (b'[\n{"a":1},\n{"b":2}\n]', "json"),
        (b'[{"a":1},{"b":2}]', "ndjson"),
        (b'[{"candidates": [{"name": "Ann", "votes": 3}]}]', "ndjson"),
        (b'[{"candidates": "none"}]', "ndjson"),
        (b'[\n{"error": {"code": 429}}\n]', "json"),
        (RESPONSE + b"\n" + RESPONSE + b"\n", "ndjson"),
        (RESPONSE, "ndjson"),
        (b'["values",{"candidates": []}]\n', "ndjson"),
        (b'[{"request": {}, "response": {"candidates": []}}]', "cassette"),
    ],
)
def test_other_documents_are_what_they_were(text: bytes, framing: str) -> None:
    assert detect(text, complete=True) == Format(framing=framing)  # type: ignore[arg-type]


def test_an_array_that_is_no_streamed_one_is_one_frame_of_an_answer() -> None:
    assert framing_of(b'[\n{"a":1},\n{"b":2}\n]', "application/json") == "json"
