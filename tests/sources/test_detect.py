"""Formats are told from the first bytes, and what is no stream is refused with what was seen."""

from __future__ import annotations

import gzip
import json

import pytest

from recorder.errors import NotAStream
from recorder.sources import Format, detect, recognise
from recorder.sources.detect import HEAD_BYTES

PRETTY = json.dumps({"choices": [{"message": {"content": "hi"}}], "usage": {}}, indent=2).encode()
CASSETTE = {"version": 1, "interactions": [{"request": {"uri": "x"}, "response": {"body": {"string": ""}}}]}


@pytest.mark.parametrize(
    ("text", "framing"),
    [
        (b'data: {"a":1}\n\n', "sse"),
        (b'data:{"a":1}\r\n\r\n', "sse"),
        (b"data: {}\r\rdata: {}\r\r", "sse"),
        (b"data: hello\n\ndata: world\n\n", "sse"),
        (b"data: hello\n\ndata: wor", "sse"),
        (b'event: a\ndata: {"a":1}\n\n', "sse"),
        (b"event: end\n\n", "sse"),
        (b": OPEN\n\n: OPEN\n\ndata: {}\n\n", "sse"),
        (b": ping\n\n", "sse"),
        (b'\xef\xbb\xbfdata: {"a":1}\n\n', "sse"),
        (b' data: {"a":1}\n\ndata: {"b":1}\n\n', "sse"),
        (b'HTTP/1.1 200 OK\r\n\r\ndata: {"b":1}\r\n\r\n', "sse"),
        (b'data: {\ndata: "a": 1}\n\n', "sse"),
        (b'data: {"a":', "sse"),
        (b'{"a":1}\n{"b":2}\n', "ndjson"),
        (b'{"a":1}\r\n{"b":2}\r\n', "ndjson"),
        (b'{"a":1}', "ndjson"),
        (b'\xef\xbb\xbf{"a":1}\n', "ndjson"),
        (b'["values",{}]\n["updates",{}]\n', "ndjson"),
        (b'garbage\n{"b":2}\n', "ndjson"),
        (b'{"a": 1, "b\n{"b":2}\n', "ndjson"),
        (b'{"a":"\xff"}\n', "ndjson"),
        (b'{"a":"\\ud83d", "b": NaN}\n', "ndjson"),
        (b'\n\n{"a":1}\n', "ndjson"),
        (PRETTY, "json"),
        (b'[\n{"a":1},\n{"b":2}\n]\n', "json"),
        (b'[{\n  "a": {}\n}\n,\n{\n  "b": 2\n}\n]', "json"),
        (json.dumps(CASSETTE).encode(), "cassette"),
        (json.dumps(CASSETTE, indent=4).encode(), "cassette"),
        (b"interactions:\n- request:\n    body: null\n", "cassette"),
        (b"version: 1\ninteractions: []\n", "cassette"),
        (b"requests:\n- body: null\nresponses:\n- body: null\n", "cassette"),
        (b"- request:\n    body: null\n  response:\n    body: null\n", "cassette"),
        (b"---\nhttp_interactions:\n- request:\n    method: get\n", "cassette"),
        (b'{"http_interactions": [{"request": {}, "response": {}}], "recorded_with": "betamax/0.8"}', "cassette"),
        (b"---\nversion: 2\ninteractions:\n    - id: 0\n      request:\n", "cassette"),
    ],
)
def test_a_whole_file_is_recognised(text: bytes, framing: str) -> None:
    assert detect(text, complete=True) == Format(framing=framing)  # type: ignore[arg-type]
    assert detect(gzip.compress(text, mtime=0), complete=True) == Format(framing=framing, gzip=True)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("start", "framing"),
    [
        (b'{"a":"', "ndjson"),
        (b'data: {"a":"', "sse"),
        (b"data: ", "sse"),
        (b'event: x\ndata: {"a":"', "sse"),
        (b": hi\n\nevent: x\nid: 4\ndata: text ", "sse"),
        (b'{\n  "id": 1,\n  "content": "', "json"),
        (b'[{\n  "content": "', "json"),
        (b'{"a":1}\n{"b":"', "ndjson"),
        (b'{"version": 1, "interactions": [{"request": {"body": "', "cassette"),
        (b'{\n    "version": 1,\n    "interactions": [\n        {"request": {"body": "', "cassette"),
        (b'interactions:\n- request:\n    body: "', "cassette"),
    ],
)
def test_the_head_of_a_long_file_is_enough(start: bytes, framing: str) -> None:
    head = start + b"x" * (HEAD_BYTES - len(start))
    assert detect(head, complete=False) == Format(framing=framing)  # type: ignore[arg-type]


