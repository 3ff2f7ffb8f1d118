"""`--gather langchain` is what langchain-core computes, at every event of every dump."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recorder.events import Event, jsontext
from tests.corpus import CORPUS, needs_corpus
from tests.streams import CASSETTES, Folding, events_of

messages = pytest.importorskip("langchain_core.messages")
load = pytest.importorskip("langchain_core.load.load")

FIELDS = ("tool_call_chunks", "tool_calls", "invalid_tool_calls")
DUMPS = [
    *sorted((CORPUS / "langchain_events").glob("derived_*_events_v2.jsonl")),
    CORPUS / "langchain_events" / "py_agent_subgraph_v2.jsonl",
    CORPUS / "langchain_events" / "lgdocs_stream_events.jsonl",
]


def chunk_of(event: Event) -> tuple[str, Any] | None:
    """The run and the library's AIMessageChunk of a stream event."""
    value = json.loads(event.body)
    value = value["data"] if value["event"] == "events" else value
    if value["event"] != "on_chat_model_stream":
        return None
    chunk = value["data"]["chunk"]
    kwargs = dict(chunk["kwargs"] if chunk.get("lc") else chunk)
    kwargs.pop("type", None)
    return value["run_id"], messages.AIMessageChunk(**kwargs)


def hold(path: Path) -> None:
    fold = Folding("langchain")
    sums: dict[str, Any] = {}
    seen = 0
    for event in events_of(path):
        fold.advance(event)
        found = chunk_of(event)
        if found is None:
            continue
        run_id, chunk = found
        sums[run_id] = sums[run_id] + chunk if run_id in sums else chunk
        (message,) = [each for each in fold.state["messages"] if each["run_id"] == run_id]
        expected = {name: getattr(sums[run_id], name) for name in FIELDS}
        assert {name: message[name] for name in FIELDS} == json.loads(jsontext.encode(expected)), event.seq
        assert message["text"] == sums[run_id].text
        assert message["usage"] == (sums[run_id].usage_metadata or {})
        assert message["message_id"] == sums[run_id].id
        seen += 1
    assert seen, f"{path.name} streams nothing"


@needs_corpus
@pytest.mark.parametrize("path", DUMPS, ids=lambda path: path.name)
def test_every_event_of_a_dump(path: Path) -> None:
    hold(path)


@pytest.mark.parametrize("name", ["seed003.jsonl", "agent.jsonl"])
def test_every_event_of_a_recording(name: str) -> None:
    hold(CASSETTES / name)


CALLS = [
    [],
    [("Multiply", "")],
    [("Multiply", '{"a"')],
    [("Multiply", '{"a": 3, ')],
    [("Multiply", '{"a": 3, "b": 1')],
    [("Multiply", '{"a": 3, "b": 12}')],
    [("Multiply", '{"a": 3, "b": 12}'), ("Add", "")],
    [("Multiply", '{"a": 3, "b": 12}'), ("Add", '{"a"')],
    [("Multiply", '{"a": 3, "b": 12}'), ("Add", '{"a": 11,')],
    [("Multiply", '{"a": 3, "b": 12}'), ("Add", '{"a": 11, "b": ')],
    [("Multiply", '{"a": 3, "b": 12}'), ("Add", '{"a": 11, "b": 49}')],
    [("Multiply", '{"a": 3, "b": 12}'), ("Add", '{"a": 11, "b": 49}')],
]
"""The tutorial's listing of the gathered chunks, step by step."""
VALUES = [
    [],
    [{}],
    [{}],
    [{"a": 3}],
    [{"a": 3, "b": 1}],
    [{"a": 3, "b": 12}],
    [{"a": 3, "b": 12}, {}],
    [{"a": 3, "b": 12}, {}],
    [{"a": 3, "b": 12}, {"a": 11}],
    [{"a": 3, "b": 12}, {"a": 11}],
    [{"a": 3, "b": 12}, {"a": 11, "b": 49}],
    [{"a": 3, "b": 12}, {"a": 11, "b": 49}],
]
"""The parsed arguments at each step; at steps 2 and 7 langchain-core shows the call since 0.3, with no arguments."""
IDS = {"Multiply": ("call_AkL3dVeCjjiqvjv8ckLxL3gP", 0), "Add": ("call_b4iMiB3chGNGqbt5SjqqD2Wh", 1)}


@pytest.mark.parametrize(("name", "offset"), [("seed003.sse", 0), ("seed003.jsonl", 1)])
@pytest.mark.parametrize("step", range(1, 13))
@pytest.mark.parametrize("gathering", ["wire", "langchain"])
def test_the_tutorials_twelve_steps(name: str, offset: int, step: int, gathering: Any) -> None:
    fold = Folding(gathering).advance(*events_of(CASSETTES / name)[: step + offset])
    (message,) = fold.state["messages"]
    assert message["tool_call_chunks"] == [
        {"name": name, "args": args, "id": IDS[name][0], "index": IDS[name][1], "type": "tool_call_chunk"}
        for name, args in CALLS[step - 1]
    ]
    assert message["tool_calls"] == [
        {"name": name, "args": value, "id": IDS[name][0], "type": "tool_call"}
        for (name, _), value in zip(CALLS[step - 1], VALUES[step - 1], strict=True)
    ]
    assert message["invalid_tool_calls"] == []
