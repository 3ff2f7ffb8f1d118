"""No dialect ever raises: any field of another JSON type, frames dropped, doubled and swapped, bytes of any kind."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recorder.deltas import AnyDelta
from recorder.dialects import DIALECTS, recognise
from recorder.dialects.base import Dialect
from recorder.events.jsontext import clean
from tests.dialects.wire import decode_events, end, event, frame, request, response

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["\ud83d", "0", "", 1 << 70, "error", "[DONE]"])
)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
)

CALL = {"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
AI = {
    "lc": 1,
    "type": "constructor",
    "id": ["langchain", "schema", "messages", "AIMessage"],
    "kwargs": {
        "content": [{"type": "text", "text": "a"}],
        "tool_calls": [{"name": "f", "args": {"a": 1}, "id": "c1"}],
        "invalid_tool_calls": [{"name": "f", "args": "{", "id": "c2"}],
        "additional_kwargs": {"function_call": {"name": "f", "arguments": "{}"}, "tool_calls": [CALL]},
        "response_metadata": {"finish_reason": "stop", "status": "incomplete", "incomplete_details": {"reason": "x"}},
        "usage_metadata": {"input_tokens": 1},
    },
}
PIECE = {
    "type": "AIMessageChunk",
    "content": "a",
    "tool_call_chunks": [{"name": "f", "args": "", "id": "c", "index": 0}],
}
TOOL = {
    "type": "tool",
    "content": "x",
    "tool_call_id": "c1",
    "name": "f",
    "artifact": [1],
    "additional_kwargs": {"a": 1},
}


def langchain(kind: str, data: Any) -> dict[str, Any]:
    head = {"run_id": "r1", "name": "n", "tags": ["t"], "metadata": {"ls_model_name": "m"}, "parent_ids": ["p"]}
    return {"event": kind, **head, "data": data}


TRAFFIC: dict[str, list[Any]] = {
    "openai.chat": [
        {
            "id": "c",
            "object": "chat.completion.chunk",
            "model": "m",
            "citations": ["u"],
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "length",
                    "error": {"message": "m"},
                    "usage": {"prompt_tokens": 1},
                    "delta": {
                        "role": "assistant",
                        "content": [{"type": "text", "text": "a"}, {"type": "thinking", "thinking": [{"text": "b"}]}],
                        "reasoning": "a",
                        "reasoning_details": [{"type": "reasoning.text", "text": "a", "signature": "s"}],
                        "refusal": "no",
                        "tool_calls": [CALL],
                        "function_call": {"name": "f", "arguments": ""},
                        "annotations": [{"url": "u"}],
                        "images": [{"type": "image_url"}],
                        "audio": {"id": "a", "data": "d"},
                        "other": 1,
                    },
                }
            ],
            "usage": {"prompt_tokens": 1, "prompt_tokens_details": {"cached_tokens": 1}},
            "error": {"message": "m", "type": "t", "code": 1},
        },
        {"object": "chat.completion", "choices": [{"message": {"content": "a", "tool_calls": [CALL]}}]},
    ],
    "anthropic.messages": [
        {
            "type": "message_start",
            "message": {"id": "m", "role": "assistant", "model": "m", "content": [], "usage": {"input_tokens": 1}},
        },
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "a", "citations": []}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": {"a": 1}}},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "content_block_start",
            "index": 1,
            "content_block": {"type": "tool_use", "id": "t", "name": "f", "input": {}},
        },
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{}"}},
        {"type": "content_block_delta", "index": 2, "delta": {"type": "new_delta", "new": "a", "other": 1}},
        {
            "type": "content_block_start",
            "index": 1,
            "content_block": {"type": "x_tool_result", "tool_use_id": "t", "content": []},
        },
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 1}},
        {"type": "error", "error": {"type": "t", "message": "m"}},
        {"type": "message_stop"},
    ],
    "langchain.v2": [
        langchain("on_chat_model_start", {"input": {"messages": [[AI, TOOL]]}}),
        langchain("on_chat_model_stream", {"chunk": PIECE}),
        langchain("on_chat_model_end", {"output": AI, "input": {}}),
        langchain("on_llm_stream", {"chunk": {"text": "a", "generation_info": {"finish_reason": "stop"}}}),
        langchain("on_llm_end", {"output": {"generations": [[{"text": "a", "message": AI, "generation_info": {}}]]}}),
        langchain("on_tool_start", {"input": {}}),
        langchain("on_tool_end", {"output": [TOOL, {"__command__": {"update": {"messages": [TOOL]}, "goto": []}}]}),
        langchain("on_tool_error", {"error": {"__exc__": "a.B", "str": "s"}, "tool_call_id": "c1"}),
        langchain("on_chain_stream", {"chunk": {"n": {"messages": [AI, TOOL]}}}),
        {"event": "events", "data": langchain("on_chain_end", {"output": [AI], "input": [TOOL]})},
        {"event": "error", "data": {"error": "e", "message": "m"}},
    ],
    "unknown": [{"type": "odd"}, [1]],
}
REQUESTS = [
    {
        "tool_choice": {"type": "function", "function": {"name": "f"}},
        "messages": [{"role": "assistant", "tool_calls": [CALL]}],
    },
    {
        "messages": [
            {"role": "tool", "tool_call_id": "c", "content": "x"},
            {"content": [{"type": "tool_use", "input": {}}]},
        ]
    },
    {
        "messages": [
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": {"type": "e"}}]}
        ]
    },
]


def paths(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from paths(inner, (*at, key))


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    value = copy.deepcopy(value)
    inner = value
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = new
    return value


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode()


def check(dialect: Dialect, deltas: list[AnyDelta]) -> None:
    """The types of a delta's fields are what its definition says, whatever the wire had."""
    for delta in deltas:
        msgspec.convert(msgspec.to_builtins(delta, builtin_types=(bytes,)), type(delta), strict=True)
        assert delta.run_id == clean(delta.run_id)


