"""`--emit patch` and `--emit values`: what LangChain's JSON output parsers stream, in both languages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonpatch
import pytest
from hypothesis import given, settings

from recorder.events import Event
from recorder.ledger.projector import Projector
from recorder.projections.readings import Gathering
from recorder.replay.javascript_patch import compare, same
from recorder.replay.parsed import ParsedCollector
from tests.corpus import CORPUS, needs_corpus
from tests.javascript.library import Library
from tests.replay.parsers import (
    LANGUAGES,
    STREAMS,
    canonical,
    from_here,
    from_python,
    function_call_events,
    parser_difference,
)
from tests.streams import CASSETTES, Folding, events_of

PIECES = ['{"name', '":"A', 'l","tags":["x"', ',"y"],"n":{"a/b":1,', '"c~d":2}}']
CALLS = [{"name": "f", "arguments": ""}, *({"arguments": piece} for piece in PIECES)]


@settings(max_examples=200)
@given(calls=STREAMS)
def test_every_chunk_gives_what_the_parsers_of_both_languages_give(
    langchainjs: Library, calls: list[dict[str, Any]]
) -> None:
    assert parser_difference(langchainjs, calls) is None


@pytest.mark.parametrize(
    ("language", "given"),
    [
        (
            "python",
            [
                [],
                [[{"op": "replace", "path": "", "value": {}}]],
                [[{"op": "add", "path": "/name", "value": "A"}]],
            ],
        ),
        ("javascript", [[], [[]], [[{"op": "add", "path": "/name", "value": "A"}]]]),
    ],
)
def test_the_first_patch_is_each_languages_own(language: str, given: list[Any]) -> None:
    assert from_here(function_call_events(CALLS[:3], language), diff=True) == given


def test_later_patches_have_each_languages_order() -> None:
    events = {language: function_call_events(CALLS, language) for language in LANGUAGES}
    assert from_here(events["javascript"], diff=True)[3] == [
        [{"op": "replace", "path": "/name", "value": "Al"}, {"op": "add", "path": "/tags", "value": ["x"]}]
    ]
    (operations,) = from_here(events["python"], diff=True)[3]
    assert sorted(operation["op"] for operation in operations) == ["add", "replace"]


def test_a_name_alone_is_something_to_javascript_only() -> None:
    whole = {
        language: from_here(function_call_events(CALLS[:2], language), diff=False, whole=True) for language in LANGUAGES
    }
    assert whole["python"] == [[], [{"name": "f", "arguments": {}}]]
    assert whole["javascript"] == [[{"name": "f", "arguments": None}], [{"name": "f", "arguments": {}}]]


def openai(delta: dict[str, Any], *, finish: str | None = None) -> bytes:
    chunk = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    return f"data: {json.dumps(chunk)}\n\n".encode()


def tool_call(index: int, arguments: str, **head: str) -> dict[str, Any]:
    function = {"arguments": arguments} | ({"name": head["name"]} if "name" in head else {})
    return {"index": index, "function": function} | ({"id": head["id"]} if "id" in head else {})


@pytest.mark.parametrize("gathering", ["default", "langchain", "langchainjs"])
@pytest.mark.parametrize("diff", [False, True])
@pytest.mark.parametrize("legacy", [False, True])
def test_a_providers_stream_gives_the_same(
    langchainjs: Library, gathering: Gathering, diff: bool, legacy: bool
) -> None:
    frames = [openai({"content": ""})]
    for call in CALLS:
        head = {"id": "c", "name": call["name"]} if "name" in call else {}
        delta = {"function_call": call} if legacy else {"tool_calls": [tool_call(0, call["arguments"], **head)]}
        frames.append(openai(delta))
    events = events_of(b"".join([*frames, openai({}, finish="stop"), b"data: [DONE]\n\n"]))
    chunks = [{"content": "", "additional_kwargs": {"function_call": call}} for call in CALLS]
    expected = (
        langchainjs.ask("parser", chunks=chunks, options={"diff": diff})
        if gathering == "langchainjs"
        else from_python(CALLS, diff=diff, whole=False)
    )
    assert canonical(from_here(events, gathering, diff=diff)) == canonical([[], *expected, [], []])


def test_several_calls_are_followed_each_for_itself() -> None:
    frames = [
        openai({"tool_calls": [tool_call(0, '{"a":1', id="c1", name="f"), tool_call(1, "{", id="c2", name="g")]}),
        openai({"tool_calls": [tool_call(1, '"b":2}'), tool_call(0, "2"), tool_call(0, "}")]}),
    ]
    collector = ParsedCollector()
    projector = Projector(observer=collector)
    given = []
    for event in events_of(b"".join(frames)):
        projector.advance([event])
        given.append([(parsed.call_ref, parsed.call_id, parsed.before, parsed.value) for parsed in collector.take()])
    assert given == [
        [("1:0", "c1", None, {"a": 1}), ("1:1", "c2", None, {})],
        [("1:1", "c2", {}, {"b": 2}), ("1:0", "c1", {"a": 1}, {"a": 12})],
    ]


def test_a_placeholder_that_is_taken_back_is_no_part_of_the_value() -> None:
    frames = [
        openai({"tool_calls": [tool_call(0, "{}", id="c1", name="f")]}),
        openai({"tool_calls": [tool_call(0, '{"a":')]}),
        openai({"tool_calls": [tool_call(0, "1}")]}),
    ]
    assert from_here(events_of(b"".join(frames)), diff=False) == [[{}], [], [{"a": 1}]]


def hold(events: list[Event], gathering: Gathering) -> int:
    """Applies the patches of each call one after the other: they give its value at every event, where it has one."""
    collector, folding = ParsedCollector(), Folding(gathering)
    projector = Projector(gathering=gathering, observer=collector)
    values: dict[str, Any] = {}
    seen = 0
    for event in events:
        projector.advance([event])
        folding.advance(event)
        for parsed in collector.take():
            before = values.get(parsed.call_ref, {} if gathering == "langchainjs" else None)
            values[parsed.call_ref] = jsonpatch.apply_patch(before, parsed.patch)
            seen += 1
        for message in folding.state["messages"]:
            for call in message["calls"]:
                value = call["value"]
                if call["raw"] and value is not None:
                    assert json.loads(json.dumps(values[call["call_ref"]])) == value, (event.seq, call)
    return seen


@pytest.mark.parametrize("gathering", ["wire", "langchain", "langchainjs"])
@pytest.mark.parametrize("name", ["weather.sse", "weather-js.sse", "agent.jsonl", "seed003.sse", "truncated.sse"])
def test_patches_add_up_to_the_values_of_a_recordings_calls(name: str, gathering: Gathering) -> None:
    assert hold(events_of(CASSETTES / name), gathering)


@needs_corpus
@pytest.mark.parametrize("name", ["js_react_agent_v2.sse", "py_agent_subgraph_v2.jsonl"])
def test_patches_add_up_to_the_values_of_a_dumps_calls(name: str) -> None:
    path: Path = CORPUS / "langchain_events" / name
    assert hold(events_of(path), "langchainjs" if name.startswith("js") else "langchain")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {}),
        ({"a": 1, "b": [1, 2, 3]}, {"b": [1], "a": True}),
        ({"a": [1]}, {"a": {"0": 1}}),
        ({"a": {"b": 1, "c": 2}, "d": None}, {"d": 0, "a": {"c": 2, "e": {}}}),
        ({"a/b": 1, "c~d": 1}, {"a/b": 2}),
        ({}, [1, 2]),
        ([1, 2], {"a": 1}),
        ({"a": 1}, "xy"),
        ("xy", "x"),
        ({}, 5),
        (5, {"a": 1}),
        (True, 1),
    ],
    ids=str,
)
def test_compare_is_that_of_the_library(langchainjs: Library, before: Any, after: Any) -> None:
    assert json.dumps(compare(before, after)) == json.dumps(langchainjs.ask("compare", before=before, after=after))


def test_equal_to_javascript() -> None:
    assert same({"a": [1, {"b": 1.0}], "c": None}, {"c": None, "a": [1.0, {"b": 1}]})
    for left, right in [(1, True), ({}, []), ({"a": 1}, {"a": 1, "b": 1}), ([1], [1, 1]), ([0], [False]), ("1", 1)]:
        assert not same(left, right)
