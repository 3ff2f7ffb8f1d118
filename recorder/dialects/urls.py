"""Which dialect an exchange's URL hints at; what the frames say counts for more."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

_PATHS = [
    (re.compile(r"/chat/completions$"), "openai.chat"),
    (re.compile(r"/responses$"), "openai.responses"),
    (re.compile(r"/v1/messages$|/anthropic/v1/messages$|:(stream)?rawpredict$"), "anthropic.messages"),
    (re.compile(r":(stream)?generatecontent$"), "gemini"),
    (re.compile(r"/interactions$"), "gemini.interactions"),
    (re.compile(r"/converse(-stream)?$"), "bedrock.converse"),
    (re.compile(r"/model/[^/]+/invoke(-with-response-stream)?$"), "bedrock.invoke"),
    (re.compile(r"/v2/chat$"), "cohere.v2"),
    (re.compile(r"/api/chat$"), "ollama.chat"),
    (re.compile(r"/realtime$"), "openai.realtime"),
    (re.compile(r"/stream_events$|/astream_events$"), "langchain.v2"),
]


def dialect_of_url(url: str) -> str | None:
    """The name of the dialect that an API at this URL speaks, or None: `…/chat/completions?x=1` → `openai.chat`.

    The name may be of a dialect that this program does not decode.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    path = parts.path.rstrip("/").lower()
    if path.endswith("/v1/chat") and (parts.hostname or "").endswith("cohere.com"):
        return "cohere.v1"
    return next((name for pattern, name in _PATHS if pattern.search(path)), None)
