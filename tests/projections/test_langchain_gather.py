from __future__ import annotations

import itertools
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from langchain_core.messages import AIMessageChunk
from pydantic import TypeAdapter, ValidationError

from recorder.deltas import ToolCallChunk
from recorder.projections.gather import Entry
from recorder.projections.langchain_gather import LangChainGather, chunks_of, tool_calls_of
from recorder.projections.langchain_validation import valid_index
from recorder.projections.rope import Rope
from tests.corpus import CORPUS, needs_corpus
from tests.projections.langchain_oracle import CHEAP, RUN, compare
from tests.projections.langchain_sequences import sequences

DUMPS = [
    "derived_*_events_v2.jsonl",
    "py_agent_subgraph_v2.jsonl",
    "lgdocs_stream_events.jsonl",
]


def chunk(args: str | None = None, **fields: Any) -> ToolCallChunk:
    return ToolCallChunk(run_id=RUN, args=args, **fields)


def gathered(*events: list[ToolCallChunk]) -> LangChainGather:
    gather = LangChainGather()
    for seq, chunks in enumerate(events, 1):
        gather.add(seq, chunks)
    return gather


def streams(path: Path) -> list[list[dict[str, Any]]]:
    """The fields of the AIMessageChunks that each model run of a dump streamed."""
    runs: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in path.read_text().splitlines():
        if not line.strip():
            continue
        event = json.loads(line)
        if event.get("event") == "events":
            event = event["data"]
        if event.get("event") == "on_chat_model_stream":
            message = event["data"]["chunk"]
            runs[event["run_id"]].append(message.get("kwargs", message))
    return list(runs.values())


# Against the library


@needs_corpus
@pytest.mark.parametrize("pattern", DUMPS)
def test_every_prefix_of_recorded_runs_is_what_langchain_adds_up(pattern: str) -> None:
    paths = sorted((CORPUS / "langchain_events").glob(pattern))
    runs = [chunks for path in paths for chunks in streams(path)]
    assert runs
    for chunks in runs:
        verdict = compare(chunks, resume=True)
        assert (verdict.kind, verdict.detail) == ("added", "")


@settings(max_examples=500)
@given(sequences)
def test_every_prefix_of_random_chunks_is_what_langchain_adds_up(chunks: list[dict[str, Any]]) -> None:
    verdict = compare(chunks, resume=True)
    assert verdict.kind != "differs", verdict.detail


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([[("c1", 0, "f", "{")], [("c2", 0, "g", "{")], [(None, 0, None, "}")]], id="index-shared"),
        pytest.param([[("c1", None, "f", "{")], [("c1", None, None, "}")]], id="no-index"),
        pytest.param([[("", 0, "f", None)], [("c1", 0, "f", "{}")]], id="id-comes-later-and-name-repeats"),
        pytest.param([[(None, 0, "f", "{"), (None, 0, None, "}")]], id="two-in-the-first-message"),
        pytest.param([[], [(None, 0, "f", "{"), (None, 0, None, "}")]], id="two-in-a-later-message"),
        pytest.param(
            [[(None, 0, "f", "{"), ("c1", 0, "g", "{")], [("c1", 0, None, "}")]], id="nameless-id-stands-first"
        ),
        pytest.param(
            [[("c1", 0, "f", "{"), ("", 0, "g", "{")], [("c1", 0, None, "}")]], id="nameless-id-stands-second"
        ),
        pytest.param([[("c1", 0, "f", "{"), ("c1", 0, "g", "{")], [("c1", 0, None, "}")]], id="twins-with-one-id"),
        pytest.param(
            [[("c1", 0, "f", "{"), (None, 0, "g", "{")], [(None, 0, None, "}")]], id="id-less-goes-to-the-first"
        ),
        pytest.param([[("c1", 2, "f", "{}")], [("c0", 0, "g", "")]], id="order-of-arrival"),
    ],
)
def test_identity_rules_are_langchains(events: list[list[tuple[Any, ...]]]) -> None:
    fields = ("id", "index", "name", "args")
    messages = [
        {"content": "", "tool_call_chunks": [dict(zip(fields, values, strict=True)) for values in event]}
        for event in events
    ]
    assert compare(messages, CHEAP).kind == "added"


def test_raw_calls_that_are_whole_only_once_added_are_gathered() -> None:
    halves = [{"index": 0, "id": "c1", "function": {"name": "f"}}, {"index": 0, "function": {"arguments": "{}"}}]
    messages = [{"content": "", "additional_kwargs": {"tool_calls": [half]}} for half in halves]
    assert AIMessageChunk(**messages[1]).tool_call_chunks == []
    assert (AIMessageChunk(**messages[0]) + AIMessageChunk(**messages[1])).tool_calls[0]["name"] == "f"
    assert compare(messages).kind == "added"


def test_index_is_read_as_pydantic_reads_it() -> None:
    integer = TypeAdapter(int | None)
    texts = ["".join(letters) for n in range(5) for letters in itertools.product("01_+-. a", repeat=n)]
    numbers = [
        None,
        True,
        False,
        0,
        -3,
        2**70,
        1.0,
        -0.0,
        1.5,
        2.0**63,
        1e18,
        1e300,
        float("nan"),
        float("inf"),
        [],
        {},
    ]
    stranger = []
    for value in [*texts, *numbers]:
        faults: list[str] = []
        got = valid_index(value, faults)
        try:
            expected = integer.validate_python(value)
        except ValidationError:
            assert faults, value
            continue
        if faults:
            stranger.append(value)
        else:
            assert (type(got), got) == (type(expected), expected), value
    # What only pydantic takes: more than one mark after a leading zero.
    assert all(isinstance(value, str) and value.strip(" +-").startswith("0") for value in stranger)


