from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, AIMessageChunk, ToolMessage, message_to_dict

from recorder.deltas import HistoryAnswer, HistoryCall
from recorder.dialects.langchain_messages import (
    history_of,
    message_chunk_of,
    message_of,
    restatement_of,
    tool_call_chunks_of,
    tool_message_of,
)

CALL = {"name": "add", "args": {"a": 1, "s": "é"}, "id": "call_1"}
TOOL = ToolMessage(
    content=[{"type": "text", "text": "3"}],
    tool_call_id="call_1",
    name="add",
    id="t1",
    status="error",
    artifact={"raw": [1]},
    additional_kwargs={"k": 1},
    response_metadata={"m": 2},
)


def dumped(message: Any) -> Any:
    """The message as a recording has it: `dumpd` and through JSON."""
    return json.loads(json.dumps(dumpd(message)))


@pytest.mark.parametrize(
    "fields",
    [
        {"content": "", "tool_call_chunks": [{"name": "add", "args": "", "id": "call_1", "index": 0}]},
        {"content": "", "tool_call_chunks": [{"name": None, "args": '{"a"', "id": None, "index": None}]},
        {"content": "", "tool_calls": [CALL]},
        {
            "content": "",
            "tool_calls": [CALL],
            "invalid_tool_calls": [{"name": "f", "args": "{", "id": "x", "error": ""}],
        },
        {
            "content": "",
            "additional_kwargs": {"tool_calls": [{"index": 1, "id": "c", "function": {"name": "f", "arguments": "{"}}]},
        },
        {"content": "", "additional_kwargs": {"tool_calls": [{"index": 1, "id": "c", "function": {"name": "f"}}]}},
        {"content": "hi"},
    ],
)
def test_tool_call_chunks_are_what_langchain_makes_of_the_same_fields(fields: dict[str, Any]) -> None:
    message = message_of(dumped(AIMessageChunk(**fields)))
    assert message is not None
    for given in (fields, message.fields):
        ours = tool_call_chunks_of("r", given)
        assert [
            {"name": chunk.name, "args": chunk.args, "id": chunk.id, "index": chunk.index, "type": "tool_call_chunk"}
            for chunk in ours
        ] == AIMessageChunk(**fields).tool_call_chunks


def test_a_chunks_other_fields_are_kept() -> None:
    chunk = AIMessageChunk(
        content=[{"type": "text", "text": "a", "index": 0}],
        id="run-1",
        name="n",
        additional_kwargs={"k": 1},
        response_metadata={"model_name": "m"},
        usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
        chunk_position="last",
    )
    message = message_of(dumped(chunk))
    assert message is not None
    delta = message_chunk_of("r", message.fields)
    assert delta.content == chunk.content
    assert (delta.message_id, delta.name, delta.position) == ("run-1", "n", "last")
    assert (delta.additional_kwargs, delta.response_metadata) == ({"k": 1}, {"model_name": "m"})
    assert delta.usage == chunk.usage_metadata


@pytest.mark.parametrize(
    "shape",
    [
        dumped(TOOL),
        TOOL.model_dump(),
        message_to_dict(TOOL),
        {**{k: v for k, v in TOOL.model_dump().items() if k != "type"}, "role": "tool"},
    ],
    ids=["dumpd", "model_dump", "message_to_dict", "role"],
)
def test_a_tool_message_is_read_whole_in_every_shape(shape: Any) -> None:
    message = message_of(shape)
    assert message is not None
    assert message.speaker == "tool"
    delta = tool_message_of("r", message.fields)
    assert (delta.content, delta.artifact, delta.status) == (TOOL.content, {"raw": [1]}, "error")
    assert (delta.tool_call_id, delta.name, delta.message_id) == ("call_1", "add", "t1")
    assert (delta.additional_kwargs, delta.response_metadata) == ({"k": 1}, {"m": 2})


@pytest.mark.parametrize(
    ("value", "speaker"),
    [
        ({"type": "human", "content": "a"}, "other"),
        ({"role": "user", "content": "a"}, "other"),
        ({"role": "assistant", "tool_calls": []}, "ai"),
        ({"type": "AIMessageChunk", "content": ""}, "chunk"),
        ({"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", "AIMessage"], "kwargs": {}}, "ai"),
        ({"lc": 1, "type": "constructor", "id": ["langchain", "schema", "document", "Document"], "kwargs": {}}, None),
        ({"lc": 1, "type": "not_implemented", "id": ["x", "AIMessage"], "repr": "AIMessage()"}, None),
        ({"type": "text", "text": "a"}, None),
        ({"type": "tool"}, None),
        ({"type": ["ai"], "content": ""}, None),
        ("ai", None),
        (None, None),
    ],
)
def test_what_is_a_message_and_whose(value: Any, speaker: str | None) -> None:
    message = message_of(value)
    assert (message.speaker if message else None) == speaker


