"""Conversations over several exchanges: requests sent twice, side by side, with other ids, without their beginning."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

import recorder
from recorder.capture import capture_file
from recorder.ledger import Ledger

CHAT = "https://api.example/v1/chat/completions"
RESPONSES = "https://api.example/v1/responses"


def exchange(request: dict[str, Any], answer: Any, *, status: int = 200, url: str = CHAT) -> dict[str, Any]:
    body = answer if isinstance(answer, str) else json.dumps(answer)
    return {
        "request": {"method": "POST", "uri": url, "headers": {}, "body": json.dumps(request)},
        "response": {"status": {"code": status}, "headers": {}, "body": {"string": body}},
    }


def captured(tmp_path: Path, *exchanges: dict[str, Any]) -> Ledger:
    path = tmp_path / "log.yaml"
    path.write_text(yaml.safe_dump({"interactions": list(exchanges)}), "utf-8")
    ledger = recorder.open(tmp_path / "log.db")
    capture_file(ledger, path)
    return ledger


def call(id: str, args: str = '{"city": "Vigo"}', name: str = "get") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": args}}


def calling(*calls: dict[str, Any]) -> dict[str, Any]:
    """A whole answer that calls."""
    message = {"role": "assistant", "content": None, "tool_calls": list(calls)}
    return {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}


def saying(text: str = "Fine.") -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}


def asking(*told: dict[str, Any]) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": "?"}, *told]}


def called(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": list(calls)}


def result(id: str, content: str = "ok") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


def pairings(ledger: Ledger) -> list[tuple[Any, ...]]:
    return list(ledger.sql("SELECT call_id, status FROM pairings ORDER BY position")[1])


def contents(ledger: Ledger) -> list[tuple[Any, ...]]:
    return list(ledger.sql("SELECT tool_call_id, content FROM tool_messages ORDER BY seq, ordinal")[1])


def test_a_request_that_was_refused_and_sent_again_counts_its_results_once(tmp_path: Path) -> None:
    again = asking(called(call("c1")), result("c1"))
    busy = {"error": {"type": "rate_limit", "message": "slow down"}}
    exchanges = [
        exchange(asking(), calling(call("c1"))),
        exchange(again, busy, status=429),
        exchange(again, "<html>bad gateway</html>", status=502),
        exchange(again, saying()),
    ]
    with captured(tmp_path, *exchanges) as ledger:
        assert pairings(ledger) == [("c1", "answered")]
        assert contents(ledger) == [("c1", "ok")]
        _, rows = ledger.sql("SELECT status, error FROM runs ORDER BY first_seq")
        assert list(rows) == [
            ("ok", None),
            ("error", "HTTP 429 Too Many Requests: rate_limit: slow down"),
            ("error", "HTTP 502 Bad Gateway: <html>bad gateway</html>"),
            ("ok", None),
        ]
        assert len(ledger.state("log").messages) == 2


def test_an_answer_that_was_cut_off_and_asked_for_again_leaves_the_first_calls_truncated(tmp_path: Path) -> None:
    piece = {"index": 0, "id": "c1", "function": {"name": "get", "arguments": '{"city'}}
    chunk = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"tool_calls": [piece]}}]}
    exchanges = [
        exchange(asking(), f"data: {json.dumps(chunk)}\n\n"),
        exchange(asking(), calling(call("c2"))),
        exchange(asking(called(call("c2")), result("c2")), saying()),
    ]
    with captured(tmp_path, *exchanges) as ledger:
        assert [(found["id"], found["state"]) for found in ledger.calls("log")] == [
            ("c1", "truncated"),
            ("c2", "complete"),
        ]
        assert pairings(ledger) == [("c1", "open"), ("c2", "answered")]


def test_conversations_side_by_side_keep_their_answers(tmp_path: Path) -> None:
    exchanges = [
        exchange(asking(), calling(call("a1"))),
        exchange(asking(), calling(call("b1"), call("b2"))),
        exchange(asking(called(call("b1"), call("b2")), result("b2", "B2"), result("b1", "B1")), saying()),
        exchange(asking(called(call("a1")), result("a1", "A1")), saying()),
    ]
    with captured(tmp_path, *exchanges) as ledger:
        assert pairings(ledger) == [("a1", "answered"), ("b1", "answered"), ("b2", "answered")]
        assert contents(ledger) == [("b2", "B2"), ("b1", "B1"), ("a1", "A1")]


def test_conversations_that_count_their_calls_alike_are_told_apart_by_arguments(tmp_path: Path) -> None:
    first, second = call("0", '{"city": "Vigo"}'), call("0", '{"city": "Lugo"}')
    exchanges = [
        exchange(asking(), calling(first)),
        exchange(asking(), calling(second)),
        exchange(asking(called(second), result("0", "from Lugo")), saying()),
    ]
    with captured(tmp_path, *exchanges) as ledger:
        assert pairings(ledger) == [("0", "open"), ("0", "answered")]
        (row,) = ledger.sql("SELECT call_seq FROM pairings WHERE status = 'answered'")[1]
        (seq,) = row
        assert [found["last_seq"] for found in ledger.calls("log")].index(seq) == 1


def test_a_result_whose_call_was_in_no_exchange_is_an_orphan_unless_the_request_tells_of_it(tmp_path: Path) -> None:
    exchanges = [
        exchange(asking(called(call("told")), result("told"), result("untold")), saying()),
        exchange(asking(called(call("told")), result("told"), result("untold")), saying()),
    ]
    with captured(tmp_path, *exchanges) as ledger:
        assert pairings(ledger) == [("told", "answered"), ("untold", "orphan")]
        assert contents(ledger) == [("told", "ok"), ("untold", "ok")]


def test_a_conversation_restated_under_other_ids_answers_none_of_the_first_ones(tmp_path: Path) -> None:
    """As gateways send it on to another provider. Equal arguments prove nothing: what was called stays open."""
    exchanges = [
        exchange(asking(), calling(call("call_1"))),
        exchange(asking(called(call("toolu_1")), result("toolu_1")), saying()),
        exchange(asking(called(call("toolu_1")), result("toolu_1")), saying()),
    ]
    with captured(tmp_path, *exchanges) as ledger:
        assert pairings(ledger) == [("call_1", "open"), ("toolu_1", "answered")]
        assert contents(ledger) == [("toolu_1", "ok")]


def test_a_request_that_only_names_the_response_before_answers_its_calls(tmp_path: Path) -> None:
    def answered(id: str, *output: dict[str, Any]) -> dict[str, Any]:
        return {"object": "response", "id": id, "status": "completed", "model": "m", "output": list(output)}

    item = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "c1",
        "name": "get",
        "arguments": "{}",
        "status": "completed",
    }
    output = {"type": "function_call_output", "call_id": "c1", "output": "ok"}
    exchanges = [
        exchange({"model": "m", "input": "?"}, answered("resp_1", item), url=RESPONSES),
        exchange(
            {"model": "m", "previous_response_id": "resp_1", "input": [output]}, answered("resp_2"), url=RESPONSES
        ),
        exchange({"model": "m", "previous_response_id": "resp_2", "input": "And?"}, answered("resp_3"), url=RESPONSES),
    ]
    with captured(tmp_path, *exchanges) as ledger:
        assert pairings(ledger) == [("c1", "answered")]
        assert contents(ledger) == [("c1", "ok")]
