"""Which format a file has, told from its first bytes."""

from __future__ import annotations

import json
import re
import zlib
from typing import Literal

from msgspec import Struct

from recorder.errors import NotAStream
from recorder.events import eventstream, jsontext
from recorder.sources.frame import BOM, Framing
from recorder.sources.json_array import JsonArrayReader

HEAD_BYTES = 64 * 1024
"""How much of a file is enough to tell its format."""

DocumentFormat = Literal["cassette", "har"]
"""Files that hold whole exchanges."""

_GZIP = b"\x1f\x8b"
_STRONG_SSE = re.compile(rb"data:[ \t]*[\[{]")
_SSE_LINE = re.compile(rb":|(?:data|event|id|retry)(?::|$)")
_CASSETTE_YAML = re.compile(rb"(?:(?:(?:http_)?interactions|requests|responses):\s*(?:\[.*)?|- request:\s*)$")
_CASSETTE_JSON_LINE = re.compile(rb'\s*\{\s*(?:"version":\s*\d+,\s*)?"(?:http_)?interactions"\s*:')
_CASSETTE_JSON_KEY = re.compile(rb'(\s*)"(?:(?:http_)?interactions|requests)"\s*:\s*(?:\[.*)?$')
_HAR = re.compile(rb'\s*\{\s*"log"\s*:\s*\{\s*"(?:version|creator|browser|pages|entries|comment|_\w+)"\s*:')
"""How a HAR file begins; a line of a program's own log may well have a `log` with other fields in it."""
_STREAMED_ARRAY = re.compile(rb'\s*\[\s*\{\s*"(?:candidates|promptFeedback|usageMetadata|modelVersion|responseId)"\s*:')
"""How an array of Google's responses begins; other arrays are documents."""
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_PROBE_BYTES = 512


class Format(Struct, frozen=True, kw_only=True):
    """A file's format; where `gzip` is true, that of the bytes inside: they are what is recorded and given back."""

    framing: Framing | DocumentFormat
    gzip: bool = False


def detect(head: bytes, *, name: str | None = None, complete: bool) -> Format:
    """The format of a file whose first bytes (`HEAD_BYTES` are enough) are `head`; `complete`: there are no more.

    Raises `NotAStream`, whose one line says what was seen; `name`, if given, goes in front of it.
    """
    found = recognise(head, complete=complete)
    if found is None and not complete:
        found = _likely(head)
    if found is None:
        raise NotAStream(f"{name}: {_seen(head)}" if name else _seen(head))
    return found


def recognise(head: bytes, *, complete: bool) -> Format | None:
    """As `detect`, but only what is certain: None where more bytes might tell (for a pipe, asked at every read)."""
    if head.startswith(_GZIP):
        inner, whole = _inflate(head)
        found = None if inner is None else recognise(inner, complete=complete and whole)
        return None if found is None else Format(framing=found.framing, gzip=True)
    if eventstream.message_bytes(head, 0) is not None:
        return Format(framing="eventstream")
    text = head.removeprefix(BOM)
    lines = text.splitlines()
    rest = b"" if complete or not lines or text.endswith((b"\n", b"\r")) else lines.pop()
    document = _document(text) if complete else None
    if document is not None:
        return document
    if _CASSETTE_JSON_LINE.match(text) or _has_cassette_key(lines):
        return Format(framing="cassette")
    if _HAR.match(text):
        return Format(framing="har")
    if _is_streamed_array(text):
        return Format(framing="json_array")
    for line in lines:
        if found := _line_format(line):
            return found
    if _STRONG_SSE.match(rest) or (_is_plain_sse(lines) and b"" in lines[1:]):
        return Format(framing="sse")
    return None if eventstream.find_message(head, 1) is None else Format(framing="eventstream")


def _line_format(line: bytes) -> Format | None:
    """What one line alone proves."""
    if _STRONG_SSE.match(line):
        return Format(framing="sse")
    if _CASSETTE_YAML.match(line):
        return Format(framing="cassette")
    if line.startswith((b"{", b"[")) and (value := _value(line)):
        return Format(framing="cassette" if _is_cassette(value) else "har" if _is_har(value) else "ndjson")
    return None


def _has_cassette_key(lines: list[bytes]) -> bool:
    """Whether an indented JSON document has a cassette's key at its first level."""
    if len(lines) < 2 or lines[0].strip() != b"{":
        return False
    indent = len(lines[1]) - len(lines[1].lstrip())
    keys = (_CASSETTE_JSON_KEY.match(line) for line in lines[1:])
    return any(key is not None and len(key[1]) == indent for key in keys)


def _document(text: bytes) -> Format | None:
    """The format of a text that is one JSON document; one on a single line is as well a line of JSON."""
    body = text.strip()
    if not body.startswith((b"{", b"[")):
        return None
    value = _value(body)
    if not value:
        return None
    if _is_cassette(value):
        return Format(framing="cassette")
    if _is_har(value):
        return Format(framing="har")
    if _is_streamed_array(body):
        return Format(framing="json_array")
    return Format(framing="ndjson" if b"\n" not in body and b"\r" not in body else "json")


