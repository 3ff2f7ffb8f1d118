"""What pydantic makes of a tool call chunk's values when LangChain constructs an AIMessageChunk (lax mode).

Where it refuses a value, the nearest that a gathered call can hold is taken, and the fault noted.
"""

from __future__ import annotations

import json
import re

_INTEGER = re.compile(r"[+-]?[0-9]+(?:_[0-9]+)*(?:\.0+)?")
_MAX_DIGITS = 4300
_I64 = 1 << 63


def valid_index(value: object, faults: list[str]) -> int | str | None:
    """`index`: None, an integer, or what reads as one (`"0"`, `1.0`, `True`). Any other is kept as text.

    Pydantic's stranger spellings (`"0__1"`, `"00-1"`) are refused here, though the library takes them.
    """
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float):
        if value.is_integer() and abs(value) < _I64:
            return int(value)
    elif isinstance(value, str):
        text = value.strip()
        if len(text) <= _MAX_DIGITS and _INTEGER.fullmatch(text):
            return int(text.partition(".")[0])
    faults.append(f"index {value!r} is no integer")
    return value if isinstance(value, str) else _text(value)


def valid_text(field: str, value: object, faults: list[str]) -> str | None:
    """`id`, `name` or `args`: None or text. Any other value is kept as its JSON text."""
    if value is None or isinstance(value, str):
        return value
    faults.append(f"{field} {value!r} is no text")
    return _text(value)


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=repr)
