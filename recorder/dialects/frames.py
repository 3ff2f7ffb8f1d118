"""An event's body as a value, and the findings that every dialect says in the same words."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from recorder.deltas import AnyDelta, Finding, Severity
from recorder.dialects.base import REQUEST
from recorder.dialects.values import compact
from recorder.events import Event, NewEvent
from recorder.events.jsontext import NotJson, clean, decode_leniently, has_lone_surrogate, has_no_spelling

Deltas = list[AnyDelta]
"""What a reader appends to."""

_MOST_SEEN = 60
"""Characters of a body that a finding shows."""
_MOST_SEEN_BYTES = 8 * _MOST_SEEN
"""Bytes that these are taken from: four a character, and room for white space."""


LARGE_BYTES = 16 * 1024 * 1024
"""A frame beyond it is worth a note: many readers refuse it."""


class Frame(Struct, frozen=True):
    """One event of a dialect, its body read as JSON."""

    run_id: str
    kind: str
    value: Any
    body: bytes
    """The bytes that `value` was read from."""


def read_frame(event: Event | NewEvent, out: Deltas, severity: Severity = "warning") -> Frame | None:
    """The event's frame; None, with a finding, where the body is no JSON, and without one where it was erased."""
    run_id = event.run_id or ""
    if isinstance(event, Event) and event.erased:
        return None
    try:
        value, wrong = decode_leniently(event.body)
    except NotJson as error:
        what = "the request" if event.kind == REQUEST else "the frame"
        out.append(finding(run_id, "not-json", f"{what} is no JSON: {error}: {seen(event.body)}", severity))
        return None
    if wrong is not None:
        out.append(finding(run_id, "invalid-utf8", f"{event.kind}: {wrong}", "warning"))
    if has_lone_surrogate(event.body, value):
        out.append(finding(run_id, "lone-surrogate", f"{event.kind}: half of a surrogate pair without its other half"))
    if has_no_spelling(event.body, value):
        out.append(finding(run_id, "non-finite-number", f"{event.kind}: NaN, an infinity, or a number beyond a double"))
    if len(event.body) > LARGE_BYTES:
        out.append(finding(run_id, "large-frame", f"{event.kind}: {len(event.body):,} bytes in one frame"))
    return Frame(run_id, event.kind, value, event.body)


def read_meta(event: Event | NewEvent) -> dict[str, Any]:
    """The event's meta object; empty where there is none."""
    if not event.meta:
        return {}
    try:
        meta, _ = decode_leniently(event.meta)
    except NotJson:
        return {}
    return meta if isinstance(meta, dict) else {}


def finding(run_id: str, rule: str, detail: str, severity: Severity = "info") -> Finding:
    """A finding with a detail that any database takes."""
    return Finding(run_id=run_id, rule=rule, severity=severity, detail=clean(detail))


def unknown_frame(frame: Frame, what: str | None = None) -> Finding:
    """The dialect does not know this kind of frame: it stays in the log as itself."""
    detail = f"{what or frame.kind}: not known to this dialect: {seen(frame.body)}"
    return finding(frame.run_id, "unknown-frame", detail)


def unknown_part(run_id: str, what: str, value: object) -> Finding:
    """Of a frame that is known a part is of a kind that came later than its dialect's decoder."""
    shown = seen(compact(value).encode("utf-8", "replace"))
    return finding(run_id, "unknown-frame", f"{what}: not known to this dialect: {shown}")


def seen(body: bytes) -> str:
    """The beginning of a body as one line that any terminal shows."""
    begun = body.strip()[:_MOST_SEEN_BYTES]
    text = " ".join(begun.decode("utf-8", "replace").split())
    whole = len(text) <= _MOST_SEEN and len(begun) < _MOST_SEEN_BYTES
    shown = "".join(letter if letter.isprintable() else "\ufffd" for letter in text[:_MOST_SEEN])
    return (shown if whole else f"{shown}…") or "nothing"


def malformed(run_id: str, where: str, value: object) -> Finding:
    """A field holds another JSON type than the provider's document says."""
    return finding(run_id, "malformed-field", f"{where} is {_type_name(value)}", "warning")


def partial_frame(event: Event | NewEvent) -> Finding:
    """The input ended inside a frame."""
    detail = f"{len(event.body)} bytes at the end of the input are no whole frame"
    return finding(event.run_id or "", "partial-frame", detail, "warning")


def damaged_frame(event: Event | NewEvent) -> Finding:
    """The source has bytes here that are no frame, or a frame whose checksum does not fit."""
    detail = f"{len(event.body)} bytes are no message, or one whose checksum does not fit"
    return finding(event.run_id or "", "damaged-frame", detail, "warning")


def _type_name(value: object) -> str:
    if value is None:
        return "null"
    names = {
        bool: "a boolean",
        int: "a number",
        float: "a number",
        str: "a string",
        list: "an array",
        dict: "an object",
    }
    return names.get(type(value), type(value).__name__)
