"""HAR files into the parts of their exchanges, whoever exported them."""

from __future__ import annotations

import base64
import gzip
import io
import json
from typing import Any

import pytest

from recorder.errors import BadInput, NotAStream
from recorder.events import clock
from recorder.sources import Part, detect
from recorder.sources.har import read_har
from tests.hars import ANSWER, EXPORTERS, QUESTION, STARTED, URL, entry, har, named

TEXT = {"size": 2, "mimeType": "application/json", "text": "{}"}


def read(*entries: Any) -> list[Part]:
    return list(read_har(io.BytesIO(json.dumps(har(*entries)).encode())))


def meta(parts: list[Part], kind: str) -> dict[str, Any]:
    (found,) = (part.meta for part in parts if part.kind == kind)
    assert found is not None
    return found


def body(parts: list[Part]) -> bytes:
    return b"".join(part.frame.raw for part in parts if part.frame)


@pytest.mark.parametrize("exporter", EXPORTERS)
def test_an_exchange_is_the_same_whoever_saved_it(exporter: str) -> None:
    parts = read(EXPORTERS[exporter]())
    assert [part.kind for part in parts] == ["http.request", "http.response", *["frame"] * 4, "http.end"]
    assert parts[0].body == QUESTION.encode()
    assert body(parts) == ANSWER.encode()
    assert parts[1].framing == "sse"
    assert meta(parts, "http.request")["method"] == "POST"
    assert meta(parts, "http.request")["url"].partition("?")[0] == URL
    assert meta(parts, "http.response")["status"] == 200
    assert clock.to_text(parts[0].occurred_at or 0) == "2026-03-01T12:00:00.500000Z"
    assert clock.to_text(parts[-1].occurred_at or 0) == "2026-03-01T12:00:00.750000Z"
    assert "s3cret" not in repr(parts)


@pytest.mark.parametrize("exporter", EXPORTERS)
@pytest.mark.parametrize("indent", [None, 2, "\t"])
def test_a_file_is_recognised_by_its_beginning(exporter: str, indent: Any) -> None:
    text = json.dumps(har(EXPORTERS[exporter](), creator=exporter), indent=indent).encode()
    assert detect(text, complete=True).framing == "har"
    assert detect(text[:200], complete=False).framing == "har"
    assert detect(gzip.compress(text, mtime=0), complete=True).framing == "har"


@pytest.mark.parametrize(
    "text",
    [
        b'{"log":{"level":"info","message":"entries"}}\n{"log":{"level":"warn"}}\n',
        b'{"log":"line\\n","stream":"stdout"}\n',
        b'{"log": {"entries": 3}}\n',
    ],
)
def test_a_programs_own_log_is_no_har(text: bytes) -> None:
    assert detect(text, complete=True).framing == "ndjson"


def test_a_header_that_only_the_content_tells_is_added() -> None:
    answer = meta(read(entry(content={"mimeType": "text/event-stream", "text": ANSWER})), "http.response")
    assert answer["headers"] == {"content-type": ["text/event-stream"]}
    unknown = meta(read(entry(content={"mimeType": "x-unknown", "text": "{}"})), "http.response")
    assert unknown["headers"] == {}


def test_pseudo_headers_are_none() -> None:
    sent = named(_path="/?key=s3cret", _method="POST", accept="*/*")
    assert meta(read(entry(sent=sent)), "http.request")["headers"] == {"accept": ["*/*"]}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"text": "ä"}, "ä".encode()),
        ({"text": "/w==", "encoding": "base64"}, b"\xff"),
        ({"text": "/w==", "encoding": "BASE64"}, b"\xff"),
        ({"text": '["/w==", "YQ=="]', "encoding": "base64"}, b"\xffa"),
        ({"text": "ff00", "encoding": "hex"}, b"\xff\0"),
        ({"text": '["ff","00"]', "_isBinary": True}, b"\xff\0"),
        ({"text": "{}", "encoding": "utf-8"}, b"{}"),
        ({"text": '{"a": 1}', "encoding": None}, b'{"a": 1}'),
        ({"text": {"a": ["ä"]}}, '{"a":["ä"]}'.encode()),
        ({"text": "\ud83d"}, b"\xed\xa0\xbd"),
    ],
)
def test_a_body_is_read_in_every_spelling(content: dict[str, Any], expected: bytes) -> None:
    parts = read(entry(content=content, post=content))
    assert body(parts) == expected
    assert parts[0].body == expected
    assert parts[-1].kind == "http.end"


