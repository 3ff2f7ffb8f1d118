"""A JSON array that Google streamed: its elements are events, whenever the recording of it was stopped."""

from __future__ import annotations

from pathlib import Path

import pytest

from recorder.capture import capture_file
from recorder.ledger import Ledger
from tests.capture.made import calls, emitted

ARRAY = (
    b'[{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","willContinue":true}}]}}]}\r\n,\r\n'
    b'{"candidates":[{"content":{"parts":[{"functionCall":{"willContinue":true,'
    b'"partialArgs":[{"jsonPath":"$.a","stringValue":"]}"}]}}]}}]}\r\n,\r\n'
    b'{"candidates":[{"content":{"parts":[{"functionCall":{}}]},"finishReason":"STOP"}]}\r\n]\r\n'
)
CALL = (None, "f", '{"a":"]}"}', {"a": "]}"}, "complete")


def test_its_bytes_come_back_and_its_call_is_whole(ledger: Ledger, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(ARRAY)
    assert capture_file(ledger, path).events == 4
    assert emitted(ledger, "run", "raw") == ARRAY
    assert calls(ledger, "run") == [CALL]
    assert [event.kind for event in ledger.events("run")][-1] == "comment"
    assert all(event.frame is None for event in ledger.events("run"))


@pytest.mark.parametrize("cut", range(60, len(ARRAY), 29))
def test_a_file_that_grew_is_taken_up_where_it_ended(ledger: Ledger, tmp_path: Path, cut: int) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(ARRAY[:cut])
    capture_file(ledger, path)
    assert {state for *_, state in calls(ledger, "run")} <= (
        {"open"} if cut < ARRAY.find(b"STOP") + 8 else {"complete"}
    )
    path.write_bytes(ARRAY)
    assert capture_file(ledger, path).status == "extended"
    assert emitted(ledger, "run", "raw") == ARRAY
    assert calls(ledger, "run") == [CALL]


def test_other_forms_of_it_have_a_payload_an_event(ledger: Ledger, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(ARRAY)
    capture_file(ledger, path)
    assert emitted(ledger, "run", "jsonl").count(b"\n") == 3
