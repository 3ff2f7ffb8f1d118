"""HAR files in the flavours of those who write them: one exchange with a model, as each would have saved it.

Fields and their values follow the exporters' sources; what no reader could use (sizes of headers, initiators) is left
out. Every secret in them begins with `s3cret`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

URL = "https://api.openai.com/v1/chat/completions"
QUESTION = '{"model":"m","stream":true,"messages":[{"role":"user","content":"Wärmer?"}]}'
ANSWER = "".join(
    f"data: {payload}\n\n"
    for payload in (
        '{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"Ja"}}]}',
        '{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":", 24 °C"}}]}',
        '{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}',
        "[DONE]",
    )
)
STARTED = "2026-03-01T12:00:00.500Z"
SSE_TYPE = "text/event-stream; charset=utf-8"

Entry = dict[str, Any]


def har(*entries: Any, creator: str = "WebInspector") -> dict[str, Any]:
    return {"log": {"version": "1.2", "creator": {"name": creator, "version": "1"}, "pages": [], "entries": entries}}


def written(path: Path, *entries: Any) -> Path:
    path.write_text(json.dumps(har(*entries), ensure_ascii=False, indent=2), "utf-8")
    return path


def named(**values: str) -> list[dict[str, str]]:
    """`a_b="c"` → the header `a-b`; a leading underscore is the colon of a pseudo-header."""
    return [{"name": _spelled(name), "value": value} for name, value in values.items()]


def _spelled(name: str) -> str:
    return (":" + name[1:] if name.startswith("_") else name).replace("_", "-")


def entry(
    *,
    method: str = "POST",
    url: str = URL,
    post: dict[str, Any] | None = None,
    status: int = 200,
    content: dict[str, Any] | None = None,
    sent: list[dict[str, str]] | None = None,
    got: list[dict[str, str]] | None = None,
    response: dict[str, Any] | None = None,
    **more: Any,
) -> Entry:
    """An entry as the specification has it, with `more` of an exporter's own."""
    request: dict[str, Any] = {"method": method, "url": url, "httpVersion": "HTTP/1.1", "cookies": []}
    request |= {"headers": sent or [], "queryString": [], "headersSize": -1, "bodySize": -1}
    if post is not None:
        request["postData"] = post
    return {
        "startedDateTime": STARTED,
        "time": 250.0,
        "request": request,
        "response": {
            "status": status,
            "statusText": "OK",
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": got or [],
            "content": {"size": 0, "mimeType": ""} if content is None else content,
            "redirectURL": "",
            "headersSize": -1,
            "bodySize": -1,
        }
        | (response or {}),
        "cache": {},
        "timings": {"send": 0, "wait": 150.0, "receive": 100.0},
        **more,
    }


def cookies() -> list[dict[str, Any]]:
    return [{"name": "session", "value": "s3cret-cookie", "path": "/", "httpOnly": True, "secure": True}]


def _with_cookies(made: Entry) -> Entry:
    made["request"]["cookies"] = made["response"]["cookies"] = cookies()
    made["request"]["queryString"] = [{"name": "key", "value": "s3cret-query"}]
    made["response"]["redirectURL"] = "https://h/?token=s3cret-redirect"
    return made


def chrome() -> Entry:
    """HTTP/2, with its pseudo-headers; a streamed body comes as base64."""
    sent = named(_authority="api.openai.com", _method="POST", _path="/v1/chat/completions?key=s3cret-path")
    got = named(content_type=SSE_TYPE, set_cookie="a=s3cret-1\nb=s3cret-2", content_encoding="br")
    made = entry(
        url=f"{URL}?key=s3cret-query",
        post={"mimeType": "application/json", "text": QUESTION},
        sent=[*sent, *named(authorization="Bearer s3cret-bearer", content_type="application/json")],
        got=got,
        content={
            "size": len(ANSWER.encode()),
            "mimeType": "text/event-stream",
            "text": base64.b64encode(ANSWER.encode()).decode(),
            "encoding": "base64",
        },
        response={"_transferSize": 512, "_error": None, "_fetchedViaServiceWorker": False},
        _initiator={"type": "script", "url": "https://app.example/?token=s3cret-initiator"},
        _resourceType="fetch",
        _priority="High",
        pageref="page_1",
    )
    made["timings"] |= {"blocked": 3.5, "dns": -1, "ssl": -1, "connect": -1, "_blocked_queueing": 1.1}
    return _with_cookies(made)


