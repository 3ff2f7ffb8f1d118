from __future__ import annotations

from typing import Any

import pytest

from recorder.deltas import MessageChunk
from recorder.projections.merged_message import MergedMessage
from recorder.projections.rope import Rope
from tests.projections.langchain_oracle import compare


def added(*chunks: dict[str, Any]) -> MergedMessage:
    message = MergedMessage()
    for fields in chunks:
        message.add(MessageChunk(run_id="run", **fields))
    return message


@pytest.mark.parametrize(
    ("field", "left", "right"),
    [
        ("additional_kwargs", {"a": "x", "b": 1}, {"a": "y", "b": 1.5}),
        ("response_metadata", {"list": ["a"], "t": 1.5}, {"list": ["b"], "t": 2.5}),
        ("usage", {"input_tokens": 1, "x": 1.5}, {"input_tokens": 2, "x": 1.5}),
        (
            "content",
            [{"index": 0, "text": "a", "c": [{"index": 0, "t": "x"}], "n": 1}],
            ["new", {"index": 0, "text": "b", "c": [{"index": 0, "t": "y"}, "z"], "m": 1, "n": "1"}],
        ),
    ],
)
def test_a_field_that_langchain_refuses_keeps_what_it_had(field: str, left: Any, right: Any) -> None:
    message = added({"content": "", "message_id": "lc_1", field: left}, {"message_id": "m", field: right})
    assert getattr(message, field) == left
    assert message.message_id == "m"
    (refused,) = message.refused
    assert refused.startswith(f"{field}: ")
    message.add(MessageChunk(run_id="run", content="" if field != "content" else [{"index": 0, "text": "c"}]))
    assert len(message.refused) == 1


def test_a_text_that_grew_before_is_cut_back_where_its_block_is_refused() -> None:
    block = {"index": 0, "text": "a"}
    message = added({"content": [block]}, {"content": [block]}, {"content": [block, {**block, "text": 5}]})
    assert message.content == [{"index": 0, "text": "aa"}]
    message.add(MessageChunk(run_id="run", content=[block, {"index": 1, "text": "b"}]))
    message.add(MessageChunk(run_id="run", content=[{"index": 1, "text": "c"}]))
    assert message.content == [{"index": 0, "text": "aaa"}, {"index": 1, "text": "bc"}]


def test_a_block_that_was_refused_leaves_no_index_behind() -> None:
    message = added(
        {"content": [{"index": 0, "n": 1}]},
        {"content": [{"index": 0}]},
        {"content": [{"index": 1, "text": "a"}, {"index": 0, "n": "x"}]},
        {"content": [{"index": 2, "text": "b"}]},
        {"content": [{"index": 1, "text": "c"}]},
    )
    assert message.content == [{"index": 0, "n": 1}, {"index": 2, "text": "b"}, {"index": 1, "text": "c"}]


def test_a_text_that_was_read_while_it_grew_is_cut_back_too() -> None:
    def block(**fields: Any) -> dict[str, Any]:
        return {"index": 0, "more": fields}

    message = added({"content": [block(id="a")]}, {"content": [block(id="b")]}, {"content": [block(id="c")]})
    message.add(MessageChunk(run_id="run", content=[block(id="d"), block(id="e"), block(id=5)]))
    assert message.content == [block(id="abc")]


def test_the_deltas_are_not_changed_by_what_is_added_to_them() -> None:
    first = MessageChunk(
        run_id="run",
        content=[{"index": 0, "text": "a", "list": [{"index": 0, "t": "x"}]}],
        additional_kwargs={"a": {"b": "c"}},
    )
    for _ in range(2):
        message = MergedMessage()
        for _ in range(3):
            message.add(first)
        assert message.content == [{"index": 0, "text": "aaa", "list": [{"index": 0, "t": "xxx"}]}]
        assert message.additional_kwargs == {"a": {"b": "ccc"}}


@pytest.mark.parametrize(
    "fields",
    [
        {"content": "x"},
        {"content": [{"type": "text", "text": "x", "index": 0}]},
        {"content": [{"type": "input_json_delta", "partial_json": "x", "index": "lc_1"}]},
        {"content": [{"type": "reasoning", "index": 0, "summary": [{"index": 0, "text": "x"}]}]},
        {"content": "", "additional_kwargs": {"function_call": {"arguments": "x"}}},
        {"content": "", "additional_kwargs": {"tool_calls": [{"index": 0, "function": {"arguments": "x"}}]}},
    ],
)
def test_text_grows_by_its_pieces_wherever_it_is(fields: dict[str, Any]) -> None:
    """A text that was copied for each chunk would be one piece, and its cost quadratic."""
    message = added(*[fields] * 50)
    nodes: list[Any] = [message.content_node, message.kwargs_node]
    ropes: list[Rope] = []
    while nodes:
        node = nodes.pop()
        if isinstance(node, Rope):
            ropes.append(node)
        elif hasattr(node, "items"):
            nodes += node.items.values() if isinstance(node.items, dict) else node.items
    assert max(len(rope.parts) for rope in ropes) == 50
    assert "x" * 50 in (rope.text for rope in ropes)


def test_the_last_chunk_of_output_version_v1_makes_calls_of_chunk_blocks() -> None:
    block = {"type": "tool_call_chunk", "id": "c1", "name": "f", "args": '{"a":', "index": 0, "extras": {"e": 1}}
    server = {"type": "server_tool_call_chunk", "id": "s1", "name": "w", "args": '{"q":', "index": 1}
    chunks = [
        {
            "content": [block, server, dict(block, index=7, extras={"e": 2})],
            "tool_call_chunks": [{"index": 0, "id": "c1", "name": "f", "args": '{"a":'}],
            "response_metadata": {"output_version": "v1"},
        },
        {
            "content": [{"type": "tool_call_chunk", "args": "1}", "index": 0}, {"args": " 2}", "index": 1}],
            "tool_call_chunks": [{"index": 0, "args": "1}"}],
        },
        {"content": [], "chunk_position": "last"},
        {"content": [{"type": "tool_call_chunk", "id": "c1", "index": 0}, {"index": 1, "extra": 1}]},
    ]
    assert compare(chunks, resume=True).kind == "added"


def test_name_is_dropped_and_position_stays() -> None:
    message = added({"content": "a", "name": "bob"}, {"content": "b", "position": "last"}, {"content": "c"})
    assert (message.content, message.position) == ("abc", "last")
