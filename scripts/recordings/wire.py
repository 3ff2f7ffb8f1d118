"""Provider streams written by hand: what the servers' frames look like, with a conversation of our own."""

from __future__ import annotations

from typing import Any

from recordings.frames import MODEL, ChatCompletion, sse

WEATHER_ARGUMENTS = (
    '{"ci',
    'ty": "',
    "Alm",
    r"er\u0",
    "0ed",
    'a", "da',
    'ys": 3',
    ', "opti',
    'ons": {"un',
    'its": "met',
    'ric", "hourly": ',
    "fal",
    "se}}",
)
r"""Thirteen pieces: one ends inside the escape `\u00ed`, one inside `false`, and an object lies in the object."""


def weather() -> bytes:
    """`openai.chat`: a sentence, then one call."""
    chat = ChatCompletion("chatcmpl-rec0001")
    return sse(
        [
            chat.opening(),
            *chat.text("Let me look ", "that up."),
            chat.call(0, "call_rec0001", "get_weather"),
            *chat.arguments(*((0, piece) for piece in WEATHER_ARGUMENTS)),
            chat.finish("tool_calls"),
            chat.usage(84, 31),
            "[DONE]",
        ]
    )


def truncated() -> bytes:
    """`openai.chat`: stopped at the length limit, in the middle of the arguments."""
    chat = ChatCompletion("chatcmpl-rec0002")
    return sse(
        [
            chat.opening(None),
            chat.call(0, "call_rec0002", "save_forecast"),
            *chat.arguments(
                (0, '{"city": "Almer'), (0, 'ía", "rows": [{"day": 1, "high": 2'), (0, '1}, {"day": 2, "hi')
            ),
            chat.finish("length"),
            chat.usage(90, 24),
            "[DONE]",
        ]
    )


def thinking() -> bytes:
    """`anthropic.messages`: thinking with its signature, a sentence, two calls."""
    message: dict[str, Any] = {
        "id": "msg_rec0001",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 412, "output_tokens": 1},
    }
    return sse(
        [
            {"type": "message_start", "message": message},
            *_block(
                0,
                {"type": "thinking", "thinking": "", "signature": ""},
                {"type": "thinking_delta", "thinking": "Two cities are asked for, "},
                {"type": "thinking_delta", "thinking": "so two calls; "},
                {"type": "thinking_delta", "thinking": "they can run side by side."},
                {"type": "signature_delta", "signature": "YSBzaWduYXR1cmUgZm9yIGFuIGV4YW1wbGU="},
            ),
            {"type": "ping"},
            *_block(
                1,
                {"type": "text", "text": ""},
                {"type": "text_delta", "text": "I'll check "},
                {"type": "text_delta", "text": "both."},
            ),
            *_call(2, "toolu_rec0001", "", '{"city"', ': "Cádiz", ', '"days": 1', "0}"),
            *_call(3, "toolu_rec0002", "", '{"city": "Oulu"', "}"),
            {
                "type": "message_delta",
                "delta": {"stop_reason": "tool_use", "stop_sequence": None},
                "usage": {"output_tokens": 97},
            },
            {"type": "message_stop"},
        ],
        named=True,
    )


def _call(index: int, call_id: str, *pieces: str) -> list[dict[str, Any]]:
    start = {"type": "tool_use", "id": call_id, "name": "get_weather", "input": {}}
    return _block(index, start, *({"type": "input_json_delta", "partial_json": piece} for piece in pieces))


def _block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]