def firefox() -> Entry:
    made = entry(
        post={"mimeType": "application/json", "params": [], "text": QUESTION},
        sent=named(Host="api.openai.com", Content_Type="application/json", Cookie="a=s3cret-1"),
        got=named(content_type=SSE_TYPE),
        content={"mimeType": SSE_TYPE, "size": len(ANSWER.encode()), "text": ANSWER},
        _securityState="secure",
        serverIPAddress="192.0.2.1",
    )
    return _with_cookies(made | {"startedDateTime": "2026-03-01T13:00:00.500+01:00"})


def safari() -> Entry:
    made = entry(
        post={"mimeType": "application/json", "text": QUESTION, "params": []},
        sent=[{"name": "Content-Type", "value": "application/json"}],
        got=[{"name": "Content-Type", "value": SSE_TYPE}, {"name": "Content-Encoding", "value": "gzip"}],
        content={"size": len(ANSWER.encode()), "compression": 10, "mimeType": "text/event-stream", "text": ANSWER},
        _fetchType="Network Load",
    )
    return _with_cookies(made)


def mitmproxy() -> Entry:
    made = entry(
        post={"mimeType": "application/json", "text": QUESTION, "params": []},
        sent=named(content_type="application/json", x_api_key="s3cret-key"),
        got=named(content_type=SSE_TYPE),
        content={"size": 512, "compression": 0, "mimeType": SSE_TYPE, "text": ANSWER},
    )
    made["timings"] = {"connect": -1.0, "ssl": -1.0, "send": 1.5, "receive": 100.0, "wait": 148.5}
    return _with_cookies(made | {"startedDateTime": "2026-03-01T12:00:00.500000+00:00"})


def playwright() -> Entry:
    made = entry(
        post={"mimeType": "application/json", "text": QUESTION, "params": []},
        sent=named(content_type="application/json", proxy_authorization="Basic s3cret-basic"),
        got=named(content_type=SSE_TYPE),
        content={"size": -1, "mimeType": SSE_TYPE, "text": ANSWER, "compression": 0},
        response={"_transferSize": -1},
    )
    made["timings"] |= {"dns": -1, "connect": -1, "ssl": -1}
    return _with_cookies(made)


def charles() -> Entry:
    made = entry(
        post={"mimeType": "application/json", "text": QUESTION},
        sent=named(_method="POST", _path="/v1?key=s3cret-path", content_type="application/json"),
        got=named(_status="200", content_type=SSE_TYPE),
        content={"size": 400, "mimeType": SSE_TYPE, "text": ANSWER},
        response={"_charlesStatus": "COMPLETE", "statusText": None},
    )
    return _with_cookies(made | {"startedDateTime": "2026-03-01T17:30:00.500+05:30"})


def insomnia() -> Entry:
    """Without the header that says the type."""
    made = entry(
        post={"mimeType": "application/json", "text": QUESTION},
        sent=named(X_Api_Key="s3cret-key"),
        content={"size": len(ANSWER.encode()), "mimeType": SSE_TYPE, "text": ANSWER},
        comment="the request's name",
    )
    made["timings"] = {"blocked": -1, "dns": -1, "connect": -1, "send": 0, "wait": 250, "receive": 0, "ssl": -1}
    return _with_cookies(made)


def polly() -> Entry:
    """Every network read packed by itself, still compressed where the server had compressed it."""
    import gzip

    packed = gzip.compress(ANSWER.encode(), mtime=0)
    pieces = [base64.b64encode(piece).decode() for piece in (packed[:20], packed[20:])]
    made = entry(
        post={"mimeType": "application/json", "params": [], "text": QUESTION},
        sent=[{"_fromType": "array", "name": "authorization", "value": "Bearer s3cret-bearer"}],
        got=named(content_encoding="gzip", content_type=SSE_TYPE),
        content={"encoding": "base64", "mimeType": SSE_TYPE, "size": 99, "text": json.dumps(pieces)},
        _id="4d5a",
        _order=0,
    )
    return _with_cookies(made)


EXPORTERS: dict[str, Callable[[], Entry]] = {
    maker.__name__: maker for maker in (chrome, firefox, safari, mitmproxy, playwright, charles, insomnia, polly)
}


def page(url: str, mime: str, text: str | None, *, method: str = "GET", status: int = 200, **more: Any) -> Entry:
    """What else a browser fetches."""
    content = {"size": len(text or ""), "mimeType": mime} | ({} if text is None else {"text": text})
    return entry(method=method, url=url, status=status, content=content, got=named(content_type=mime), **more)
