from __future__ import annotations

from typing import Any

import pytest

from recorder.deltas import AnyDelta, BlockItem, BlockStarted, Finding, TextChunk, ToolCallChunk
from recorder.dialects.openai_chat_delta import Choice, Target, read_delta
from tests.dialects.wire import of


def read(*deltas: dict[str, Any]) -> list[AnyDelta]:
    target = Target("r", 0, Choice(), [])
    for delta in deltas:
        read_delta(target, delta)
    return target.out


def texts(*deltas: dict[str, Any]) -> list[tuple[int | str, str, str, str]]:
    return [(text.block, text.kind, text.field, text.text) for text in of(TextChunk, read(*deltas))]


DETAIL = {"type": "reasoning.text", "text": "hm", "format": "f", "index": 0}


@pytest.mark.parametrize(
    "delta",
    [
        {"reasoning": "hm"},
        {"reasoning_content": "hm"},
        {"reasoning": "hm", "reasoning_content": "hm"},
        {"reasoning": "hm", "reasoning_details": [DETAIL]},
        {"reasoning_content": "hm", "reasoning_details": [DETAIL]},
        {"reasoning_details": [DETAIL]},
        {"reasoning": None, "reasoning_details": [{"type": "reasoning.summary", "summary": "hm"}]},
        {"reasoning_content": "hm", "thinking_blocks": [{"type": "thinking", "thinking": "hm"}]},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}], "closed": True}]},
        {"content": [{"type": "thinking", "thinking": "hm"}]},
    ],
)
def test_thinking_is_read_once_however_often_a_server_says_it(delta: dict[str, Any]) -> None:
    assert texts(delta) == [("thinking", "thinking", "thinking", "hm")]


def test_a_signature_of_thinking_is_kept_beside_it() -> None:
    assert texts(
        {"reasoning": "", "reasoning_details": [{"type": "reasoning.text", "text": "", "signature": "s"}]}
    ) == [("thinking", "thinking", "signature", "s")]


def test_encrypted_thinking_is_kept_as_an_item() -> None:
    detail = {"type": "reasoning.encrypted", "data": "abc", "index": 0}
    (item,) = of(BlockItem, read({"reasoning_details": [detail]}))
    assert (item.block, item.field, item.value) == ("thinking", "reasoning_details", detail)


def test_thinking_comes_before_the_text_that_it_led_to() -> None:
    assert [text[3] for text in texts({"content": "b", "reasoning": "a"})] == ["a", "b"]


def test_text_refusal_and_parts_go_to_their_channels() -> None:
    assert texts(
        {"content": "a"},
        {"content": None, "refusal": "no"},
        {"content": ["b", {"type": "text", "text": "c"}, {"type": "refusal", "refusal": "!"}]},
    ) == [
        ("text", "text", "text", "a"),
        ("refusal", "refusal", "refusal", "no"),
        ("text", "text", "text", "b"),
        ("text", "text", "text", "c"),
        ("refusal", "refusal", "refusal", "!"),
    ]


def test_a_part_of_an_unknown_type_becomes_a_block_of_its_own() -> None:
    parts = [{"type": "reference", "reference_ids": [1]}, {"type": "reference", "reference_ids": [2]}, 5]
    blocks = of(BlockStarted, read({"content": parts[:1]}, {"content": parts[1:]}))
    assert [(block.block, block.kind, block.data) for block in blocks] == [
        ("reference#0", "reference", {"reference_ids": [1]}),
        ("reference#1", "reference", {"reference_ids": [2]}),
        ("non_standard#2", "non_standard", {"content": 5}),
    ]


