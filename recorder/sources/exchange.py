"""An exchange as a document holds it (a cassette, a HAR file), and the parts that it comes apart into."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from msgspec import Struct, field

from recorder.sources.answer_framing import framing_of
from recorder.sources.content_coding import decode_content
from recorder.sources.files import reader_for
from recorder.sources.frame import Frame, Framing, Reader
from recorder.sources.http_headers import header, media_type
from recorder.sources.redact import redact_answer, redact_form, redact_headers, redact_url
from recorder.sources.whole import WholeReader


class Part(Struct, frozen=True, kw_only=True):
    """One part of an exchange, in the order in which it passed.

    `meta` by kind: `http.request` has `method`, `url`, `headers`; `http.response` has `status` (a number or None),
    `reason`, `headers`; headers are lists of values by name. Both may have `encoding` (the content-coding that the body
    had), `decoded` (whether it was taken off here) and `redacted` (what was replaced: `header:…`, `query:…`). A frame
    has `sent` where the client sent it, over a web socket. `http.end` has `unrecorded` where the recorder kept no
    answer: why; `http.error` has `error`, one line.
    """

    kind: Literal["http.request", "http.response", "frame", "http.end", "http.error"]
    exchange: int
    """From 1 in the order of the document."""
    body: bytes = b""
    """The request's body, the frame's body; of a broken exchange what could be kept of it."""
    meta: dict[str, Any] | None = None
    frame: Frame | None = None
    framing: Framing | None = None
    """Of the answer: with `http.response` and its frames; None for the messages of a web socket, which have none."""
    occurred_at: int | None = None
    """Microseconds since the epoch, by the recorder's clock; None where it told none."""


class Message(Struct, frozen=True, kw_only=True):
    """What a request and an answer have in common, as read: nothing decoded yet, nothing redacted."""

    headers: dict[str, list[str]] = field(default_factory=dict)
    body: bytes = b""
    kept: bytes = b""
    """What there was in place of a body that is none."""
    problems: list[str] = field(default_factory=list)
    """What could not be read."""
    decoded: bool = False
    """Whether its recorder takes codings off: a body that does not decode is then whole all the same."""


class Request(Message, frozen=True, kw_only=True):
    method: str = ""
    url: str = ""


class SocketMessage(Struct, frozen=True, kw_only=True):
    """A message of a web socket, whole as its sender sent it."""

    data: bytes
    sent: bool
    """By the client."""
    control: bool = False
    """A close, a ping, a pong: no message of the protocol within."""
    occurred_at: int | None = None


class Answer(Message, frozen=True, kw_only=True):
    status: int | None = None
    reason: str | None = None
    messages: list[SocketMessage] | None = None
    """Of a web socket, in both directions; there is no body then."""
    unrecorded: str | None = None
    """Why the recording has no body where the answer may have had one."""


class Exchange(Struct, frozen=True, kw_only=True):
    """A request and its answer. `problems`: why one of them is missing, or what broke off."""

    request: Request | None = None
    answer: Answer | None = None
    problems: list[str] = field(default_factory=list)
    kept: bytes = b""
    """What there was in place of an exchange."""
    started_at: int | None = None
    answered_at: int | None = None
    ended_at: int | None = None


def parts_of(exchanges: Iterator[Exchange]) -> Iterator[Part]:
    """The parts of a document's exchanges."""
    return (part for number, exchange in enumerate(exchanges, 1) for part in exchange_parts(number, exchange))


def exchange_parts(number: int, exchange: Exchange) -> Iterator[Part]:
    """The parts of one exchange. Where something of it could not be read, it ends with `http.error`."""
    problems = list(exchange.problems)
    kept = exchange.kept
    unrecorded: str | None = None
    if (request := exchange.request) is not None:
        sent = _clean(request)
        body, redacted = redact_form(sent.body, media_type(request.headers))
        url, in_url = redact_url(request.url)
        meta = {"method": request.method, "url": url} | sent.meta | _marks([*in_url, *sent.redacted, *redacted])
        yield Part(
            kind="http.request",
            exchange=number,
            body=sent.kept or body,
            meta=meta,
            occurred_at=exchange.started_at,
        )
        problems += (f"request: {problem}" for problem in sent.problems)
    if (answer := exchange.answer) is not None:
        read = _clean(answer)
        body, redacted = redact_answer(read.body)
        framing = None if answer.messages is not None else framing_of(body, media_type(answer.headers))
        meta = {"status": answer.status, "reason": answer.reason} | read.meta | _marks([*read.redacted, *redacted])
        yield Part(kind="http.response", exchange=number, meta=meta, framing=framing, occurred_at=exchange.answered_at)
        yield from _messages(number, answer.messages or [])
        yield from _frames(number, body, framing)
        problems += (f"response: {problem}" for problem in read.problems)
        kept, unrecorded = kept or read.kept, answer.unrecorded
    if problems:
        error = {"error": "; ".join(problems)}
        yield Part(kind="http.error", exchange=number, body=kept, meta=error, occurred_at=exchange.ended_at)
    else:
        told = {} if unrecorded is None else {"unrecorded": unrecorded}
        yield Part(kind="http.end", exchange=number, meta=told, occurred_at=exchange.ended_at)


class _Clean(Struct, frozen=True, kw_only=True):
    """A message without its content-coding and without the secrets of its headers."""

    body: bytes
    kept: bytes
    """As in `Message`; the encoded body where it could not be decoded to its end."""
    meta: dict[str, Any]
    problems: list[str]
    redacted: list[str]


def _clean(message: Message) -> _Clean:
    headers, redacted = redact_headers(message.headers)
    body, kept, problems = message.body, message.kept, list(message.problems)
    meta: dict[str, Any] = {"headers": headers}
    encoding = header(headers, "content-encoding")
    if encoding is not None:
        decoded = decode_content(body, encoding, lenient=message.decoded)
        meta |= {"encoding": encoding, "decoded": decoded.changed}
        if decoded.problem is not None:
            kept = kept or body
            problems.append(decoded.problem)
        body = decoded.body
    return _Clean(body=body, kept=kept, meta=meta, problems=problems, redacted=redacted)


def _frames(number: int, body: bytes, framing: Framing | None) -> Iterator[Part]:
    if framing is None:
        return
    reader: Reader = WholeReader(trusted=True) if framing == "json" else reader_for(framing)
    for frame in (*reader.feed(body), *reader.end()):
        yield Part(kind="frame", exchange=number, body=frame.body, frame=frame, framing=framing)


def _messages(number: int, messages: list[SocketMessage]) -> Iterator[Part]:
    for message in messages:
        frame = Frame(body=message.data, raw=message.data, kind="comment" if message.control else "data")
        yield Part(
            kind="frame",
            exchange=number,
            body=frame.body,
            frame=frame,
            meta={"sent": True} if message.sent else None,
            occurred_at=message.occurred_at,
        )


def _marks(redacted: list[str]) -> dict[str, Any]:
    return {"redacted": redacted} if redacted else {}