def test_the_head_of_a_long_gzip_file_is_enough() -> None:
    packed = gzip.compress(b'data: {"a":"' + bytes(range(33, 90)) * 20000, mtime=0)
    assert detect(packed[:500], complete=False) == Format(framing="sse", gzip=True)


@pytest.mark.parametrize(
    ("data", "seen"),
    [
        (b"", "empty file"),
        (b" \n\n", "white space only"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "binary data (starts with 89 50 4E 47)"),
        ('{"a": 1}\r\n'.encode("utf-16"), "text in UTF-16"),
        (b"\xfe\xff" + 'data: {"a": 1}\n\n'.encode("utf-16-be"), "text in UTF-16"),
        (("ä" * 254 + "😀" * 9).encode("utf-16"), "text in UTF-16"),
        ("ä".encode("utf-32"), "binary data (starts with FF FE 00 00)"),
        (b"\xff\xfe\x00\xdc\x41\x00\x41\x00", "binary data (starts with FF FE 00 DC)"),
        (b"Dear all\nyour data: nothing\n", "no SSE, JSON lines, cassette or HAR (starts with 'Dear all')"),
        (b"12\n13\n", "starts with '12'"),
        (b"data:\n  x: 1\n", "starts with 'data:'"),
        (b"data: hello\n", "starts with 'data: hello'"),
        (b'{"a": [1,', "breaks off"),
        (b"[]", "breaks off before its first line or document is whole (starts with '[]')"),
        (b'{\n "a": 1\n}\n{\n "a": 2\n}\n', "a JSON document with more behind it; each of several must be on one line"),
        (b'{\n "a": 1\n}\nnotes', "a JSON document with more behind it"),
        (b'{\n "a": 1\n}\n{\n "a": ', "a JSON document with more behind it"),
        (gzip.compress(b"", mtime=0), "gzip data that holds empty file"),
        (gzip.compress(b"Dear all", mtime=0), "gzip data that holds text that is no SSE"),
        (b"\x1f\x8b\x08broken gzip", "damaged gzip data"),
    ],
)
def test_what_is_no_stream_is_refused_with_what_was_seen(data: bytes, seen: str) -> None:
    with pytest.raises(NotAStream) as refusal:
        detect(data, complete=True)
    assert seen in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_the_refusal_names_the_file() -> None:
    with pytest.raises(NotAStream, match=r"^notes\.txt: empty file$"):
        detect(b"", name="notes.txt", complete=True)


def test_text_cut_inside_a_character_is_text() -> None:
    with pytest.raises(NotAStream, match="text that is no SSE"):
        detect("ä".encode() * 256 + b"\xc3", complete=True)


def test_a_long_file_without_a_frame_in_its_head_is_refused() -> None:
    with pytest.raises(NotAStream, match="text that is no SSE"):
        detect(b"lorem ipsum\n" * 6000, complete=False)


@pytest.mark.parametrize(
    ("head", "framing"),
    [
        (b"da", None),
        (b'{"a"', None),
        (b'{"a":1}', None),
        (b"{\n", None),
        (b'{"a":1}\n', "ndjson"),
        (b'data: {"a', "sse"),
        (b": OPENROUTER PROCESSING\n", None),
        (b": OPENROUTER PROCESSING\n\n", "sse"),
    ],
)
def test_the_head_of_a_pipe_is_recognised_as_soon_as_it_is_certain(head: bytes, framing: str | None) -> None:
    found = recognise(head, complete=False)
    assert (None if found is None else found.framing) == framing