@pytest.mark.parametrize("text", ["a", "[1]", '["a"]', '["'])
def test_a_body_that_is_not_as_it_says_is_an_error_and_kept(text: str) -> None:
    parts = read(entry(content={"text": text, "encoding": "base64"}))
    assert parts[-1].kind == "http.error"
    assert parts[-1].body == text.encode()
    assert "response: a body that is no base64" in meta(parts, "http.error")["error"]


@pytest.mark.parametrize(
    ("coding", "content"),
    [
        ("br", {"text": ANSWER}),
        ("br", {"text": base64.b64encode(b"\xff\xd8\xff\xe0").decode(), "encoding": "base64"}),
        ("deflate", {"text": base64.b64encode(b"\xff\xd8\xff\xe0").decode(), "encoding": "base64"}),
        ("gzip, br", {"text": "{}"}),
        ("zstd", {"text": "{}"}),
    ],
)
def test_a_coding_that_the_exporter_took_off_does_no_harm(coding: str, content: dict[str, Any]) -> None:
    parts = read(entry(content=content, got=named(content_encoding=coding)))
    packed = content["text"]
    assert body(parts) == (base64.b64decode(packed) if "encoding" in content else packed.encode())
    assert (meta(parts, "http.response")["encoding"], meta(parts, "http.response")["decoded"]) == (coding, False)
    assert parts[-1].kind == "http.end"


def test_a_body_that_is_still_packed_and_damaged_is_an_error() -> None:
    packed = gzip.compress(ANSWER.encode())[:-9]
    content = {"text": base64.b64encode(packed).decode(), "encoding": "base64"}
    parts = read(entry(content=content, got=named(content_encoding="gzip")))
    assert "gzip body breaks off" in meta(parts, "http.error")["error"]
    assert parts[-1].body == packed


FORM = [{"name": "a b", "value": "ä&"}, {"name": "f", "fileName": "x.pdf", "contentType": "application/pdf"}]


@pytest.mark.parametrize(
    ("mime", "expected"),
    [
        ("application/x-www-form-urlencoded; charset=utf-8", b"a+b=%C3%A4%26&f="),
        ("multipart/form-data; boundary=x", json.dumps(FORM, ensure_ascii=False, separators=(",", ":")).encode()),
    ],
)
def test_of_a_form_without_its_text_the_parameters_are_kept(mime: str, expected: bytes) -> None:
    assert read(entry(post={"mimeType": mime, "params": FORM}))[0].body == expected
    assert read(entry(post={"mimeType": mime, "params": FORM, "text": "sent so"}))[0].body == b"sent so"


@pytest.mark.parametrize(
    ("made", "why"),
    [
        ({"content": {"size": 512, "mimeType": "text/event-stream"}}, "kept no body"),
        ({"content": {"size": -1, "mimeType": "x", "comment": "Response bodies are not included."}}, "kept no body"),
        ({"content": {"size": 512, "mimeType": "x", "text": ""}}, "kept no body"),
        ({"content": {"size": 9, "mimeType": "x", "_file": "ab12.json"}}, "apart from the HAR file, in ab12.json"),
        ({"content": {}}, "kept no body"),
        ({"content": {"size": -1}, "status": 101, "method": "GET"}, "no messages of the web socket"),
        ({"content": {"size": 0, "mimeType": "x"}}, None),
        ({"content": {"size": 0, "mimeType": "x", "text": ""}}, None),
        ({"content": {"mimeType": "x", "text": ""}}, None),
        ({"content": {"size": -1}, "status": 204}, None),
        ({"content": {"size": -1}, "method": "HEAD"}, None),
        ({"content": {"size": -1}, "response": {"bodySize": 0}}, None),
        ({"content": TEXT}, None),
    ],
)
def test_a_body_that_is_missing_is_told_from_one_that_is_empty(made: dict[str, Any], why: str | None) -> None:
    told = meta(read(entry(**made)), "http.end").get("unrecorded")
    assert why is told if why is None or told is None else why in told


