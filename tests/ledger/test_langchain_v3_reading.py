"""Version v3 against langchain-core's own stream object, which is given the same events, one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recorder.events import Event
from tests.streams import CASSETTES, Folding, events_of, state_of

live_agent = pytest.importorskip("tests.live_agent")
messages = pytest.importorskip("langchain_core.messages")
stream_module = pytest.importorskip("langchain_core.language_models.chat_model_stream")

Chunk, piece, finish = messages.AIMessageChunk, live_agent.piece, live_agent.finish
V1 = {"output_version": "v1"}


def blocks(*content: dict[str, Any]) -> Any:
    return Chunk(content=list(content), response_metadata=V1)


TURNS = {
    "text and interleaved calls": live_agent.CALLING,
    "text alone": live_agent.ANSWER,
    "a call without arguments": [piece(0, "", "c1", "f"), finish("tool_calls")],
    "a call that was cut off": [piece(0, '{"a": 1, "b": [2', "c1", "f"), finish("length")],
    "a call whose text goes on behind its end": [piece(0, '{"a": 1}{"b"', "c1", "f"), piece(0, ": 2}"), finish("stop")],
    "arguments cut inside of escapes": [
        piece(0, r'{"a": "\u00', "c1", "f"),
        piece(0, r"ed\ud83d"),
        piece(0, r'\ude00"}'),
        finish("tool_calls"),
    ],
    "thinking before a call": [
        blocks({"type": "reasoning", "reasoning": "Hm, ", "index": 0}),
        blocks({"type": "reasoning", "reasoning": "well.", "index": 0, "extras": {"signature": "s"}}),
        blocks({"type": "text", "text": "Two ", "index": 1}, {"type": "text", "text": "texts", "index": 2}),
        blocks({"type": "tool_call_chunk", "id": "c1", "name": "f", "args": '{"a"', "index": 3}),
        blocks({"type": "tool_call_chunk", "args": ": 1}", "index": 3}),
        finish("tool_calls"),
    ],
    "a tool that the server runs": [
        blocks({"type": "server_tool_call_chunk", "id": "s1", "name": "search", "args": '{"q"', "index": 0}),
        blocks({"type": "server_tool_call_chunk", "args": ': "x"}', "index": 0}),
        blocks({"type": "server_tool_result", "tool_call_id": "s1", "status": "success", "output": [1], "index": 1}),
        blocks({"type": "text", "text": "Found.", "index": 2, "annotations": [{"type": "citation", "url": "u"}]}),
        finish("stop"),
    ],
    "nothing": [finish("stop")],
}


def dump(turn: list[Any], **model: Any) -> bytes:
    stream = live_agent.Scripted(turns=[turn], **model).astream_events("hi", version="v3")
    found: bytes = live_agent.dumped(stream)
    return found


def so_far(stream: Any) -> tuple[str, dict[str, str]]:
    """The text, and the arguments of each call by its id, that the library has pushed to its readers."""
    args: dict[str, str] = {}
    for chunk in list(stream.tool_calls):
        args[chunk["id"]] = args.get(chunk["id"], "") + chunk["args"]
    return "".join(stream.text), args


def content(message: dict[str, Any], output: Any) -> tuple[list[Any], list[Any]]:
    """The blocks that are no calls of the client: as we show them, and as the library's message has them."""
    ours = [block for block in message["blocks"] if block["type"] != "tool_call"]
    calls = ("tool_call", "invalid_tool_call", "server_tool_call")
    theirs = [block for block in output.content if block["type"] not in calls]
    return ours, [{key: value for key, value in block.items() if key != "index"} for block in theirs]


def hold(events: list[Event]) -> None:
    library, fold = stream_module.ChatModelStream(), Folding()
    for event in events:
        library.dispatch(json.loads(event.body))
        fold.advance(event)
        text, args = so_far(library)
        shown = fold.state["messages"]
        assert "".join(each["text"] for each in shown) == text, event.seq
        calls = [call for each in shown for call in each["calls"] if call["executor"] == "client" and call["raw"]]
        assert {call["id"]: call["raw"] for call in calls} == args, event.seq
    output = library.output_message
    assert output is not None
    (message,) = fold.state["messages"]
    assert message["tool_calls"] == output.tool_calls
    assert [{**each, "error": None} for each in message["invalid_tool_calls"]] == [
        {**each, "error": None} for each in output.invalid_tool_calls
    ]
    assert [bool(each["error"]) for each in message["invalid_tool_calls"]] == [
        bool(each["error"]) for each in output.invalid_tool_calls
    ]
    assert message["text"] == output.text
    assert message["usage"] == output.usage_metadata
    assert message["message_id"] == output.id
    assert message["finish_reason"] == output.response_metadata["finish_reason"]
    ours, theirs = content(message, output)
    assert ours == theirs
    assert fold.state["findings"] == []


@pytest.mark.parametrize("name", TURNS)
def test_every_event_of_a_models_stream(name: str) -> None:
    events = events_of(dump(TURNS[name]))
    assert {event.dialect for event in events} == {"langchain.v3"}
    hold(events)


def test_every_event_of_the_shipped_recording() -> None:
    hold(events_of(CASSETTES / "model-v3.jsonl"))


