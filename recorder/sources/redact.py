"""Secrets in the heads of HTTP messages and in OAuth's bodies: found by name or shape, replaced before storage.

What else is one, a program's owner says: by `REC_REDACT` and by a hook (`recorder.sources.redact_rules`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import unquote_plus

from recorder.events import jsontext
from recorder.sources import redact_rules
from recorder.sources.redact_rules import REDACTED

_HEADER = re.compile(
    r".*(?:authorization(?:-.*)?|cookie2?|token|secret|signature(?:-\w+)?|credential|passw(?:or)?d|passphrase|assertion)"
    r"|.*api[-_]?key|.*[-_]key|(?:.*-)?auth|x-auth-.*|.*jwt.*|x-amzn-oidc-.*",
    re.IGNORECASE | re.DOTALL,
)
_HARMLESS_HEADER = re.compile(
    r"(?:x-)?idempotency-key|sec-websocket-key|(?:x-)?surrogate-key|(?:www|proxy)-authenticate", re.IGNORECASE
)
_PROTOCOLS = "sec-websocket-protocol"
"""A browser cannot set headers of a web socket: OpenAI's realtime API and others take the key among the protocols."""
_NAMES_A_SECRET = re.compile(r"key|token|secret|bearer|jwt|auth", re.IGNORECASE)
_SCHEME = re.compile(r"\s*(?:bearer|basic|aws4-hmac-sha256)\s+\S", re.IGNORECASE)
"""Credentials of HTTP (RFC 9110, section 11.4), whatever the header's name."""
_PARAMETER = re.compile(
    r"key|.*api[-_]?key|subscription[-_]key|.*[-_]secret|secret|passw(?:or)?d|pwd|sig|signature|auth|authorization|jwt"
    r"|(?:(?:access|api|auth|bearer|client|csrf|id|identity|oauth|refresh|security|session|user|xsrf)[-_]?)?token"
    r"|(?:client[-_])?assertion|upload[-_]id|x-(?:amz|goog)-(?:signature|credential|security-token)",
    re.IGNORECASE,
)
"""`upload_id`: who has the URI of a resumable upload to Google needs nothing else ("Resumable uploads")."""
_KEY = re.compile(
    r"(?<![\w-])(?:sk-[\w-]{20,}|ek_\w{16,}|AIza[\w-]{35}|(?:gsk_|hf_|pplx-|xai-)[A-Za-z0-9]{30,}|nvapi-[\w-]{30,}"
    r"|ya29\.[\w.-]{16,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)"
)
"""Keys that their makers gave a shape of their own, and JSON web tokens."""
_USERINFO = re.compile(r"(?<=://)[^/?#@]*@")
_FORM = "application/x-www-form-urlencoded"
_TOKENS = re.compile(rb'("(?:access|refresh|id)_token"\s*:\s*)"((?:[^"\\]|\\.)*)"')


def redact_headers(headers: Mapping[str, Sequence[str]]) -> tuple[dict[str, list[str]], list[str]]:
    """Headers without their secrets, and what was replaced, as `header:<name>` in the spelling found."""
    clean: dict[str, list[str]] = {}
    marks: list[str] = []
    for name, values in headers.items():
        clean[name] = [_clean_header(name, value) for value in values]
        if clean[name] != list(values):
            marks.append(f"header:{name}")
    return clean, marks


def redact_url(url: str) -> tuple[str, list[str]]:
    """A URL without its secrets, and what was replaced: `query:<name>`, `url:userinfo`, `url:key`, `url:rule`.

    All else stays as it is.
    """
    clean, marks = _redact_url(url)
    ruled = redact_rules.apply("url", "", clean)
    return ruled, [*marks, *(["url:rule"] if ruled != clean else [])]


