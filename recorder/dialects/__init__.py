"""The dialects that agents' models and frameworks speak, by name: a new one is a file and a line here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from recorder.dialects.base import Dialect, Envelope

__all__ = ["DIALECTS", "UNKNOWN", "Dialect", "Envelope", "dialect_of_url", "get", "recognise"]

UNKNOWN = "unknown"
_PLACES: dict[str, tuple[str, str | None]] = {
    "langchain.v2": ("langchain_v2:LANGCHAIN_V2", r"/a?stream_events$"),
    "langchain.v3": ("langchain_v3:LANGCHAIN_V3", None),
    "langgraph": ("langgraph:LANGGRAPH", None),
    "anthropic.messages": ("anthropic_messages:ANTHROPIC_MESSAGES", r"/v1/messages$|:(stream)?rawpredict$"),
    "openai.chat": ("openai_chat:OPENAI_CHAT", r"/chat/completions$"),
    "openai.responses": ("openai_responses:OPENAI_RESPONSES", r"/responses(/compact|/resp_[^/]+(/cancel)?)?$"),
    "openai.completions": ("openai_completions:OPENAI_COMPLETIONS", r"/completions$"),
    "openai.realtime": ("openai_realtime:OPENAI_REALTIME", r"/realtime$"),
    "gemini": ("gemini:GEMINI", r":(stream)?generatecontent$"),
    "gemini.live": ("gemini_live:GEMINI_LIVE", r"[./]bidigeneratecontent(constrained)?$"),
    "gemini.interactions": ("gemini_interactions:GEMINI_INTERACTIONS", r"/interactions$"),
    "cohere.v2": ("cohere_v2:COHERE_V2", r"/v2/chat$"),
    "cohere.v1": ("cohere_v1:COHERE_V1", r"^([^/]+\.)?cohere\.(com|ai)/(.*/)?v1/chat$"),
    "ollama.chat": ("ollama_chat:OLLAMA_CHAT", r"/api/(chat|generate)$"),
    "xai.grpc": ("xai_grpc:XAI_GRPC", r"/xai_api\.chat(/getcompletion(chunk)?)?$"),
    "bedrock.converse": ("bedrock_converse:BEDROCK_CONVERSE", r"/converse(-stream)?$"),
    "bedrock.invoke": ("bedrock_invoke:BEDROCK_INVOKE", r"/model/[^/]+/invoke(-with-response-stream)?$"),
    UNKNOWN: ("unknown:UNKNOWN", None),
}
"""Where each is, and how host and path of its API's URLs end, in lower case; None where no URL tells it.

In the order in which they are asked whether a frame or a URL is theirs.
"""


class _Dialects(Mapping[str, Dialect]):
    """Dialects by name, each imported when it is first asked for: a replay needs those of its stream only."""

    def __init__(self) -> None:
        self._loaded: dict[str, Dialect] = {}

    def __getitem__(self, name: str) -> Dialect:
        found = self._loaded.get(name)
        if found is None:
            module, _, attribute = _PLACES[name][0].partition(":")
            found = self._loaded[name] = getattr(import_module(f"{__name__}.{module}"), attribute)
        return found

    def __contains__(self, name: object) -> bool:
        return name in _PLACES

    def __iter__(self) -> Iterator[str]:
        return iter(_PLACES)

    def __len__(self) -> int:
        return len(_PLACES)


DIALECTS: Mapping[str, Dialect] = _Dialects()


def recognise(value: Any, event_name: str | None) -> Dialect | None:
    """The dialect whose frame this can only be: its JSON value and its SSE event name; None where nobody claims it.

    A frame that several dialects have alike (a ping, an error) is nobody's: it belongs to the frames around it.
    """
    return next((dialect for dialect in DIALECTS.values() if dialect.recognises(value, event_name)), None)


def dialect_of_url(url: str) -> str | None:
    """The dialect that an API at this URL speaks, by name, or None: `…/chat/completions?x=1` → `openai.chat`.

    It is a hint: what the frames say counts for more.
    """
    try:
        parts = urlsplit(url)
        address = f"{parts.hostname or ''}{parts.path}".rstrip("/").lower()
    except ValueError:
        return None
    found = (name for name, (_, ending) in _PLACES.items() if ending is not None and re.search(ending, address))
    return next(found, None)


def get(name: str) -> Dialect:
    """The dialect of this name; `unknown` where this program has none, for a log may hold what a newer one wrote."""
    return DIALECTS[name if name in DIALECTS else UNKNOWN]
