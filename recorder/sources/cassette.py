"""vcrpy cassettes into the parts of their exchanges: heads, frames, ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from msgspec import Struct

from recorder.events import jsontext
from recorder.sources.content_coding import decode_content
from recorder.sources.detect import recognise
from recorder.sources.files import reader_for
from recorder.sources.frame import Frame, Framing, Reader
from recorder.sources.http_body import WrongBody, body_of
from recorder.sources.redact import redact_headers, redact_url
from recorder.sources.whole import WholeReader

if TYPE_CHECKING:
    from recorder.sources.cassette_document import Interaction

_NDJSON_TYPES = ("application/x-ndjson", "application/ndjson", "application/jsonl", "application/stream+json")


class Part(Struct, frozen=True, kw_only=True):
    """One part of an exchange, in the order in which it passed.

    `meta` by kind: `http.request` has `method`, `url`, `headers`; `http.response` has `status` (a number or None),
    `reason`, `headers`; headers are lists of values by name. Both may have `encoding` (the content-coding that the body
    had), `decoded` (whether it was taken off here) and `redacted` (what was replaced: `header:…`, `query:…`).
    `http.end` has none; `http.error` has `error`, one line.
    """

    kind: Literal["http.request", "http.response", "frame", "http.end", "http.error"]
    exchange: int
    """From 1 in the order of the cassette."""
    body: bytes = b""
    """The request's body, the frame's body; of a broken interaction what could be kept of it."""
    meta: dict[str, Any] | None = None
    frame: Frame | None = None
    framing: Framing | None = None
    """Of the answer: with `http.response` and its frames."""


def read_cassette(source: Path | str | BinaryIO) -> Iterator[Part]:
    """The parts of all exchanges of a cassette (YAML or JSON, gzip or not).

    A broken interaction ends with `http.error` and does not stop the others. Raises, before the first part,
    `NotAStream` for a document that is no cassette, `BadInput` for one that cannot be read; `OSError`.
    """
    # Imported here: YAML is for cassettes only, and a capture of frames starts without it.
    from recorder.sources.cassette_document import load_interactions

    interactions = load_interactions(source)
    return (part for number, found in enumerate(interactions, 1) for part in exchange_parts(number, found))


def exchange_parts(exchange: int, interaction: Interaction) -> Iterator[Part]:
    """The parts of one interaction."""
    if interaction.broken is not None:
        value = interaction.broken
        kept = body_of({"body": value}) if isinstance(value, str | bytes) else b""
        problem = f"the interaction is no mapping but of type {type(value).__name__}"
        yield Part(kind="http.error", exchange=exchange, body=kept, meta={"error": problem})
        return
    problems: list[str] = []
    kept = b""
    request, response = interaction.request, interaction.response
    if isinstance(request, Mapping):
        sent = _message(request)
        yield Part(
            kind="http.request", exchange=exchange, body=sent.kept or sent.body, meta=_request_meta(request, sent)
        )
        problems += (f"request: {problem}" for problem in sent.problems)
    else:
        problems.append(_missing(request, "request"))
    if isinstance(response, Mapping):
        answer = _message(response)
        framing = _framing(answer)
        yield Part(kind="http.response", exchange=exchange, meta=_response_meta(response, answer), framing=framing)
        reader: Reader = WholeReader(trusted=True) if framing == "json" else reader_for(framing)
        for frame in (*reader.feed(answer.body), *reader.end()):
            yield Part(kind="frame", exchange=exchange, body=frame.body, frame=frame, framing=framing)
        problems += (f"response: {problem}" for problem in answer.problems)
        kept = answer.kept
    else:
        problems.append(_missing(response, "response"))
    if problems:
        yield Part(kind="http.error", exchange=exchange, body=kept, meta={"error": "; ".join(problems)})
    else:
        yield Part(kind="http.end", exchange=exchange, meta={})


class _Message(Struct, frozen=True, kw_only=True):
    """What a request and a response have in common, read."""

    body: bytes
    kept: bytes = b""
    """What there was in place of a body that is none; the encoded body where it could not be decoded to its end."""
    headers: dict[str, list[str]]
    meta: dict[str, Any]
    problems: list[str]
    redacted: list[str]

    def header(self, name: str) -> str | None:
        found = [value for key, values in self.headers.items() if key.lower() == name for value in values]
        return ", ".join(found) if found else None


def _message(message: Mapping[str, object]) -> _Message:
    problems: list[str] = []
    kept = body = b""
    try:
        headers = _headers(message.get("headers"))
    except ValueError as error:
        headers = {}
        problems.append(str(error))
    try:
        body = body_of(message)
    except WrongBody as error:
        kept = error.kept
        problems.append(str(error))
    clean, redacted = redact_headers(headers)
    read = _Message(body=body, headers=clean, meta={}, problems=problems, redacted=redacted)
    encoding = read.header("content-encoding")
    meta: dict[str, Any] = {"headers": clean}
    if encoding is not None:
        decoded = decode_content(body, encoding)
        body = decoded.body
        meta |= {"encoding": encoding, "decoded": decoded.changed}
        if decoded.problem is not None:
            kept = kept or read.body
            problems.append(decoded.problem)
    return _Message(body=body, kept=kept, headers=clean, meta=meta, problems=problems, redacted=redacted)


def _headers(value: object) -> dict[str, list[str]]:
    """Headers as lists of values by name, from a mapping (values or lists of them) or from pairs."""
    if value is None:
        return {}
    pairs = value.items() if isinstance(value, Mapping) else value
    headers: dict[str, list[str]] = {}
    try:
        for name, held in pairs:  # type: ignore[attr-defined]
            values = held if isinstance(held, list | tuple) else [held]
            headers.setdefault(_text(name), []).extend(_text(one) for one in values)
    except (TypeError, ValueError):
        raise ValueError(f"headers of type {type(value).__name__} that are no pairs") from None
    return headers


def _request_meta(request: Mapping[str, object], read: _Message) -> dict[str, Any]:
    url, redacted = redact_url(_text(request.get("uri", request.get("url", ""))))
    return {"method": _text(request.get("method", "")), "url": url} | read.meta | _marks(redacted + read.redacted)


def _response_meta(response: Mapping[str, object], read: _Message) -> dict[str, Any]:
    line = response.get("status", response.get("status_code"))
    status, reason = (line.get("code"), line.get("message")) if isinstance(line, Mapping) else (line, None)
    return (
        {"status": status if isinstance(status, int) else None, "reason": None if reason is None else _text(reason)}
        | read.meta
        | _marks(read.redacted)
    )


def _marks(redacted: list[str]) -> dict[str, Any]:
    return {"redacted": redacted} if redacted else {}


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else jsontext.clean(str(value))


def _missing(value: object, what: str) -> str:
    return f"no {what}" if value is None else f"the {what} is no mapping but of type {type(value).__name__}"


def _framing(answer: _Message) -> Framing:
    """The framing of an answer's body: by its looks, and by its type where its looks say nothing."""
    looks = recognise(answer.body, complete=True)
    seen = None if looks is None or looks.gzip else looks.framing
    media_type = (answer.header("content-type") or "").partition(";")[0].strip().lower()
    if seen == "sse" or (media_type == "text/event-stream" and seen is None):
        return "sse"
    if media_type in _NDJSON_TYPES or (seen == "ndjson" and len(answer.body.split(b"\n", 2)) > 2):
        return "ndjson"
    return "json"
