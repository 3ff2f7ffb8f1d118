"""Frames and requests with every field that the dialect reads."""

from __future__ import annotations

from typing import Any

DIALECT = "gemini.interactions"
FRAMES: list[Any] = [
    {"event_type": "interaction.created", "interaction": {"id": "i", "model": "m", "status": "in_progress"}},
    {"event_type": "interaction.status_update", "interaction_id": "i", "status": "in_progress", "usage": {"x": 1}},
    {"event_type": "step.start", "index": 0, "step": {"type": "thought", "summary": [{"type": "text", "text": "a"}]}},
    {
        "event_type": "step.delta",
        "index": 0,
        "delta": {"type": "thought_summary", "content": {"type": "image", "data": "AAAA"}},
    },
    {"event_type": "step.delta", "index": 0, "delta": {"type": "thought_signature", "signature": "s"}},
    {"event_type": "step.stop", "index": 0, "usage": {"total_tokens": 3}},
    {"event_type": "step.start", "index": 1, "step": {"type": "model_output", "error": {"code": 1}}},
    {"event_type": "step.delta", "index": 1, "delta": {"type": "text", "text": "a"}},
    {"event_type": "step.delta", "index": 1, "delta": {"type": "text_annotation_delta", "annotations": [{"u": 1}]}},
    {"event_type": "step.delta", "index": 1, "delta": {"type": "image", "data": "AAAA", "mime_type": "image/png"}},
    {
        "event_type": "step.start",
        "index": 2,
        "step": {"type": "function_call", "id": "c", "name": "f", "arguments": {}},
    },
    {"event_type": "step.delta", "index": 2, "delta": {"type": "arguments_delta", "arguments": '{"a":1}'}},
    {"event_type": "step.start", "index": 3, "step": {"type": "google_search_call", "id": "g", "signature": "s"}},
    {"event_type": "step.delta", "index": 3, "delta": {"type": "google_search_call", "arguments": {"queries": ["q"]}}},
    {"event_type": "step.start", "index": 4, "step": {"type": "google_search_result", "call_id": "g", "name": "n"}},
    {
        "event_type": "step.delta",
        "index": 4,
        "delta": {"type": "google_search_result", "result": [1], "is_error": True},
    },
    {"event_type": "step.stop", "index": 4},
    {"event_type": "step.start", "index": 5, "step": {"type": "new_step", "a": 1}},
    {"event_type": "step.delta", "index": 5, "delta": {"type": "new_delta", "a": 1}},
    {
        "event_type": "interaction.completed",
        "interaction": {
            "id": "i",
            "status": "requires_action",
            "usage": {"total_input_tokens": 1, "input_tokens_by_modality": [{"modality": "text", "tokens": 1}]},
            "steps": [{"type": "function_call", "id": "c", "name": "f", "arguments": {"a": 1}}],
            "errors": [{"code": "u", "message": "m"}],
        },
    },
    {"event_type": "error", "error": {"code": "u", "message": "m"}},
    {
        "object": "interaction",
        "id": "j",
        "status": "completed",
        "outputs": [{"type": "text", "text": "a"}, {"type": "function_result", "call_id": "c", "result": "r"}],
    },
]
REQUESTS: list[Any] = [
    {
        "input": [
            {"type": "function_call", "id": "c", "name": "f", "arguments": {"a": 1}},
            {"type": "function_result", "call_id": "c", "name": "f", "result": "r", "is_error": True},
            {"role": "user", "content": [{"type": "function_result", "call_id": "c", "result": "r"}]},
            {"type": "google_search_call", "id": "g"},
        ],
        "generation_config": {"tool_choice": {"allowed_tools": {"mode": "any", "tools": ["f"]}}},
    },
    {"input": {"type": "function_result", "call_id": "c"}, "generation_config": {"tool_choice": "any"}},
]
