"""The dialects that agents' models and frameworks speak, by name: a new one is a file and a line here."""

from __future__ import annotations

from typing import Any

from recorder.dialects.anthropic_messages import ANTHROPIC_MESSAGES
from recorder.dialects.base import Dialect, Envelope
from recorder.dialects.langchain_v2 import LANGCHAIN_V2
from recorder.dialects.openai_chat import OPENAI_CHAT
from recorder.dialects.unknown import UNKNOWN
from recorder.dialects.urls import dialect_of_url

__all__ = ["DIALECTS", "Dialect", "Envelope", "dialect_of_url", "get", "recognise"]

DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        LANGCHAIN_V2,
        ANTHROPIC_MESSAGES,
        OPENAI_CHAT,
        UNKNOWN,
    )
}
"""In the order in which they are asked whether a frame is theirs."""


def recognise(value: Any, event_name: str | None) -> Dialect | None:
    """The dialect whose frame this can only be: its JSON value and its SSE event name; None where nobody claims it.

    A frame that several dialects have alike (a ping, an error) is nobody's: it belongs to the frames around it.
    """
    return next((dialect for dialect in DIALECTS.values() if dialect.recognises(value, event_name)), None)


def get(name: str) -> Dialect:
    """The dialect of this name; `unknown` where this program has none, for a log may hold what a newer one wrote."""
    return DIALECTS.get(name, UNKNOWN)
