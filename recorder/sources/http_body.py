"""Bodies of HTTP messages as cassettes keep them: in many shapes."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence

_WRAPPERS = ("string", "data", "bytes", "content")
"""Keys under which a mapping keeps the body's text or bytes."""


class WrongBody(ValueError):
    """A body of a shape that no recorder writes; the message names it. `kept`: its value as JSON text."""

    def __init__(self, problem: str, kept: bytes = b"") -> None:
        super().__init__(problem)
        self.kept = kept


def body_of(message: Mapping[str, object]) -> bytes:
    """The body's bytes of a cassette's request or response, still content-encoded; empty where it has none.

    Read: text, bytes, a mapping that holds either (`string`, `base64_string`, `data` …, with an `encoding` of
    `base64`), a list of pieces, a pickled `BytesIO` or iterator that was loaded as plain data, and `parsed_body` (any
    JSON value) in its place. Raises `WrongBody`.
    """
    if message.get("parsed_body") is not None:
        return compact_json(message["parsed_body"])
    return _bytes(message.get("body", message.get("content")))


def compact_json(value: object) -> bytes:
    """A value as JSON without white space, UTF-8; what JSON has no type for becomes its text. Raises `WrongBody`."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise WrongBody(f"a body that has no JSON form ({error})") from None
    return text.encode("utf-8", "surrogatepass")


def _bytes(value: object) -> bytes:
    if value is None:
        return b""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, Mapping):
        return _unwrapped(value)
    if isinstance(value, Sequence) and all(isinstance(piece, str | bytes) for piece in value):
        return b"".join(_bytes(piece) for piece in value)
    raise WrongBody(f"a body of type {type(value).__name__}", compact_json(value))


def _unwrapped(value: Mapping[str, object]) -> bytes:
    if "base64_string" in value:
        return _from_base64(_bytes(value["base64_string"]))
    for key in _WRAPPERS:
        if key in value:
            content = _bytes(value[key])
            return _from_base64(content) if str(value.get("encoding", "")).lower() == "base64" else content
    # A pickled BytesIO has `state: [content, position, …]`, a pickled iterator `args: [[pieces]]`.
    for key in ("state", "args"):
        pickled = value.get(key)
        if isinstance(pickled, Sequence) and not isinstance(pickled, str | bytes) and pickled:
            return _bytes(pickled[0])
    if not value:
        return b""
    raise WrongBody(f"a body with the keys {', '.join(sorted(map(str, value)))}", compact_json(value))


def _from_base64(text: bytes) -> bytes:
    try:
        return base64.b64decode(text)
    except binascii.Error as error:
        raise WrongBody(f"a body that is no base64 ({error})", text) from None


def _plain(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
