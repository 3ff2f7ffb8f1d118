"""`--emit changes`: applied in order, the changes up to N give what the state at N shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recorder.events import Event, jsontext
from recorder.ledger.projector import Projector
from recorder.projections.changes import ChangeCollector
from recorder.projections.partial_json import INVALID, Change, Follower
from tests.corpus import CORPUS, needs_corpus
from tests.streams import RECORDINGS, Folding, events_of


class Applied:
    """A reader of changes: texts, calls and pairings, from nothing but the JSON lines."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.calls: dict[str, dict[str, Any]] = {}
        self.values: dict[str, Follower] = {}
        self.pairings: dict[int, str] = {}

    def apply(self, changes: list[dict[str, Any]]) -> None:
        for change in changes:
            op, field = change["op"], change.get("field")
            if "call" in change:
                self._call(change["call"], op, field, change)
            elif "message" in change and op == "open":
                self.texts[change["message"]] = ""
            elif "message" in change and op == "append" and field == "text" and "block" not in change:
                self.texts[change["message"]] += change["value"]
            elif "message" in change and op == "set" and field == "text" and "block" not in change:
                self.texts[change["message"]] = change["value"]
            elif "pairing" in change:
                self.pairings[change["pairing"]] = change["status"]

    def _call(self, ref: str, op: str, field: str | None, change: dict[str, Any]) -> None:
        if op == "open":
            self.calls[ref] = {"id": change["id"], "name": None, "raw": "", "state": "open"}
            self.values[ref] = Follower()
        elif op == "state":
            self.calls[ref]["state"] = change["state"]
        elif field == "value":
            path = tuple(change["path"])
            value = INVALID if change["value"] is None and not path and op == "set" else change["value"]
            self.values[ref].apply([Change(op=op, path=path, value=value)])  # type: ignore[arg-type]
        elif field in ("id", "name", "raw") and op == "set":
            self.calls[ref][field] = change["value"]
        elif field in ("name", "raw"):
            self.calls[ref][field] = (self.calls[ref][field] or "") + change["value"]


def hold(events: list[Event]) -> None:
    collector = ChangeCollector()
    projector = Projector(observer=collector)
    applied, folding = Applied(), Folding()
    for event in events:
        projector.advance([event])
        folding.advance(event)
        applied.apply(json.loads(jsontext.encode(collector.take())))
        state = folding.state
        calls = {call["call_ref"]: call for message in state["messages"] for call in message["calls"]}
        assert applied.calls == {
            ref: {name: call[name] for name in ("id", "name", "raw", "state")} for ref, call in calls.items()
        }
        for ref, call in calls.items():
            value = applied.values[ref].value
            expected = call["value"] if call["raw"] else None
            assert (None if value is INVALID else json.loads(jsontext.encode(value))) == expected
        assert applied.texts == {message["message_ref"]: message["text"] for message in state["messages"]}
        assert list(applied.pairings.values()) == [pairing["status"] for pairing in state["pairings"]]


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_changes_give_the_state_of_every_recording(path: Path) -> None:
    hold(events_of(path))


@needs_corpus
@pytest.mark.parametrize("pattern", ["pai00*__*.sse", "lca*.sse", "ver00*.ndjson", "llm*.sse"])
def test_changes_give_the_state_of_real_streams(pattern: str) -> None:
    paths = [path for path in sorted((CORPUS / "streams").glob(pattern)) if path.stat().st_size < 40_000]
    assert paths
    for path in paths:
        hold(events_of(path))


@needs_corpus
@pytest.mark.parametrize(
    "name", ["py_agent_subgraph_v2.jsonl", "derived_fan0001_events_v2.jsonl", "js_react_agent_v2.sse"]
)
def test_changes_give_the_state_of_framework_dumps(name: str) -> None:
    hold(events_of(CORPUS / "langchain_events" / name))


