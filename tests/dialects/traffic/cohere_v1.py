"""Frames and a request with every field that the dialect reads."""

from __future__ import annotations

from typing import Any

DIALECT = "cohere.v1"
CALL = {"name": "f", "parameters": {"a": 1}}
ANSWER: dict[str, Any] = {
    "text": "a",
    "generation_id": "g",
    "finish_reason": "COMPLETE",
    "tool_calls": [CALL],
    "citations": [{"start": 0}],
    "documents": [{"id": "d"}],
    "search_queries": [{"text": "q"}],
    "search_results": [{}],
    "meta": {"tokens": {"input_tokens": 1, "output_tokens": 1}, "billed_units": {"input_tokens": 1}},
}
FRAMES: list[Any] = [
    {"is_finished": False, "event_type": "stream-start", "generation_id": "g"},
    {"is_finished": False, "event_type": "search-queries-generation", "search_queries": [{"text": "q"}]},
    {"is_finished": False, "event_type": "search-results", "search_results": [{}], "documents": [{"id": "d"}]},
    {"is_finished": False, "event_type": "text-generation", "text": "a"},
    {"is_finished": False, "event_type": "citation-generation", "citations": [{"start": 0}]},
    {"is_finished": False, "event_type": "tool-calls-chunk", "text": "plan"},
    {"is_finished": False, "event_type": "tool-calls-chunk", "tool_call_delta": {"index": 0, "name": "f"}},
    {
        "is_finished": False,
        "event_type": "tool-calls-chunk",
        "tool_call_delta": {"index": 0, "parameters": '{"a":1}', "text": "a"},
    },
    {"is_finished": False, "event_type": "tool-calls-generation", "text": "plan", "tool_calls": [CALL]},
    {"is_finished": False, "event_type": "debug", "prompt": "p"},
    {"is_finished": True, "event_type": "stream-end", "finish_reason": "COMPLETE", "response": ANSWER},
    {"error": {"message": "m"}},
    ANSWER,
]
REQUESTS: list[Any] = [
    {
        "message": "go on",
        "chat_history": [
            {"role": "CHATBOT", "message": "a", "tool_calls": [CALL, CALL]},
            {"role": "TOOL", "tool_results": [{"call": CALL, "outputs": [{"x": 1}]}]},
        ],
        "tool_results": [{"call": CALL, "outputs": [{"x": 2}]}, {"call": {"name": "g"}, "outputs": []}],
    }
]
