"""HAR files (HTTP Archive 1.2) into the parts of their exchanges.

Sources: the "HAR 1.2 Spec", and for what stands in no specification the exporters themselves: Chrome's and Safari's
inspectors, Firefox's network monitor, mitmproxy's `savehar`, Playwright's `HarTracer`, Charles, Insomnia, Polly.JS.
The cookies, the list of the query's parameters and the redirect's URL repeat what headers and URL say: they are not
read, and so not kept.
"""

from __future__ import annotations

import base64
import binascii
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlencode

from recorder.errors import BadInput, NotAStream
from recorder.events import clock, jsontext
from recorder.sources.exchange import Answer, Exchange, Part, Request, parts_of
from recorder.sources.files import chunks
from recorder.sources.frame import BOM
from recorder.sources.har_messages import event_source_body, socket_messages
from recorder.sources.http_body import WrongBody, compact_json
from recorder.sources.http_headers import headers_of, status_of, text_of

_GZIP = b"\x1f\x8b"
_WITHOUT_BODY = (204, 205, 304)
_LATEST = 1 << 52
"""Microseconds: the year 2112. What is beyond it is no time at which anything was recorded."""
_FORM = "application/x-www-form-urlencoded"


def read_har(source: Path | str | BinaryIO) -> Iterator[Part]:
    """The parts of all exchanges of a HAR file (gzip or not), in its order.

    An entry that cannot be read ends with `http.error` and does not stop the others. Raises, before the first part,
    `NotAStream` for a document that is no HAR, `BadInput` for one that cannot be read; `OSError`.
    """
    return parts_of(map(exchange_of, _entries(source)))


def _entries(source: Path | str | BinaryIO) -> list[object]:
    data = b"".join(chunks(source, gzip=False))
    if data.startswith(_GZIP):
        data = b"".join(chunks(io.BytesIO(data), gzip=True))
    try:
        document, _ = jsontext.decode_leniently(data.removeprefix(BOM))
    except jsontext.NotJson as error:
        raise BadInput(f"the HAR file is no JSON: {' '.join(str(error).split())[:200]}") from None
    log = document.get("log") if isinstance(document, dict) else None
    entries = log.get("entries") if isinstance(log, dict) else None
    if not isinstance(entries, list):
        raise NotAStream("no HAR file: there are no entries in its log")
    return entries


def exchange_of(entry: object) -> Exchange:
    """The exchange of one entry; what could not be read of it is among the problems."""
    if not isinstance(entry, dict):
        problem = f"the entry is no object but of type {type(entry).__name__}"
        return Exchange(problems=[problem], kept=compact_json(entry))
    problems: list[str] = []
    request, response = entry.get("request"), entry.get("response")
    if not isinstance(request, dict):
        problems.append("no request")
    if not isinstance(response, dict):
        problems.append("no response")
    started, answered, ended = _moments(entry)
    answer = _answer(entry, response, _dict(request)) if isinstance(response, dict) else None
    if isinstance(response, dict):
        failure = _failure(response)
        if failure is None and answer is None:
            failure = f"no answer was recorded (status {text_of(response.get('status'))})"
        problems += [failure] if failure is not None else []
    return Exchange(
        request=_request(request) if isinstance(request, dict) else None,
        answer=answer,
        problems=problems,
        started_at=started,
        answered_at=None if answer is None else answered,
        ended_at=ended,
    )


def _request(request: Mapping[str, Any]) -> Request:
    problems: list[str] = []
    headers = _headers(request, problems)
    post = _dict(request.get("postData"))
    body, kept = _content(post, problems)
    if not body and isinstance(post.get("params"), list) and post["params"]:
        body = _form(post["params"], text_of(post.get("mimeType", "")))
    if "mimeType" in post:
        _add_type(headers, post["mimeType"])
    return Request(
        method=text_of(request.get("method", "")),
        url=text_of(request.get("url", "")),
        headers=headers,
        body=body,
        kept=kept,
        problems=problems,
        decoded=True,
    )


def _answer(entry: Mapping[str, Any], response: Mapping[str, Any], request: Mapping[str, Any]) -> Answer | None:
    """The answer; None where none came: then its status is 0 (-1 with Playwright)."""
    problems: list[str] = []
    headers = _headers(response, problems)
    content = _dict(response.get("content"))
    body, kept = _content(content, problems)
    body = body or event_source_body(entry)
    messages = socket_messages(entry)
    status = status_of(response.get("status"))
    if status is None and not body and not kept and messages is None:
        return None
    if isinstance(content.get("mimeType"), str):
        _add_type(headers, content["mimeType"])
    reason = response.get("statusText")
    return Answer(
        status=status,
        reason=text_of(reason) if reason else None,
        headers=headers,
        body=body,
        kept=kept,
        problems=problems,
        decoded=True,
        messages=messages,
        unrecorded=_why_unrecorded(response, content, request) if not body and not kept and messages is None else None,
    )


