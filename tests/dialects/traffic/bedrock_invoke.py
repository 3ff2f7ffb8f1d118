"""`bedrock.invoke`: the makers' frames, wrapped; what is no base64, no JSON, or wrapped otherwise."""

from __future__ import annotations

import base64
import json
from typing import Any

from tests.dialects.traffic import anthropic_messages, bedrock_converse

DIALECT = "bedrock.invoke"


def chunk(value: Any, **fields: Any) -> dict[str, Any]:
    """A frame of the stream: the value as JSON in base64, and the padding that hides its length."""
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return {"bytes": base64.b64encode(data).decode(), "p": "abcdef", **fields}


METRICS = {"inputTokenCount": 9, "outputTokenCount": 4, "invocationLatency": 10, "firstByteLatency": 5}
TEXTS: list[Any] = [
    {"outputText": "ti", "index": 0, "inputTextTokenCount": 3, "completionReason": None},
    {"outputText": "tan", "totalOutputTextTokenCount": 2, "completionReason": "FINISH"},
    {"generation": "lla", "prompt_token_count": 3, "generation_token_count": 1, "stop_reason": None},
    {"generation": "ma", "stop_reason": "length"},
    {"outputs": [{"text": "mis", "stop_reason": None}, {"text": "tral", "stop_reason": "stop"}]},
    {"text": "co", "is_finished": False},
    {"is_finished": True, "finish_reason": "COMPLETE"},
    {"generations": [{"text": "here", "finish_reason": "MAX_TOKENS"}]},
    {"completion": "claude", "stop_reason": "stop_sequence"},
    {"results": [{"tokenCount": 1, "outputText": "whole", "completionReason": "FINISH"}]},
]
FRAMES: list[Any] = [
    *map(chunk, TEXTS),
    *map(chunk, anthropic_messages.FRAMES),
    chunk({"type": "message_stop", "amazon-bedrock-invocationMetrics": METRICS}),
    *map(chunk, bedrock_converse.FRAMES),
    {"chunk": chunk({"outputText": "under its name"})},
    {"bytes": "no base64!"},
    chunk(b"no JSON"),
    chunk({"later": 1}),
    {"modelTimeoutException": {"message": "too slow"}},
    anthropic_messages.FRAMES[0],
    {"strange": True},
]
REQUESTS: list[Any] = [{"anthropic_version": "bedrock-2023-05-31", "messages": []}, {"inputText": "hi"}]
