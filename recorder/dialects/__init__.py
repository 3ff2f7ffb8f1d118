"""The dialects that agents' models and frameworks speak, by name: a new one is a file and a line here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from recorder.dialects.base import Dialect, Envelope
from recorder.dialects.urls import dialect_of_url

__all__ = ["DIALECTS", "UNKNOWN", "Dialect", "Envelope", "dialect_of_url", "get", "recognise"]

UNKNOWN = "unknown"
_PLACES = {
    "langchain.v2": "langchain_v2:LANGCHAIN_V2",
    "anthropic.messages": "anthropic_messages:ANTHROPIC_MESSAGES",
    "openai.chat": "openai_chat:OPENAI_CHAT",
    UNKNOWN: "unknown:UNKNOWN",
}
"""In the order in which they are asked whether a frame is theirs."""


class _Dialects(Mapping[str, Dialect]):
    """Dialects by name, each imported when it is first asked for: a replay needs those of its stream only."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = places
        self._loaded: dict[str, Dialect] = {}

    def __getitem__(self, name: str) -> Dialect:
        found = self._loaded.get(name)
        if found is None:
            module, _, attribute = self._places[name].partition(":")
            found = self._loaded[name] = getattr(import_module(f"{__name__}.{module}"), attribute)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


DIALECTS: Mapping[str, Dialect] = _Dialects(_PLACES)


def recognise(value: Any, event_name: str | None) -> Dialect | None:
    """The dialect whose frame this can only be: its JSON value and its SSE event name; None where nobody claims it.

    A frame that several dialects have alike (a ping, an error) is nobody's: it belongs to the frames around it.
    """
    return next((dialect for dialect in DIALECTS.values() if dialect.recognises(value, event_name)), None)


def get(name: str) -> Dialect:
    """The dialect of this name; `unknown` where this program has none, for a log may hold what a newer one wrote."""
    return DIALECTS[name if name in DIALECTS else UNKNOWN]
