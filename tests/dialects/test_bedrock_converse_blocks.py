"""Which block a delta of Converse belongs to, and what it says."""

from __future__ import annotations

from typing import Any

import pytest

from recorder.deltas import BlockItem, BlockStarted, BlockStopped, TextChunk, ToolCallChunk, ToolMessage
from recorder.dialects import get
from tests.dialects.wire import decode_frames, of, rules

CONVERSE = get("bedrock.converse")
START = {"messageStart": {"role": "assistant"}}


def start(index: Any, value: Any) -> dict[str, Any]:
    return {"contentBlockStart": {"contentBlockIndex": index, "start": value}}


def delta(index: Any, value: Any) -> dict[str, Any]:
    return {"contentBlockDelta": {"contentBlockIndex": index, "delta": value}}


def stop(index: Any) -> dict[str, Any]:
    return {"contentBlockStop": {"contentBlockIndex": index}}


def call(index: Any, id: str = "t1") -> dict[str, Any]:
    return start(index, {"toolUse": {"toolUseId": id, "name": "add"}})


def args(index: Any, text: str) -> dict[str, Any]:
    return delta(index, {"toolUse": {"input": text}})


def decode(*frames: dict[str, Any]) -> list[Any]:
    return decode_frames(CONVERSE, START, *frames)


def texts(deltas: list[Any]) -> list[tuple[Any, str, str, str]]:
    return [(text.block, text.kind, text.field, text.text) for text in of(TextChunk, deltas)]


def test_text_needs_no_start() -> None:
    deltas = decode(delta(0, {"text": "a"}), delta(0, {"text": ""}), stop(0), delta(1, {"text": "b"}))
    assert texts(deltas) == [(0, "text", "text", "a"), (0, "text", "text", ""), (1, "text", "text", "b")]
    assert [stopped.block for stopped in of(BlockStopped, deltas)] == [0]
    assert rules(deltas) == []


def test_reasoning_has_a_text_and_a_signature() -> None:
    deltas = decode(
        delta(0, {"reasoningContent": {"text": "hm"}}), delta(0, {"reasoningContent": {"signature": "c2ln"}})
    )
    assert texts(deltas) == [(0, "thinking", "thinking", "hm"), (0, "thinking", "signature", "c2ln")]


def test_redacted_reasoning_is_a_block_of_its_own_or_a_part_of_the_open_one() -> None:
    redacted = {"reasoningContent": {"redactedContent": "eHh4"}}
    assert texts(decode(delta(0, redacted))) == [(0, "redacted_thinking", "data", "eHh4")]
    deltas = decode(delta(0, {"reasoningContent": {"text": "hm"}}), delta(0, redacted))
    assert texts(deltas)[1] == (0, "thinking", "data", "eHh4")
    assert rules(deltas) == []


def test_a_call_is_its_start_and_its_input() -> None:
    deltas = decode(call(1), args(1, ""), args(1, '{"a": 1'), args(1, "}"), stop(1))
    chunks = [(chunk.index, chunk.id, chunk.name, chunk.args, chunk.block) for chunk in of(ToolCallChunk, deltas)]
    assert chunks == [
        (1, "t1", "add", "", 1),
        (1, None, None, "", 1),
        (1, None, None, '{"a": 1', 1),
        (1, None, None, "}", 1),
    ]
    assert {chunk.executor for chunk in of(ToolCallChunk, deltas)} == {"client"}
    assert rules(deltas) == []


def test_calls_may_be_interleaved() -> None:
    deltas = decode(call(1), call(2, "t2"), args(1, "{"), args(2, "{}"), args(1, "}"))
    assert [(chunk.index, chunk.args) for chunk in of(ToolCallChunk, deltas)][2:] == [(1, "{"), (2, "{}"), (1, "}")]


def test_an_input_that_comes_with_the_start_is_kept() -> None:
    deltas = decode(start(0, {"toolUse": {"toolUseId": "t", "name": "add", "input": {"a": 1}}}))
    assert of(ToolCallChunk, deltas)[0].args == '{"a":1}'


def test_a_servers_call_and_its_result() -> None:
    frames = [
        start(0, {"toolUse": {"toolUseId": "t", "name": "search", "type": "server_tool_use"}}),
        args(0, '{"q": "x"}'),
        stop(0),
        start(1, {"toolResult": {"toolUseId": "t", "status": "success", "type": "search_result"}}),
        delta(1, {"toolResult": [{"text": "one"}]}),
        delta(1, {"toolResult": [{"json": {"n": 2}}]}),
    ]
    assert of(ToolMessage, decode(*frames)) == []
    deltas = decode(*frames, stop(1))
    assert {chunk.executor for chunk in of(ToolCallChunk, deltas)} == {"server"}
    (result,) = of(ToolMessage, deltas)
    assert (result.tool_call_id, result.content, result.status, result.executor) == (
        "t",
        [{"text": "one"}, {"json": {"n": 2}}],
        "success",
        "server",
    )
    (block,) = of(BlockStarted, deltas)
    assert (block.block, block.kind) == (1, "tool_result")
    assert [item.value for item in of(BlockItem, deltas)] == result.content


