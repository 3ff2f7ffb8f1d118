"""Secrets in the heads of HTTP messages: found by the name of the header or parameter, replaced before storage."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import unquote_plus

REDACTED = "[redacted]"

_HEADER = re.compile(
    r"(?:.*-)?(?:authorization|cookie2?|token|secret|signature|credential|password)"
    r"|.*api[-_]?key|.*-key|x-auth(?:-.*)?",
    re.IGNORECASE,
)
_HARMLESS_HEADER = re.compile(r"idempotency-key|sec-websocket-key|surrogate-key", re.IGNORECASE)
_URL_HEADER = re.compile(r"location|content-location|referer", re.IGNORECASE)
_PARAMETER = re.compile(
    r"key|.*api[-_]?key|subscription[-_]key|(?:access|auth|id|refresh|session|security)?[-_]?token"
    r"|sig|signature|(?:client[-_])?secret|password|x-(?:amz|goog)-(?:signature|credential|security-token)",
    re.IGNORECASE,
)
_USERINFO = re.compile(r"(?<=://)[^/?#@]*@")


def redact_headers(headers: Mapping[str, Sequence[str]]) -> tuple[dict[str, list[str]], list[str]]:
    """Headers without their secrets, and what was replaced, as `header:<name>` in the spelling found."""
    clean: dict[str, list[str]] = {}
    marks: list[str] = []
    for name, values in headers.items():
        clean[name] = list(values)
        if _HEADER.fullmatch(name) and not _HARMLESS_HEADER.fullmatch(name):
            clean[name] = [REDACTED for _ in values]
            marks.append(f"header:{name}")
        elif _URL_HEADER.fullmatch(name):
            pairs = [redact_url(value) for value in values]
            clean[name] = [url for url, _ in pairs]
            if any(found for _, found in pairs):
                marks.append(f"header:{name}")
    return clean, marks


def redact_url(url: str) -> tuple[str, list[str]]:
    """A URL without its secrets, and what was replaced: `query:<name>` and `url:userinfo`. All else stays as it is."""
    marks: list[str] = []
    clean, userinfo = _USERINFO.subn(f"{REDACTED}@", url, count=1)
    if userinfo:
        marks.append("url:userinfo")
    address, hash_sign, fragment = clean.partition("#")
    path, question_mark, query = address.partition("?")
    query, in_query = _redact_parameters(query)
    fragment, in_fragment = _redact_parameters(fragment)
    return path + question_mark + query + hash_sign + fragment, [*marks, *in_query, *in_fragment]


def _redact_parameters(query: str) -> tuple[str, list[str]]:
    parameters = query.split("&")
    marks: list[str] = []
    for position, parameter in enumerate(parameters):
        name, equals, value = parameter.partition("=")
        if value and _PARAMETER.fullmatch(unquote_plus(name)):
            parameters[position] = name + equals + REDACTED
            marks.append(f"query:{unquote_plus(name)}")
    return "&".join(parameters), marks
