"""The parts of an answer become blocks, in their order."""

from __future__ import annotations

from typing import Any

import pytest

from recorder.deltas import BlockItem, BlockStarted, TextChunk, ToolCallChunk, ToolMessage
from recorder.dialects import get
from tests.dialects.wire import decode_frames, of, rules

GEMINI = get("gemini")


def chunk(*parts: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, "index": 0}]}


def texts(*frames: Any) -> list[tuple[Any, str, str]]:
    return [(each.block, each.kind, each.text) for each in of(TextChunk, decode_frames(GEMINI, *frames))]


def signatures(*frames: Any) -> list[tuple[Any, str, str]]:
    items = of(BlockItem, decode_frames(GEMINI, *frames))
    return [(item.block, item.kind, item.value) for item in items if item.field == "signature"]


def test_text_that_follows_text_is_one_block() -> None:
    thought = {"text": "hm", "thought": True}
    assert texts(
        chunk(thought, thought), chunk({"text": "a"}, {"text": "b"}), chunk({"text": "c"}), chunk(thought)
    ) == [
        (0, "thinking", "hm"),
        (0, "thinking", "hm"),
        (1, "text", "a"),
        (1, "text", "b"),
        (1, "text", "c"),
        (2, "thinking", "hm"),
    ]


def test_a_call_divides_texts() -> None:
    assert texts(chunk({"text": "a"}, {"functionCall": {"name": "f"}}, {"text": "b"})) == [
        (0, "text", "a"),
        (2, "text", "b"),
    ]


@pytest.mark.parametrize("empty", [{"text": ""}, {}, {"text": None}, {"thought": True}])
def test_an_empty_text_opens_nothing(empty: dict[str, Any]) -> None:
    deltas = decode_frames(GEMINI, chunk(empty))
    assert of(TextChunk, deltas) == of(BlockItem, deltas) == of(BlockStarted, deltas) == []


@pytest.mark.parametrize("last", [{"text": "", "thoughtSignature": "s"}, {"thoughtSignature": "s"}])
def test_a_signature_on_an_empty_text_is_that_of_the_text_before_it(last: dict[str, Any]) -> None:
    assert signatures(chunk({"text": "a"}), chunk(last)) == [(0, "text", "s")]
    assert signatures(chunk(last)) == [(0, "text", "s")]
    assert signatures(chunk({"functionCall": {"name": "f"}}), chunk(last)) == [(1, "text", "s")]


def test_a_second_signature_is_another_blocks() -> None:
    frames = [
        chunk({"text": "a", "thoughtSignature": "s1"}),
        chunk({"text": "b"}),
        chunk({"text": "c", "thoughtSignature": "s2"}),
    ]
    assert texts(*frames) == [(0, "text", "a"), (0, "text", "b"), (1, "text", "c")]
    assert signatures(*frames) == [(0, "text", "s1"), (1, "text", "s2")]


def test_code_that_the_provider_runs_is_a_servers_call_and_its_result_a_tool_message() -> None:
    deltas = decode_frames(
        GEMINI,
        chunk({"executableCode": {"id": "e1", "language": "PYTHON", "code": "1/0"}, "thoughtSignature": "s"}),
        chunk({"codeExecutionResult": {"id": "e1", "outcome": "OUTCOME_FAILED", "output": "no"}}),
    )
    (call,) = of(ToolCallChunk, deltas)
    assert (call.id, call.name, call.args, call.executor) == (
        "e1",
        "code_execution",
        '{"language":"PYTHON","code":"1/0"}',
        "server",
    )
    (answer,) = of(ToolMessage, deltas)
    assert (answer.tool_call_id, answer.name, answer.content, answer.status, answer.executor) == (
        "e1",
        "code_execution",
        "no",
        "error",
        "server",
    )
    (block,) = of(BlockStarted, deltas)
    assert (block.kind, block.data) == (
        "codeExecutionResult",
        {"id": "e1", "outcome": "OUTCOME_FAILED", "output": "no"},
    )


def test_a_servers_tool_is_named_by_its_type() -> None:
    deltas = decode_frames(
        GEMINI,
        chunk(
            {"toolCall": {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["q"]}}},
            {"toolResponse": {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "response": {"found": 1}}},
        ),
    )
    (call,), (answer,) = of(ToolCallChunk, deltas), of(ToolMessage, deltas)
    assert (call.name, call.args, call.executor) == ("GOOGLE_SEARCH_WEB", '{"queries":["q"]}', "server")
    assert (answer.tool_call_id, answer.name, answer.content, answer.status) == (
        "t1",
        "GOOGLE_SEARCH_WEB",
        {"found": 1},
        "success",
    )


def test_media_and_unknown_parts_are_blocks_of_their_own() -> None:
    image, file = {"mimeType": "image/png", "data": "AAAA"}, {"fileUri": "gs://b/o"}
    deltas = decode_frames(
        GEMINI,
        chunk(
            {"inlineData": image}, {"fileData": file, "videoMetadata": {"fps": 1}}, {"newKind": {"a": 1}}, {"other": 7}
        ),
    )
    assert [(block.block, block.kind, block.data) for block in of(BlockStarted, deltas)] == [
        (0, "inlineData", image),
        (1, "fileData", file),
        (2, "newKind", {"a": 1}),
        (3, "other", {"content": 7}),
    ]
    assert [(item.block, item.field, item.value) for item in of(BlockItem, deltas)] == [
        (1, "videoMetadata", {"fps": 1})
    ]


def test_of_audio_only_its_size_is_kept() -> None:
    sound = {"inlineData": {"mimeType": "audio/pcm", "data": "AAAAAA=="}}
    deltas = decode_frames(GEMINI, chunk(sound, sound), chunk({"text": "a"}, sound))
    assert [(block.block, block.data) for block in of(BlockStarted, deltas)] == [
        (0, {"mimeType": "audio/pcm"}),
        (2, {"mimeType": "audio/pcm"}),
    ]
    sizes = [(item.block, item.value) for item in of(BlockItem, deltas) if item.field == "bytes"]
    assert sizes == [(0, 4), (0, 8), (2, 4)]
    assert [item.value for item in of(BlockItem, deltas) if item.field == "pieces"] == [1, 2, 1]
    assert "AAAA" not in repr(deltas)


def test_dumps_of_googles_python_sdk_have_other_names() -> None:
    deltas = decode_frames(
        GEMINI,
        chunk(
            {"text": None, "thought_signature": "s", "function_call": {"name": "f", "args": {"snake_case": 1}}},
            {"executable_code": {"code": "1"}},
        ),
    )
    assert [(call.name, call.args) for call in of(ToolCallChunk, deltas)] == [
        ("f", '{"snake_case":1}'),
        ("code_execution", '{"code":"1"}'),
    ]
    assert [item.field for item in of(BlockItem, deltas)] == ["signature"]


@pytest.mark.parametrize(
    "part", ["x", {"text": 1}, {"functionCall": "f"}, {"executableCode": []}, {"toolResponse": 1}], ids=repr
)
def test_a_part_of_another_type_is_a_finding(part: Any) -> None:
    assert rules(decode_frames(GEMINI, chunk(part, {"text": "a"}))) == ["malformed-field"]
    assert texts(chunk(part, {"text": "a"}))[-1][2] == "a"
