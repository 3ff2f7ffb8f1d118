"""Frames and requests with every field that the dialect reads."""

from __future__ import annotations

from typing import Any

DIALECT = "gemini.live"
FRAMES: list[Any] = [
    {"setup": {"model": "models/m"}},
    {"setupComplete": {"sessionId": "s"}},
    {"clientContent": {"turns": [{"parts": [{"functionCall": {"name": "f", "args": {}}}]}], "turnComplete": True}},
    {"realtimeInput": {"audio": {"data": "AAAA"}}},
    {
        "serverContent": {
            "modelTurn": {"parts": [{"text": "a"}, {"inlineData": {"mimeType": "audio/pcm", "data": "AAAA"}}]},
            "inputTranscription": {"text": "b", "languageCode": "en"},
            "interimInputTranscription": {"text": "c"},
            "outputTranscription": {"text": "d", "finished": True},
            "groundingMetadata": {"webSearchQueries": ["q"]},
            "interrupted": True,
        },
        "usageMetadata": {"promptTokenCount": 1, "responseTokenCount": 1},
    },
    {"serverContent": {"generationComplete": True}},
    {"toolCall": {"functionCalls": [{"id": "c1", "name": "f", "args": {"a": 1}}, {"name": "g", "willContinue": True}]}},
    {"toolResponse": {"functionResponses": [{"id": "c1", "name": "f", "response": {"output": 1}}]}},
    {"toolCallCancellation": {"ids": ["c1", 2]}},
    {"serverContent": {"turnComplete": True, "turnCompleteReason": "RESPONSE_REJECTED"}},
    {"sessionResumptionUpdate": {"newHandle": "h"}, "usageMetadata": {"totalTokenCount": 3}},
    {"goAway": {"timeLeft": "1s"}},
    {"error": {"message": "m"}},
]
REQUESTS: list[Any] = []
