"""A LangGraph agent's run as `astream_events` gives it: two tools side by side, a tool that fails, an answer."""

from __future__ import annotations

import asyncio
from typing import Any

from langchain_core.messages import AIMessageChunk, HumanMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from recordings.langchain_dump import dump
from recordings.scripted_model import ScriptedChat, finish, head, piece


@tool
async def get_weather(city: str, days: int = 1) -> dict[str, Any]:
    """The forecast for a city."""
    # It answers after `multiply` does, so that events and calls stand in different orders.
    for _ in range(20):
        await asyncio.sleep(0)
    return {"city": city, "days": days, "sky": "sunny", "celsius": 24}


@tool
async def multiply(a: int, b: int) -> int:
    """Multiplies a and b."""
    return a * b


@tool
async def divide(a: int, b: int) -> float:
    """Divides a by b."""
    return a / b


TURNS = [
    [
        AIMessageChunk(content="Let me "),
        AIMessageChunk(content="work that out."),
        head(0, "call_rec0101", "get_weather"),
        head(1, "call_rec0102", "multiply"),
        piece(0, '{"city": "Alm'),
        piece(1, '{"a": 6'),
        piece(0, r"er\u00"),
        piece(0, 'eda", "da'),
        piece(1, ', "b": 7}'),
        piece(0, 'ys": 2}'),
        finish("tool_calls", prompt=120, completion=41),
    ],
    [
        head(0, "call_rec0103", "divide"),
        piece(0, '{"a": 42, '),
        piece(0, '"b": 0}'),
        finish("tool_calls", prompt=190, completion=18),
    ],
    [
        *(
            AIMessageChunk(content=text)
            for text in ("Sunny in Almería; ", "6 times 7 is 42, ", "and 42 / 0 has no value.")
        ),
        finish("stop", prompt=230, completion=22),
    ],
]


def jsonl() -> bytes:
    """`langchain.v2`, everything from the graph's start to its end."""
    model = ScriptedChat(turns=TURNS)

    async def call_model(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", call_model)
    graph.add_node("tools", ToolNode([get_weather, multiply, divide], handle_tool_errors=True))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    agent = graph.compile(name="agent")

    question = "The weather in Almería for two days, 6 * 7, and that divided by 0?"
    start = MessagesState(messages=[HumanMessage(question, id="human-1")])
    return asyncio.run(dump(agent.astream_events(start, version="v2")))