def test_a_placeholder_that_real_arguments_follow_is_taken_back() -> None:
    pieces = ["{}", '{"city"', ': "Oslo"}']
    frames = [
        {"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": piece}}]}}
        for piece in pieces
    ]
    end = {"index": 0, "delta": {}, "finish_reason": "tool_calls"}
    lines = [
        f"data: {json.dumps({'object': 'chat.completion.chunk', 'choices': [choice]})}\n\n" for choice in [*frames, end]
    ]
    events = events_of("".join(lines).encode())
    hold(events)
    raws = [Folding().advance(*events[:n]).state["messages"][0]["calls"][0]["raw"] for n in (1, 2, 3, 4)]
    assert raws == ["{}", '{"city"', '{"city": "Oslo"}', '{"city": "Oslo"}']


def test_an_id_that_comes_late_is_told() -> None:
    calls = [{"index": 0, "function": {"name": "f", "arguments": ""}}, {"index": 0, "id": "a", "function": {}}]
    lines = [
        json.dumps({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})
        for call in calls
    ]
    hold(events_of("".join(f"data: {line}\n\n" for line in lines).encode()))


def test_text_that_goes_into_a_block_of_another_type_is_told() -> None:
    """LangChain adds blocks by their index and keeps the type that came first."""
    contents = [
        [{"type": kind, "text": text, "index": 0}] for kind, text in (("text", "a"), ("other", "b"), ("x", "c"))
    ]
    lines = [
        json.dumps(
            {
                "event": "on_chat_model_stream",
                "run_id": "r",
                "data": {"chunk": {"type": "AIMessageChunk", "content": content}},
            }
        )
        for content in contents
    ]
    events = events_of("".join(line + "\n" for line in lines).encode())
    hold(events)
    assert Folding().advance(*events).state["messages"][0]["text"] == "abc"


def test_a_call_that_opens_in_a_message_that_was_cut_off_is_told_as_truncated() -> None:
    call = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}
    frames = [
        {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "x"}}]},
        {"error": {"message": "overloaded"}},
        {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"tool_calls": [call]}}]},
    ]
    events = events_of("".join(f"data: {json.dumps(frame)}\n\n" for frame in frames).encode())
    hold(events)
    assert Folding().advance(*events).state["messages"][0]["calls"][0]["state"] == "truncated"


def test_what_javascript_replaces_is_told() -> None:
    """A name that comes again takes the place of the first; parsed arguments that are added to are another text."""
    chunks = [
        {"tool_calls": [{"name": "p", "args": {"a": 1, "b": "x"}, "id": "d"}]},
        {"tool_calls": [{"name": "q", "args": {"a": 2, "b": "y"}, "id": "d"}]},
        {"tool_call_chunks": [{"index": 0, "id": "c", "name": "f", "args": " \n"}]},
        {"tool_call_chunks": [{"index": 0, "name": "g", "args": '{"a":-'}, {"index": 0, "name": "g", "args": ".5}"}]},
    ]
    names = ["langchain_core", "messages", "AIMessageChunk"]
    events = [
        {
            "event": "on_chat_model_stream",
            "run_id": "r",
            "data": {"chunk": {"lc": 1, "type": "constructor", "id": names, "kwargs": {"content": "", **chunk}}},
        }
        for chunk in chunks
    ]
    recorded = events_of("".join(json.dumps(event) + "\n" for event in events).encode())
    hold(recorded)
    calls = Folding().advance(*recorded).state["messages"][0]["calls"]
    assert [(call["name"], call["value"]) for call in calls] == [("q", {"a": 3, "b": "xy"}), ("g", {"a": -0.5})]


def test_the_whole_size_is_linear_in_the_stream() -> None:
    """Twice the chunks, about twice the bytes."""

    def size(chunks: int) -> int:
        frames = [
            json.dumps(
                {
                    "object": "chat.completion.chunk",
                    "choices": [
                        {
                            "index": 0,
                            "delta": {
                                "tool_calls": [
                                    {"index": 0, "id": "a" if n == 0 else None, "function": {"arguments": text}}
                                ]
                            },
                        }
                    ],
                }
            )
            for n, text in enumerate(['{"k":["', *['some text", "'] * chunks])
        ]
        collector = ChangeCollector()
        projector = Projector(observer=collector)
        total = 0
        for event in events_of("".join(f"data: {frame}\n\n" for frame in frames).encode()):
            projector.advance([event])
            total += len(jsontext.encode(collector.take()))
        return total

    assert size(2000) < 2.2 * size(1000)