# What LangChain does not say


def test_a_chunk_that_langchain_refuses_is_a_finding_and_is_gathered_all_the_same() -> None:
    gather = LangChainGather()
    gather.add(1, [chunk("{", index=0, id="c1", name="f")])
    hostile = ToolCallChunk(run_id=RUN, index="abc", id=5, args={"a": 1})  # type: ignore[arg-type]
    (step,) = gather.add(2, [hostile])
    assert [(rule, severity) for rule, severity, _ in step.findings] == [("langchain-refuses-chunk", "error")] * 3
    assert (step.opened, step.entry.index, step.entry.id) == (True, "abc", "5")
    assert json.loads(step.args or "") == {"a": 1}
    (again,) = gather.add(3, [chunk("!", index="abc")])
    assert again.entry is step.entry


def test_entries_say_which_events_built_them() -> None:
    gather = LangChainGather()
    for seq, index in [(3, 0), (4, 0), (5, 1), (7, 0), (8, 0), (8, 0)]:
        gather.add(seq, [chunk("x", index=index)])
    first, second = gather.entries
    assert (first.ref, first.first_seq, first.last_seq, first.seqs) == ("3:0", 3, 8, [[3, 4], [7, 8]])
    assert (second.ref, second.seqs) == ("5:0", [[5, 5]])


def test_steps_say_what_each_chunk_added() -> None:
    gather = LangChainGather()
    opened = gather.add(1, [chunk(None, index=0, name="f"), chunk("", index=1)], first_ordinal=4)
    grown = gather.add(2, [chunk("{", index=0, name="g"), chunk(None, index=1)])
    assert [(s.entry.ref, s.opened, s.name, s.args) for s in opened] == [
        ("1:4", True, "f", None),
        ("1:5", True, None, ""),
    ]
    assert [(s.entry.ref, s.opened, s.name, s.args) for s in grown] == [
        ("1:4", False, "g", "{"),
        ("1:5", False, None, None),
    ]


def test_arguments_are_none_until_some_text_came() -> None:
    gather = gathered([chunk(None, index=0)], [chunk(None, index=0)])
    assert chunks_of(gather.entries)[0]["args"] is None
    gather.add(3, [chunk("", index=0)])
    assert chunks_of(gather.entries)[0]["args"] == ""


def test_the_first_message_may_be_announced_before_or_after_its_chunks() -> None:
    twins = [chunk("a", index=0), chunk("b", index=0)]
    announced, told_later = LangChainGather(), LangChainGather()
    announced.add(1, [])
    announced.add(1, twins)
    told_later.add(1, twins)
    told_later.add(1, [])
    assert chunks_of(announced.entries) == chunks_of(told_later.entries) == chunks_of(gathered(twins).entries)
    assert len(gathered([], twins).entries) == 1


def test_function_call_is_one_entry_apart_from_the_tool_calls() -> None:
    gather = gathered(
        [chunk("{", name="f", legacy=True), chunk("{", index=0, name="g")],
        [chunk("}", legacy=True), chunk("}", index=0)],
    )
    legacy, call = gather.entries
    assert (legacy.name, legacy.args, legacy.legacy) == ("f", Rope(["{", "}"]), True)
    assert tool_calls_of(gather.entries) == ([{"name": "g", "args": {}, "id": None, "type": "tool_call"}], [])
    assert [c["name"] for c in chunks_of(gather.entries)] == [call.name]


def test_a_state_resumed_from_a_snapshot_goes_on_alike() -> None:
    gather = gathered([chunk("{", index=0, id="c1", name="f")], [chunk("[", index=1, id="c2")])
    resumed = msgspec.msgpack.decode(msgspec.msgpack.encode(gather), type=LangChainGather)
    for one in (gather, resumed):
        one.add(3, [chunk("}", index=0), chunk("]", index=1, id="c2")])
    assert chunks_of(resumed.entries) == chunks_of(gather.entries)
    assert [entry.seqs for entry in resumed.entries] == [entry.seqs for entry in gather.entries]


def test_a_snapshot_in_json_goes_on_alike() -> None:
    """What MessagePack refuses (a lone surrogate) is kept as JSON, where a key can only be text."""
    gather = gathered([chunk("\ud83d", index=0, id="c1")], [chunk("", index=1)])
    packed = json.dumps(msgspec.to_builtins(gather, str_keys=True))
    resumed = msgspec.convert(json.loads(packed), LangChainGather)
    (step,) = resumed.add(3, [chunk("\ude00", index=0)])
    assert (step.opened, step.entry.ref, chunks_of([step.entry])[0]["args"]) == (False, "1:0", "\ud83d\ude00")


def test_calls_are_read_as_far_as_they_go() -> None:
    def entry(args: str | None, name: str | None = "f") -> Entry:
        rope = None if args is None else Rope([args])
        return Entry(ref="1:0", index=0, id="c1", name=name, args=rope, first_seq=1, last_seq=1, seqs=[[1, 1]])

    calls, invalid = tool_calls_of([entry('{"a":1,"b":[2'), entry(None, None), entry("[1"), entry("]")])
    assert calls == [
        {"name": "f", "args": {"a": 1, "b": [2]}, "id": "c1", "type": "tool_call"},
        {"name": "", "args": {}, "id": "c1", "type": "tool_call"},
    ]
    assert invalid == [
        {"name": "f", "args": args, "id": "c1", "error": None, "type": "invalid_tool_call"} for args in ("[1", "]")
    ]
