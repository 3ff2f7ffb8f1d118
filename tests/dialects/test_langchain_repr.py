"""Messages dumped with `default=str` are never taken for text, and told once a run; the library is the oracle."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.load import dumpd
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, LLMResult
from langchain_core.prompt_values import ChatPromptValue
from langchain_core.runnables import RunnableLambda

from recorder.deltas import Finding, MessageChunk, MessageClosed, Restatement, RunEnded
from recorder.dialects import get
from recorder.dialects.langchain_repr import MARK, is_message_repr
from tests.dialects.wire import decode_frames, frame, of, rules

LANGCHAIN = get("langchain.v2")
CALL = {"name": "add", "args": {"a": 1}, "id": "call_1"}
MESSAGES: list[BaseMessage] = [
    AIMessageChunk(content="thinking", id="run-1"),
    AIMessageChunk(content="", tool_call_chunks=[{"name": "add", "args": "{", "id": "1", "index": 0}]),
    AIMessage(content="it's", tool_calls=[CALL]),
    AIMessage(content=[{"type": "text", "text": "a"}]),
    HumanMessage(content='it\'s\n"both"', name="bob"),
    SystemMessage(content=""),
    FunctionMessage(content="2", name="add"),
    RemoveMessage(id="3"),
    ToolMessage(content="2", tool_call_id="call_1"),
    ToolMessage(content="2", tool_call_id="call_1", name="add", artifact={"a": 1}, status="error"),
]
AI = AIMessage(content="hi")
HOLDERS = [
    ChatPromptValue(messages=[HumanMessage(content="hi")]),
    LLMResult(generations=[[ChatGeneration(message=AI)]]),
    ChatGenerationChunk(message=AIMessageChunk(content="hi")),
]
TEXTS = [
    "",
    "hi",
    "content='hi'",
    "additional_kwargs={}",
    "What does AIMessage(content='hi', additional_kwargs={}) do?",
    "x=1; tool_call_id='a'",
    '{"content": "hi", "additional_kwargs": {}}',
]


class Unwritable:
    """As LangGraph's `Command` is to `dumpd`."""

    def __repr__(self) -> str:
        return f"Command(update={{'messages': [{AI!r}]}})"


def event(kind: str, data: Any, run_id: str = "m1") -> dict[str, Any]:
    dumped = {"event": kind, "run_id": run_id, "name": "n", "tags": [], "metadata": {}, "parent_ids": [], "data": data}
    return json.loads(json.dumps(dumped, default=str))  # type: ignore[no-any-return]


@pytest.mark.parametrize("value", [*MESSAGES, *HOLDERS, Unwritable()], ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("spell", [str, repr])
def test_what_langchain_prints_of_a_message_is_no_text(value: object, spell: Any) -> None:
    assert is_message_repr(spell(value))
    assert MARK in spell(value).encode()


@pytest.mark.parametrize("text", TEXTS)
def test_other_texts_are_texts(text: str) -> None:
    assert not is_message_repr(text)
    (said,) = of(MessageChunk, decode_frames(LANGCHAIN, event("on_chat_model_stream", {"chunk": text})))
    assert said.content == text


def test_a_models_chunks_are_not_added_and_told_once() -> None:
    chunks = [event("on_chat_model_stream", {"chunk": AIMessageChunk(content=text)}) for text in ("a", "b")]
    deltas = decode_frames(LANGCHAIN, *chunks, event("on_chat_model_end", {"output": AIMessage(content="ab")}))
    assert of(MessageChunk, deltas) == []
    assert of(Restatement, deltas) == []
    assert len(of(MessageClosed, deltas)) == len(of(RunEnded, deltas)) == 1
    (finding,) = of(Finding, deltas)
    assert (finding.rule, finding.severity, finding.run_id) == ("message-as-repr", "warning", "m1")
    assert finding.detail.endswith("the message was dumped as its repr: dump events with langchain_core.load.dumpd")


def test_every_run_is_told_of_on_its_own() -> None:
    chunk = {"chunk": AIMessageChunk(content="a")}
    deltas = decode_frames(
        LANGCHAIN, *(event("on_chat_model_stream", chunk, run_id) for run_id in ("m1", "m2", "m1", "m2"))
    )
    assert [finding.run_id for finding in of(Finding, deltas)] == ["m1", "m2"]


def test_what_is_known_of_a_run_goes_with_its_end() -> None:
    state = LANGCHAIN.start()
    for kind, data in (("on_chain_start", {"input": {"messages": [AI]}}), ("on_chain_end", {"output": [AI]})):
        state, _ = LANGCHAIN.step(state, frame(LANGCHAIN, event(kind, data, "c")))
    assert state.reprs == {}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("on_chain_start", {"input": {"messages": [HumanMessage(content="hi")]}}),
        ("on_chain_stream", {"chunk": {"agent": {"messages": [AI]}}}),
        ("on_chain_end", {"output": ChatPromptValue(messages=[HumanMessage(content="hi")])}),
        ("on_chat_model_start", {"input": {"messages": [[HumanMessage(content="hi")]]}}),
        ("on_tool_end", {"output": ToolMessage(content="2", tool_call_id="call_1")}),
        ("on_tool_end", {"output": [ToolMessage(content="2", tool_call_id="call_1")]}),
    ],
)
def test_histories_and_answers_of_tools_are_looked_at(kind: str, data: Any) -> None:
    assert rules(decode_frames(LANGCHAIN, event(kind, data))) == ["message-as-repr"]


def test_a_text_models_text_stays_text() -> None:
    text = str(AIMessageChunk(content="a"))
    deltas = decode_frames(LANGCHAIN, event("on_llm_stream", {"chunk": text}), event("on_llm_end", {"output": text}))
    assert [said.content for said in of(MessageChunk, deltas)] == [text]
    assert [said.content for said in of(Restatement, deltas)] == [text]
    assert rules(deltas) == []


def test_what_a_whole_message_says_is_its_own() -> None:
    message = {"type": "ai", "content": str(AI), "tool_calls": []}
    deltas = decode_frames(
        LANGCHAIN, event("on_chat_model_end", {"output": message}), event("on_chain_end", {"output": [message]}, "c")
    )
    assert rules(deltas) == []
    assert [said.content for said in of(Restatement, deltas)] == [str(AI)]


def test_what_dumpd_cannot_write_is_no_mistake_of_whoever_dumped() -> None:
    command = dumpd(Unwritable())
    assert is_message_repr(command["repr"])
    assert rules(decode_frames(LANGCHAIN, event("on_chain_stream", {"chunk": [command]}))) == []


def test_a_run_of_the_library_dumped_with_default_str() -> None:
    chain = RunnableLambda(lambda text: [HumanMessage(content=text)]) | GenericFakeChatModel(
        messages=iter([AIMessage(content="two words")])
    )

    async def run() -> list[str]:
        return [json.dumps(each, default=str) async for each in chain.astream_events("hi", version="v2")]

    deltas = decode_frames(LANGCHAIN, *asyncio.run(run()))
    told = [finding.run_id for finding in of(Finding, deltas) if finding.rule == "message-as-repr"]
    assert told
    assert len(told) == len(set(told))
    assert of(MessageChunk, deltas) == []
    assert rules(deltas) == ["message-as-repr"] * len(told)