@pytest.mark.parametrize(
    ("name", "states"),
    [
        ("text and interleaved calls", ["complete", "complete"]),
        ("a call without arguments", ["empty"]),
        ("a call that was cut off", ["truncated"]),
        ("a call whose text goes on behind its end", ["invalid"]),
        ("a tool that the server runs", ["complete"]),
    ],
)
def test_what_became_of_the_calls(name: str, states: list[str]) -> None:
    (message,) = state_of(events_of(dump(TURNS[name])))["messages"]
    assert [call["state"] for call in message["calls"]] == states


@pytest.mark.parametrize("gathering", ["langchain", "wire"])
def test_both_readings_gather_a_streams_calls(gathering: Any) -> None:
    (message,) = state_of(events_of(dump(live_agent.CALLING)), gathering=gathering)["messages"]
    assert [(call["id"], call["index"], call["raw"], call["state"]) for call in message["calls"]] == [
        ("c_add", 0, '{"a": 1, "b": 2}', "complete"),
        ("c_div", 1, '{"a": 1}', "complete"),
    ]


def test_a_stream_that_breaks_off_leaves_its_calls_open() -> None:
    (message,) = state_of(events_of(dump([piece(0, '{"a": 1}', "c1", "f")], fails=True)))["messages"]
    assert [call["state"] for call in message["calls"]] == ["open"]


def graph_state(source: Path | bytes) -> dict[str, Any]:
    events = events_of(source)
    assert {event.dialect for event in events} == {"langchain.v3"}
    return state_of(events)


def live_graph(graph: Any) -> bytes:
    found: bytes = live_agent.dumped(graph.astream_events(live_agent.question(), version="v3"))
    return found


@pytest.mark.parametrize("tools", [True, False])
def test_a_live_graph_answers_its_calls(tools: bool) -> None:
    from langgraph.prebuilt import ToolCallTransformer

    graph = live_agent.agent(transformers=[ToolCallTransformer] if tools else [])
    state = graph_state(live_graph(graph))
    assert [(each["text"], len(each["calls"])) for each in state["messages"]] == [("Let me see.", 2), ("It is 3.", 0)]
    assert [(row["call_id"], row["status"]) for row in state["pairings"]] == [("c_add", "answered"), ("c_div", "error")]
    assert len(state["tool_messages"]) == 2
    assert state["findings"] == []


def test_a_live_subgraph_answers_its_calls() -> None:
    state = graph_state(live_graph(live_agent.outer()))
    assert [(row["call_id"], row["status"]) for row in state["pairings"]] == [("c_add", "answered"), ("c_div", "error")]
    assert [len(each["calls"]) for each in state["messages"]] == [2, 0]


JAVASCRIPT = [
    ("lifecycle", {"event": "running", "graph_name": "root"}),
    (
        "values",
        {"messages": [{"lc": 1, "id": ["langchain_core", "messages", "HumanMessage"], "kwargs": {"content": "q"}}]},
    ),
    ("tasks", {"id": "t1", "name": "model", "input": {}, "triggers": ["x"], "interrupts": []}),
    ("lifecycle|model:t1", {"event": "started", "graph_name": "model"}),
    ("messages|model:t1", {"event": "message-start", "id": "run-1", "run_id": "1"}),
    (
        "messages|model:t1",
        {
            "event": "content-block-start",
            "index": 1,
            "content": {"type": "tool_call_chunk", "id": "c1", "name": "add", "args": "", "index": 1},
            "run_id": "1",
        },
    ),
    (
        "messages|model:t1",
        {
            "event": "content-block-delta",
            "index": 1,
            "delta": {"type": "tool-call-delta", "args": '{"a": 1}'},
            "run_id": "1",
        },
    ),
    (
        "messages|model:t1",
        {
            "event": "content-block-finish",
            "index": 1,
            "content": {"type": "tool_call", "id": "c1", "name": "add", "args": {"a": 1}},
            "run_id": "1",
        },
    ),
    ("messages|model:t1", {"event": "message-finish", "reason": "stop", "usage": {"input_tokens": 1}, "run_id": "1"}),
    ("tools|tools:t2", {"event": "tool-started", "tool_call_id": "c1", "tool_name": "add", "input": '{"a":1}'}),
    (
        "tools|tools:t2",
        {
            "event": "tool-finished",
            "tool_call_id": "c1",
            "output": {
                "lc": 1,
                "id": ["langchain_core", "messages", "ToolMessage"],
                "kwargs": {"content": "2", "tool_call_id": "c1", "name": "add", "status": "success"},
            },
        },
    ),
]


def test_javascripts_server_sent_events_name_method_and_namespace() -> None:
    data = "".join(f"event: {name}\ndata: {json.dumps(value)}\n\n" for name, value in JAVASCRIPT)
    state = graph_state(data.encode())
    (message,) = state["messages"]
    assert [(call["id"], call["raw"], call["state"]) for call in message["calls"]] == [("c1", '{"a": 1}', "complete")]
    assert [(row["call_id"], row["status"]) for row in state["pairings"]] == [("c1", "answered")]
    assert state["findings"] == []
