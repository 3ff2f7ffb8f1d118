"""Cassettes into the parts of their exchanges."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from typing import Any

import pytest
import vcr.serialize
from vcr.request import Request
from vcr.serializers import jsonserializer, yamlserializer

from recorder.sources import Part
from recorder.sources.cassette import read_cassette

SSE = b'data: {"a":1}\n\ndata: [DONE]\n\n'
REQUEST = {"method": "POST", "uri": "https://h/v1", "headers": {}, "body": '{"q":1}'}


def read(*interactions: Any) -> list[Part]:
    return list(read_cassette(io.BytesIO(json.dumps({"interactions": interactions}).encode())))


def answer(body: Any, content_type: str = "", **headers: Any) -> dict[str, Any]:
    head = {"content-type": [content_type], **{name.replace("_", "-"): value for name, value in headers.items()}}
    return {"status": {"code": 200, "message": "OK"}, "headers": head, "body": {"string": body}}


def base64(body: bytes) -> dict[str, str]:
    import base64

    return {"encoding": "base64", "string": base64.b64encode(body).decode()}


def kinds(parts: list[Part]) -> list[str]:
    return [part.kind for part in parts]


def frame_bodies(parts: list[Part]) -> list[bytes]:
    return [part.body for part in parts if part.kind == "frame"]


@pytest.mark.parametrize("serializer", [yamlserializer, jsonserializer])
def test_what_vcrpy_writes_is_read(serializer: Any) -> None:
    request = Request("POST", "https://h/v1?key=s3cret", b'{"q":1}', {"Authorization": "Bearer s3cret", "A": "b"})
    response = answer(SSE, "text/event-stream; charset=utf-8", set_cookie=["s3cret"])
    text = vcr.serialize.serialize({"requests": [request], "responses": [response]}, serializer)
    parts = list(read_cassette(io.BytesIO(text.encode())))
    assert kinds(parts) == ["http.request", "http.response", "frame", "frame", "http.end"]
    assert parts[0].body == b'{"q":1}'
    assert parts[0].meta == {
        "method": "POST",
        "url": "https://h/v1?key=[redacted]",
        "headers": {"Authorization": ["[redacted]"], "A": ["b"]},
        "redacted": ["query:key", "header:Authorization"],
    }
    assert parts[1].framing == "sse"
    assert parts[1].meta == {
        "status": 200,
        "reason": "OK",
        "headers": {"content-type": ["text/event-stream; charset=utf-8"], "set-cookie": ["[redacted]"]},
        "redacted": ["header:set-cookie"],
    }
    assert b"".join(part.frame.raw for part in parts if part.frame) == SSE
    assert not [part for part in parts if "s3cret" in repr(part)]


@pytest.mark.parametrize(
    ("body", "content_type", "framing", "bodies"),
    [
        ("data: a\n\n", "text/event-stream", "sse", [b"data: a"[6:]]),
        ('data: {"a":1}\n\n', "", "sse", [b'{"a":1}']),
        ('{"error":1}', "text/event-stream", "json", [b'{"error":1}']),
        ('{"a":1}\n{"b":2}\n', "application/json", "ndjson", [b'{"a":1}', b'{"b":2}']),
        ('{"a":1}\n', "application/x-ndjson", "ndjson", [b'{"a":1}']),
        ('{"a":1}\n', "application/json", "json", [b'{"a":1}\n']),
        ('{\n"a": 1}', "application/json", "json", [b'{\n"a": 1}']),
        ('{"interactions": []}', "application/json", "json", [b'{"interactions": []}']),
        ("oops", "text/plain", "json", [b"oops"]),
        ("", "text/event-stream", "sse", []),
        ("", "", "json", []),
    ],
)
def test_an_answer_is_framed_by_its_looks_and_its_type(
    body: str, content_type: str, framing: str, bodies: list[bytes]
) -> None:
    parts = read({"request": REQUEST, "response": answer(body, content_type)})
    assert parts[1].framing == framing
    assert frame_bodies(parts) == bodies
    assert parts[-1].kind == "http.end"


def test_an_answer_cut_in_the_middle_ends_with_a_partial_frame() -> None:
    parts = read({"request": REQUEST, "response": answer('data: {"a":1}\n\ndata: {"a', "text/event-stream")})
    assert [part.frame.kind for part in parts if part.frame] == ["data", "partial"]


@pytest.mark.parametrize(
    ("encoding", "packed"), [("gzip", gzip.compress(SSE, mtime=0)), ("deflate", zlib.compress(SSE))]
)
def test_a_compressed_answer_is_decoded_and_the_coding_noted(encoding: str, packed: bytes) -> None:
    response = answer("", "text/event-stream", content_encoding=[encoding]) | {"body": base64(packed)}
    parts = read({"request": REQUEST, "response": response})
    assert frame_bodies(parts) == [b'{"a":1}', b"[DONE]"]
    assert parts[1].meta is not None
    assert (parts[1].meta["encoding"], parts[1].meta["decoded"]) == (encoding, True)


def test_a_coding_that_the_recorder_took_off_is_noted_as_such() -> None:
    parts = read({"request": REQUEST, "response": answer(SSE.decode(), content_encoding="gzip")})
    assert frame_bodies(parts) == [b'{"a":1}', b"[DONE]"]
    assert parts[1].meta is not None
    assert (parts[1].meta["encoding"], parts[1].meta["decoded"]) == ("gzip", False)


def test_a_compressed_answer_that_breaks_off_is_an_error_and_loses_nothing() -> None:
    packed = gzip.compress(SSE)[:-8]
    response = answer("", "text/event-stream", content_encoding=["gzip"]) | {"body": base64(packed)}
    parts = read({"request": REQUEST, "response": response})
    assert frame_bodies(parts) == [b'{"a":1}', b"[DONE]"]
    assert parts[-1].kind == "http.error"
    assert parts[-1].body == packed


def test_a_parsed_body_is_written_as_compact_json() -> None:
    request = {"method": "POST", "uri": "u", "parsed_body": {"q": [1, "ä"]}}
    response = {"status": {"code": 200}, "parsed_body": {"a": 1}}
    parts = read({"request": request, "response": response})
    assert parts[0].body == '{"q":[1,"ä"]}'.encode()
    assert frame_bodies(parts) == [b'{"a":1}']


@pytest.mark.parametrize(
    ("interaction", "expected", "error"),
    [
        ("text", ["http.error"], "no mapping but of type str"),
        (None, ["http.error"], "no mapping"),
        ({}, ["http.error"], "no request; no response"),
        ({"request": REQUEST}, ["http.request", "http.error"], "no response"),
        ({"request": REQUEST, "response": 5}, ["http.request", "http.error"], "the response is no mapping"),
        ({"response": answer("x")}, ["http.response", "frame", "http.error"], "no request"),
        (
            {"request": REQUEST, "response": answer(7)},
            ["http.request", "http.response", "http.error"],
            "response: a body of type int",
        ),
        (
            {"request": {**REQUEST, "headers": 7}, "response": answer("x")},
            ["http.request", "http.response", "frame", "http.error"],
            "request: headers of type int",
        ),
    ],
)
def test_a_broken_interaction_is_an_error_and_the_others_still_come(
    interaction: Any, expected: list[str], error: str
) -> None:
    parts = read(interaction, {"request": REQUEST, "response": answer("x")})
    broken = [part for part in parts if part.exchange == 1]
    assert kinds(broken) == expected
    assert broken[-1].meta is not None
    assert error in broken[-1].meta["error"]
    assert kinds([part for part in parts if part.exchange == 2]) == [
        "http.request",
        "http.response",
        "frame",
        "http.end",
    ]


def test_what_there_is_of_a_wrong_body_is_kept() -> None:
    parts = read({"request": {**REQUEST, "body": {"q": 1}}, "response": answer([1])})
    assert parts[0].body == b'{"q":1}'
    assert parts[-1].body == b"[1]"


@pytest.mark.parametrize(
    ("response", "status", "reason"),
    [
        ({"status": {"code": 429, "message": "slow"}}, 429, "slow"),
        ({"status_code": 404}, 404, None),
        ({"status": "200 OK", "code": 200}, 200, "OK"),
        ({"status": "503"}, 503, None),
        ({"status": "odd"}, None, None),
        ({"status": {"code": True}}, None, None),
        ({}, None, None),
    ],
)
def test_a_status_is_read_in_every_layout(response: dict[str, Any], status: int | None, reason: str | None) -> None:
    (meta,) = (part.meta for part in read({"request": REQUEST, "response": response}) if part.kind == "http.response")
    assert meta == {"status": status, "reason": reason, "headers": {}}


@pytest.mark.parametrize(
    ("recorded_at", "ended"),
    [
        ("2026-03-01T12:00:00", 1772366400000000),
        ("Sun, 01 Mar 2026 12:00:00 GMT", 1772366400000000),
        ("soon", None),
        (7, None),
        (None, None),
    ],
)
def test_the_time_at_which_an_exchange_was_recorded_is_that_of_its_end(recorded_at: Any, ended: int | None) -> None:
    parts = read({"request": REQUEST, "response": answer("x"), "recorded_at": recorded_at})
    assert [part.occurred_at for part in parts] == [None, None, None, ended]


def test_headers_may_be_pairs_or_single_values() -> None:
    request = {**REQUEST, "headers": [["a", "1"], ["a", "2"]]}
    parts = read({"request": request, "response": {"status_code": 404, "headers": {"b": 3}, "content": "x"}})
    assert parts[0].meta is not None
    assert parts[1].meta is not None
    assert parts[0].meta["headers"] == {"a": ["1", "2"]}
    assert parts[1].meta["headers"] == {"b": ["3"]}
    assert parts[1].meta["status"] == 404
