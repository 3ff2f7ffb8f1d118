"""Heads of HTTP messages as documents keep them: status, and headers as mappings, pairs, lists of name and value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from recorder.events import jsontext

Headers = Mapping[str, list[str]]
"""Values by name, names as they were spelled, both in the order in which they stood."""


def headers_of(value: object) -> dict[str, list[str]]:
    """Headers from a mapping (to a value or a list of them), from pairs, or from `{"name", "value"}` objects.

    HTTP/2's pseudo-headers (`:path`) are left out: they are no headers (RFC 9113, section 8.3), and repeat method, URL
    and status. Raises `ValueError` for anything else.
    """
    if value is None:
        return {}
    headers: dict[str, list[str]] = {}
    try:
        for name, held in _pairs(value):
            values = held if isinstance(held, list | tuple) else [held]
            if not (spelled := text_of(name)).startswith(":"):
                headers.setdefault(spelled, []).extend(text_of(one) for one in values)
    except (TypeError, ValueError):
        raise ValueError(f"headers of type {type(value).__name__} that are no pairs") from None
    return headers


def header(headers: Headers, name: str) -> str | None:
    """The values of the header with this name (in lower case), joined as RFC 9110 joins them; None without any."""
    found = [value for key, values in headers.items() if key.lower() == name for value in values]
    return ", ".join(found) if found else None


def media_type(headers: Headers) -> str:
    """The media type in lower case, without parameters; empty where none is told."""
    return (header(headers, "content-type") or "").partition(";")[0].strip().lower()


def status_of(value: object) -> int | None:
    """A status code of three digits (RFC 9110, section 15), or None: 0 and -1 stand for no answer."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 999 else None


def text_of(value: object) -> str:
    """What a document holds in place of a text, as text that any database takes."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else jsontext.clean(str(value))


def _pairs(value: object) -> Iterator[tuple[object, object]]:
    if isinstance(value, Mapping):
        yield from value.items()
        return
    if not isinstance(value, Iterable):
        raise TypeError
    for pair in value:
        if isinstance(pair, Mapping):
            yield pair.get("name", ""), pair.get("value", "")
        else:
            name, held = pair
            yield name, held
