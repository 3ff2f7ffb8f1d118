"""`bedrock.converse`: payloads under their events' names and alone, a whole answer, exceptions."""

from __future__ import annotations

from typing import Any

DIALECT = "bedrock.converse"


def delta(index: Any, value: Any) -> dict[str, Any]:
    return {"contentBlockDelta": {"contentBlockIndex": index, "delta": value}}


def start(index: Any, value: Any) -> dict[str, Any]:
    return {"contentBlockStart": {"contentBlockIndex": index, "start": value}}


def stop(index: Any) -> dict[str, Any]:
    return {"contentBlockStop": {"contentBlockIndex": index}}


USAGE = {
    "inputTokens": 9,
    "outputTokens": 4,
    "totalTokens": 13,
    "cacheReadInputTokens": 2,
    "cacheWriteInputTokenCount": 1,
}
MESSAGE = {
    "role": "assistant",
    "content": [
        {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "c2ln"}}},
        {"reasoningContent": {"redactedContent": "eHh4"}},
        {"text": "two"},
        {"toolUse": {"toolUseId": "t9", "name": "add", "input": {"a": 1}}},
        {"toolUse": {"toolUseId": "t8", "name": "search", "input": {"q": "x"}, "type": "server_tool_use"}},
        {"toolResult": {"toolUseId": "t8", "status": "error", "type": "search_result", "content": [{"text": "no"}]}},
        {"citationsContent": {"content": [{"text": "cited"}], "citations": [{"title": "facts"}]}},
        {"image": {"format": "png", "source": {"bytes": "eA=="}}},
    ],
}
FRAMES: list[Any] = [
    {"messageStart": {"role": "assistant", "p": "abc"}},
    delta(0, {"reasoningContent": {"text": "so"}}),
    delta(0, {"reasoningContent": {"signature": "c2ln"}}),
    delta(0, {"reasoningContent": {"redactedContent": "eHh4", "later": 1}}),
    stop(0),
    delta(1, {"text": "one "}),
    delta(1, {"citation": {"title": "facts", "location": {"web": {"url": "https://h"}}}}),
    start(2, {"toolUse": {"toolUseId": "t1", "name": "add"}}),
    delta(2, {"toolUse": {"input": '{"a":'}}),
    delta(2, {"toolUse": {"input": "1}"}}),
    stop(2),
    start(3, {"toolUse": {"toolUseId": "t2", "name": "search", "type": "server_tool_use"}}),
    start(4, {"toolResult": {"toolUseId": "t2", "status": "success", "type": "search_result"}}),
    delta(4, {"toolResult": [{"text": "found"}, {"json": {"n": 1}}]}),
    start(5, {"image": {"format": "png"}}),
    delta(5, {"image": {"source": {"bytes": "eA=="}, "error": {"message": "late"}}}),
    delta(6, {"hologram": {"light": 1}}),
    {"contentBlockIndex": 6, "delta": {"text": "alone"}},
    {"contentBlockIndex": 1, "start": {"toolUse": {"toolUseId": "t3", "name": "add"}}},
    {"messageStop": {"stopReason": "tool_use", "additionalModelResponseFields": {"x": 1}}},
    {"metadata": {"usage": USAGE, "metrics": {"latencyMs": 5}, "trace": {"guardrail": {}}}},
    {"metadata": {"usage": USAGE}},
    {"messageStop": {"stopReason": "end_turn"}},
    {"output": {"message": MESSAGE}, "stopReason": "tool_use", "usage": USAGE, "metrics": {"latencyMs": 5}},
    {"throttlingException": {"message": "slow down"}},
    {"error": {"message": "from a proxy"}},
    {"strange": True},
]
REQUESTS: list[Any] = [
    {
        "messages": [
            {"role": "user", "content": [{"text": "hi"}]},
            MESSAGE,
            {
                "role": "user",
                "content": [{"toolResult": {"toolUseId": "t9", "content": [{"json": {"x": 1}}], "status": "error"}}],
            },
        ],
        "toolConfig": {"tools": [], "toolChoice": {"tool": {"name": "add"}}},
    },
]