def test_a_whole_message_restates_its_calls() -> None:
    message = message_of(dumped(AIMessage(content="a", id="m1", tool_calls=[CALL])))
    assert message is not None
    delta = restatement_of("r", message.fields)
    assert (delta.content, delta.calls, delta.invalid_calls, delta.message_id) == ("a", [CALL], [], "m1")


@pytest.mark.parametrize(
    "fields",
    [
        {"tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}]},
        {"additional_kwargs": {"tool_calls": [{"id": "c", "function": {"name": "f", "arguments": '{"a": 1}'}}]}},
        {"tool_call_chunks": [{"id": "c", "name": "f", "args": '{"a": 1}', "index": 0}]},
    ],
)
def test_calls_that_nobody_parsed_are_parsed_strictly(fields: dict[str, Any]) -> None:
    assert restatement_of("r", fields).calls == [{"name": "f", "args": {"a": 1}, "id": "c"}]
    broken = json.loads(json.dumps(fields).replace("1}", "1"))
    assert restatement_of("r", broken).calls == []
    assert restatement_of("r", broken).invalid_calls == [{"name": "f", "args": '{"a": 1', "id": "c"}]


def test_history_of_messages() -> None:
    ai = AIMessage(
        content="",
        tool_calls=[CALL],
        invalid_tool_calls=[{"name": "f", "args": "{", "id": "x", "error": None, "type": "invalid_tool_call"}],
        additional_kwargs={"function_call": {"name": "old", "arguments": "{}"}},
    )
    entries = [entry for value in (ai, TOOL) if (message := message_of(dumped(value))) for entry in history_of(message)]
    assert entries == [
        HistoryCall(id="call_1", name="add", args='{"a":1,"s":"é"}'),
        HistoryCall(id="x", name="f", args="{"),
        HistoryCall(id=None, name="old", args="{}", legacy=True),
        HistoryAnswer(
            tool_call_id="call_1",
            content=TOOL.content,
            name="add",
            status="error",
            artifact={"raw": [1]},
            message_id="t1",
            additional_kwargs={"k": 1},
            response_metadata={"m": 2},
        ),
    ]


def summed(args: str | None, parsed: Any, **fields: Any) -> dict[str, Any]:
    """A sum of chunks as it is dumped: the chunks and what LangChain made of them."""
    chunk = {"name": "f", "args": args, "id": "c", "index": 0}
    return {
        "content": "",
        "tool_call_chunks": [chunk],
        "tool_calls": [{"name": "f", "args": parsed, "id": "c"}],
        **fields,
    }


def test_arguments_that_langchain_repaired_are_restated_as_they_came() -> None:
    fields = dumped(
        AIMessageChunk(content="", tool_call_chunks=[{"name": "f", "args": '{"a":1,"b":[2', "id": "c", "index": 0}])
    )
    message = message_of(fields)
    assert message is not None
    delta = restatement_of("r", message.fields)
    assert delta.calls == [{"name": "f", "args": {"a": 1, "b": [2]}, "id": "c"}]
    assert delta.raw == ['{"a":1,"b":[2']
    assert list(history_of(message)) == [HistoryCall(id="c", name="f", args='{"a":1,"b":[2')]


def test_whole_arguments_are_spelled_alike_in_every_history() -> None:
    message = message_of({"type": "AIMessageChunk", **summed('{"a": 1}', {"a": 1})})
    assert message is not None
    assert list(history_of(message)) == [HistoryCall(id="c", name="f", args='{"a":1}')]
    assert restatement_of("r", message.fields).raw == ['{"a": 1}']


def test_a_call_that_was_changed_after_the_stream_is_not_what_its_chunks_say() -> None:
    assert restatement_of("r", summed('{"a": 1}', {"a": 2})).raw == [None]


def test_raw_arguments_are_found_by_id_or_else_by_their_place() -> None:
    chunks = [
        {"name": "f", "args": "[", "id": "bad", "index": 0},
        {"name": "f", "args": '{"n":1', "id": None, "index": 1},
        {"name": "f", "args": '{"n":2', "id": None, "index": 2},
        {"name": "g", "args": '{"n":3', "id": "g", "index": 3},
    ]
    message = message_of(dumped(AIMessageChunk(content="", tool_call_chunks=chunks)))
    assert message is not None
    delta = restatement_of("r", message.fields)
    assert [call["id"] for call in delta.invalid_calls] == ["bad"]
    assert delta.raw == ['{"n":1', '{"n":2', '{"n":3']
    assert restatement_of("r", {"content": "", "tool_calls": [CALL]}).raw == [None]


def test_a_subclass_of_a_message_is_what_its_type_says() -> None:
    own = {"lc": 1, "type": "constructor", "id": ["agents", "OwnMessage"], "kwargs": {"content": "hi", "type": "ai"}}
    found = message_of(own)
    assert found is not None
    assert (found.speaker, found.fields) == ("ai", own["kwargs"])
    assert message_of({**own, "kwargs": {"type": "ai"}}) is None
    assert message_of({**own, "kwargs": {"content": "hi", "type": "Document"}}) is None
