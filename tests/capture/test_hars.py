"""HAR files into the log: model traffic unless all is asked for, known again, extended by new exchanges."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recorder.capture import capture_file
from recorder.errors import BadInput
from recorder.ledger import Ledger
from tests.capture.made import CALL, calls, captures, sse
from tests.command import CASSETTES, Rec
from tests.hars import EXPORTERS, QUESTION, URL, Entry, chrome, entry, named, page, written

PREFLIGHT = page(URL, "x-unknown", None, method="OPTIONS", status=204)
REDIRECT = page(URL, "text/html", "<html>moved</html>", method="POST", status=308)
LISTED = page(URL, "application/json", '{"object":"list","data":[]}')
REST = [
    page("https://app.example/", "text/html", '<html>\n<script>\n{"props": 1}\n</script>\n</html>'),
    page("https://app.example/app.js", "text/javascript", "var a = {\ndata: {\n}}\n"),
    page("https://app.example/style.css", "text/css", "body {\n}\n"),
    page("https://app.example/logo.png", "image/png", None, _resourceType="image"),
    page("https://app.example/api/session", "application/json", '{"user": "me"}'),
    page("https://app.example/favicon.ico", "text/html", "not here", status=404),
    page("https://app.example/cached", "text/html", None, status=304),
    PREFLIGHT,
    REDIRECT,
    LISTED,
]


def answered(body: bytes, number: int = 1, **fields: Any) -> Entry:
    content = {"size": len(body), "mimeType": "text/event-stream", "text": body.decode()}
    question = json.dumps({"model": "m", "messages": [], "n": number})
    return entry(post={"mimeType": "application/json", "text": question}, content=content, **fields)


CALLED = answered(sse(*CALL, "[DONE]"))


def urls(ledger: Ledger, stream: str) -> list[tuple[str, str]]:
    query = "SELECT dialect, meta FROM events WHERE stream = ? AND kind = 'http.request' ORDER BY seq"
    return [(dialect, json.loads(meta)["url"]) for dialect, meta in ledger.sql(query, (stream,))[1]]


def findings(ledger: Ledger, stream: str) -> list[tuple[str, ...]]:
    return list(ledger.sql("SELECT rule, severity FROM findings WHERE stream = ? ORDER BY seq", (stream,))[1])


@pytest.mark.parametrize("exporter", EXPORTERS)
def test_an_exchange_is_gathered_whoever_saved_it(exporter: str, ledger: Ledger, tmp_path: Path) -> None:
    captured = capture_file(ledger, written(tmp_path / "x.har", EXPORTERS[exporter]()))
    assert (captured.stream, captured.status, captured.events, captured.note) == ("x", "stored", 7, None)
    (message,) = ledger.state("x").messages
    assert (message["text"], message["finish_reason"]) == ("Ja, 24 °C", "stop")
    assert findings(ledger, "x") == []
    assert captures(ledger, "x")[0][3] is True


def test_what_is_no_model_traffic_is_left_out_and_counted(ledger: Ledger, tmp_path: Path) -> None:
    captured = capture_file(ledger, written(tmp_path / "x.har", *REST, CALLED))
    assert captured.note == "10 of 11 exchanges are no model traffic and were left out; --all takes them"
    assert urls(ledger, "x") == [("openai.chat", URL)]
    assert calls(ledger, "x") == [("c1", "add", '{"a": 1}', {"a": 1}, "complete")]
    assert findings(ledger, "x") == []


def test_all_of_it_is_taken_where_that_is_asked_for(ledger: Ledger, tmp_path: Path) -> None:
    captured = capture_file(ledger, written(tmp_path / "x.har", *REST, CALLED), everything=True)
    assert captured.note is None
    assert [dialect for dialect, _ in urls(ledger, "x")] == [*["unknown"] * 10, "openai.chat"]
    assert findings(ledger, "x") == [("failure", "error")], "only what was not found failed"


def test_an_exchanges_run_does_not_depend_on_what_is_left_out(ledger: Ledger, tmp_path: Path) -> None:
    path = written(tmp_path / "x.har", *REST, CALLED)
    capture_file(ledger, path)
    with pytest.raises(BadInput, match="holds other bytes"):
        capture_file(ledger, path, everything=True)


@pytest.mark.parametrize(
    "streamed",
    [
        page("https://app.example/chat", "text/event-stream", 'data: {"delta":"a"}\n\ndata: {"delta":"b"}\n\n'),
        page("https://app.example/chat", "application/x-ndjson", '{"delta":"a"}\n{"delta":"b"}\n'),
        page("wss://app.example/", "x-unknown", None, status=101, _webSocketMessages=[]),
    ],
)
def test_whatever_is_streamed_is_taken(streamed: Entry, ledger: Ledger, tmp_path: Path) -> None:
    capture_file(ledger, written(tmp_path / "x.har", *REST, streamed))
    assert [dialect for dialect, _ in urls(ledger, "x")] == ["unknown"]


def test_a_file_without_model_traffic_is_refused(ledger: Ledger, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none of its 10 exchanges is one with a model.*--all"):
        capture_file(ledger, written(tmp_path / "x.har", *REST))
    with pytest.raises(BadInput, match="its one exchange is none with a model"):
        capture_file(ledger, written(tmp_path / "x.har", LISTED))
    with pytest.raises(BadInput, match="a HAR file without an exchange"):
        capture_file(ledger, written(tmp_path / "x.har"))
    assert ledger.streams() == []


def test_a_file_that_grew_is_extended_and_the_same_one_known(ledger: Ledger, tmp_path: Path) -> None:
    path = tmp_path / "x.har"
    second = answered(sse(*CALL, "[DONE]"), 2)
    assert capture_file(ledger, written(path, *REST, CALLED)).status == "stored"
    assert capture_file(ledger, written(path, *REST, CALLED)).status == "known"
    assert capture_file(ledger, written(path, *REST, CALLED, LISTED)).status == "known"
    assert capture_file(ledger, written(path, *REST, CALLED, LISTED, second)).status == "extended"
    capture_file(ledger, path, name="at once")
    assert calls(ledger, "x") == calls(ledger, "at once")
    with pytest.raises(BadInput, match="holds other bytes"):
        capture_file(ledger, written(path, *REST, second, CALLED))


def test_what_a_browser_aborted_is_cut_off(ledger: Ledger, tmp_path: Path) -> None:
    half = answered(sse(*CALL[:2]), response={"_error": "net::ERR_ABORTED"})
    blocked = entry(post={"text": QUESTION}, status=0, response={"_error": "net::ERR_BLOCKED_BY_CLIENT"})
    capture_file(ledger, written(tmp_path / "x.har", half, blocked))
    assert [call[4] for call in calls(ledger, "x")] == ["truncated"]
    _, rows = ledger.sql("SELECT detail FROM findings WHERE rule = 'failure' ORDER BY seq")
    assert [detail for (detail,) in rows] == ["net::ERR_ABORTED", "net::ERR_BLOCKED_BY_CLIENT"]


def test_a_connection_that_the_client_closed_after_the_end_cuts_nothing_off(ledger: Ledger, tmp_path: Path) -> None:
    done = answered(sse(*CALL, "[DONE]"), response={"_error": "net::ERR_ABORTED"})
    capture_file(ledger, written(tmp_path / "x.har", done))
    assert [call[4] for call in calls(ledger, "x")] == ["complete"]
    assert findings(ledger, "x") == [("error-after-end", "info")]


def test_an_answer_without_its_content_is_told(ledger: Ledger, tmp_path: Path) -> None:
    made = chrome()
    del made["response"]["content"]["text"]
    capture_file(ledger, written(tmp_path / "x.har", made))
    assert findings(ledger, "x") == [("answer-not-recorded", "warning")]


def test_events_have_the_times_of_the_recorder(ledger: Ledger, tmp_path: Path) -> None:
    capture_file(ledger, written(tmp_path / "x.har", CALLED))
    _, rows = ledger.sql("SELECT kind, occurred_at FROM events WHERE occurred_at IS NOT NULL ORDER BY seq")
    assert list(rows) == [
        ("http.request", "2026-03-01T12:00:00.500000Z"),
        ("http.response", "2026-03-01T12:00:00.650000Z"),
        ("http.end", "2026-03-01T12:00:00.750000Z"),
    ]


def test_messages_of_a_web_socket_are_events_of_their_exchange(ledger: Ledger, tmp_path: Path) -> None:
    messages = [
        {"type": "send", "time": 1772366401.25, "opcode": 1, "data": '{"type":"hello"}'},
        {"type": "receive", "time": 1772366401.5, "opcode": 1, "data": '{"type":"welcome"}'},
    ]
    socket = entry(method="GET", url="wss://h/chat", status=101, got=named(upgrade="websocket"))
    capture_file(ledger, written(tmp_path / "x.har", socket | {"_webSocketMessages": messages}))
    _, rows = ledger.sql("SELECT kind, meta, occurred_at FROM events WHERE kind NOT LIKE 'http.%' ORDER BY seq")
    assert list(rows) == [
        ("hello", '{"sent": true}', "2026-03-01T12:00:01.250000Z"),
        ("welcome", None, "2026-03-01T12:00:01.500000Z"),
    ]


def test_a_session_over_a_web_socket_is_read_as_its_dump_is(ledger: Ledger, tmp_path: Path) -> None:
    lines = (CASSETTES / "realtime.jsonl").read_text("utf-8").splitlines()
    messages = [
        {"type": "receive" if "event_id" in line else "send", "opcode": 1, "data": line, "time": 1772366400 + number}
        for number, line in enumerate(lines)
    ]
    socket = page(
        "wss://api.openai.com/v1/realtime?model=m", "x-unknown", None, status=101, _webSocketMessages=messages
    )
    capture_file(ledger, written(tmp_path / "x.har", socket))
    capture_file(ledger, CASSETTES / "realtime.jsonl", name="dump")
    assert urls(ledger, "x") == [("openai.realtime", "wss://api.openai.com/v1/realtime?model=m")]
    assert calls(ledger, "x") == calls(ledger, "dump") != []
    texts = [[message["text"] for message in ledger.state(stream).messages] for stream in ("x", "dump")]
    assert texts[0] == texts[1] != []


def test_a_dialect_that_is_given_is_believed_of_what_may_be_in_it(ledger: Ledger, tmp_path: Path) -> None:
    odd = page("https://app.example/ask", "application/json", '{"choices": []}', method="POST")
    capture_file(ledger, written(tmp_path / "x.har", *REST, odd), dialect="openai.chat")
    assert urls(ledger, "x") == [("openai.chat", URL), ("openai.chat", "https://app.example/ask")]


ODD: list[Any] = [None, True, -1, 10**30, "\ud83d", "x" * 40, [[1, 2]], {"": ["\ud83d"]}]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value within."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from places(item, (*path, key))


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    copy = json.loads(json.dumps(value))
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = new
    return copy


@pytest.mark.slow
@pytest.mark.parametrize("exporter", ["chrome", "polly"])
def test_no_entry_keeps_the_others_out_whatever_is_in_it(exporter: str, ledger: Ledger, tmp_path: Path) -> None:
    whole = EXPORTERS[exporter]() | {"_webSocketMessages": [{"type": "send", "time": 1.5, "opcode": 2, "data": "e30="}]}
    sockets = [changed(whole, path, odd) for path in places(whole) for odd in ODD]
    del whole["_webSocketMessages"]
    answers = [changed(whole, path, odd) for path in places(whole) for odd in ODD]
    (tmp_path / "x.har").write_text(json.dumps({"log": {"version": "1.2", "entries": [*sockets, *answers, CALLED]}}))
    captured = capture_file(ledger, tmp_path / "x.har", everything=True)
    assert captured.status == "stored"
    assert calls(ledger, "x")[-1] == ("c1", "add", '{"a": 1}', {"a": 1}, "complete")
    runs = {run for (run,) in ledger.sql("SELECT run_id FROM events WHERE kind IN ('http.end', 'http.error')")[1]}
    assert len(runs) == len(sockets) + len(answers) + 1


def test_the_command_says_what_was_left_out(rec: Rec, tmp_path: Path) -> None:
    written(tmp_path / "x.har", *REST, CALLED)
    done = rec("capture", str(tmp_path / "x.har"))
    assert done.err.splitlines() == [
        "x: stored 8 events",
        "x: 10 of 11 exchanges are no model traffic and were left out; --all takes them",
    ]
    assert rec("capture", "--all", "--name", "all", str(tmp_path / "x.har")).code == 0
