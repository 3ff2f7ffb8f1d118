"""Frames and requests with every field that the dialect reads."""

from __future__ import annotations

from typing import Any

DIALECT = "gemini"
PARTIAL = {"jsonPath": "$.rows[0]['a b']", "stringValue": "x", "willContinue": True}
FRAMES: list[Any] = [
    {
        "responseId": "r",
        "modelVersion": "m",
        "usageMetadata": {
            "promptTokenCount": 1,
            "thoughtsTokenCount": 1,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 1}],
        },
        "candidates": [
            {
                "index": 0,
                "finishReason": "MAX_TOKENS",
                "groundingMetadata": {"webSearchQueries": ["q"]},
                "content": {
                    "role": "model",
                    "parts": [
                        {"text": "a", "thought": True, "thoughtSignature": "s"},
                        {"text": "b"},
                        {"functionCall": {"id": "c1", "name": "f", "args": {"a": 1}}, "thoughtSignature": "s"},
                        {"executableCode": {"id": "e", "language": "PYTHON", "code": "1"}},
                        {"codeExecutionResult": {"id": "e", "outcome": "OUTCOME_OK", "output": "1"}},
                        {"toolCall": {"id": "t", "toolType": "URL_CONTEXT", "args": {}}},
                        {"toolResponse": {"id": "t", "toolType": "URL_CONTEXT", "response": {"error": "e"}}},
                        {"inlineData": {"mimeType": "audio/pcm", "data": "AAAA"}, "videoMetadata": {"fps": 1}},
                        {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
                        {"fileData": {"fileUri": "u"}},
                        {"newKind": {"a": 1}},
                    ],
                },
            }
        ],
    },
    {"candidates": [{"content": {"parts": [{"functionCall": {"name": "g", "willContinue": True}}]}}]},
    {"candidates": [{"content": {"parts": [{"functionCall": {"partialArgs": [PARTIAL], "willContinue": True}}]}}]},
    {
        "candidates": [
            {"content": {"parts": [{"functionCall": {"id": "", "args": {"z": [1]}}}]}, "finishReason": "STOP"}
        ]
    },
    {"promptFeedback": {"blockReason": "SAFETY", "safetyRatings": [{}]}},
    [{"error": {"code": 429, "message": "m", "status": "RESOURCE_EXHAUSTED"}}],
    {"response": {"candidates": [{"content": {"parts": []}}]}, "traceId": "t"},
]
REQUESTS: list[Any] = [
    {
        "contents": [
            {"role": "model", "parts": [{"functionCall": {"id": "c", "name": "f", "args": {"a": 1}}}]},
            {"role": "user", "parts": [{"function_response": {"id": "c", "name": "f", "response": {"error": "e"}}}]},
            {"parts": [{"executableCode": {"code": "1"}}, {"codeExecutionResult": {"output": "1"}}]},
        ],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}},
    },
    {"model": "m", "request": {"contents": {"parts": [{"functionCall": {"name": "f"}}]}}},
]
