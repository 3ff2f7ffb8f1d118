from __future__ import annotations

from recorder.deltas import History, HistoryAnswer, HistoryCall
from recorder.dialects import get
from tests.dialects.wire import decode_events, of, request, rules

MESSAGES = get("anthropic.messages")


def test_a_requests_calls_and_results_come_in_its_order() -> None:
    messages = [
        {"role": "user", "content": "u"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "t"},
                {"type": "server_tool_use", "id": "srv_1", "name": "search", "input": {"q": "x"}},
                {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": {"type": "a_error"}},
                {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {"a": 1}},
                {"type": "tool_use", "id": "toolu_2", "name": "now", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_2", "content": [{"type": "text", "text": "x"}]},
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "no", "is_error": True},
                "odd",
            ],
        },
    ]
    (history,) = of(History, decode_events(MESSAGES, [request(MESSAGES, {"messages": messages})]))
    assert history.entries == [
        HistoryCall(id="srv_1", name="search", args='{"q":"x"}', executor="server"),
        HistoryAnswer(tool_call_id="srv_1", content={"type": "a_error"}, status="error"),
        HistoryCall(id="toolu_1", name="add", args='{"a":1}'),
        HistoryCall(id="toolu_2", name="now", args="{}"),
        HistoryAnswer(tool_call_id="toolu_2", content=[{"type": "text", "text": "x"}]),
        HistoryAnswer(tool_call_id="toolu_1", content="no", status="error"),
    ]


def test_a_forced_tool_is_noted() -> None:
    for choice in ({"type": "any"}, {"type": "tool", "name": "add"}):
        assert rules(decode_events(MESSAGES, [request(MESSAGES, {"tool_choice": choice})])) == ["forced-tool-choice"]
    assert rules(decode_events(MESSAGES, [request(MESSAGES, {"tool_choice": {"type": "auto"}})])) == []
