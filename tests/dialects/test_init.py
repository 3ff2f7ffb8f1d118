from __future__ import annotations

from typing import Any

import pytest

from recorder.dialects import DIALECTS, get, recognise

CHUNK = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "a"}}]}
START = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
EVENT = {"event": "on_chain_start", "run_id": "r", "name": "n", "data": {}}

OURS = [
    ("openai.chat", CHUNK),
    ("openai.chat", {"choices": [{"delta": {}}]}),
    ("openai.chat", {"object": "", "choices": [{"index": 0, "message": {"content": "a"}}]}),
    ("openai.chat", {"object": "chat.completion.chunk", "choices": []}),
    ("openai.chat", {"object": "", "choices": [], "prompt_filter_results": []}),
    ("anthropic.messages", START),
    ("anthropic.messages", {"type": "message_stop"}),
    ("anthropic.messages", {"type": "message", "role": "assistant", "content": [], "stop_reason": "end_turn"}),
    ("langchain.v2", EVENT),
    ("langchain.v2", {"seq": 4, **EVENT}),
    ("langchain.v2", {"event": "events", "data": EVENT}),
    ("langchain.v2", {"event": "metadata", "data": {"run_id": "r"}}),
]
NOBODYS = [
    {"error": {"message": "no"}},
    {"type": "error", "error": {"type": "overloaded_error", "message": "no"}},
    {"type": "ping"},
    {"type": "response.created", "response": {"id": "resp_1"}},
    {"type": "message", "id": "m", "role": "assistant", "content": []},
    {"type": "message-start", "delta": {"message": {"role": "assistant"}}},
    {"candidates": [{"content": {"parts": [{"text": "a"}]}}]},
    {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "a"}}},
    {"object": "text_completion", "choices": [{"index": 0, "text": "a"}]},
    {"object": "text_completion", "choices": [{"delta": {}, "finish_reason": "stop"}]},
    {"model": "m", "message": {"role": "assistant", "content": "a"}, "done": False},
    {"choices": []},
    {"event": "interaction.start", "data": {}},
    {"type": ["message_stop"]},
    ["messages", [{"type": "AIMessageChunk", "content": ""}, {}]],
    "[DONE]",
    None,
    3,
]


@pytest.mark.parametrize(("name", "value"), OURS)
def test_a_frame_is_its_own_dialects_only(name: str, value: Any) -> None:
    assert [dialect.name for dialect in DIALECTS.values() if dialect.recognises(value, None)] == [name]
    found = recognise(value, None)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize("value", NOBODYS, ids=str)
def test_what_others_say_too_is_nobodys(value: Any) -> None:
    ours = ("langchain.v2", "anthropic.messages", "openai.chat", "unknown")
    assert not any(DIALECTS[name].recognises(value, None) for name in ours)


def test_a_name_that_nobody_knows_is_read_as_unknown() -> None:
    assert get("openai.chat") is DIALECTS["openai.chat"]
    assert get("openai.chat.2031").name == "unknown"


def test_every_dialect_is_registered_under_its_name() -> None:
    assert all(name == dialect.name for name, dialect in DIALECTS.items())
