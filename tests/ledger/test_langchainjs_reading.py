"""Events of LangChain.js are gathered as @langchain/core adds their chunks up, at every event and in every table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recorder.events import Event, jsontext
from recorder.projections.readings import Gathering
from tests.corpus import CORPUS, needs_corpus
from tests.dialects.test_hostile_frames import paths, replaced
from tests.javascript.library import Library
from tests.ledger.logs import log, printed, read_model, snapshots_at_every_append
from tests.projections.langchainjs_oracle import canonical
from tests.streams import CASSETTES, Folding, events_of

DUMP = CORPUS / "langchain_events" / "js_react_agent_v2.sse"
FIELDS = ("tool_call_chunks", "tool_calls", "invalid_tool_calls", "additional_kwargs", "response_metadata")


def chunks_of(events: list[Event]) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """The streamed chunks: event, run, and the fields that the library made the chunk of."""
    for event in events:
        value = json.loads(event.body) if event.kind == "on_chat_model_stream" else {}
        if value:
            yield event.seq, value["run_id"], value["data"]["chunk"]["kwargs"]


def sums_of(library: Library, events: list[Event]) -> dict[int, tuple[str, dict[str, Any]]]:
    """What the library has added up of a run at each event that streams."""
    runs: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    for seq, run_id, fields in chunks_of(events):
        runs.setdefault(run_id, []).append((seq, fields))
    found = {}
    for run_id, chunks in runs.items():
        answers = library.ask("sum", chunks=[fields for _, fields in chunks])
        found.update({seq: (run_id, answer["sum"]) for (seq, _), answer in zip(chunks, answers, strict=True)})
    return found


def hold(library: Library, path: Path, gathering: Gathering) -> None:
    events = events_of(path)
    sums = sums_of(library, events)
    assert sums, f"{path.name} streams nothing"
    fold = Folding(gathering)
    for event in events:
        fold.advance(event)
        if event.seq not in sums:
            continue
        run_id, expected = sums[event.seq]
        (message,) = [each for each in fold.state["messages"] if each["run_id"] == run_id]
        assert message["gather"] == "langchainjs"
        for field in FIELDS:
            assert canonical(field, message[field]) == canonical(field, expected[field]), (event.seq, field)
        assert message["usage"] == expected.get("usage_metadata", {})
        assert message["message_id"] == expected["id"]
        if isinstance(expected["content"], str):
            assert message["text"] == expected["content"]


@needs_corpus
@pytest.mark.parametrize("gathering", ["default", "langchainjs"])
def test_every_event_of_a_dump(langchainjs: Library, gathering: Gathering) -> None:
    hold(langchainjs, DUMP, gathering)


@pytest.mark.parametrize("gathering", ["default", "langchainjs"])
def test_every_event_of_a_recording(langchainjs: Library, gathering: Gathering) -> None:
    hold(langchainjs, CASSETTES / "weather-js.sse", gathering)


@pytest.mark.parametrize("name", ["seed003.jsonl", "agent.jsonl"])
def test_python_s_events_can_be_read_as_javascript_would(langchainjs: Library, name: str) -> None:
    hold(langchainjs, CASSETTES / name, "langchainjs")


def chunk_event(*chunks: Any, javascript: bool, **fields: Any) -> bytes:
    kwargs = {"content": "", "tool_call_chunks": list(chunks), **fields}
    names = ["langchain_core", "messages"] if javascript else ["langchain", "schema", "messages"]
    chunk = {"lc": 1, "type": "constructor", "id": [*names, "AIMessageChunk"], "kwargs": kwargs}
    return json.dumps({"event": "on_chat_model_stream", "run_id": "r", "data": {"chunk": chunk}}).encode() + b"\n"


def start_event(**fields: Any) -> bytes:
    return json.dumps({"event": "on_chat_model_start", "run_id": "r", **fields}).encode() + b"\n"


HUMAN = {
    "lc": 1,
    "type": "constructor",
    "id": ["langchain_core", "messages", "HumanMessage"],
    "kwargs": {"content": "x"},
}


@pytest.mark.parametrize(
    ("start", "javascript", "reading"),
    [
        (b"", True, "langchainjs"),
        (b"", False, "langchain"),
        (start_event(metadata={"versions": {"@langchain/core": "1.4.0"}}, data={}), False, "langchainjs"),
        (start_event(data={"input": {"messages": [[HUMAN]]}}), False, "langchainjs"),
        (start_event(metadata={"lc_versions": {"langchain-core": "1.8.3"}}, data={"input": {}}), False, "langchain"),
    ],
)
def test_which_langchain_it_was_is_told_by_its_events(start: bytes, javascript: bool, reading: str) -> None:
    events = events_of(start + chunk_event({"index": 0, "id": "c", "args": "{"}, javascript=javascript))
    (message,) = Folding().advance(*events).state["messages"]
    assert message["gather"] == reading


CALL = {"index": 0, "id": "c", "name": "f", "args": "{", "isCustomTool": True, "type": "t", "more": {"n": 1}}
FULL = {
    "content": [{"type": "text", "index": 0, "text": "a"}, {"type": "image", "source_type": "url"}],
    "tool_call_chunks": [CALL],
    "tool_calls": [{"name": "f", "args": {"a": 1}, "id": "d"}],
    "additional_kwargs": {"function_call": {"name": "f", "arguments": "{"}, "tool_calls": [{"index": 0}]},
    "response_metadata": {"a": 1},
    "usage_metadata": {"input_tokens": 1, "input_token_details": {"audio": 1}},
    "id": "m",
}


@pytest.mark.parametrize("swap", [None, True, 1.5, 1 << 70, float("nan"), "x", "\ud83d", [["x"]], {"x": 1}], ids=repr)
def test_no_value_in_a_chunk_breaks_the_fold(swap: Any) -> None:
    for path in paths(FULL):
        fields = replaced(FULL, path, swap)
        if isinstance(fields, dict):
            pieces = [chunk_event(**each, javascript=True) for each in (FULL, fields, FULL, fields)]
            fold = Folding()
            for event in events_of(b"".join(pieces)):
                fold = fold.resumed().advance(event)
                assert fold.state["messages"], path


def test_rows_and_states_follow_the_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshots_at_every_append(monkeypatch)
    events = events_of(
        b"".join(
            [
                chunk_event({"index": 0, "id": "c", "name": "get", "args": '{"a":tr'}, javascript=True),
                chunk_event({"index": 0, "name": "get_x", "args": '","b'}, javascript=True),
                chunk_event({"id": "d", "name": "f", "args": "{"}, javascript=True),
                chunk_event({"id": "d", "args": "}"}, javascript=True, response_metadata={"finish_reason": "stop"}),
            ]
        )
    )
    with log(tmp_path, events, batch=1) as ledger:
        assert [ledger.state("log", n).gather for n in (0, 1, 4)] == ["langchain", "langchainjs", "langchainjs"]
        assert ledger.state("log", last_message=True).gather == "langchainjs"
        for n in range(len(events) + 1):
            assert printed(ledger, n)["messages"] == Folding().advance(*events[:n]).state["messages"]
        assert ledger.calls("log", 1)[0]["value"] == {"a": True}
        rows = list(ledger.sql("SELECT call_id, name, args, args_state FROM tool_calls ORDER BY position")[1])
        assert rows == [("c", "get_x", '{"a":tr","b', "invalid"), ("d", "f", "{}", "complete")]
        before = read_model(ledger)
        ledger.rebuild("log")
        assert read_model(ledger) == before


def test_a_function_call_of_langchains_is_a_call_too() -> None:
    pieces = [{"name": "f", "arguments": ""}, {"name": "g", "arguments": '{"a"'}, {"arguments": ":1}"}]
    for javascript, name in ((True, "g"), (False, "fg")):
        events = events_of(
            b"".join(chunk_event(javascript=javascript, additional_kwargs={"function_call": call}) for call in pieces)
        )
        (message,) = Folding().advance(*events).state["messages"]
        (call,) = message["calls"]
        assert (call["name"], call["raw"], call["value"], call["legacy"]) == (name, '{"a":1}', {"a": 1}, True)
        assert message["additional_kwargs"] == {"function_call": {"name": name, "arguments": '{"a":1}'}}
        assert (message["tool_calls"], message["tool_call_chunks"]) == ([], [])


def test_a_whole_answer_with_a_function_call_has_it_as_a_call() -> None:
    kwargs = {"content": "", "additional_kwargs": {"function_call": {"name": "f", "arguments": "{}"}}}
    output = {"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", "AIMessage"], "kwargs": kwargs}
    body = {"event": "on_chat_model_end", "run_id": "r", "data": {"output": output}}
    (message,) = Folding().advance(*events_of(json.dumps(body).encode() + b"\n")).state["messages"]
    assert [(call["name"], call["state"], call["legacy"]) for call in message["calls"]] == [("f", "complete", True)]


def test_the_end_of_a_run_restates_what_the_library_made_of_its_chunks() -> None:
    chunks = [{"index": 0, "id": "c", "name": "f", "args": '{"a":1'}, {"index": 0, "args": "}"}]
    call = {"name": "f", "args": {"a": 1}, "id": "c", "type": "tool_call"}
    whole = json.loads(chunk_event({**chunks[0], "args": '{"a":1}'}, javascript=True, tool_calls=[call]))
    end = {"event": "on_chat_model_end", "run_id": "r", "data": {"output": whole["data"]["chunk"]}}
    events = events_of(
        b"".join(chunk_event(chunk, javascript=True) for chunk in chunks) + jsontext.encode(end).encode() + b"\n"
    )
    assert Folding().advance(*events).state["findings"] == []
