"""A HAR file as Chrome saves one: a page that talks to a model, and what else a browser fetches for it.

Written by hand, with the fields that Chrome's inspector writes; those that only tell of the browser are left out.
"""

from __future__ import annotations

import json
from typing import Any

from recordings.frames import MODEL, ChatCompletion, compact, sse

PAGE = "https://chat.example.test/"
API = "https://api.example.test/v1/chat/completions"
CALL_ID = "call_rec0301"
QUESTION = {"role": "user", "content": "How windy is it in Tarifa?"}
TOOL = {
    "type": "function",
    "function": {
        "name": "get_wind",
        "parameters": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
    },
}


def browser() -> bytes:
    """A page, the question whether a call from another origin is allowed, and two exchanges with a model."""
    call = {"id": CALL_ID, "type": "function", "function": {"name": "get_wind", "arguments": '{"place": "Tarifa"}'}}
    result = {"role": "tool", "tool_call_id": CALL_ID, "content": '{"knots": 31}'}
    told: list[dict[str, Any]] = [QUESTION, {"role": "assistant", "content": None, "tool_calls": [call]}, result]
    entries = [
        _entry(0, "GET", PAGE, 200, "text/html", "<!doctype html>\n<title>Wind</title>\n"),
        _entry(1, "OPTIONS", API, 204, "x-unknown", ""),
        _entry(2, "POST", API, 200, "text/event-stream", _call().decode(), [QUESTION]),
        _entry(4, "POST", API, 200, "text/event-stream", _answer().decode(), told),
    ]
    page = {"startedDateTime": _time(0), "id": "page_1", "title": PAGE, "pageTimings": {"onContentLoad": 80}}
    creator = {"name": "WebInspector", "version": "537.36"}
    log = {"version": "1.2", "creator": creator, "pages": [page], "entries": entries}
    return (json.dumps({"log": log}, indent=2, ensure_ascii=False) + "\n").encode()


def _entry(
    second: int, method: str, url: str, status: int, mime: str, text: str, messages: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    request: dict[str, Any] = {
        "method": method,
        "url": url,
        "httpVersion": "http/2.0",
        "headers": [],
        "queryString": [],
    }
    if messages is not None:
        body = compact({"model": MODEL, "stream": True, "messages": messages, "tools": [TOOL]})
        request["headers"] = [{"name": "content-type", "value": "application/json"}]
        request["postData"] = {"mimeType": "application/json", "text": body}
    headers = [] if mime == "x-unknown" else [{"name": "content-type", "value": mime}]
    return {
        "_resourceType": {"GET": "document", "OPTIONS": "preflight", "POST": "fetch"}[method],
        "cache": {},
        "pageref": "page_1",
        "request": request,
        "response": {
            "status": status,
            "statusText": "",
            "httpVersion": "http/2.0",
            "headers": headers,
            "content": {"size": len(text.encode()), "mimeType": mime, "text": text},
            "redirectURL": "",
            "_error": None,
        },
        "startedDateTime": _time(second),
        "time": 900.0,
        "timings": {"blocked": 20.0, "dns": -1, "connect": -1, "ssl": -1, "send": 0.5, "wait": 379.5, "receive": 500.0},
    }


def _time(second: int) -> str:
    return f"2026-01-01T00:00:{second:02d}.000Z"


def _call() -> bytes:
    chat = ChatCompletion("chatcmpl-rec0301")
    pieces = ((0, '{"place"'), (0, ': "Tar'), (0, 'ifa"}'))
    frames = [chat.opening(None), chat.call(0, CALL_ID, "get_wind"), *chat.arguments(*pieces)]
    return sse([*frames, chat.finish("tool_calls"), "[DONE]"])


def _answer() -> bytes:
    chat = ChatCompletion("chatcmpl-rec0302")
    return sse([chat.opening(), *chat.text("31 knots: ", "hold on to your hat."), chat.finish("stop"), "[DONE]"])
