from __future__ import annotations

from typing import Any

import pytest

from recorder.deltas import BlockItem, BlockStarted, BlockStopped, TextChunk, ToolCallChunk, ToolMessage
from recorder.dialects import get
from tests.dialects.wire import decode_frames, of, rules

MESSAGES = get("anthropic.messages")
START = {"type": "message_start", "message": {"id": "msg_1", "role": "assistant", "model": "m", "content": []}}


def opened(index: Any, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": fields}


def stopped(index: Any) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def decode(*frames: dict[str, Any]) -> list[Any]:
    return [*decode_frames(MESSAGES, START, *frames)]


def test_text_thinking_and_signature_grow_in_their_blocks() -> None:
    deltas = decode(
        opened(0, type="thinking", thinking="", signature=""),
        delta(0, type="thinking_delta", thinking="hm"),
        delta(0, type="signature_delta", signature="sig"),
        stopped(0),
        opened(1, type="text", text=""),
        delta(1, type="text_delta", text="hi"),
    )
    assert [(text.block, text.kind, text.field, text.text) for text in of(TextChunk, deltas)] == [
        (0, "thinking", "thinking", "hm"),
        (0, "thinking", "signature", "sig"),
        (1, "text", "text", "hi"),
    ]
    assert [(block.block, block.kind, block.data) for block in of(BlockStarted, deltas)] == [
        (0, "thinking", None),
        (1, "text", None),
    ]
    assert [stop.block for stop in of(BlockStopped, deltas)] == [0]


def test_citations_are_items_of_their_text() -> None:
    deltas = decode(opened(0, type="text", text="", citations=[]), delta(0, type="citations_delta", citation={"u": 1}))
    (item,) = of(BlockItem, deltas)
    assert (item.block, item.kind, item.field, item.value) == (0, "text", "citations", {"u": 1})


def test_a_tool_call_is_its_block() -> None:
    deltas = decode(
        opened(2, type="tool_use", id="toolu_1", name="add", input={}),
        delta(2, type="input_json_delta", partial_json=""),
        delta(2, type="input_json_delta", partial_json='{"a":1}'),
    )
    assert [
        (chunk.index, chunk.id, chunk.name, chunk.args, chunk.block, chunk.executor)
        for chunk in of(ToolCallChunk, deltas)
    ] == [
        (2, "toolu_1", "add", "", 2, "client"),
        (2, None, None, "", 2, "client"),
        (2, None, None, '{"a":1}', 2, "client"),
    ]


def test_an_input_that_comes_whole_with_the_start_is_taken() -> None:
    (chunk,) = of(ToolCallChunk, decode(opened(0, type="tool_use", id="t", name="add", input={"b": 1, "a": 2})))
    assert chunk.args == '{"b":1,"a":2}'


@pytest.mark.parametrize("kind", ["server_tool_use", "mcp_tool_use"])
def test_calls_that_the_provider_runs_are_the_servers(kind: str) -> None:
    deltas = decode(
        opened(0, type=kind, id="srv_1", name="search", input={}, server_name="s"),
        delta(0, type="input_json_delta", partial_json='{"q":"x"}'),
    )
    assert [(chunk.executor, chunk.args) for chunk in of(ToolCallChunk, deltas)] == [
        ("server", ""),
        ("server", '{"q":"x"}'),
    ]
    assert [(item.kind, item.field, item.value) for item in of(BlockItem, deltas)] == [
        ("tool_call", "server_name", "s")
    ]


@pytest.mark.parametrize(
    ("block", "status"),
    [
        ({"type": "web_search_tool_result", "content": [{"type": "web_search_result", "url": "u"}]}, "success"),
        ({"type": "web_search_tool_result", "content": {"type": "web_search_tool_result_error"}}, "error"),
        ({"type": "mcp_tool_result", "content": [], "is_error": True}, "error"),
        ({"type": "mcp_tool_result", "content": [], "is_error": False}, "success"),
        ({"type": "code_execution_tool_result", "content": {"type": "code_execution_result", "stdout": ""}}, "success"),
    ],
)
def test_a_server_tools_result_is_a_block_and_an_answer(block: dict[str, Any], status: str) -> None:
    deltas = decode(opened(1, tool_use_id="srv_1", **block))
    (answer,) = of(ToolMessage, deltas)
    assert (answer.tool_call_id, answer.content, answer.status, answer.executor) == (
        "srv_1",
        block["content"],
        status,
        "server",
    )
    (started,) = of(BlockStarted, deltas)
    assert started.kind == block["type"]
    assert started.data is not None
    assert started.data["tool_use_id"] == "srv_1"


def test_blocks_of_other_types_are_kept_with_their_fields() -> None:
    deltas = decode(
        opened(0, type="redacted_thinking", data="abc"),
        opened(1, type="fallback", **{"from": {"model": "a"}, "to": {"model": "b"}}),
        opened(2, type="compaction", content=None, encrypted_content=None),
        delta(2, type="compaction_delta", content="so far", encrypted_content="xyz"),
    )
    assert [(block.kind, block.data) for block in of(BlockStarted, deltas)] == [
        ("redacted_thinking", {"data": "abc"}),
        ("fallback", {"from": {"model": "a"}, "to": {"model": "b"}}),
        ("compaction", None),
    ]
    assert [(text.block, text.kind, text.field, text.text) for text in of(TextChunk, deltas)] == [
        (2, "compaction", "content", "so far")
    ]
    assert [(item.field, item.value, item.replace) for item in of(BlockItem, deltas)] == [
        ("encrypted_content", "xyz", True)
    ]
    assert rules(deltas) == []


def test_a_delta_of_an_unknown_type_is_kept_and_found() -> None:
    deltas = decode(opened(0, type="hologram"), delta(0, type="hologram_delta", hologram="ab", depth=3))
    assert rules(deltas) == ["unknown-frame"]
    assert of(TextChunk, deltas)[0].field == "hologram"
    assert of(BlockItem, deltas)[0].value == 3


def test_a_delta_before_its_start_belongs_to_the_block_that_starts_later() -> None:
    deltas = decode(
        opened(1, type="tool_use", id="t", name="add", input={}),
        delta(0, type="text_delta", text="Look"),
        opened(0, type="text", text=""),
        delta(1, type="input_json_delta", partial_json="{}"),
        delta(0, type="text_delta", text="ing"),
    )
    assert rules(deltas) == ["block-without-start"]
    assert [(text.block, text.text) for text in of(TextChunk, deltas)] == [(0, "Look"), (0, "ing")]
    assert [chunk.block for chunk in of(ToolCallChunk, deltas)] == [1, 1]


def test_an_index_that_is_used_again_opens_another_block() -> None:
    deltas = decode(
        opened(1, type="tool_use", id="t1", name="add", input={}),
        delta(1, type="input_json_delta", partial_json="{"),
        stopped(1),
        opened(1, type="text", text=""),
        delta(1, type="text_delta", text="a"),
        opened(1, type="tool_use", id="t2", name="sub", input={}),
        delta(1, type="input_json_delta", partial_json="{}"),
    )
    assert rules(deltas) == ["block-index-reused", "block-index-reused"]
    assert [(chunk.block, chunk.index) for chunk in of(ToolCallChunk, deltas)] == [
        (1, 1),
        (1, 1),
        ("1#3", 1),
        ("1#3", 1),
    ]
    assert of(TextChunk, deltas)[0].block == "1#2"


def test_a_new_message_uses_the_indices_afresh() -> None:
    assert rules(decode(opened(0, type="text", text=""), START, opened(0, type="text", text=""))) == []


def test_tool_input_in_a_text_block_is_a_call_with_a_finding() -> None:
    deltas = decode(opened(0, type="text", text=""), delta(0, type="input_json_delta", partial_json="{}"))
    assert rules(deltas) == ["malformed-field"]
    assert of(ToolCallChunk, deltas)[0].args == "{}"


def test_a_block_without_an_index_is_the_next_and_its_deltas_follow_it() -> None:
    deltas = decode(
        opened(0, type="text", text=""),
        opened(None, type="text", text=""),
        delta(None, type="text_delta", text="a"),
    )
    assert of(TextChunk, deltas)[0].block == 1
