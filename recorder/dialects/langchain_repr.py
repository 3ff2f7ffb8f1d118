"""Messages that were dumped as their repr: what `json.dumps(event, default=str)` makes of LangChain's objects.

Source: langchain-core 1.8's `str()` of messages (`content='…' additional_kwargs={} response_metadata={} id='…'`; a
ToolMessage shows `tool_call_id='…'` and leaves the empty rest out) and of what holds them (prompt values, results,
states, `Command`s), where each stands as `AIMessage(content=…)`. Such a text can't be read back: escapes are Python's,
and what was empty is missing.
"""

from __future__ import annotations

import re
from typing import Any

from recorder.deltas import Finding
from recorder.dialects.frames import finding
from recorder.dialects.langchain_messages import message_of

MARK = b"content="
"""Stands in the body of every event that holds such a text, and of hardly any other."""

_REPR = re.compile(
    r"""(?:\w+\()?  (?: content=['"\[] | \w+=.*?Message(?:Chunk)?\(content= )""",
    re.DOTALL | re.VERBOSE,
)
_FIELDS = ("additional_kwargs=", "tool_call_id=")
"""A message's repr has one of them, whatever its class."""


def is_message_repr(text: str) -> bool:
    """Whether the text is the repr of a message, or of an object with a message in it."""
    return any(name in text for name in _FIELDS) and _REPR.match(text) is not None


def holds_message_repr(value: object) -> bool:
    """Whether such a text stands anywhere in the value but inside a message: what a message says is its own.

    Nor inside of what `dumpd` wrote: of what it can't write (a `Command`) it gives the repr itself.
    """
    pending: list[Any] = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            if is_message_repr(item):
                return True
        elif isinstance(item, list):
            pending.extend(item)
        elif isinstance(item, dict) and "lc" not in item and message_of(item) is None:
            pending.extend(item.values())
    return False


def message_as_repr(run_id: str, kind: str) -> Finding:
    """The finding, with what to do about it."""
    detail = f"{kind}: the message was dumped as its repr: dump events with langchain_core.load.dumpd"
    return finding(run_id, "message-as-repr", detail, "warning")