@pytest.mark.parametrize(
    ("response", "error"),
    [
        ({"status": 0, "statusText": "", "_error": "net::ERR_BLOCKED_BY_CLIENT"}, "net::ERR_BLOCKED_BY_CLIENT"),
        ({"status": -1, "statusText": "", "_failureText": "net::ERR_FAILED"}, "net::ERR_FAILED"),
        ({"status": 0, "content": {}, "_error": "server disconnected"}, "server disconnected"),
        ({"status": 0, "statusText": ""}, "no answer was recorded (status 0)"),
        ({"status": None}, "no answer was recorded (status None)"),
        ({"status": 0, "_charlesStatus": "FAILED"}, "the recorder says FAILED"),
    ],
)
def test_a_request_without_an_answer_ends_with_why(response: dict[str, Any], error: str) -> None:
    parts = read(entry(post={"text": QUESTION}, response={"content": {"size": 0}, **response}))
    assert [part.kind for part in parts] == ["http.request", "http.error"]
    assert meta(parts, "http.error")["error"] == error


@pytest.mark.parametrize("why", [{"_error": "net::ERR_ABORTED"}, {"_charlesStatus": "EXCEPTION"}])
def test_what_came_of_an_answer_that_was_broken_off_is_kept(why: dict[str, Any]) -> None:
    content = {"size": 70, "mimeType": "text/event-stream", "text": ANSWER[:150]}
    parts = read(entry(content=content, response=why))
    assert [part.frame.kind for part in parts if part.frame] == ["data", "partial"]
    assert parts[-1].kind == "http.error"


SOCKET = [
    {"type": "send", "time": 1772366401.25, "opcode": 1, "data": '{"type":"session.update"}'},
    {"type": "receive", "time": 1772366401.5, "opcode": 1, "data": '{"type":"session.updated"}'},
    {"type": "receive", "time": 1772366402000, "opcode": 2, "data": base64.b64encode(b'{"serverContent":{}}').decode()},
    {"type": "receive", "opcode": 2, "data": "no base64!"},
    {"type": "receive", "opcode": 8, "data": ""},
    {"type": "error", "opcode": -1, "data": "gone"},
    "odd",
]


def test_messages_of_a_web_socket_are_frames_with_their_side_and_time() -> None:
    parts = read(
        entry(method="GET", url="wss://h/v1/realtime?model=m", status=101, _webSocketMessages=SOCKET)
        | {"_resourceType": "websocket"}
    )
    frames = [part for part in parts if part.kind == "frame"]
    assert [part.body for part in frames] == [
        b'{"type":"session.update"}',
        b'{"type":"session.updated"}',
        b'{"serverContent":{}}',
        b"no base64!",
        b"",
        b"gone",
        b'"odd"',
    ]
    assert [part.meta for part in frames] == [{"sent": True}, *[None] * 6]
    assert [part.frame.kind for part in frames if part.frame] == [*["data"] * 4, *["comment"] * 3]
    assert [part.occurred_at for part in frames[:4]] == [1772366401250000, 1772366401500000, 1772366402000000, None]
    assert parts[1].framing is None
    assert parts[-1].kind == "http.end"


def test_a_web_socket_on_which_nothing_passed_is_whole() -> None:
    parts = read(entry(method="GET", url="wss://h/", status=101, _webSocketMessages=[]))
    assert [part.kind for part in parts] == ["http.request", "http.response", "http.end"]
    assert meta(parts, "http.end") == {}


