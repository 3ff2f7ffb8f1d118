from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.load import dumpd
from langchain_core.messages import AIMessageChunk

from recorder.deltas import ToolCallChunk
from recorder.dialects.langchain_chunk import chunk_tool_call_chunks
from recorder.projections.langchain_validation import valid_index
from tests.projections import langchain_sequences as sequences


def plain(chunks: list[ToolCallChunk]) -> list[dict[str, Any]]:
    """The chunks as LangChain has them, which reads an index of "0" or 1.0 as a number; here gathering does."""
    return [
        {"name": c.name, "args": c.args, "id": c.id, "index": valid_index(c.index, []), "type": "tool_call_chunk"}
        for c in chunks
    ]


@given(
    st.fixed_dictionaries(
        {"content": st.just("")},
        optional={
            "tool_call_chunks": sequences.tool_call_chunks,
            "tool_calls": sequences.parsed_calls,
            "invalid_tool_calls": sequences.invalid_calls,
            "additional_kwargs": st.fixed_dictionaries({"tool_calls": sequences.raw_calls}),
        },
    )
)
def test_chunks_are_those_that_langchain_constructs(kwargs: dict[str, Any]) -> None:
    assert plain(chunk_tool_call_chunks(kwargs, "run")) == AIMessageChunk(**kwargs).tool_call_chunks


@given(sequences.tool_call_chunks)
def test_serialised_messages_read_as_their_fields_do(chunks: list[dict[str, Any]]) -> None:
    message = AIMessageChunk(content="", tool_call_chunks=chunks)
    for shape in (dumpd(message), dumpd(message)["kwargs"], message.model_dump()):
        assert plain(chunk_tool_call_chunks(shape, "run")) == message.tool_call_chunks


def test_one_malformed_raw_call_hides_all_of_them() -> None:
    calls = [{"index": 0, "function": {"name": "f", "arguments": "{"}}, {"index": 1, "function": {"name": "g"}}]
    kwargs = {"content": "", "additional_kwargs": {"tool_calls": calls}}
    assert chunk_tool_call_chunks(kwargs, "run") == AIMessageChunk(**kwargs).tool_call_chunks == []


@pytest.mark.parametrize(
    "kwargs",
    [
        {},
        {"tool_call_chunks": [5]},
        {"tool_call_chunks": "x"},
        {"additional_kwargs": None},
        {"additional_kwargs": {"tool_calls": 5}},
        {"additional_kwargs": {"tool_calls": [5]}},
        {"additional_kwargs": {"tool_calls": [{"function": None}]}},
    ],
)
def test_what_is_no_chunk_gives_none(kwargs: dict[str, Any]) -> None:
    assert chunk_tool_call_chunks(kwargs, "run") == []
