"""OpenAI's legacy `function_call`, from the wire to SQL: one call, without id and index, in a place of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from recorder.dialects import get
from recorder.ledger import Ledger
from tests.dialects.exchanges import conversation
from tests.ledger.logs import NAME, log, printed

CHAT = get("openai.chat")
CALL = {"name": "get_weather", "arguments": '{"city": "Oulu"}'}


def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {"id": "c1", "object": "chat.completion.chunk", "choices": [choice]}


def streamed(reason: str = "function_call") -> list[Any]:
    pieces = [{"arguments": piece} for piece in ('{"city"', ': "Ou', 'lu"}')]
    calls = [{"name": "get_weather", "arguments": ""}, *pieces]
    return [*(chunk({"function_call": call}) for call in calls), chunk({}, reason), "[DONE]"]


ASKED = {
    "messages": [
        {"role": "user", "content": "Does it snow?"},
        {"role": "assistant", "content": None, "function_call": CALL},
        {"role": "function", "name": "get_weather", "content": "snow"},
    ]
}
QUERY = "SELECT call_id, call_index, name, args, args_state, source, legacy FROM tool_calls WHERE stream = ?"


def rows(ledger: Ledger) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in ledger.sql(QUERY, (NAME,))[1]]


def test_it_stands_where_langchain_keeps_it_and_among_the_calls(tmp_path: Path) -> None:
    with log(tmp_path, conversation(CHAT, ({}, streamed()))) as ledger:
        (message,) = printed(ledger)["messages"]
        assert message["additional_kwargs"] == {"function_call": CALL}
        assert message["tool_calls"] == message["tool_call_chunks"] == message["invalid_tool_calls"] == []
        (call,) = message["calls"]
        assert (call["id"], call["index"], call["legacy"]) == (None, None, True)
        assert (call["raw"], call["value"], call["state"]) == (CALL["arguments"], {"city": "Oulu"}, "complete")
        assert rows(ledger) == [(None, None, "get_weather", CALL["arguments"], "complete", "stream", 1)]


def test_it_is_truncated_where_the_answer_was_cut_off(tmp_path: Path) -> None:
    with log(tmp_path, conversation(CHAT, ({}, streamed("length")))) as ledger:
        assert [row[4] for row in rows(ledger)] == ["truncated"]


def test_it_is_answered_by_its_name(tmp_path: Path) -> None:
    with log(tmp_path, conversation(CHAT, ({}, streamed()), (ASKED, streamed()))) as ledger:
        pairings = printed(ledger)["pairings"]
        assert [(row["name"], row["status"]) for row in pairings] == [
            ("get_weather", "answered"),
            ("get_weather", "open"),
        ]
        assert len(rows(ledger)) == 2


def test_one_that_only_a_request_shows_is_a_call_too(tmp_path: Path) -> None:
    with log(tmp_path, conversation(CHAT, (ASKED, [chunk({"content": "Yes."}, "stop"), "[DONE]"]))) as ledger:
        assert rows(ledger) == [(None, None, "get_weather", CALL["arguments"], "complete", "history", 1)]
        assert [row["status"] for row in printed(ledger)["pairings"]] == ["answered"]


def test_a_whole_answer_has_it_in_its_message(tmp_path: Path) -> None:
    message = {"role": "assistant", "content": None, "function_call": CALL}
    answer = {
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": "function_call"}],
    }
    with log(tmp_path, conversation(CHAT, ({}, [answer]))) as ledger:
        assert [row[2:5] for row in rows(ledger)] == [("get_weather", CALL["arguments"], "complete")]