@pytest.mark.parametrize("field", ["_eventSourceMessages", "_eventStreamMessages"])
def test_events_of_an_event_source_stand_in_for_a_body(field: str) -> None:
    told = [
        {"time": 1, "eventName": "message", "eventId": "", "data": '{"a":1}'},
        {"time": 2, "eventName": "done", "eventId": "7", "data": "x\ny"},
    ]
    made = entry(method="GET", content={"size": 60, "mimeType": "text/event-stream"}, **{field: told})
    parts = read(made)
    assert body(parts) == b'data: {"a":1}\n\nevent: done\nid: 7\ndata: x\ndata: y\n\n'
    assert [(part.body, part.frame.event, part.frame.id) for part in parts if part.frame] == [
        (b'{"a":1}', None, None),
        (b"x\ny", "done", "7"),
    ]
    made["response"]["content"]["text"] = "data: as sent\n\n"
    assert body(read(made)) == b"data: as sent\n\n"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, (0, 150_000, 250_000)),
        ({"timings": {"receive": -1}}, (0, None, 250_000)),
        ({"timings": {}}, (0, None, 250_000)),
        ({"time": 0, "timings": {"receive": 5}}, (0, 0, 0)),
        ({"time": -1}, (0, None, None)),
        ({"time": "soon", "timings": None}, (0, None, None)),
        ({"time": True}, (0, None, None)),
        ({"time": 1e300}, (0, None, None)),
        ({"startedDateTime": "yesterday"}, None),
        ({"startedDateTime": ""}, None),
        ({"startedDateTime": {}}, None),
        ({"startedDateTime": "9999-12-31T23:59:59Z"}, None),
        ({"startedDateTime": "0001-01-01T00:00:00+14:00"}, None),
    ],
)
def test_parts_have_the_times_that_the_entry_tells(fields: dict[str, Any], expected: tuple[Any, ...] | None) -> None:
    parts = read(entry(content=TEXT) | fields)
    begin = clock.from_text(STARTED)
    wanted = (None,) * 3 if expected is None else [None if after is None else begin + after for after in expected]
    times = [part.occurred_at for part in parts if part.frame is None]
    assert times == list(wanted)


@pytest.mark.parametrize(
    ("broken", "kinds", "error"),
    [
        ("text", ["http.error"], "the entry is no object but of type str"),
        (None, ["http.error"], "the entry is no object"),
        ({}, ["http.error"], "no request; no response"),
        (entry() | {"response": None}, ["http.request", "http.error"], "no response"),
        (entry(content=TEXT) | {"request": 5}, ["http.response", "frame", "http.error"], "no request"),
        (
            entry(content=TEXT, got=[7]),  # type: ignore[list-item]
            ["http.request", "http.response", "frame", "http.error"],
            "response: headers of type list that are no pairs",
        ),
        (entry(content=5), ["http.request", "http.response", "http.end"], None),  # type: ignore[arg-type]
        (entry(post=5), ["http.request", "http.response", "http.end"], None),  # type: ignore[arg-type]
    ],
)
def test_a_broken_entry_does_not_stop_the_others(broken: Any, kinds: list[str], error: str | None) -> None:
    parts = read(broken, entry(content=TEXT))
    first = [part for part in parts if part.exchange == 1]
    assert [part.kind for part in first] == kinds
    if error is not None:
        assert error in meta(first, "http.error")["error"]
    assert [part.kind for part in parts if part.exchange == 2] == ["http.request", "http.response", "frame", "http.end"]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (b'{"log": {"entries": [', BadInput),
        (b"\x1f\x8b\x08broken", BadInput),
        (b'{"log": {"entries": {}}}', NotAStream),
        (b"[]", NotAStream),
        (b'{"log": []}', NotAStream),
    ],
)
def test_what_is_no_har_is_refused_in_one_line(text: bytes, error: type[Exception]) -> None:
    with pytest.raises(error) as refusal:
        list(read_har(io.BytesIO(text)))
    assert "\n" not in str(refusal.value)


def test_a_packed_file_with_a_byte_order_mark_is_read() -> None:
    text = b"\xef\xbb\xbf" + json.dumps(har(entry(content=TEXT))).encode()
    assert len(list(read_har(io.BytesIO(gzip.compress(text))))) == 4
