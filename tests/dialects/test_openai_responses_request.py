"""What a request repeats of the conversation, and what it forces."""

from __future__ import annotations

from typing import Any

import pytest

from recorder.deltas import Finding, History, HistoryAnswer, HistoryCall, RunStarted
from recorder.dialects import get
from tests.dialects.exchanges import pairings
from tests.dialects.responses import CREATED, call, done, ended
from tests.dialects.wire import decode_events, of, request

RESPONSES = get("openai.responses")


def entries(*items: Any) -> list[HistoryCall | HistoryAnswer]:
    deltas = decode_events(RESPONSES, [request(RESPONSES, {"model": "m", "input": list(items)})])
    return [entry for history in of(History, deltas) for entry in history.entries]


def test_calls_and_answers_come_in_their_order() -> None:
    output = [{"type": "input_text", "text": "rain"}]
    assert entries(
        {"role": "user", "content": "hi"},
        {"type": "reasoning", "summary": [], "encrypted_content": "x"},
        call("c1", '{"x":1}'),
        {"type": "function_call_output", "call_id": "c1", "output": output},
        {"type": "custom_tool_call", "call_id": "c2", "name": "sql", "input": "SELECT 1"},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "1"},
        {"type": "item_reference", "id": "fc_3"},
    ) == [
        HistoryCall(id="c1", name="get", args='{"x":1}'),
        HistoryAnswer(tool_call_id="c1", content=output),
        HistoryCall(id="c2", name="sql", args="SELECT 1", free_text=True),
        HistoryAnswer(tool_call_id="c2", content="1"),
    ]


def test_a_call_that_the_provider_ran_has_its_answer_within() -> None:
    assert entries({"type": "mcp_call", "id": "m", "name": "f", "arguments": "{}", "output": None, "error": "no"}) == [
        HistoryCall(id="m", name="f", args="{}", executor="server"),
        HistoryAnswer(tool_call_id="m", content="no", status="error"),
    ]


@pytest.mark.parametrize(
    ("item", "answer"),
    [
        (
            {"type": "mcp_approval_response", "approval_request_id": "a", "approve": False, "reason": "no"},
            HistoryAnswer(tool_call_id="a", content={"approve": False, "reason": "no"}),
        ),
        (
            {"type": "local_shell_call_output", "id": "c", "output": "ok"},
            HistoryAnswer(tool_call_id="c", content="ok"),
        ),
        (
            {"type": "apply_patch_call_output", "call_id": "c", "status": "failed", "output": "no file"},
            HistoryAnswer(tool_call_id="c", content="no file", status="error"),
        ),
        (
            {"type": "computer_call_output", "call_id": "c", "output": {"image_url": "x"}},
            HistoryAnswer(tool_call_id="c", content={"image_url": "x"}),
        ),
        (
            {"type": "tool_search_output", "call_id": "c", "tools": []},
            HistoryAnswer(tool_call_id="c", content=[]),
        ),
        ({"type": "program_output", "call_id": "c", "result": "1"}, HistoryAnswer(tool_call_id="c", content="1")),
    ],
)
def test_answers_by_kind(item: dict[str, Any], answer: HistoryAnswer) -> None:
    assert entries(item) == [answer]


def test_what_a_search_found_answers_the_search_before_it() -> None:
    search = {"type": "tool_search_call", "id": "ts", "call_id": None, "arguments": {}, "execution": "server"}
    found = entries(search, {"type": "tool_search_output", "call_id": None, "tools": []})
    assert found[1] == HistoryAnswer(tool_call_id="ts", content=[])


@pytest.mark.parametrize("body", [{"input": "hi"}, {"input": []}, {"input": [1, None, "x"]}, {}, [], "x", None])
def test_a_request_without_calls_says_nothing_of_them(body: Any) -> None:
    assert of(History, decode_events(RESPONSES, [request(RESPONSES, body)])) == []


def test_the_response_that_it_goes_on_from_is_told_with_the_run() -> None:
    deltas = decode_events(RESPONSES, [request(RESPONSES, {"input": "hi", "previous_response_id": "resp_0"})])
    assert {"previous_response_id": "resp_0"} in [started.metadata for started in of(RunStarted, deltas)]


@pytest.mark.parametrize(
    ("choice", "tool"),
    [
        ("required", "any"),
        ({"type": "function", "name": "get"}, "get"),
        ({"type": "custom", "name": "sql"}, "sql"),
        ({"type": "mcp", "server_label": "l", "name": "f"}, "f"),
        ({"type": "mcp", "server_label": "l"}, "mcp"),
        ({"type": "web_search_preview"}, "web_search_preview"),
        ({"type": "allowed_tools", "mode": "required", "tools": []}, "any"),
        ({"type": "allowed_tools", "mode": "auto", "tools": []}, None),
        ("auto", None),
        ("none", None),
        ({"type": "auto"}, None),
        (None, None),
    ],
)
def test_a_forced_tool_is_a_finding(choice: Any, tool: str | None) -> None:
    deltas = decode_events(RESPONSES, [request(RESPONSES, {"input": "hi", "tool_choice": choice})])
    told = [finding.detail for finding in of(Finding, deltas)]
    assert told == ([] if tool is None else [f"the request forces tool {tool!r}"])


def test_answers_of_the_next_request_pair_with_what_was_streamed() -> None:
    custom = {"type": "custom_tool_call", "id": "ct", "call_id": "c2", "name": "sql", "input": "SELECT 1"}
    patch = {"type": "apply_patch_call", "id": "ap", "call_id": "c3", "operation": {"path": "a"}}
    frames = [CREATED, *(done(place, item) for place, item in enumerate([call("c1", "{}"), custom, patch])), ended()]
    answers = [
        {"type": "function_call_output", "call_id": "c1", "output": "one"},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "two"},
        {"type": "apply_patch_call_output", "call_id": "c3", "status": "completed", "output": "three"},
    ]
    alone = ({"input": answers, "previous_response_id": "resp_1"}, [CREATED, ended()])
    with_calls = ({"input": [call("c1", "{}"), custom, patch, *answers]}, [CREATED, ended()])
    for second in (alone, with_calls):
        assert pairings(RESPONSES, ({"input": "hi"}, frames), second) == [
            ("c1", "get", "answered", "one"),
            ("c2", "sql", "answered", "two"),
            ("c3", "apply_patch", "answered", "three"),
        ]
