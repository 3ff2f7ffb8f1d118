from __future__ import annotations

from typing import Any

import pytest

from recorder.deltas import History, HistoryAnswer, HistoryCall, ToolMessage
from recorder.dialects.langchain_walk import answers_of_tool, entries_in

CALL = {"name": "add", "args": {"a": 1}, "id": "call_1"}
AI = {"type": "ai", "content": "", "id": "m1", "tool_calls": [CALL]}
CHUNK = {"type": "AIMessageChunk", "content": "", "tool_calls": [{"name": "", "args": {"a": 1}, "id": None}]}
TOOL = {"type": "tool", "content": "2", "tool_call_id": "call_1"}
KEPT = {**TOOL, "id": "t1"}


def summary(value: Any, **options: Any) -> list[str]:
    return [
        f"call {entry.id}" if isinstance(entry, HistoryCall) else f"answer {entry.tool_call_id}"
        for entry in entries_in(value, **options)
    ]


@pytest.mark.parametrize(
    "value",
    [
        [AI, TOOL],
        {"messages": [{"role": "user", "content": "u"}, AI, TOOL]},
        {"node": {"messages": [AI, TOOL]}, "n": 3},
        {"messages": [[AI, TOOL]]},
        [{"update": {"messages": [AI, TOOL]}, "goto": []}],
        {"lc": 1, "type": "constructor", "id": ["x", "ChatPromptValue"], "kwargs": {"messages": [AI, TOOL]}},
    ],
)
def test_messages_are_found_wherever_they_stand(value: Any) -> None:
    assert summary(value) == ["call call_1", "answer call_1"]


def test_a_conversation_that_stands_there_twice_counts_once() -> None:
    later = {**TOOL, "tool_call_id": "call_2"}
    assert summary([[AI, TOOL], {"messages": [AI, KEPT, later]}]) == ["call call_1", "answer call_1", "answer call_2"]


def test_an_answer_given_twice_in_one_conversation_counts_twice() -> None:
    assert summary([[AI, TOOL, TOOL], [AI, TOOL]]) == ["call call_1", "answer call_1", "answer call_1"]


def test_a_piece_of_a_streamed_message_has_no_calls_yet() -> None:
    assert summary(CHUNK, pieces=True) == []
    assert summary({"branch": CHUNK}, pieces=True) == []
    whole = {**CHUNK, "tool_calls": [CALL]}
    assert summary({"node": {"messages": [whole]}}, pieces=True) == ["call call_1"]
    assert summary(whole) == ["call call_1"]


def test_what_an_artifact_holds_is_another_conversation() -> None:
    assert summary([{**TOOL, "artifact": {"messages": [AI]}}]) == ["answer call_1"]


def test_a_value_of_any_depth_is_walked() -> None:
    value: Any = [AI]
    for _ in range(50_000):
        value = {"a": [value]}
    assert summary(value) == ["call call_1"]


COMMANDS = [
    {"__command__": {"graph": None, "update": {"messages": [TOOL]}, "resume": None, "goto": []}},
    {
        "lc": 1,
        "type": "constructor",
        "id": ["langgraph", "types", "Command"],
        "kwargs": {"update": {"messages": [TOOL]}},
    },
    {"lg_name": "Command", "update": {"messages": [TOOL]}},
    {"graph": None, "update": {"messages": [TOOL]}, "goto": "x", "resume": None},
]


@pytest.mark.parametrize("output", [TOOL, [TOOL], *COMMANDS, [COMMANDS[0]]], ids=str)
def test_a_tools_output_is_its_answer(output: Any) -> None:
    (answer,) = answers_of_tool("r", output)
    assert isinstance(answer, ToolMessage)
    assert (answer.run_id, answer.tool_call_id, answer.content) == ("r", "call_1", "2")


OTHER = {**TOOL, "tool_call_id": "call_2"}


@pytest.mark.parametrize("conversation", [[AI, TOOL, OTHER], [TOOL, OTHER]], ids=["with the calls", "answers only"])
def test_a_command_that_hands_over_a_conversation_restates_it(conversation: list[Any]) -> None:
    (history,) = answers_of_tool("r", {"__command__": {"update": {"messages": conversation}}})
    assert isinstance(history, History)
    assert history.source == "event"
    answers = [entry.tool_call_id for entry in history.entries if isinstance(entry, HistoryAnswer)]
    assert answers == ["call_1", "call_2"]


@pytest.mark.parametrize(
    "output", ["3", 3, None, {"messages": [TOOL]}, ["a"], {"type": "human", "content": "x"}], ids=str
)
def test_an_output_that_is_no_message_answers_nothing(output: Any) -> None:
    assert answers_of_tool("r", output) == []
