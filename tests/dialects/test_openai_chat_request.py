from __future__ import annotations

from typing import Any

from recorder.deltas import History, HistoryAnswer, HistoryCall
from recorder.dialects import get
from tests.dialects.wire import decode_events, of, request, rules

CHAT = get("openai.chat")


def test_a_requests_calls_and_answers_come_in_its_order() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
    custom = {"id": "call_2", "type": "custom", "custom": {"name": "sh", "input": "ls"}}
    messages = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "u"},
        {"role": "assistant", "content": None, "tool_calls": [call, custom, "odd"]},
        {"role": "tool", "tool_call_id": "call_1", "content": "1"},
        {"role": "tool", "tool_call_id": "call_2", "content": [{"type": "text", "text": "x"}], "name": "sh"},
        {"role": "assistant", "content": None, "function_call": {"name": "old", "arguments": "{}"}},
        {"role": "function", "name": "old", "content": "2"},
        "odd",
    ]
    (history,) = of(History, decode_events(CHAT, [request(CHAT, {"messages": messages})]))
    assert history.source == "request"
    assert history.entries == [
        HistoryCall(id="call_1", name="add", args='{"a": 1}'),
        HistoryCall(id="call_2", name="sh", args="ls", free_text=True),
        HistoryAnswer(tool_call_id="call_1", content="1"),
        HistoryAnswer(tool_call_id="call_2", content=[{"type": "text", "text": "x"}], name="sh"),
        HistoryCall(id=None, name="old", args="{}", legacy=True),
        HistoryAnswer(tool_call_id=None, content="2", name="old"),
    ]


def test_a_request_without_calls_has_no_history() -> None:
    deltas = decode_events(CHAT, [request(CHAT, {"messages": [{"role": "user", "content": "u"}]})])
    assert of(History, deltas) == []


def test_a_forced_tool_is_noted() -> None:
    named = {"type": "function", "function": {"name": "add"}}
    some = {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [named]}}
    forcing: list[Any] = ["required", named, some]
    leaving: list[Any] = ["auto", "none", None, {"type": "allowed_tools", "allowed_tools": {"mode": "auto"}}]
    for choice in forcing:
        assert rules(decode_events(CHAT, [request(CHAT, {"tool_choice": choice})])) == ["forced-tool-choice"]
    for choice in leaving:
        assert rules(decode_events(CHAT, [request(CHAT, {"tool_choice": choice})])) == []


def test_a_forced_legacy_function_is_noted() -> None:
    for choice, told in (({"name": "add"}, ["forced-tool-choice"]), ("auto", []), ("none", []), ({}, [])):
        assert rules(decode_events(CHAT, [request(CHAT, {"function_call": choice})])) == told
