"""What an event changed, as a person reads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recorder.cli.table import printable
from recorder.events import jsontext

_SUBJECTS = ("call", "message", "run", "pairing")


def change_lines(changes: list[dict[str, Any]]) -> Iterator[str]:
    """A line a change: what it is about, what was done, to which field, with which value."""
    parts = [_parts(change) for change in changes]
    widths = [max((len(part[place]) for part in parts), default=0) for place in (0, 1)]
    for subject, action, value in parts:
        yield f"{subject.ljust(widths[0])}  {action.ljust(widths[1])}  {value}".rstrip()


def operation_lines(operations: list[dict[str, Any]]) -> Iterator[str]:
    """A line an operation of RFC 6902: what is done, where, with which value."""
    for operation in operations:
        value = _json(operation["value"]) if "value" in operation else operation.get("from", "")
        yield f"{operation['op']:8} {printable(operation['path'])}  {value}".rstrip()


def _parts(change: dict[str, Any]) -> tuple[str, str, str]:
    rest = dict(change)
    op = str(rest.pop("op"))
    kind = next((name for name in _SUBJECTS if name in rest), None)
    if kind is None:
        return op.replace("_", " "), "", _fields(rest)
    subject = f"{kind} {printable(rest.pop(kind))}"
    if "field" not in rest:
        return subject, op, _fields(rest)
    field = str(rest.pop("field"))
    if "block" in rest:
        field = f"block {rest.pop('block')} {field}"
    path = rest.pop("path", None)
    if path:
        field += "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return subject, f"{op} {printable(field)}", "" if op == "restore" else _json(rest.get("value"))


def _fields(values: dict[str, Any]) -> str:
    return "  ".join(f"{name}={_json(value)}" for name, value in values.items() if value is not None)


def _json(value: Any) -> str:
    return printable(jsontext.encode(value))
