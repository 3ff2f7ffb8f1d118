from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings

from recorder.deltas import MessageChunk, ToolCallChunk
from recorder.projections.langchainjs_gather import LangChainJsGather
from recorder.projections.langchainjs_message import LangChainJsMessage
from recorder.projections.rope import Rope
from tests.javascript.library import Library
from tests.projections.langchainjs_oracle import RUN, compare
from tests.projections.langchainjs_sequences import sequences


def chunk(args: str | None = None, **fields: Any) -> ToolCallChunk:
    return ToolCallChunk(run_id=RUN, args=args, **fields)


def gathered(*events: list[ToolCallChunk]) -> LangChainJsGather:
    gather = LangChainJsGather()
    for seq, chunks in enumerate(events, 1):
        gather.add(seq, chunks)
    return gather


# Against the library


@settings(max_examples=300)
@given(chunks=sequences)
def test_every_prefix_of_random_chunks_is_what_the_library_adds_up(
    langchainjs: Library, chunks: list[dict[str, Any]]
) -> None:
    verdict = compare(langchainjs, chunks, resume=True)
    assert verdict.kind != "differs", verdict.detail


def message(*chunks: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """An AIMessageChunk's fields."""
    return {"content": "", "tool_call_chunks": list(chunks), **fields}


TELLING: dict[str, list[dict[str, Any]]] = {
    "one index, two ids": [
        message({"index": 0, "id": "c1", "name": "f", "args": "{"}),
        message({"index": 0, "id": "c2", "name": "g", "args": "{"}),
        message({"index": 0, "args": "}"}),
    ],
    "0 is not '0'": [message({"index": 0, "id": "c1", "args": "{"}), message({"index": "0", "args": "}"})],
    "no index, one id": [message({"id": "c1", "args": "{"}), message({"id": "c1", "name": "f", "args": "}"})],
    "neither index nor id": [message({"name": "f", "args": "{"}), message({"args": "}"})],
    "an index that is null": [
        message({"index": None, "id": "c1", "args": "{"}, {"index": None, "args": "}"}),
        message({"index": None, "args": "x"}),
    ],
    "two in the first message": [message({"index": 0, "id": "c1", "args": "{"}, {"index": 0, "args": "}"})],
    "two in a later message": [message(), message({"index": 0, "id": "c1", "args": "{"}, {"index": 0, "args": "}"})],
    "an id that comes late": [message({"index": 0, "id": "", "args": "{"}), message({"index": 0, "id": "c1"})],
    "a name in two pieces": [message({"index": 0, "id": "c", "name": "get"}), message({"index": 0, "name": "_x"})],
    "members that nobody knows": [
        message({"index": 0, "id": "c", "n": 1, "o": {"a": "x"}}),
        message({"index": 0, "n": 2, "o": {"a": "y", "b": [1]}}),
    ],
    "types that differ": [
        message({"index": 0, "id": "c", "type": "a_delta", "args": "{"}),
        message({"index": 0, "type": "a", "args": "}"}, {"index": 0, "type": "b", "args": "}"}),
    ],
    "a custom tool": [message({"index": 0, "id": "c", "isCustomTool": True, "args": " x"}), message({"index": 0})],
    "a custom tool without an id": [message({"index": 0, "isCustomTool": True, "args": " {} "})],
    "parsed calls only": [
        {"content": "", "tool_calls": [{"name": "f", "args": {"a": 1, "b": "x"}, "id": "c"}]},
        {"content": "", "tool_calls": [{"name": "g", "args": {"a": 2, "b": "y"}, "id": "c"}]},
    ],
    "parsed calls, then chunks": [
        {"content": "", "tool_calls": [{"name": "f", "args": {}, "id": "c"}]},
        message({"index": 0, "id": "d", "args": "{}"}),
        {"content": "", "tool_calls": [{"name": "g", "args": {}, "id": "e"}]},
    ],
    "halves of a character": [
        message({"index": 0, "id": "c", "args": '"\ud83d'}),
        message({"index": 0, "args": "\ude00"}),
    ],
    "a type that cannot be added": [message({"index": 0, "n": 1}), message({"index": 0, "n": "1"})],
}


@pytest.mark.parametrize("messages", TELLING.values(), ids=TELLING)
def test_identity_rules_are_the_librarys(langchainjs: Library, messages: list[dict[str, Any]]) -> None:
    verdict = compare(langchainjs, messages, resume=True)
    assert verdict.kind == ("refused" if messages is TELLING["a type that cannot be added"] else "added"), (
        verdict.detail
    )


CONTENTS: dict[str, list[Any]] = {
    "text": ["a", "", "b"],
    "text, then blocks": ["a", [{"type": "text", "text": ""}, {"type": "text", "text": "b"}], []],
    "blocks, then text": [[], "a", "b", [{"type": "text", "index": 0, "text": "c"}], "", "d"],
    "blocks by index and by id": [
        [{"type": "text", "index": 0, "text": "a"}, {"type": "x", "id": "b", "n": 1}],
        [{"type": "text_delta", "index": 0, "text": "b"}, {"type": "y", "id": "b", "n": 2}, {"type": "z", "index": 0}],
    ],
    "data": [[{"type": "image", "source_type": "url", "url": "u"}], "a", "b"],
    "text, then data": ["a", [{"type": "image", "source_type": "id", "id": "u"}], "b"],
    "data no more": [
        [{"type": "image", "index": 0, "source_type": "url"}],
        [{"index": 0, "source_type": "x"}],
        "a",
    ],
    "halves of a character": ["\ud83d", "\ude00", [{"type": "text", "index": 0, "text": "\ud83d"}]],
}


@pytest.mark.parametrize("contents", CONTENTS.values(), ids=CONTENTS)
def test_contents_are_added_as_the_library_adds_them(langchainjs: Library, contents: list[Any]) -> None:
    verdict = compare(langchainjs, [{"content": content} for content in contents], resume=True)
    assert (verdict.kind, verdict.detail) == ("added", "")


# What the library does not say


def test_steps_say_what_each_chunk_added() -> None:
    gather = LangChainJsGather()
    opened = gather.add(1, [chunk(None, index=0, id="c", name="f"), chunk("", index=1)], first_ordinal=4)
    grown = gather.add(2, [chunk("{", index=0, name="g"), chunk(None, index=0, name="g")])
    assert [(step.entry.ref, step.opened, step.name, step.renamed, step.args) for step in [*opened, *grown]] == [
        ("1:4", True, "f", False, None),
        ("1:5", True, None, False, ""),
        ("1:4", False, "g", True, "{"),
        ("1:4", False, None, False, None),
    ]


def test_entries_say_which_events_built_them() -> None:
    gather = LangChainJsGather()
    for seq, index in [(3, 0), (4, 0), (5, 1), (7, 0), (8, 0), (8, 0)]:
        gather.add(seq, [chunk("x", index=index)])
    first, second = gather.entries
    assert (first.ref, first.first_seq, first.last_seq, first.seqs) == ("3:0", 3, 8, [[3, 4], [7, 8]])
    assert (second.ref, second.seqs) == ("5:0", [[5, 5]])


def test_parsed_arguments_that_were_added_to_replace_their_text() -> None:
    def parsed(args: dict[str, Any]) -> ToolCallChunk:
        fields = {"name": "f", "args": args, "id": "c"}
        return ToolCallChunk(run_id=RUN, id="c", name="f", args=json.dumps(args), found_in="tool_calls", fields=fields)

    gather = gathered([parsed({"a": 1})])
    (same,) = gather.add(2, [parsed({})])
    assert (same.args, same.cleared) == (None, None)
    (step,) = gather.add(3, [parsed({"a": 2})])
    assert (step.args, step.cleared, step.entry.args) == ('{"a":3}', (1, 0), Rope(['{"a":3}']))
    assert gather.tool_calls()[0] == [{"name": "f", "args": {"a": 3}, "id": "c"}]


def test_calls_that_the_library_does_not_read_are_gathered_but_are_none_of_its_calls() -> None:
    raw = {"found_in": "additional_kwargs", "index": 0}
    gather = gathered([chunk("{", id="c", name="f", **raw)], [chunk("}", **raw), chunk("{", index=0, id="d")])
    assert [(entry.id, entry.args and entry.args.text) for entry in gather.entries] == [("c", "{}"), ("d", "{")]
    assert [call["id"] for call in gather.tool_calls()[0]] == ["d"]


def test_a_chunk_that_the_library_refuses_is_a_finding_and_is_gathered_all_the_same() -> None:
    gather = gathered([ToolCallChunk(run_id=RUN, args="{", index=0, fields={"index": 0, "args": "{", "n": 1})])
    fields = {"index": 0, "args": {"a": 1}, "n": "1"}
    (step,) = gather.add(2, [ToolCallChunk(run_id=RUN, args='{"a":1}', index=0, fields=fields)])
    assert [(rule, severity) for rule, severity, _ in step.findings] == [("langchain-refuses-chunk", "error")] * 2
    assert (step.opened, step.args) == (False, '{"a":1}')


def test_function_call_is_one_entry_apart_from_the_tool_calls() -> None:
    gather = gathered(
        [chunk("{", name="f", legacy=True), chunk("{", index=0, id="c", name="g")],
        [chunk("}", name="h", legacy=True), chunk("}", index=0)],
    )
    legacy, _ = gather.entries
    assert (legacy.name, legacy.args, legacy.legacy) == ("h", Rope(["{", "}"]), True)
    assert gather.tool_calls() == ([{"name": "g", "args": {}, "id": "c", "type": "tool_call"}], [])
    assert [call["name"] for call in gather.tool_call_chunks()] == ["g"]


def test_calls_of_the_providers_own_are_gathered_apart() -> None:
    gather = gathered([chunk("{}", index=0, id="s", executor="server")], [chunk("{}", index=0, id="c", name="f")])
    assert [entry.executor for entry in gather.entries] == ["server", "client"]
    assert [call["id"] for call in gather.tool_calls()[0]] == ["c"]


def test_a_restated_call_adds_nothing_to_what_was_streamed() -> None:
    gather = gathered([chunk("{", index=0, id="c", name="f")], [chunk("}", index=0)], [chunk("{}", id="d", block="b")])
    (providers,) = gather.add(4, [chunk('{"a":1}', index=0, id="c", restated=True)])
    (same,) = gather.add(5, [chunk("{ }", id="d", name="g", block="b", restated=True)])
    (other,) = gather.add(6, [chunk('{"a":1}', id="d", block="b", restated=True)])
    assert (providers.opened, providers.args, providers.findings) == (False, None, [])
    assert (same.args, same.name, same.findings) == (None, "g", [])
    assert [rule for rule, _, _ in other.findings] == ["restatement-differs"]
    assert [call["args"] for call in gather.tool_calls()[0]] == [{}, {}]


def test_a_block_that_is_named_stands_for_an_index() -> None:
    gather = gathered(
        [chunk("{", block="b1", id="c", name="f")], [chunk("{", block="b2", id="d"), chunk("}", block="b1")]
    )
    assert [entry.args and entry.args.text for entry in gather.entries] == ["{}", "{"]


def test_a_text_tools_call_is_marked_as_such_where_it_opens() -> None:
    gather = gathered([chunk("x", index=0, id="c", free_text=True)], [chunk("y", index=0)])
    assert gather.entries[0].free_text
    assert gather.tool_calls()[0][0]["args"] == {"input": "xy"}


def test_a_snapshot_in_json_goes_on_alike() -> None:
    """What MessagePack refuses (a lone surrogate) is kept as JSON, where a key can only be text."""
    gather = gathered([chunk("\ud83d", index=0, id="c1")], [chunk("", index=1)])
    packed = json.dumps(msgspec.to_builtins(gather, str_keys=True))
    resumed = msgspec.convert(json.loads(packed), LangChainJsGather)
    (step,) = resumed.add(3, [chunk("\ude00", index=0)])
    assert (step.opened, step.entry.ref) == (False, "1:0")
    assert resumed.tool_call_chunks()[0]["args"] == "\U0001f600"


def scatters(*contents: Any) -> list[bool]:
    total = LangChainJsMessage()
    told = []
    for content in contents:
        told.append(total.begun and total.may_scatter(content))
        total.add(MessageChunk(run_id=RUN, content=content))
    return told[1:]


def text(text: str, **fields: Any) -> dict[str, Any]:
    return {"type": "text", "text": text, **fields}


@pytest.mark.parametrize(
    ("contents", "told"),
    [
        (["a", "b", [text("c")]], [False, False]),
        ([[text("a", index=0)], [text("b", index=0)]], [False]),
        ([[text("a", index=0)], [text("b", index=1)], [text("c", index=0)]], [False, True]),
        ([[text("a", index=0)], "b", [text("c", index=0)]], [False, True]),
        ([[text("a", index=0)], [{"type": "text_delta", "index": 0, "text": "b"}]], [True]),
        ([[{"type": "image", "source_type": "url"}], "a"], [True]),
    ],
)
def test_text_that_may_land_elsewhere_is_looked_at(contents: list[Any], told: list[bool]) -> None:
    assert scatters(*contents) == told


@pytest.mark.parametrize(
    ("field", "first", "second"),
    [
        ("content", [{"index": 0, "n": 1}], [{"index": 0, "n": "1"}]),
        ("additional_kwargs", {"a": 1, "b": "x"}, {"b": "y", "a": "1"}),
        ("response_metadata", {"a": [1]}, {"a": {}}),
        ("response_metadata", {}, {"toString": 1}),
        ("usage", {"input_tokens": 1}, {"input_tokens": "1"}),
    ],
)
def test_what_cannot_be_added_leaves_no_trace(field: str, first: Any, second: Any) -> None:
    total = LangChainJsMessage()
    total.add(MessageChunk(run_id=RUN, **{field: first}))
    total.add(MessageChunk(run_id=RUN, message_id="m", **{field: second}))
    assert [reason.split(":")[0] for reason in total.refused] == [field]
    assert getattr(total, field) == first
    assert total.message_id == "m"