def _redact_url(url: str) -> tuple[str, list[str]]:
    marks: list[str] = []
    clean, userinfo = _USERINFO.subn(f"{REDACTED}@", url, count=1)
    if userinfo:
        marks.append("url:userinfo")
    address, hash_sign, fragment = clean.partition("#")
    path, question_mark, query = address.partition("?")
    query, in_query = _redact_parameters(query, "query")
    fragment, in_fragment = _redact_parameters(fragment, "query")
    clean, keys = _KEY.subn(REDACTED, path + question_mark + query + hash_sign + fragment)
    return clean, [*marks, *in_query, *in_fragment, *(["url:key"] if keys else [])]


def redact_form(body: bytes, media_type: str) -> tuple[bytes, list[str]]:
    """A request's body without the secrets of an HTML form, and what was replaced, as `form:<name>`, `body:rule`.

    Who asks for a token sends the client's secret so (RFC 6749, section 2.3.1). Any other body stays as it is, but for
    what the owner's rules find.
    """
    marks: list[str] = []
    if media_type == _FORM:
        clean, marks = _redact_parameters(body.decode("utf-8", "surrogateescape"), "form")
        body = clean.encode("utf-8", "surrogateescape")
    body, ruled = redact_frame(body)
    return body, [*marks, *ruled]


def redact_answer(body: bytes) -> tuple[bytes, list[str]]:
    """An answer's body without the tokens that it hands out, and what was replaced, as `body:<name>`.

    Only where it is such an answer as a whole (RFC 6749, section 5.1): any other body stays as it is, but for what the
    owner's rules find (`body:rule`).
    """
    clean, marks = _redact_tokens(body)
    clean, ruled = redact_frame(clean)
    return clean, [*marks, *ruled]


def redact_frame(body: bytes) -> tuple[bytes, list[str]]:
    """A piece of a body without what the owner's rules find, and `body:rule` where that was replaced.

    A secret that two pieces have between them is in neither.
    """
    if not body or not redact_rules.read_bodies():
        return body, []
    text = body.decode("utf-8", "surrogateescape")
    clean = redact_rules.apply("body", "", text)
    return (body, []) if clean == text else (clean.encode("utf-8", "surrogateescape"), ["body:rule"])


def _redact_tokens(body: bytes) -> tuple[bytes, list[str]]:
    if b'"access_token"' not in body or b'"token_type"' not in body:
        return body, []
    try:
        value = jsontext.decode(body)
    except jsontext.NotJson:
        return body, []
    if not isinstance(value, dict) or not {"access_token", "token_type"} <= value.keys():
        return body, []
    clean = _TOKENS.sub(rb'\1"' + REDACTED.encode() + b'"', body)
    return clean, [f"body:{name}" for name in ("access_token", "refresh_token", "id_token") if name in value]


def _clean_header(name: str, value: str) -> str:
    name = name.strip()
    if redact_rules.names(name) and value:
        return REDACTED
    return redact_rules.apply("header", name, _clean_header_by_itself(name, value))


def _clean_header_by_itself(name: str, value: str) -> str:
    if _HARMLESS_HEADER.fullmatch(name) or not value:
        return value
    if _HEADER.fullmatch(name) or _SCHEME.match(value):
        return REDACTED
    if name.lower() == _PROTOCOLS:
        return _clean_protocols(value)
    # URLs stand in many headers: `Location`, `Referer`, `Link`, `X-Goog-Upload-URL`.
    clean, _ = _redact_url(value)
    return clean


def _clean_protocols(value: str) -> str:
    """The protocols up to the first that names a secret: that one holds it, or the next one does."""
    protocols = value.split(",")
    for place, protocol in enumerate(protocols):
        if _NAMES_A_SECRET.search(protocol):
            return ",".join([*protocols[:place], f" {REDACTED}" if place else REDACTED])
    return value


def _redact_parameters(query: str, where: str) -> tuple[str, list[str]]:
    parameters = query.split("&")
    marks: list[str] = []
    for position, parameter in enumerate(parameters):
        name, equals, value = parameter.partition("=")
        plain = unquote_plus(name)
        if value and (_PARAMETER.fullmatch(plain) or redact_rules.names(plain)):
            parameters[position] = name + equals + REDACTED
            marks.append(f"{where}:{plain}")
    return "&".join(parameters), marks
