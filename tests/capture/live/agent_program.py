"""A LangGraph agent with parallel tools, one of which raises. Prints what it streamed, then what it held at the end."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from langchain_core.messages import AIMessageChunk, BaseMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition


@tool
def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"{city}: 7 degrees"


@tool
def get_time(city: str) -> str:
    """The time in a city."""
    raise ValueError(f"no clock in {city}")


def model() -> Any:
    if sys.argv[1] == "openai":
        from langchain_openai import ChatOpenAI

        return ChatOpenAI(base_url=os.environ["BASE"] + "/v1", api_key="planted-key", model="demo-1", max_retries=0)
    from langchain_anthropic import ChatAnthropic

    return ChatAnthropic(base_url=os.environ["BASE"], api_key="planted-key", model_name="demo-1", max_retries=0)


def shown(message: BaseMessage) -> dict[str, Any]:
    if isinstance(message, ToolMessage):
        return {"tool_call_id": message.tool_call_id, "content": message.content, "status": message.status}
    return {"id": message.id, "text": message.text, "tool_calls": getattr(message, "tool_calls", [])}


def main() -> None:
    tools = [get_weather, get_time]
    bound = model().bind_tools(tools)
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [bound.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode(tools, handle_tool_errors=True))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    held: list[BaseMessage] = []
    for mode, part in graph.compile().stream({"messages": [("user", "Oslo?")]}, stream_mode=["messages", "values"]):
        if mode == "values":
            held = part["messages"]
        elif isinstance(part[0], AIMessageChunk):
            print(json.dumps([part[0].text, part[0].tool_call_chunks]))
    print(json.dumps([shown(message) for message in held[1:]]))


if __name__ == "__main__":
    main()
