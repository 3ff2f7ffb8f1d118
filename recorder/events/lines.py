"""Stored events as lines of JSON, with all that their hashes were made of: what an export holds.

Bytes that are UTF-8 are text, others `{"base64": "…"}`; hashes, ids and salts are hexadecimal; what an event does not
have is left out. `event_of(line_of(event))` is the event.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

from recorder.events.event import Event

_CONTENT = ("body", "frame", "cuts", "meta")
_DIGESTS = ("event_id", "salt", "body_hash", "hash")
_FIELDS = Event.__struct_fields__
_TYPES: dict[str, type] = {
    "dialect": str,
    "layer": str,
    "kind": str,
    "framing": str,
    "encoding": str,
    "run_id": str,
    "parent_run_id": str,
    "name": str,
    "source_id": str,
    "redacted": str,
    "arrived_at": int,
    "recorded_at": int,
    "occurred_at": int,
    "seq": int,
    "version": int,
    "erased": bool,
}
_REQUIRED = frozenset(
    (
        *("event_id", "dialect", "layer", "kind", "body", "framing", "arrived_at"),
        *("seq", "recorded_at", "body_hash", "hash", "version"),
    )
)


def line_of(event: Event) -> bytes:
    """One line, its line feed included."""
    shown: dict[str, Any] = {}
    for name in _FIELDS:
        value = getattr(event, name)
        if value is None or (name == "erased" and not value):
            continue
        shown[name] = _content(value) if name in _CONTENT else value.hex() if name in _DIGESTS else value
    return json.dumps(shown, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def event_of(fields: dict[str, Any]) -> Event:
    """The event that a line holds. Raises `ValueError` where it is none."""
    missing = _REQUIRED - fields.keys()
    if missing:
        raise ValueError(f"it lacks {', '.join(sorted(missing))}")
    given: dict[str, Any] = {"salt": None}
    for name, value in fields.items():
        if name in _CONTENT:
            given[name] = _bytes(name, value)
        elif name in _DIGESTS:
            given[name] = _digest(name, value)
        elif name in _TYPES and type(value) is _TYPES[name]:
            given[name] = value
        else:
            raise ValueError(f"{name} is {json.dumps(value)[:40]}")
    if given["layer"] not in ("wire", "framework") or given.get("encoding", "utf-8") not in ("utf-8", "binary"):
        raise ValueError("its layer or encoding is none that there is")
    return Event(**given)


def _content(value: bytes) -> Any:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}


def _bytes(name: str, value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, dict) and isinstance(held := value.get("base64"), str):
        try:
            return base64.b64decode(held, validate=True)
        except binascii.Error:
            pass
    raise ValueError(f"{name} is neither text nor base64")


def _digest(name: str, value: Any) -> bytes:
    if isinstance(value, str):
        try:
            return bytes.fromhex(value)
        except ValueError:
            pass
    raise ValueError(f"{name} is not hexadecimal")
