"""LangGraph's streams against the library: the state at every N, one run in all its modes, a run dumped twice."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from recorder.events import Event, jsontext
from tests.corpus import CORPUS, needs_corpus
from tests.streams import CASSETTES, Folding, events_of, state_of

live_agent = pytest.importorskip("tests.live_agent")
messages = pytest.importorskip("langchain_core.messages")

FIELDS = ("tool_call_chunks", "tool_calls", "invalid_tool_calls")
DUMPS = sorted((CORPUS / "langchain_events").glob("*_stream_modes.jsonl"))
OTHERS = [
    CORPUS / "langchain_events" / name for name in ("vercel_langgraph_response_1.jsonl", "lgdocs_stream_messages.jsonl")
]


def chunk_of(event: Event) -> tuple[str, Any] | None:
    """The task and the library's AIMessageChunk of a part in mode `messages`."""
    value = json.loads(event.body)
    if event.kind != "messages":
        return None
    pair = value[-1] if isinstance(value, list) and isinstance(value[-2], str) else value
    message, metadata = pair
    if message["id"][-1] != "AIMessageChunk":
        return None
    kwargs = {key: item for key, item in message["kwargs"].items() if key != "type"}
    return metadata["langgraph_checkpoint_ns"], messages.AIMessageChunk(**kwargs)


def hold(events: list[Event]) -> None:
    fold = Folding("langchain")
    sums: dict[str, Any] = {}
    for event in events:
        fold.advance(event)
        if (found := chunk_of(event)) is None:
            continue
        task, chunk = found
        sums[task] = whole = sums[task] + chunk if task in sums else chunk
        shown = fold.state["messages"]
        assert len(shown) == len(sums)
        (message,) = [each for each in shown if each["message_id"] == whole.id]
        expected = {name: getattr(whole, name) for name in FIELDS}
        assert {name: message[name] for name in FIELDS} == json.loads(jsontext.encode(expected)), event.seq
        assert message["text"] == whole.text
        assert message["usage"] == (whole.usage_metadata or {})
    assert sums


@needs_corpus
@pytest.mark.parametrize("path", DUMPS, ids=lambda path: path.name)
def test_the_state_at_every_event_is_the_librarys_sum(path: Path) -> None:
    hold(events_of(path))


def essence(state: dict[str, Any]) -> dict[str, Any]:
    """What a run said, without the ids that differ from run to run."""
    calls = {call["call_ref"]: (call["id"], call["name"]) for each in state["messages"] for call in each["calls"]}
    return {
        "messages": [
            (
                each["text"],
                each["finish_reason"],
                each["usage"],
                [(call["id"], call["name"], json.loads(call["raw"] or "{}"), call["state"]) for call in each["calls"]],
                each["invalid_tool_calls"],
            )
            for each in state["messages"]
        ],
        "answers": Counter(
            (each["tool_call_id"], each["name"], each["content"], each["status"]) for each in state["tool_messages"]
        ),
        "pairings": [
            (row["call_id"], row["name"], row["status"], row["answer_status"], calls.get(row["call_ref"]))
            for row in state["pairings"]
        ],
        "findings": [(each["rule"], each["detail"]) for each in state["findings"]],
    }


@needs_corpus
@pytest.mark.parametrize("path", DUMPS, ids=lambda path: path.name)
def test_the_modes_of_a_run_say_what_its_events_say(path: Path) -> None:
    twin = path.with_name(path.name.replace("stream_modes", "events_v2"))
    told = state_of(events_of(path))
    assert essence(told) == essence(state_of(events_of(twin)))
    assert told["findings"] == []


@needs_corpus
@pytest.mark.parametrize("path", [*DUMPS, *OTHERS], ids=lambda path: path.name)
def test_nothing_in_a_dump_is_unknown(path: Path) -> None:
    events = events_of(path)
    assert {event.dialect for event in events} == {"langgraph"}
    assert state_of(events)["findings"] == []


@needs_corpus
def test_the_call_that_waits_for_approval_is_whole_and_open() -> None:
    state = state_of(events_of(OTHERS[0]))
    (message,) = state["messages"]
    assert [(call["name"], call["state"]) for call in message["calls"]] == [("delete_file", "complete")]
    assert [row["status"] for row in state["pairings"]] == ["open"]


GRAPHS = {"agent": live_agent.agent, "outer": live_agent.outer}
STREAMED = [
    (graph, subgraphs, mode)
    for graph in GRAPHS
    for subgraphs in (False, True)
    for mode in (
        "messages",
        "updates",
        "values",
        "tasks",
        "debug",
        ["messages"],
        ["messages", "tools"],
        ["values", "updates", "messages", "tasks", "debug", "checkpoints", "custom", "tools"],
    )
]


def expected() -> dict[str, Any]:
    """What the scripted agent says, whoever dumps it."""
    usage = {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}
    failed = "Error: ZeroDivisionError('integer division or modulo by zero')\n Please fix your mistakes."
    calls = [("c_add", "add", {"a": 1, "b": 2}, "complete"), ("c_div", "divide", {"a": 1}, "complete")]
    return {
        "messages": [("Let me see.", "tool_calls", usage, calls, []), ("It is 3.", "stop", usage, [], [])],
        "answers": Counter([("c_add", "add", "3", "success"), ("c_div", "divide", failed, "error")]),
        "pairings": [
            ("c_add", "add", "answered", "success", ("c_add", "add")),
            ("c_div", "divide", "error", "error", ("c_div", "divide")),
        ],
        "findings": [],
    }


