"""What a generateContent request tells of the turns before it."""

from __future__ import annotations

from typing import Any

import pytest

from recorder.deltas import History, HistoryAnswer, HistoryCall
from recorder.dialects import get
from tests.dialects.wire import decode_events, of, request, rules

GEMINI = get("gemini")
CALL = {"functionCall": {"id": "c1", "name": "f", "args": {"a": 1}}, "thoughtSignature": "s"}
ANSWER = {"functionResponse": {"id": "c1", "name": "f", "response": {"output": "ok"}}}


def entries(body: Any) -> list[HistoryCall | HistoryAnswer]:
    return [
        entry for history in of(History, decode_events(GEMINI, [request(GEMINI, body)])) for entry in history.entries
    ]


def body(*parts: Any) -> dict[str, Any]:
    return {"contents": [{"role": "user", "parts": [{"text": "hi"}]}, *({"parts": [part]} for part in parts)]}


@pytest.mark.parametrize(
    ("part", "entry"),
    [
        (CALL, HistoryCall(id="c1", name="f", args='{"a":1}')),
        ({"function_call": {"name": "f", "args": {}}}, HistoryCall(id=None, name="f", args="{}")),
        ({"functionCall": {"name": "f"}}, HistoryCall(id=None, name="f", args="")),
        (ANSWER, HistoryAnswer(tool_call_id="c1", name="f", content={"output": "ok"})),
        (
            {"function_response": {"name": "f", "response": {"error": "no such city"}}},
            HistoryAnswer(tool_call_id=None, name="f", content={"error": "no such city"}, status="error"),
        ),
        (
            {"functionResponse": {"name": "f", "response": {"error": None}}},
            HistoryAnswer(tool_call_id=None, name="f", content={"error": None}),
        ),
        (
            {"executableCode": {"language": "PYTHON", "code": "1"}},
            HistoryCall(id=None, name="code_execution", args='{"language":"PYTHON","code":"1"}', executor="server"),
        ),
        (
            {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
            HistoryAnswer(tool_call_id=None, name="code_execution", content="1"),
        ),
        (
            {"toolCall": {"id": "t", "toolType": "URL_CONTEXT"}},
            HistoryCall(id="t", name="URL_CONTEXT", args="", executor="server"),
        ),
        (
            {"toolResponse": {"id": "t", "toolType": "URL_CONTEXT", "response": {"a": 1}}},
            HistoryAnswer(tool_call_id="t", name="URL_CONTEXT", content={"a": 1}),
        ),
    ],
)
def test_calls_and_answers_are_history(part: Any, entry: HistoryCall | HistoryAnswer) -> None:
    assert entries(body(part)) == [entry]


def test_history_keeps_its_order() -> None:
    found = entries(body(CALL, ANSWER, CALL))
    assert [type(entry) for entry in found] == [HistoryCall, HistoryAnswer, HistoryCall]


def test_one_content_stands_for_a_list_of_one() -> None:
    assert len(entries({"contents": {"parts": [CALL]}})) == 1


def test_code_assists_wrapper_is_taken_off() -> None:
    assert len(entries({"model": "m", "project": "p", "request": body(CALL, ANSWER)})) == 2


def test_a_request_without_calls_says_nothing() -> None:
    assert entries(body()) == []
    assert rules(decode_events(GEMINI, [request(GEMINI, body())])) == []


@pytest.mark.parametrize(
    ("config", "forced"),
    [
        ({"mode": "ANY"}, "'any'"),
        ({"mode": "any", "allowedFunctionNames": ["f", "g"]}, "'any'"),
        ({"mode": "ANY", "allowed_function_names": ["f"]}, "'f'"),
        ({"mode": "AUTO", "allowedFunctionNames": ["f"]}, None),
        ({"mode": "VALIDATED"}, None),
        ({}, None),
    ],
)
def test_a_forced_tool_is_a_finding(config: dict[str, Any], forced: str | None) -> None:
    for spelled in (
        {"toolConfig": {"functionCallingConfig": config}},
        {"tool_config": {"function_calling_config": config}},
    ):
        deltas = decode_events(GEMINI, [request(GEMINI, {**body(), **spelled})])
        details = [each.detail for each in deltas if getattr(each, "rule", "") == "forced-tool-choice"]
        assert details == ([] if forced is None else [f"the request forces tool {forced}"])
