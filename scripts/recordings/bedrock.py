"""Amazon Bedrock's streams written by hand: AWS's binary messages around a conversation of our own.

The framing is written here after its specification, apart from the recorder's: two that agree say more than one.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Iterable
from typing import Any

from recordings.frames import compact

_PADDING = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
ARGUMENTS = ("", '{"city"', ': "Almer', r"\u00", "eda", '", "days": 2', "}")


def converse() -> bytes:
    """`bedrock.converse`: reasoning, a sentence, one call; the counts come after the stop."""
    events: list[tuple[str, dict[str, Any]]] = [
        ("messageStart", {"role": "assistant"}),
        *(
            _delta(0, {"reasoningContent": piece})
            for piece in (
                {"text": "The weather is asked for, "},
                {"text": "so one call."},
                {"signature": "YSBzaWduYXR1cmUgZm9yIGFuIGV4YW1wbGU="},
            )
        ),
        ("contentBlockStop", {"contentBlockIndex": 0}),
        *(_delta(1, {"text": text}) for text in ("Let me look ", "that up.")),
        ("contentBlockStop", {"contentBlockIndex": 1}),
        (
            "contentBlockStart",
            {"contentBlockIndex": 2, "start": {"toolUse": {"name": "get_weather", "toolUseId": "tooluse_rec0001"}}},
        ),
        *(_delta(2, {"toolUse": {"input": piece}}) for piece in ARGUMENTS),
        ("contentBlockStop", {"contentBlockIndex": 2}),
        ("messageStop", {"stopReason": "tool_use"}),
        (
            "metadata",
            {"metrics": {"latencyMs": 900}, "usage": {"inputTokens": 310, "outputTokens": 58, "totalTokens": 368}},
        ),
    ]
    return _messages((name, {**payload, "p": _padding(at)}) for at, (name, payload) in enumerate(events))


def invoke() -> bytes:
    """`bedrock.invoke`: frames of `anthropic.messages` within, the last with Bedrock's own counts."""
    message: dict[str, Any] = {
        "id": "msg_bdrk_rec0001",
        "type": "message",
        "role": "assistant",
        "model": "demo-1",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 302, "output_tokens": 1},
    }
    metrics = {"inputTokenCount": 302, "outputTokenCount": 41, "invocationLatency": 880, "firstByteLatency": 420}
    call = {"type": "tool_use", "id": "toolu_bdrk_rec0001", "name": "get_weather", "input": {}}
    frames: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": call},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": piece}}
            for piece in ARGUMENTS
        ),
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use", "stop_sequence": None},
            "usage": {"output_tokens": 41},
        },
        {"type": "message_stop", "amazon-bedrock-invocationMetrics": metrics},
    ]
    return _messages(
        ("chunk", {"bytes": base64.b64encode(compact(frame).encode()).decode(), "p": _padding(at)})
        for at, frame in enumerate(frames)
    )


def _delta(index: int, delta: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return "contentBlockDelta", {"contentBlockIndex": index, "delta": delta}


def _padding(at: int) -> str:
    """What Bedrock adds so that a frame's length does not tell how long its text is."""
    return _PADDING[: at * 23 % 61 + 1]


def _messages(events: Iterable[tuple[str, dict[str, Any]]]) -> bytes:
    return b"".join(
        _message(
            {":event-type": name, ":content-type": "application/json", ":message-type": "event"},
            compact(payload).encode(),
        )
        for name, payload in events
    )


def _message(headers: dict[str, str], payload: bytes) -> bytes:
    text_header = 7
    head = b"".join(
        struct.pack(f"!B{len(name)}sBH{len(value)}s", len(name), name.encode(), text_header, len(value), value.encode())
        for name, value in headers.items()
    )
    lengths = struct.pack("!II", len(head) + len(payload) + 16, len(head))
    message = lengths + struct.pack("!I", zlib.crc32(lengths)) + head + payload
    return message + struct.pack("!I", zlib.crc32(message))
