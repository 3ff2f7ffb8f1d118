from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from recorder.dialects import DIALECTS, UNKNOWN, base, get, recognise

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
    ("langgraph", {"event": "events", "data": EVENT}),
    ("langgraph", {"event": "metadata", "data": {"run_id": "r"}}),
    ("langgraph", ["messages", [{"type": "AIMessageChunk", "content": ""}, {}]]),
    ("langgraph", [["model:1"], "updates", {}]),
    ("langgraph", {"type": "values", "ns": [], "data": {}}),
    ("langgraph", {"event": "values", "data": {}}),
    ("langgraph", [{"type": "ai", "content": ""}, {"langgraph_node": "model"}]),
    ("langgraph", {"model": {"messages": [{"type": "ai", "content": ""}]}}),
    ("langchain.v3", {"event": "message-start", "role": "ai", "id": "m"}),
    ("langchain.v3", {"type": "event", "seq": 1, "method": "values", "params": {"namespace": [], "data": {}}}),
    ("openai.completions", {"object": "text_completion", "choices": [{"index": 0, "text": "a"}]}),
    ("openai.completions", {"object": "text_completion", "choices": [{"delta": {}, "finish_reason": "stop"}]}),
    ("openai.completions", {"choices": [{"text": "a", "finish_reason": "stop"}]}),
    ("openai.realtime", {"type": "response.created", "event_id": "e", "response": {"id": "r"}}),
    ("openai.realtime", {"type": "session.update", "session": {}}),
    ("cohere.v2", {"type": "message-start", "id": "m", "delta": {"message": {"role": "assistant"}}}),
    ("cohere.v2", {"type": "tool-call-end", "index": 0}),
    ("cohere.v2", {"id": "m", "finish_reason": "COMPLETE", "message": {"role": "assistant", "content": []}}),
    ("cohere.v1", {"is_finished": False, "event_type": "text-generation", "text": "a"}),
    ("cohere.v1", {"text": "a", "generation_id": "g", "finish_reason": "COMPLETE", "meta": {}}),
    ("ollama.chat", {"model": "m", "message": {"role": "assistant", "content": "a"}, "done": False}),
    ("ollama.chat", {"model": "m", "response": "a", "done": True, "done_reason": "stop"}),
    ("xai.grpc", {"id": "r", "outputs": [{"delta": {"content": "a", "role": "ROLE_ASSISTANT"}}]}),
    ("xai.grpc", {"id": "r", "outputs": [{"message": {"content": "a"}, "finishReason": "REASON_STOP"}]}),
    ("openai.responses", {"type": "response.created", "response": {"id": "resp_1"}}),
    ("openai.responses", {"object": "response", "id": "resp_1", "output": []}),
    ("gemini", {"candidates": [{"content": {"parts": [{"text": "a"}]}}]}),
    ("gemini.live", {"serverContent": {"modelTurn": {"parts": [{"text": "a"}]}}}),
    ("gemini.interactions", {"event_type": "interaction.created", "interaction": {"id": "i"}}),
    ("bedrock.converse", {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "a"}}}),
    ("bedrock.invoke", {"bytes": "eyJvdXRwdXRUZXh0IjoiYSJ9"}),
]
NOBODYS = [
    {"error": {"message": "no"}},
    {"type": "error", "error": {"type": "overloaded_error", "message": "no"}},
    {"type": "ping"},
    {"type": "message", "id": "m", "role": "assistant", "content": []},
    {"choices": []},
    {"candidates": []},
    {"event": "interaction.start", "data": {}},
    {"type": ["message_stop"]},
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


def test_every_dialect_knows_frames_of_its_own() -> None:
    assert {name for name, _ in OURS} == set(DIALECTS) - {UNKNOWN}


@pytest.mark.parametrize("value", NOBODYS, ids=str)
def test_what_others_say_too_is_nobodys(value: Any) -> None:
    assert [dialect.name for dialect in DIALECTS.values() if dialect.recognises(value, None)] == []
    assert recognise(value, None) is None


def test_a_name_that_nobody_knows_is_read_as_unknown() -> None:
    assert get("openai.chat") is DIALECTS["openai.chat"]
    assert get("openai.chat.2031").name == "unknown"


def test_every_dialect_is_registered_under_its_name() -> None:
    assert all(name == dialect.name for name, dialect in DIALECTS.items())


NO_FRAMES = (base.DONE, base.COMMENT, base.PARTIAL, base.DAMAGED, base.REQUEST, base.RESPONSE, base.END, base.ERROR)


@pytest.mark.parametrize("kind", NO_FRAMES)
@pytest.mark.parametrize("name", DIALECTS)
def test_a_frame_cannot_say_of_itself_that_it_is_none(name: str, kind: str) -> None:
    said = dict.fromkeys(("type", "object", "event", "event_type", "method"), kind)
    values = [{}, "x", None, {kind: {}}, {"event": kind, "data": {}, "run_id": "r"}, said]
    values += [{"bytes": base64.b64encode(json.dumps(said).encode()).decode()}]
    kinds = {get(name).envelope(value, named).kind for value in values for named in (None, kind)}
    assert kinds.isdisjoint(NO_FRAMES)
    assert get(name).envelope("[DONE]", kind).kind not in set(NO_FRAMES) - {base.DONE}
