"""Events of version v1, which `langchain.v2` reads: the library's own, and how failed runs look in them."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from recorder.deltas import (
    Failure,
    Finding,
    History,
    MessageClosed,
    MessageFinished,
    Restatement,
    RunEnded,
    RunStarted,
    ToolMessage,
)
from recorder.dialects import get
from tests.dialects.wire import decode_frames, of, rules

live_agent = pytest.importorskip("tests.live_agent")
runnables = pytest.importorskip("langchain_core.runnables")

LANGCHAIN = get("langchain.v2")
CALL = [live_agent.piece(0, "", "c1", "f"), live_agent.piece(0, '{"a": 1}')]


def lines(runnable: Any, given: Any = "hi", version: str = "v1") -> list[Any]:
    dump = live_agent.dumped(runnable.astream_events(given, version=version))
    return [json.loads(line) for line in dump.splitlines() if line]


def nested(model: Any, method: str) -> Any:
    """A function that asks the model, and has another answer where it fails."""

    async def ask(question: str, config: Any) -> Any:
        try:
            if method == "ainvoke":
                return await model.ainvoke(question, config=config)
            return [chunk async for chunk in model.astream(question, config=config)][-1]
        except ValueError:
            return "another answer"

    return runnables.RunnableLambda(ask)


def ended(deltas: list[Any], kind: str = "model") -> list[tuple[str, bool]]:
    return [(each.status, each.terminated) for each in of(RunEnded, deltas) if each.kind == kind]


@pytest.mark.parametrize("method", ["ainvoke", "astream"])
@pytest.mark.parametrize("reason", [True, False])
def test_the_end_of_a_nested_model_has_the_whole_message_in_a_result(method: str, reason: bool) -> None:
    turn = [*CALL, live_agent.finish("tool_calls")] if reason else CALL
    events = lines(nested(live_agent.Scripted(turns=[turn]), method))
    (end,) = [each for each in events if each["event"] == "on_chat_model_end"]
    assert "generations" in end["data"]["output"]
    deltas = decode_frames(LANGCHAIN, *events)
    assert [[call["args"] for call in each.calls] for each in of(Restatement, deltas)] == [[{"a": 1}]]
    assert ended(deltas) == [("ok", True)]
    assert len(of(MessageClosed, deltas)) == 1
    assert [each.finish_reason for each in of(MessageFinished, deltas)] == (["tool_calls"] if reason else [])


def test_a_failed_model_ends_without_a_generation() -> None:
    events = lines(nested(live_agent.Scripted(turns=[CALL], fails=True), "ainvoke"))
    (end,) = [each for each in events if each["event"] == "on_chat_model_end"]
    assert end["data"]["output"]["generations"] == [[]]
    deltas = decode_frames(LANGCHAIN, *events)
    assert ended(deltas) == [("error", True)]
    assert of(MessageClosed, deltas) == []
    assert len(of(Failure, deltas)) == 1


def test_a_failed_stream_ends_with_what_had_come() -> None:
    events = lines(nested(live_agent.Scripted(turns=[CALL], fails=True), "astream"))
    (end,) = [each for each in events if each["event"] == "on_chat_model_end"]
    (partial,), error = end["data"]["output"]["generations"]
    assert partial["message"]["kwargs"]["tool_calls"][0]["args"] == {"a": 1}
    assert error == []
    deltas = decode_frames(LANGCHAIN, *events)
    assert ended(deltas) == [("error", True)]
    assert len(of(Restatement, deltas)) == 1
    assert of(MessageClosed, deltas) == []


class Refused(ValueError):
    """As the clients of providers raise it."""

    @property
    def response(self) -> Any:
        refusal = {"error": {"type": "rate_limit", "message": "slow down"}}
        return SimpleNamespace(status_code=429, headers={"x": "y"}, json=lambda: refusal)


class Refusing(live_agent.Scripted):  # type: ignore[name-defined, misc]
    async def _astream(self, *args: Any, **kwargs: Any) -> Any:
        raise Refused("429")
        yield


@pytest.mark.parametrize("method", ["ainvoke", "astream"])
def test_a_refused_request_ends_with_an_answer_made_of_the_refusal(method: str) -> None:
    deltas = decode_frames(LANGCHAIN, *lines(nested(Refusing(turns=[CALL]), method)))
    assert ended(deltas) == [("error", True)]
    assert [each.error for each in of(Failure, deltas)] == ["HTTP 429: rate_limit: slow down"]
    assert of(Restatement, deltas) == []


@pytest.mark.parametrize("output", [None, {"generations": [[]]}, {"generations": []}])
def test_an_output_that_is_none_is_a_failure(output: Any) -> None:
    event = {"event": "on_chat_model_end", "run_id": "m", "name": "n", "data": {"output": output}}
    assert ended(decode_frames(LANGCHAIN, event)) == [("error", True)]


def test_chunks_that_nothing_said_were_all_are_cut_off() -> None:
    """As langchain-core ended a failed stream before 0.3."""
    message = {"type": "AIMessageChunk", "content": "a"}
    output = {"generations": [[{"type": "ChatGenerationChunk", "message": message}]]}
    deltas = decode_frames(LANGCHAIN, {"event": "on_chat_model_end", "run_id": "m", "data": {"output": output}})
    assert ended(deltas) == [("ok", False)]
    assert rules(deltas) == ["missing-terminator"]


def test_an_end_without_an_output_leaves_what_was_streamed() -> None:
    event = {"event": "on_chat_model_end", "run_id": "m", "name": "n", "data": {}}
    assert ended(decode_frames(LANGCHAIN, event)) == [("ok", True)]


@pytest.mark.parametrize(
    "generation",
    [
        {"type": "ChatGeneration", "message": {"type": "ai", "content": "a"}},
        {
            "type": "ChatGenerationChunk",
            "message": {"type": "AIMessageChunk", "content": "a", "chunk_position": "last"},
        },
        {
            "type": "ChatGenerationChunk",
            "message": {"type": "AIMessageChunk"},
            "generation_info": {"finish_reason": "x"},
        },
        {"text": "a", "message": {"type": "AIMessageChunk", "content": "a"}},
    ],
    ids=["not streamed", "last chunk", "a reason", "JavaScript's"],
)
def test_what_was_said_to_be_whole_is_whole(generation: Any) -> None:
    event = {"event": "on_chat_model_end", "run_id": "m", "data": {"output": {"generations": [[generation]]}}}
    assert ended(decode_frames(LANGCHAIN, event)) == [("ok", True)]


def test_a_result_of_constructors_is_read_alike() -> None:
    message = {"lc": 1, "id": ["langchain", "AIMessageChunk"], "kwargs": {"content": "a", "tool_calls": []}}
    generation = {"lc": 1, "id": ["langchain", "ChatGenerationChunk"], "kwargs": {"message": message}}
    event = {"event": "on_chat_model_end", "run_id": "m", "data": {"output": {"generations": [[generation]]}}}
    assert ended(decode_frames(LANGCHAIN, event)) == [("ok", False)]


def test_a_root_tools_output_is_streamed_and_counts_once() -> None:
    call = {"name": "add", "args": {"a": 1, "b": 2}, "id": "c1", "type": "tool_call"}
    events = lines(live_agent.add, call)
    assert [each["event"] for each in events] == ["on_tool_start", "on_tool_stream", "on_tool_end"]
    deltas = decode_frames(LANGCHAIN, *events)
    assert [(each.tool_call_id, each.content) for each in of(ToolMessage, deltas)] == [("c1", "3")]
    assert of(History, deltas) == []
    assert of(Finding, deltas) == []


def test_runs_have_no_parents_but_all_else() -> None:
    deltas = decode_frames(LANGCHAIN, *lines(live_agent.agent(), live_agent.question()))
    runs = of(RunStarted, deltas)
    assert {each.parent_run_id for each in runs} == {None}
    assert {each.kind for each in runs} == {"chain", "model", "tool"}
    assert {each.run_id for each in runs} == {each.run_id for each in of(RunEnded, deltas)}
    assert rules(deltas) == []
