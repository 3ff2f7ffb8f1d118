"""Steps of an interaction: which block a delta belongs to, and what it says."""

from __future__ import annotations

from typing import Any

import pytest

from recorder.deltas import BlockItem, BlockStarted, BlockStopped, TextChunk, ToolCallChunk, ToolMessage
from recorder.dialects.gemini_steps import Steps, read_delta, start_step, stop_step
from tests.dialects.wire import of, rules


class Interaction:
    """Steps that are read, and what they said."""

    def __init__(self) -> None:
        self.steps, self.out = Steps(), list[Any]()

    def start(self, index: Any, step: Any, *, whole: bool = False) -> Interaction:
        start_step(self.steps, "r", index, step, self.out, whole=whole)
        return self

    def delta(self, index: Any, delta: Any) -> Interaction:
        read_delta(self.steps, "r", index, delta, self.out)
        return self

    def stop(self, index: Any) -> Interaction:
        stop_step(self.steps, "r", index, self.out)
        return self


def test_a_models_output_has_a_block_for_each_kind_of_content() -> None:
    said = Interaction().start(0, {"type": "model_output"})
    for content in (
        {"type": "text", "text": "a"},
        {"type": "text_annotation_delta", "annotations": [{"u": 1}, {"u": 2}]},
        {"type": "image", "mime_type": "image/png", "data": "AAAA"},
        {"type": "text", "text": "b"},
    ):
        said.delta(0, content)
    said.stop(0)
    assert [(each.block, each.text) for each in of(TextChunk, said.out)] == [("0", "a"), ("0.3", "b")]
    assert [(item.block, item.field, item.replace) for item in of(BlockItem, said.out)] == [
        ("0", "annotations", False),
        ("0", "annotations", False),
        ("0.2", "mime_type", True),
        ("0.2", "data", True),
    ]
    assert [each.block for each in of(BlockStopped, said.out)] == ["0.3"]


def test_thinking_is_its_summary_with_its_signature() -> None:
    said = Interaction().start(0, {"type": "thought"})
    said.delta(0, {"type": "thought_summary", "content": {"type": "text", "text": "hm"}})
    said.delta(0, {"type": "thought", "thought": "so"})
    said.delta(0, {"type": "thought_summary", "content": {"type": "image", "data": "AAAA"}})
    said.delta(0, {"type": "thought_signature", "signature": "s"})
    assert [(each.block, each.kind, each.field, each.text) for each in of(TextChunk, said.out)] == [
        ("0", "thinking", "thinking", "hm"),
        ("0", "thinking", "thinking", "so"),
        ("0", "thinking", "signature", "s"),
    ]
    assert [item.field for item in of(BlockItem, said.out)] == ["summary"]


def test_arguments_are_text_that_grows() -> None:
    said = Interaction().start(2, {"type": "function_call", "id": "c1", "name": "f", "arguments": {}, "signature": "s"})
    said.delta(2, {"type": "arguments_delta", "arguments": '{"a"'}).delta(
        2, {"type": "arguments_delta", "arguments": ":1}"}
    )
    assert [(each.block, each.index, each.id, each.name, each.args) for each in of(ToolCallChunk, said.out)] == [
        ("2", 2, "c1", "f", ""),
        ("2", 2, None, None, '{"a"'),
        ("2", 2, None, None, ":1}"),
    ]
    assert [(item.block, item.field, item.value) for item in of(BlockItem, said.out)] == [("2", "signature", "s")]


@pytest.mark.parametrize(
    ("type", "named", "name", "executor"),
    [
        ("function_call", "f", "f", "client"),
        ("function_call", None, None, "client"),
        ("google_search_call", None, "google_search", "server"),
        ("code_execution_call", None, "code_execution", "server"),
        ("mcp_server_tool_call", "t", "t", "server"),
    ],
)
def test_who_runs_a_call(type: str, named: str | None, name: str | None, executor: str) -> None:
    said = Interaction().start(0, {"type": type, "id": "c1", "name": named, "arguments": {"a": 1}})
    (call,) = of(ToolCallChunk, said.out)
    assert (call.id, call.name, call.args, call.executor) == ("c1", name, '{"a":1}', executor)


def test_a_result_is_told_once_its_content_has_come() -> None:
    said = Interaction().start(0, {"type": "code_execution_result", "call_id": "c1", "result": ""})
    assert of(ToolMessage, said.out) == []
    said.delta(0, {"type": "code_execution_result", "result": "42", "is_error": True}).stop(0)
    (answer,) = of(ToolMessage, said.out)
    assert (answer.tool_call_id, answer.name, answer.content, answer.status, answer.executor) == (
        "c1",
        "code_execution",
        "42",
        "error",
        "server",
    )


def test_a_result_without_content_is_told_at_its_end() -> None:
    said = Interaction().start(0, {"type": "function_result", "call_id": "c1", "name": "f"}).stop(0)
    (answer,) = of(ToolMessage, said.out)
    assert (answer.tool_call_id, answer.name, answer.content, answer.executor) == ("c1", "f", None, "client")


def test_a_whole_step_is_stopped_as_well() -> None:
    said = Interaction().start(0, {"type": "processing_result", "call_id": "p1"}, whole=True)
    assert [each.tool_call_id for each in of(ToolMessage, said.out)] == ["p1"]


def test_an_index_that_is_used_again_is_another_step() -> None:
    said = Interaction()
    for text in ("a", "b"):
        said.start(0, {"type": "model_output"}).delta(0, {"type": "text", "text": text})
    assert [(each.block, each.text) for each in of(TextChunk, said.out)] == [("0", "a"), ("0#2", "b")]
    assert rules(said.out) == ["block-index-reused"]


@pytest.mark.parametrize(
    ("delta", "kind"),
    [
        ({"type": "text", "text": "a"}, TextChunk),
        ({"type": "thought_signature", "signature": "s"}, TextChunk),
        ({"type": "arguments_delta", "arguments": "{"}, ToolCallChunk),
    ],
)
def test_deltas_of_a_step_without_a_start_are_read_with_a_finding(delta: Any, kind: type[Any]) -> None:
    said = Interaction().delta(3, delta)
    assert len(of(kind, said.out)) == 1
    assert rules(said.out) == ["block-without-start"]


def test_steps_and_deltas_that_came_later_than_this_decoder() -> None:
    said = Interaction().start(0, {"type": "new_step", "a": 1, "b": None}).delta(0, {"type": "new_delta", "c": 2})
    assert [(block.kind, block.data) for block in of(BlockStarted, said.out)] == [("new_step", {"a": 1})]
    assert [(item.block, item.field, item.value) for item in of(BlockItem, said.out)] == [("0.2", "c", 2)]
    assert rules(said.out) == ["unknown-frame"]


@pytest.mark.parametrize("value", [None, "x", []])
def test_what_is_no_object_is_a_finding(value: Any) -> None:
    assert rules(Interaction().start(0, value).out) == ["malformed-field"]
    assert rules(Interaction().delta(0, value).out) == ["malformed-field"]
    assert Interaction().stop(value).out == []
