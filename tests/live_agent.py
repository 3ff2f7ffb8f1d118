"""A LangGraph agent around a model that says what it is told, and its streams as JSON lines, as a user dumps them."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

pytest.importorskip("langgraph")

from langchain_core.language_models import BaseChatModel
from langchain_core.load import Serializable, dumpd
from langchain_core.messages import AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.messages.utils import message_chunk_to_message
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

Turn = list[AIMessageChunk]


class Scripted(BaseChatModel):
    """Streams `turns[n]` after n rounds of tools; `fails`: raises behind what it streamed."""

    turns: list[Turn]
    fails: bool = False

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _turn(self, messages: list[Any]) -> Turn:
        answered = {message.tool_call_id for message in messages if isinstance(message, ToolMessage)}
        return self.turns[min(len(answered), 1) if len(self.turns) > 1 else 0]

    def _generate(self, messages: list[Any], stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        total: Any = None
        for chunk in self._turn(messages):
            total = chunk if total is None else total + chunk
        return ChatResult(generations=[ChatGeneration(message=message_chunk_to_message(total))])

    async def _astream(
        self, messages: list[Any], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in self._turn(messages):
            yield ChatGenerationChunk(message=chunk.model_copy(deep=True))
        if self.fails:
            raise ValueError("the connection was lost")


def piece(index: int, args: str, id: str | None = None, name: str | None = None) -> AIMessageChunk:
    return AIMessageChunk(content="", tool_call_chunks=[tool_call_chunk(name=name, args=args, id=id, index=index)])


def finish(reason: str) -> AIMessageChunk:
    usage = {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}
    return AIMessageChunk(content="", response_metadata={"finish_reason": reason}, usage_metadata=usage)  # type: ignore[arg-type]


CALLING: Turn = [
    AIMessageChunk(content="Let me "),
    AIMessageChunk(content="see."),
    piece(0, "", "c_add", "add"),
    piece(1, '{"a"', "c_div", "divide"),
    piece(0, '{"a": 1, "b"'),
    piece(1, ": 1}"),
    piece(0, ": 2}"),
    finish("tool_calls"),
]
ANSWER: Turn = [AIMessageChunk(content="It is "), AIMessageChunk(content="3."), finish("stop")]


@tool
def add(a: int, b: int) -> int:
    """Adds."""
    return a + b


@tool
def divide(a: int) -> int:
    """Fails."""
    return a // 0


def agent(turns: list[Turn] | None = None, **compiling: Any) -> Any:
    """A model and its tools in a circle."""
    model = Scripted(turns=turns or [CALLING, ANSWER])

    async def call_model(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", call_model)
    graph.add_node("tools", ToolNode([add, divide], handle_tool_errors=True))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile(name="agent", **compiling)


def outer() -> Any:
    """A graph whose one node is the agent."""
    graph = StateGraph(MessagesState)
    graph.add_node("inner", agent())
    graph.add_edge(START, "inner")
    return graph.compile(name="outer")


def falling_back() -> Any:
    """An agent whose first model breaks off behind a whole call; another one answers in its place."""
    broken = Scripted(turns=[[piece(0, '{"a": 1, "b": 1}', "c1", "add")]], fails=True)
    whole = Scripted(turns=[[piece(0, '{"a": 1, "b": 2}', "c2", "add"), finish("tool_calls")], ANSWER])

    async def call_model(state: MessagesState) -> dict[str, Any]:
        model = whole if isinstance(state["messages"][-1], ToolMessage) else broken.with_fallbacks([whole])
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", call_model)
    graph.add_node("tools", ToolNode([add]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile()


def question() -> MessagesState:
    return MessagesState(messages=[HumanMessage("1 + 2?", id="h1")])


def plain(value: Any) -> Any:
    """LangChain's own form for its objects, the text of what has none."""
    if isinstance(value, Serializable):
        return dumpd(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value if value is None or isinstance(value, str | int | float | bool) else repr(value)


def dumped(stream: Any) -> bytes:
    """A line a part, of an async iterator or of a coroutine that gives one; what it raised is left out."""

    async def lines() -> list[str]:
        parts = await stream if asyncio.iscoroutine(stream) else stream
        found = []
        try:
            async for part in parts:
                found.append(json.dumps(plain(part)))
        except ValueError:
            pass
        return found

    with warnings.catch_warnings():
        # Version v1 is deprecated, version v3 is in beta.
        warnings.simplefilter("ignore")
        return ("\n".join(asyncio.run(lines())) + "\n").encode()
