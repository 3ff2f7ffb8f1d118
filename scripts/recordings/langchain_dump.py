"""LangChain v2 events as JSON lines, with ids that do not change from run to run."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping
from typing import Any

from langchain_core.load import Serializable, dumpd

_UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")


async def dump(events: AsyncIterator[Any]) -> bytes:
    """A line an event. Each is fixed the moment it comes: a ToolMessage in it gets its id later, in place."""
    lines = [json.dumps(plain(event)) async for event in events]
    return ("\n".join(stable(lines)) + "\n").encode()


def plain(value: Any) -> Any:
    """LangChain's own form for its objects, a tag with type and repr for what has none."""
    if isinstance(value, Serializable):
        return dumpd(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return {"$type": f"{type(value).__module__}.{type(value).__qualname__}", "$repr": repr(value)}


def stable(lines: list[str]) -> list[str]:
    """The same lines with every UUID replaced by a number, in the order in which they first occur."""
    numbers: dict[str, str] = {}

    def number(match: re.Match[str]) -> str:
        return numbers.setdefault(match[0], f"0de5a000-0000-7000-8000-{len(numbers) + 1:012x}")

    return [_UUID.sub(number, line) for line in lines]
