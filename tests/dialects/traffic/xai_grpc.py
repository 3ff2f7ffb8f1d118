"""Messages and a request with every field that the dialect reads."""

from __future__ import annotations

from typing import Any

DIALECT = "xai.grpc"
CALL = {"id": "c1", "type": "TOOL_CALL_TYPE_WEB_SEARCH_TOOL", "function": {"name": "f", "arguments": '{"a":1}'}}
DONE = {**CALL, "status": "TOOL_CALL_STATUS_COMPLETED", "error_message": "e"}
FRAMES: list[Any] = [
    {
        "id": "r",
        "model": "m",
        "outputs": [
            {
                "delta": {
                    "role": "ROLE_ASSISTANT",
                    "content": "a",
                    "reasoning_content": "b",
                    "encrypted_content": "c",
                    "tool_calls": [CALL],
                    "citations": [{"id": "1"}],
                    "other": 1,
                },
                "finish_reason": "REASON_TOOL_CALLS",
            }
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "reasoning_tokens": 1, "cached_prompt_text_tokens": 1},
    },
    {
        "id": "r",
        "outputs": [
            {"index": 1, "delta": {"role": "ROLE_TOOL", "content": "x", "encrypted_content": "c", "tool_calls": [DONE]}}
        ],
    },
    {"id": "r", "outputs": [{"index": 2, "delta": {"role": 2, "toolCalls": [CALL]}, "finishReason": 1}]},
    {"id": "r", "outputs": [{"index": 2, "delta": {}, "finish_reason": "REASON_STOP"}], "citations": ["u"]},
    {"error": {"message": "m"}},
    {"id": "s", "outputs": [{"message": {"role": "ROLE_ASSISTANT", "content": "a"}, "finish_reason": "REASON_STOP"}]},
]
REQUESTS: list[Any] = [
    {
        "tool_choice": {"mode": "TOOL_MODE_REQUIRED", "function_name": "f"},
        "messages": [
            {"role": "ROLE_ASSISTANT", "content": [{"text": "a"}], "tool_calls": [CALL]},
            {"role": "ROLE_TOOL", "content": [{"text": "x"}], "tool_call_id": "c1"},
            {"role": "ROLE_TOOL", "content": [{"text": "x"}], "tool_calls": [CALL]},
        ],
    }
]
