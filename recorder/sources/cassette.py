"""vcrpy cassettes, and those of its kin, into the parts of their exchanges: heads, frames, ends."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from recorder.events import clock
from recorder.sources.exchange import Answer, Exchange, Part, Request, parts_of
from recorder.sources.http_body import WrongBody, body_of
from recorder.sources.http_headers import headers_of, status_of, text_of

if TYPE_CHECKING:
    from recorder.sources.cassette_document import Interaction

_STATUS_LINE = re.compile(r"(\d{3})(?:\s+(.*))?$")


def read_cassette(source: Path | str | BinaryIO) -> Iterator[Part]:
    """The parts of all exchanges of a cassette (YAML or JSON, gzip or not).

    A broken interaction ends with `http.error` and does not stop the others. Raises, before the first part,
    `NotAStream` for a document that is no cassette, `BadInput` for one that cannot be read; `OSError`.
    """
    # Imported here: YAML is for cassettes only, and a capture of frames starts without it.
    from recorder.sources.cassette_document import load_interactions

    return parts_of(map(exchange_of, load_interactions(source)))


def exchange_of(interaction: Interaction) -> Exchange:
    """The exchange of one interaction; what could not be read of it is among the problems."""
    if interaction.broken is not None:
        value = interaction.broken
        kept = body_of({"body": value}) if isinstance(value, str | bytes) else b""
        return Exchange(problems=[f"the interaction is no mapping but of type {type(value).__name__}"], kept=kept)
    problems = []
    request, answer = interaction.request, interaction.response
    if not isinstance(request, Mapping):
        problems.append(_missing(request, "request"))
    if not isinstance(answer, Mapping):
        problems.append(_missing(answer, "response"))
    return Exchange(
        request=_request(request) if isinstance(request, Mapping) else None,
        answer=_answer(answer) if isinstance(answer, Mapping) else None,
        problems=problems,
        ended_at=_moment(interaction.recorded_at),
    )


def _request(request: Mapping[str, object]) -> Request:
    url = text_of(request.get("uri", request.get("url", "")))
    return Request(method=text_of(request.get("method", "")), url=url, **_message(request))


def _answer(answer: Mapping[str, object]) -> Answer:
    """Status as `{code, message}`, as `status_code` (httpx), as `200 OK` beside `code` (go-vcr)."""
    line: object = answer.get("status", answer.get("status_code"))
    code, reason = (line.get("code"), line.get("message")) if isinstance(line, Mapping) else (line, None)
    if isinstance(code, str) and (parts := _STATUS_LINE.match(code)) is not None:
        code, reason = int(parts[1]), parts[2]
    return Answer(status=status_of(code), reason=None if reason is None else text_of(reason), **_message(answer))


def _message(message: Mapping[str, object]) -> dict[str, Any]:
    """Headers and body, as fields of a message."""
    problems: list[str] = []
    headers: dict[str, list[str]] = {}
    kept = body = b""
    try:
        headers = headers_of(message.get("headers"))
    except ValueError as error:
        problems.append(str(error))
    try:
        body = body_of(message)
    except WrongBody as error:
        kept = error.kept
        problems.append(str(error))
    return {"headers": headers, "body": body, "kept": kept, "problems": problems}


def _moment(value: object) -> int | None:
    """`recorded_at` of VCR (an HTTP date) and of betamax (ISO-8601): when the answer was there."""
    if not isinstance(value, str):
        return None
    try:
        return clock.from_text(value)
    except (ValueError, OverflowError):
        pass
    try:
        return clock.from_text(parsedate_to_datetime(value).isoformat())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _missing(value: object, what: str) -> str:
    return f"no {what}" if value is None else f"the {what} is no mapping but of type {type(value).__name__}"