def _likely(head: bytes) -> Format | None:
    """A guess for a head in which the first frame has no end yet."""
    if head.startswith(_GZIP):
        inner, _ = _inflate(head)
        found = None if inner is None else _likely(inner)
        return None if found is None else Format(framing=found.framing, gzip=True)
    text = head.removeprefix(BOM)
    lines = text.splitlines()
    if _is_plain_sse(lines):
        return Format(framing="sse")
    if not text.lstrip().startswith((b"{", b"[")):
        return None
    return Format(framing="ndjson" if len(text.strip().splitlines()) == 1 else "json")


def _is_plain_sse(lines: list[bytes]) -> bool:
    written = [line for line in lines if line.strip()]
    return bool(written) and all(_SSE_LINE.match(line) for line in written)


def _is_cassette(value: object) -> bool:
    if isinstance(value, list):
        return isinstance(value[0], dict) and "request" in value[0] and "response" in value[0]
    return isinstance(value, dict) and (
        isinstance(value.get("interactions"), list)
        or isinstance(value.get("http_interactions"), list)
        or (isinstance(value.get("requests"), list) and isinstance(value.get("responses"), list))
    )


def _is_har(value: object) -> bool:
    log = value.get("log") if isinstance(value, dict) else None
    return isinstance(log, dict) and isinstance(log.get("entries"), list)


def _is_streamed_array(text: bytes) -> bool:
    """Whether it is an array of Google's responses, be its end missing: by its first element, or how that begins."""
    if not text.lstrip().startswith(b"["):
        return False
    for frame in JsonArrayReader().feed(text):
        first = _value(frame.body)
        candidates = first.get("candidates") if isinstance(first, dict) else None
        if isinstance(candidates, list):
            return all(isinstance(each, dict) and each.keys() & {"content", "finishReason"} for each in candidates)
        return isinstance(first, dict) and isinstance(first.get("promptFeedback") or first.get("usageMetadata"), dict)
    return _STREAMED_ARRAY.match(text) is not None


def _value(text: bytes) -> object:
    """The JSON object or array that the text is, or None."""
    try:
        value, _ = jsontext.decode_leniently(text)
    except jsontext.NotJson:
        return None
    return value if isinstance(value, dict | list) else None


def _inflate(head: bytes) -> tuple[bytes | None, bool]:
    """The first bytes inside a gzip file (None if it is damaged there), and whether they are all of them."""
    inflater = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        inner = inflater.decompress(head, HEAD_BYTES)
    except zlib.error:
        return None, False
    return inner, inflater.eof and not inflater.unused_data


def _seen(head: bytes) -> str:
    if not head:
        return "empty file"
    if head.startswith(_GZIP):
        inner, _ = _inflate(head)
        return "damaged gzip data" if inner is None else f"gzip data that holds {_seen(inner).removeprefix('a ')}"
    text = head.removeprefix(BOM).strip()
    if not text:
        return "a file of white space only"
    probe = head[:_PROBE_BYTES]
    if _is_utf16(probe):
        return "text in UTF-16, as Windows PowerShell writes it with `>`: convert it to UTF-8"
    if _CONTROL.search(probe) or not _is_utf8(probe):
        return f"binary data (starts with {head[:4].hex(' ').upper()})"
    start = text.splitlines()[0][:160].decode("utf-8", "replace")[:40].rstrip()
    if _has_more_behind(text):
        return f"a JSON document with more behind it; each of several must be on one line (starts with {start!r})"
    if text.startswith((b"{", b"[")):
        return f"JSON that breaks off before its first line or document is whole (starts with {start!r})"
    return f"text that is no SSE, JSON lines, cassette or HAR (starts with {start!r})"


def _has_more_behind(text: bytes) -> bool:
    """Whether a whole JSON object or array begins the text and something follows it, as `jq .` prints a stream."""
    if not text.startswith((b"{", b"[")):
        return False
    readable = text.decode("utf-8", "replace")
    try:
        _, end = json.JSONDecoder().raw_decode(readable)
    except (ValueError, RecursionError):
        return False
    return bool(readable[end:].strip())


def _is_utf16(probe: bytes) -> bool:
    """Whether it has the byte order mark of UTF-16 and is text behind it."""
    if not probe.startswith(_UTF16):
        return False
    text = probe.decode("utf-16", "replace")
    return "\ufffd" not in text[:-1] and _CONTROL.search(text.encode("utf-8", "replace")) is None


def _is_utf8(probe: bytes) -> bool:
    try:
        probe.decode()
    except UnicodeDecodeError as error:
        return error.start >= len(probe) - 3 and error.reason == "unexpected end of data"
    return True