def _why_unrecorded(response: Mapping[str, Any], content: Mapping[str, Any], request: Mapping[str, Any]) -> str | None:
    """Why there is no body where there may have been one; None where an answer without one is the whole answer."""
    status = response.get("status")
    if status == 101:
        return "the recorder kept no messages of the web socket"
    if status in _WITHOUT_BODY or text_of(request.get("method", "")).upper() == "HEAD":
        return None
    for key in ("_file", "_sha1"):
        if isinstance(content.get(key), str):
            return f"the body was recorded apart from the HAR file, in {text_of(content[key])[:80]}"
    sizes = [content.get("size"), response.get("bodySize")]
    if "text" in content and content.get("size") in (0, None):
        return None
    if any(isinstance(size, int | float) and size > 0 for size in sizes) or 0 not in sizes:
        return "the recorder kept no body of the answer"
    return None


def _failure(response: Mapping[str, Any]) -> str | None:
    """What the recorder says that went wrong: Chrome, Safari and mitmproxy, Playwright, Charles."""
    for key in ("_error", "_failureText"):
        if isinstance(response.get(key), str) and response[key]:
            return text_of(response[key])
    state = response.get("_charlesStatus")
    if isinstance(state, str) and state.upper() != "COMPLETE":
        return f"the recorder says {text_of(state)}"
    return None


def _headers(message: Mapping[str, Any], problems: list[str]) -> dict[str, list[str]]:
    try:
        return headers_of(message.get("headers"))
    except ValueError as error:
        problems.append(str(error))
        return {}


def _add_type(headers: dict[str, list[str]], media_type: object) -> None:
    """The type that the recorder found, where it left the header out; `x-unknown` is Chrome's word for none."""
    if media_type and media_type != "x-unknown" and not any(name.lower() == "content-type" for name in headers):
        headers["content-type"] = [text_of(media_type)]


def _content(holder: Mapping[str, Any], problems: list[str]) -> tuple[bytes, bytes]:
    """The body that `postData` or `content` holds, and what is kept in place of one that cannot be read."""
    text = holder.get("text")
    if text is None:
        return b"", b""
    encoding = "hex" if holder.get("_isBinary") else text_of(holder.get("encoding") or "").lower()
    if not isinstance(text, str):
        # Some write the JSON value itself.
        try:
            return compact_json(text), b""
        except WrongBody as error:
            problems.append(str(error))
            return b"", error.kept
    if encoding not in ("base64", "hex"):
        return text.encode("utf-8", "surrogatepass"), b""
    try:
        return b"".join(_unpacked(piece, encoding) for piece in _pieces(text)), b""
    except ValueError as error:
        problems.append(f"a body that is no {encoding} ({error})")
        return b"", text.encode("utf-8", "surrogatepass")


def _pieces(text: str) -> list[str]:
    """Polly.JS packs every network read by itself, and writes the list as JSON."""
    if not text.startswith("["):
        return [text]
    pieces = jsontext.decode(text.encode("utf-8", "surrogatepass"))
    if not all(isinstance(piece, str) for piece in pieces):
        raise ValueError("a list of other things than text")
    return list(pieces)


def _unpacked(text: str, encoding: str) -> bytes:
    if encoding == "hex":
        return bytes.fromhex(text)
    try:
        return base64.b64decode(text)
    except binascii.Error as error:
        raise ValueError(str(error)) from None


def _form(params: list[Any], media_type: str) -> bytes:
    """A form of which the recorder kept the parameters only: as such a form is sent, any other kind as JSON."""
    fields = [param for param in params if isinstance(param, dict)]
    if media_type.partition(";")[0].strip().lower() == _FORM:
        pairs = [(text_of(field.get("name") or ""), text_of(field.get("value") or "")) for field in fields]
        return urlencode(pairs).encode()
    return compact_json(fields)


def _moments(entry: Mapping[str, Any]) -> tuple[int | None, int | None, int | None]:
    """When the request began, the answer began, the exchange ended."""
    try:
        started = clock.from_text(text_of(entry.get("startedDateTime", "")))
    except (ValueError, OverflowError):
        return None, None, None
    if not 0 < started < _LATEST:
        return None, None, None
    timings = _dict(entry.get("timings"))
    total, receive = _milliseconds(entry.get("time")), _milliseconds(timings.get("receive"))
    if total is None:
        return started, None, None
    ended = started + round(total * 1000)
    return started, None if receive is None else max(started, ended - round(receive * 1000)), ended


def _milliseconds(value: object) -> float | None:
    """A duration; -1 stands for none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e10:
        return None
    return value


def _dict(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