@pytest.mark.parametrize(("graph", "subgraphs", "mode"), STREAMED, ids=str)
def test_every_mode_of_a_live_graph_says_the_same(graph: str, subgraphs: bool, mode: Any) -> None:
    stream = GRAPHS[graph]().astream(live_agent.question(), stream_mode=mode, subgraphs=subgraphs)
    assert essence(state_of(events_of(live_agent.dumped(stream)))) == expected()


def test_parts_of_version_2_of_a_live_graph_say_the_same() -> None:
    modes = ["values", "updates", "messages", "tasks"]
    stream = live_agent.outer().astream(live_agent.question(), stream_mode=modes, subgraphs=True, version="v2")
    dump = live_agent.dumped(stream)
    assert b'"ns": ["inner:' in dump
    assert essence(state_of(events_of(dump))) == expected()


def test_a_live_graph_at_every_event() -> None:
    stream = live_agent.agent().astream(live_agent.question(), stream_mode=["messages", "values"])
    hold(events_of(live_agent.dumped(stream)))


def test_the_shipped_recording_at_every_event() -> None:
    hold(events_of(CASSETTES / "agent-modes.jsonl"))


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_both_versions_of_a_live_graphs_events_say_the_same(version: str) -> None:
    stream = live_agent.agent().astream_events(live_agent.question(), version=version)
    assert essence(state_of(events_of(live_agent.dumped(stream)))) == expected()


def partial_events() -> list[Event]:
    """What LangGraph's server makes of the mode `messages`, by its own rules: whole messages so far."""
    stream = live_agent.agent().astream(live_agent.question(), stream_mode="messages")
    known: dict[str, Any] = {}
    blocks = []

    def tell(name: str, data: Any) -> None:
        blocks.append(f"event: {name}\ndata: {json.dumps(data)}\n\n")

    async def run() -> None:
        async for message, metadata in stream:
            if message.id in known:
                known[message.id] += message
            else:
                known[message.id] = message
                tell("messages/metadata", {message.id: {"metadata": live_agent.plain(metadata)}})
            whole = known[message.id]
            chunk = isinstance(message, messages.AIMessageChunk)
            shown = messages.message_chunk_to_message(whole) if chunk else whole
            tell("messages/partial" if chunk else "messages/complete", [shown.model_dump()])

    live_agent.asyncio.run(run())
    return events_of("".join(blocks).encode())


def test_the_servers_messages_so_far_say_the_same() -> None:
    events = partial_events()
    assert {event.dialect for event in events} == {"langgraph"}
    assert essence(state_of(events)) == expected()
    texts = [state_of(events, n)["messages"] for n in (2, 3)]
    assert [found[0]["text"] for found in texts] == ["Let me ", "Let me see."]


def test_a_last_chunk_without_a_reason_finishes_a_message() -> None:
    turn = [live_agent.piece(0, '{"a": 1}', "c1", "f")]
    stream = live_agent.agent([turn, live_agent.ANSWER]).astream(live_agent.question(), stream_mode="messages")
    events = events_of(live_agent.dumped(stream))
    states = [state_of(events, n)["messages"][0]["calls"][0]["state"] for n in (1, 2)]
    assert states == ["open", "complete"]


@pytest.mark.parametrize("mode", ["messages", ["messages", "tasks"], ["messages", "values"]])
def test_a_model_that_broke_off_and_was_replaced_is_cut_off(mode: Any) -> None:
    stream = live_agent.falling_back().astream(live_agent.question(), stream_mode=mode)
    state = state_of(events_of(live_agent.dumped(stream)))
    assert [[(call["id"], call["state"]) for call in each["calls"]] for each in state["messages"]] == [
        [("c1", "truncated")],
        [("c2", "complete")],
        [],
    ]
    assert [each["rule"] for each in state["findings"]] == ["missing-terminator"]
    assert [(row["call_id"], row["status"]) for row in state["pairings"]] == [("c1", "open"), ("c2", "answered")]


def test_an_interrupted_graph_leaves_its_call_open() -> None:
    from langgraph.checkpoint.memory import InMemorySaver

    graph = live_agent.agent(checkpointer=InMemorySaver(), interrupt_before=["tools"])
    thread = {"configurable": {"thread_id": "1"}}
    modes = ["messages", "updates", "values", "checkpoints", "debug"]
    dump = live_agent.dumped(graph.astream(live_agent.question(), thread, stream_mode=modes))
    assert b"__interrupt__" in dump
    state = state_of(events_of(dump))
    assert [row["status"] for row in state["pairings"]] == ["open", "open"]
    assert [call["state"] for call in state["messages"][0]["calls"]] == ["complete", "complete"]
    resumed = dump + live_agent.dumped(graph.astream(None, thread, stream_mode=modes))
    assert essence(state_of(events_of(resumed))) == expected()
