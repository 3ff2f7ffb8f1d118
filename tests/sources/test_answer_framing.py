"""How an answer's frames lie in its body is told by the body first, for the type may be missing or wrong."""

from __future__ import annotations

import struct
from zlib import crc32

import pytest

from recorder.sources.answer_framing import framing_of


def message(payload: bytes) -> bytes:
    prelude = struct.pack("!II", 16 + len(payload), 0)
    sound = prelude + struct.pack("!I", crc32(prelude)) + payload
    return sound + struct.pack("!I", crc32(sound))


SSE = b'data: {"a":1}\n\ndata: [DONE]\n\n'
PAGE = b'<html>\n<script>\n{"props": {"a": 1}}\n</script>\ndata: {\n</html>\n'


@pytest.mark.parametrize(
    ("body", "media_type", "framing"),
    [
        (SSE, "text/event-stream", "sse"),
        (SSE, "", "sse"),
        (SSE, "**redacted**", "sse"),
        (SSE, "text/html", "sse"),
        (SSE, "application/json", "sse"),
        (b"\xef\xbb\xbf\n: ping\n\n" + SSE, "", "sse"),
        (b'event: a\ndata: {"a":1}\n\n', "", "sse"),
        (b"data\n\n", "text/event-stream", "sse"),
        (b"data: text\n\n", "text/event-stream", "sse"),
        (b'{"error": 1}', "text/event-stream", "json"),
        (b'{\n "error": 1\n}', "text/event-stream", "json"),
        (b'{"a":1}\n{"b":2}\n', "application/json", "ndjson"),
        (b'{"a":1}\n', "application/x-ndjson", "ndjson"),
        (b'{"a":1}\n', "application/json", "json"),
        (b'{"a":1}', "", "json"),
        (message(b"{}") + message(b"{}"), "", "eventstream"),
        (message(b"{}"), "application/vnd.amazon.eventstream", "eventstream"),
        (b'{"message":"no"}', "application/vnd.amazon.eventstream", "json"),
        (b"", "application/vnd.amazon.eventstream", "eventstream"),
        (PAGE, "text/html", "json"),
        (PAGE, "", "json"),
        (b"body {\n}\n.data: {\n", "text/css", "json"),
        (b'var a = 1\n{"b": 2}\n', "application/javascript", "json"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png", "json"),
        (b'{"interactions": []}', "application/json", "json"),
        (b'{"log": {"entries": []}}', "application/json", "json"),
        (b"oops", "text/plain", "json"),
        (b"", "", "json"),
    ],
)
def test_an_answer_is_framed_by_its_looks_and_then_by_its_type(body: bytes, media_type: str, framing: str) -> None:
    assert framing_of(body, media_type) == framing
