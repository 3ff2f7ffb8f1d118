"""One short conversation of a LangGraph agent in LangChain's other streams: events v1 and v3, and stream modes."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import AsyncIterator
from typing import Any

from langchain_core.messages import AIMessageChunk, HumanMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolCallTransformer, ToolNode, tools_condition

from recordings.langchain_dump import dump
from recordings.scripted_model import ScriptedChat, finish, head, piece

QUESTION = "Is it warmer in Almería than in Oulu?"
FIRST_MOMENT = 1_700_000_000_000
TURNS = [
    [
        AIMessageChunk(content="Let me "),
        AIMessageChunk(content="look."),
        head(0, "call_rec0401", "get_temperature"),
        head(1, "call_rec0402", "get_temperature"),
        piece(0, '{"city": "Alm'),
        piece(1, '{"city": '),
        piece(0, r"er\u00eda"),
        piece(1, '"Oulu"}'),
        piece(0, '"}'),
        finish("tool_calls", prompt=61, completion=24),
    ],
    [
        AIMessageChunk(content="Yes: 24 degrees "),
        AIMessageChunk(content="against 3."),
        finish("stop", prompt=104, completion=9),
    ],
]


@tool
async def get_temperature(city: str) -> int:
    """The temperature in a city, in degrees Celsius."""
    # One is done long before the other, so that their ends come in the same order in every run.
    degrees, seconds = {"Almería": (24, 0.0), "Oulu": (3, 0.25)}[city]
    await asyncio.sleep(seconds)
    return degrees


def agent_v1() -> bytes:
    """`langchain.v2` in version v1: no parents, and results where version v2 has messages."""
    return _dump(lambda: _agent().astream_events(_start(), version="v1"))


def model_v3() -> bytes:
    """`langchain.v3` of a model: the content blocks of one message."""
    return _dump(lambda: _opened(ScriptedChat(turns=TURNS).astream_events(QUESTION, version="v3")))


def agent_v3() -> bytes:
    """`langchain.v3` of a graph: the same blocks in protocol events, tools, and the graph's state."""
    agent = _agent(transformers=[ToolCallTransformer])
    return _dump(lambda: _at_fixed_times(_opened(agent.astream_events(_start(), version="v3"))))


def agent_modes() -> bytes:
    """`langgraph`: pairs of mode and data."""
    modes = ["messages", "updates", "tasks", "values"]
    return _dump(lambda: _agent().astream(_start(), stream_mode=modes))


def _agent(**compiling: Any) -> Any:
    model = ScriptedChat(turns=TURNS)

    async def call_model(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", call_model)
    graph.add_node("tools", ToolNode([get_temperature]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile(name="agent", **compiling)


def _start() -> MessagesState:
    return MessagesState(messages=[HumanMessage(QUESTION, id="human-1")])


def _dump(stream: Any) -> bytes:
    with warnings.catch_warnings():
        # Version v1 is deprecated, version v3 is in beta.
        warnings.simplefilter("ignore")
        return asyncio.run(dump(stream()))


async def _opened(stream: Any) -> AsyncIterator[Any]:
    """The events of version v3, whose stream is to be awaited first."""
    async for event in await stream:
        yield event


async def _at_fixed_times(events: AsyncIterator[Any]) -> AsyncIterator[Any]:
    """The events a millisecond apart, whenever they really came."""
    position = 0
    async for event in events:
        yield {**event, "params": {**event["params"], "timestamp": FIRST_MOMENT + position}}
        position += 1