SWAPS: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    1 << 70,
    "",
    "x",
    "\ud83d",
    [],
    ["x"],
    [[]],
    {},
    {"x": {"y": 1}},
    [None],
    [{"type": "ai"}],
]


@pytest.mark.parametrize("name", TRAFFIC)
def test_every_field_may_have_every_other_type(name: str) -> None:
    dialect, traffic = DIALECTS[name], TRAFFIC[name]
    for position, value in enumerate(traffic):
        before, after = traffic[max(position - 1, 0) : position], traffic[position : position + 2]
        for path in paths(value):
            for new in SWAPS:
                frames = [*before, replaced(value, path, new), *after]
                check(dialect, decode_events(dialect, [frame(dialect, as_json(each)) for each in frames]))


@pytest.mark.parametrize("name", TRAFFIC)
@pytest.mark.parametrize("body", REQUESTS, ids=["openai", "mixed", "anthropic"])
def test_every_field_of_a_request_may_have_every_other_type(name: str, body: Any) -> None:
    dialect = DIALECTS[name]
    for path in paths(body):
        for new in SWAPS:
            check(dialect, decode_events(dialect, [request(dialect, replaced(body, path, new))]))


@settings(max_examples=150)
@given(st.sampled_from(sorted(TRAFFIC)), st.data())
def test_frames_may_be_dropped_doubled_swapped_and_changed(name: str, data: st.DataObject) -> None:
    dialect, traffic = DIALECTS[name], TRAFFIC[name]
    order = data.draw(st.lists(st.integers(0, len(traffic) - 1), max_size=12))
    frames = [traffic[position] for position in order]
    if frames:
        position = data.draw(st.integers(0, len(frames) - 1))
        path = data.draw(st.sampled_from(list(paths(frames[position]))))
        frames[position] = replaced(frames[position], path, data.draw(JSON))
    events = [frame(dialect, as_json(each)) for each in frames]
    check(dialect, decode_events(dialect, [response(dialect), *events, end(dialect), *events]))


@settings(max_examples=100)
@given(
    st.sampled_from(sorted(DIALECTS)),
    st.sampled_from(
        ["http.request", "http.response", "http.end", "http.error", "comment", "partial", "done", "error", "x"]
    ),
    st.binary(max_size=30) | JSON.map(as_json),
    st.none() | JSON,
)
def test_bytes_of_any_kind_are_taken(name: str, kind: str, body: bytes, meta: Any) -> None:
    dialect = DIALECTS[name]
    first = event(dialect, kind, body, meta=meta, run_id=None)
    check(dialect, decode_events(dialect, [first, first, event(dialect, "http.end")]))


@settings(max_examples=200)
@given(JSON, st.none() | st.text(max_size=5))
def test_any_value_can_be_asked_for_its_dialect_and_envelope(value: Any, event_name: str | None) -> None:
    recognise(value, event_name)
    for dialect in DIALECTS.values():
        envelope = dialect.envelope(value, event_name)
        texts = (envelope.kind, envelope.run_id, envelope.parent_run_id, envelope.name)
        assert all(text is None or text == clean(text) for text in texts)
        assert envelope.kind
