"""Gemini's calls, which often have no id, and the results that the next request brings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import recorder
from recorder.capture import capture_file
from recorder.ledger import Ledger
from tests.corpus import CORPUS, needs_corpus

CALLED = {"llg0002": 1, "llg0003": 1, "pai0028": 2, "pai0054": 1}
"""Cassettes of the corpus in which a request brings results, and how many."""


def statuses(ledger: Ledger) -> list[str]:
    """What became of the client's calls, in their order."""
    _, rows = ledger.sql("SELECT status FROM pairings WHERE executor = 'client' ORDER BY position")
    return [status for (status,) in rows]


def count(ledger: Ledger, view: str) -> int:
    return int(next(iter(ledger.sql(f"SELECT count(*) FROM {view}")[1]))[0])


@needs_corpus
@pytest.mark.parametrize("name", CALLED)
def test_results_in_real_requests_answer_the_calls_before_them(name: str, tmp_path: Path) -> None:
    with recorder.open(tmp_path / "log.db") as ledger:
        capture_file(ledger, CORPUS / "cassettes" / f"{name}.yaml")
        assert statuses(ledger) == ["answered"] * CALLED[name]
        assert count(ledger, "findings") == 0


def exchange(request: dict[str, Any], answer: Any) -> dict[str, Any]:
    uri = "https://h/v1beta/models/m:streamGenerateContent"
    return {
        "request": {"method": "POST", "uri": uri, "headers": {}, "body": json.dumps(request)},
        "response": {"status": {"code": 200}, "headers": {}, "body": {"string": json.dumps(answer)}},
    }


def call(city: str, **id: str) -> dict[str, Any]:
    return {"functionCall": {"name": "get", "args": {"city": city}, **id}}


def result(city: str, **id: str) -> dict[str, Any]:
    return {"functionResponse": {"name": "get", "response": {"of": city}, **id}}


ASKED: dict[str, Any] = {"role": "user", "parts": [{"text": "Oslo and Rome?"}]}


@pytest.mark.parametrize(
    ("answered", "calls", "results"),
    [
        pytest.param(
            [call("Oslo"), call("Rome")], [call("Oslo"), call("Rome")], [result("Oslo"), result("Rome")], id="none"
        ),
        pytest.param(
            [call("Oslo"), call("Rome")],
            [call("Oslo", id="x1"), call("Rome", id="x2")],
            [result("Rome", id="x2"), result("Oslo", id="x1")],
            id="made up",
        ),
        pytest.param(
            [call("Oslo", id="c1"), call("Rome", id="c2")],
            [call("Oslo"), call("Rome")],
            [result("Oslo"), result("Rome")],
            id="left out",
        ),
    ],
)
def test_ids_may_be_missing_made_up_or_left_out(
    answered: list[Any], calls: list[Any], results: list[Any], tmp_path: Path
) -> None:
    answer = [{"candidates": [{"content": {"parts": [part]}}]} for part in answered]
    answer.append({"candidates": [{"content": {"parts": []}, "finishReason": "STOP"}]})
    history = [ASKED, {"role": "model", "parts": calls}, {"role": "user", "parts": results}]
    said = [{"candidates": [{"content": {"parts": [{"text": "Cold."}]}, "finishReason": "STOP"}]}]
    interactions = [exchange({"contents": [ASKED]}, answer), *[exchange({"contents": history}, said)] * 2]
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"version": 1, "interactions": interactions}))
    with recorder.open(tmp_path / "log.db") as ledger:
        capture_file(ledger, path)
        assert statuses(ledger) == ["answered", "answered"]
        assert (count(ledger, "tool_calls"), count(ledger, "tool_messages")) == (2, 2)