def test_a_result_that_is_never_stopped_is_told_with_the_messages_end() -> None:
    frames = [
        start(0, {"toolResult": {"toolUseId": "t", "status": "error"}}),
        delta(0, {"toolResult": [{"text": "x"}]}),
    ]
    (result,) = of(ToolMessage, decode(*frames, {"messageStop": {"stopReason": "end_turn"}}))
    assert (result.content, result.status) == ([{"text": "x"}], "error")


def test_a_result_may_hold_what_a_snapshot_refuses() -> None:
    piece = {"text": "\ud83d", "json": [1 << 70]}
    frames = [start(0, {"toolResult": {"toolUseId": "\ud83d"}}), delta(0, {"toolResult": [piece]}), stop(0)]
    (result,) = of(ToolMessage, decode(*frames))
    assert (result.tool_call_id, result.content) == ("\ud83d", [piece])


def test_citations_belong_to_the_text_of_their_block() -> None:
    deltas = decode(delta(0, {"citation": {"title": "facts"}}), delta(0, {"text": "cited"}))
    (item,) = of(BlockItem, deltas)
    assert (item.block, item.kind, item.field, item.value) == (0, "text", "citations", {"title": "facts"})
    assert texts(deltas) == [(0, "text", "text", "cited")]
    assert rules(deltas) == []


def test_an_image_is_a_block_with_what_it_is_made_of() -> None:
    deltas = decode(start(0, {"image": {"format": "png"}}), delta(0, {"image": {"source": {"bytes": "eA=="}}}))
    (block,) = of(BlockStarted, deltas)
    assert (block.kind, block.data) == ("image", {"format": "png"})
    assert [(item.field, item.value) for item in of(BlockItem, deltas)] == [("source", {"bytes": "eA=="})]
    assert rules(deltas) == []


def test_what_came_later_than_this_decoder_is_kept_and_told() -> None:
    deltas = decode(start(0, {"video": {"format": "mp4"}}), delta(0, {"video": {"bytes": "eA==", "type": "x"}}))
    assert of(BlockStarted, deltas)[0].kind == "video"
    assert [(item.kind, item.field, item.value) for item in of(BlockItem, deltas)] == [("video", "bytes", "eA==")]
    assert rules(deltas) == ["unknown-frame"]


@pytest.mark.parametrize(
    ("first", "second", "key"),
    [
        ([delta(0, {"text": "a"})], call(0), "0#2"),
        ([call(0)], call(0, "t2"), "0#2"),
        ([call(0), stop(0)], call(0, "t2"), "0#2"),
        ([delta(0, {"reasoningContent": {"text": "a"}})], delta(0, {"text": "b"}), "0#2"),
        ([delta(0, {"text": "a"}), stop(0)], delta(0, {"text": "b"}), "0#2"),
    ],
    ids=["text, call", "call, call", "stopped call, call", "reasoning, text", "stopped text, text"],
)
def test_an_index_that_is_used_again_is_another_block(first: list[Any], second: Any, key: str) -> None:
    deltas = decode(*first, second)
    last = [found for found in deltas if isinstance(found, TextChunk | ToolCallChunk)][-1]
    assert last.block == key
    assert rules(deltas) == ["block-index-reused"]


def test_a_calls_input_without_a_start_is_told_and_its_start_may_follow() -> None:
    deltas = decode(args(1, '{"a":'), call(1), args(1, "1}"))
    assert rules(deltas) == ["block-without-start"]
    assert {chunk.block for chunk in of(ToolCallChunk, deltas)} == {1}


def test_deltas_without_an_index_belong_to_the_block_opened_last() -> None:
    deltas = decode(call(3), {"contentBlockDelta": {"delta": {"toolUse": {"input": "{}"}}}})
    assert [chunk.block for chunk in of(ToolCallChunk, deltas)] == [3, 3]


def test_a_stop_of_no_block_says_nothing() -> None:
    assert of(BlockStopped, decode(stop(4), delta(0, {"text": "a"}), stop(0), stop(0))) == of(
        BlockStopped, decode(delta(0, {"text": "a"}), stop(0))
    )


def test_fields_of_another_type_are_told() -> None:
    frames = [start(0, "x"), delta(1, 7), delta(2, {"text": 7}), delta(3, {"toolResult": "x"})]
    assert [rules(decode(each)) for each in frames] == [
        ["malformed-field"],
        ["malformed-field"],
        ["malformed-field"],
        ["block-without-start", "malformed-field"],
    ]


def test_blocks_of_a_whole_answer() -> None:
    content = [
        {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "c2ln"}}},
        {"reasoningContent": {"redactedContent": "eHh4"}},
        {"citationsContent": {"content": [{"text": "cited"}], "citations": [{"title": "facts"}]}},
        {"image": {"format": "png", "source": {"bytes": "eA=="}}},
        "no block",
    ]
    whole = {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": "end_turn"}
    deltas = decode_frames(CONVERSE, whole)
    assert texts(deltas) == [
        (0, "thinking", "thinking", "hm"),
        (0, "thinking", "signature", "c2ln"),
        (1, "redacted_thinking", "data", "eHh4"),
        (2, "text", "text", "cited"),
    ]
    assert [(item.field, item.value) for item in of(BlockItem, deltas)] == [("citations", {"title": "facts"})]
    assert of(BlockStarted, deltas)[0].data == {"format": "png", "source": {"bytes": "eA=="}}
    assert rules(deltas) == ["malformed-field"]