def test_tool_call_chunks_keep_what_the_wire_had() -> None:
    chunks = of(
        ToolCallChunk,
        read(
            {"tool_calls": [{"index": 0, "id": "call_1", "function": {"name": "add", "arguments": ""}}]},
            {"tool_calls": [{"index": "0", "id": "", "function": {"name": "", "arguments": '{"a"'}}]},
            {"tool_calls": [{"index": None, "function": {"arguments": None}}, {"id": 7}]},
            {"tool_calls": [{"function": {"name": "f", "arguments": {"b": 1, "a": [2]}}}]},
            {"tool_calls": {"index": 3, "function": {"name": "g"}}},
            {"tool_calls": [{"index": 4, "type": "custom", "custom": {"name": "h", "input": "free text"}}]},
        ),
    )
    assert [(chunk.index, chunk.id, chunk.name, chunk.args) for chunk in chunks] == [
        (0, "call_1", "add", ""),
        ("0", "", "", '{"a"'),
        (None, None, None, None),
        (None, "7", None, None),
        (None, None, "f", '{"b":1,"a":[2]}'),
        (3, None, "g", None),
        (4, None, "h", "free text"),
    ]
    assert all(chunk.block is None and not chunk.legacy for chunk in chunks)
    assert [chunk.free_text for chunk in chunks] == [False] * 6 + [True]


def test_the_legacy_function_call_is_marked() -> None:
    deltas = read({"function_call": {"name": "add", "arguments": ""}}, {"function_call": {"arguments": "{}"}})
    assert [(chunk.name, chunk.args, chunk.legacy) for chunk in of(ToolCallChunk, deltas)] == [
        ("add", "", True),
        (None, "{}", True),
    ]


def test_annotations_images_and_speech_are_kept() -> None:
    deltas = read(
        {"annotations": [{"type": "url_citation", "url": "u"}]},
        {"images": [{"type": "image_url", "image_url": {"url": "data:x"}, "index": 0}]},
        {"audio": {"id": "a1", "data": "AAA", "transcript": "He"}},
        {"audio": {"id": "a1", "data": "BBB", "transcript": "llo"}},
    )
    items = [(item.block, item.field, item.value) for item in of(BlockItem, deltas)]
    assert items == [("text", "annotations", {"type": "url_citation", "url": "u"}), ("audio", "id", "a1")]
    assert [(block.kind, block.data) for block in of(BlockStarted, deltas)] == [
        ("image_url", {"image_url": {"url": "data:x"}, "index": 0})
    ]
    spoken = "".join(text.text for text in of(TextChunk, deltas) if text.field == "transcript")
    assert spoken == "Hello"


def test_a_servers_own_fields_are_kept_once_while_they_repeat() -> None:
    deltas = read({"channel": "analysis"}, {"channel": "analysis"}, {"channel": "final", "graph_data": None})
    assert [(item.block, item.field, item.value) for item in of(BlockItem, deltas)] == [
        ("non_standard", "channel", "analysis"),
        ("non_standard", "channel", "final"),
    ]


def test_an_addition_to_a_tool_call_is_kept() -> None:
    call = {"id": "call_1", "function": {"name": "f", "arguments": "{}"}, "extra_content": {"google": {"s": 1}}}
    (item,) = of(BlockItem, read({"tool_calls": [call]}))
    assert item.field == "tool_calls.extra_content"
    assert item.value == {"id": "call_1", "extra_content": {"google": {"s": 1}}}


@pytest.mark.parametrize("delta", [{"tool_calls": ["x"]}, {"function_call": 3}, {"content": 3}])
def test_a_field_of_another_type_is_a_finding(delta: dict[str, Any]) -> None:
    assert [finding.rule for finding in of(Finding, read(delta))] == ["malformed-field"]


def whole(*calls: dict[str, Any]) -> list[Any]:
    target = Target("r", 0, Choice(), [])
    read_delta(target, {"role": "assistant", "content": None, "tool_calls": list(calls)}, whole=True)
    return [(call.index, call.id) for call in of(ToolCallChunk, target.out)]


def test_the_calls_of_a_whole_message_without_ids_are_told_apart_by_their_places() -> None:
    function = {"function": {"name": "f", "arguments": ""}}
    assert whole(function, {**function, "id": ""}, {**function, "id": "a"}) == [(0, None), (1, ""), (2, "a")]
    assert whole({**function, "index": 7}, function) == [(7, None), (1, None)]
    assert whole({**function, "id": "a"}, {**function, "id": "b"}) == [(None, "a"), (None, "b")]


def test_the_calls_of_a_chunk_get_no_places() -> None:
    function = {"function": {"name": "f", "arguments": ""}}
    assert [call.index for call in of(ToolCallChunk, read({"tool_calls": [function, function]}))] == [None, None]
