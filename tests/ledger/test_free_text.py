"""Arguments that are text as it is, in SQL: a custom tool's call as it was streamed, and as a request repeats it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec import structs

from recorder.dialects import get
from recorder.events import NewEvent
from tests.dialects.responses import CREATED, added, done, ended, event
from tests.dialects.wire import end, frame, request, response
from tests.ledger.logs import NAME, log

CHAT, RESPONSES = get("openai.chat"), get("openai.responses")
SQL = {"type": "custom_tool_call", "id": "ct", "call_id": "c1", "name": "sql", "input": "SELECT 1"}
STATES = "SELECT call_id, args, args_state, source FROM tool_calls ORDER BY first_seq, position"


def numbered(events: Iterable[NewEvent]) -> list[NewEvent]:
    return [structs.replace(each, event_id=place.to_bytes(16, "big")) for place, each in enumerate(events)]


def test_text_is_complete_with_its_message_and_not_before(tmp_path: Path) -> None:
    piece = event("custom_tool_call_input.delta", 0, "ct", delta="SELECT 1")
    frames = [CREATED, added(0, {**SQL, "input": ""}), piece, done(0, SQL), ended(SQL)]
    with log(tmp_path) as ledger:
        writer = ledger.writer(NAME)
        states = []
        for each in numbered(frame(RESPONSES, value) for value in frames):
            writer.append([each])
            states.append([row[2] for row in ledger.sql(STATES)[1]])
        assert states == [[], ["open"], ["open"], ["open"], ["complete"]]
        assert list(ledger.sql(STATES)[1]) == [("c1", "SELECT 1", "complete", "stream")]


def test_text_that_only_a_request_has_is_complete(tmp_path: Path) -> None:
    answer = {"type": "custom_tool_call_output", "call_id": "c1", "output": "1"}
    body = {"input": [SQL, answer, {**SQL, "call_id": "c2", "input": ""}]}
    events = [request(RESPONSES, body), response(RESPONSES), frame(RESPONSES, CREATED), end(RESPONSES)]
    with log(tmp_path, numbered(events)) as ledger:
        assert list(ledger.sql(STATES)[1]) == [
            ("c1", "SELECT 1", "complete", "history"),
            ("c2", "", "empty", "history"),
        ]


def test_the_input_of_a_custom_tool_is_text_in_a_chat_completion_too(tmp_path: Path) -> None:
    call = {"index": 0, "id": "c1", "type": "custom", "custom": {"name": "sql", "input": "SELECT "}}
    pieces = [{"tool_calls": [call]}, {"tool_calls": [{"index": 0, "custom": {"input": "1"}}]}]
    choices = [*({"delta": piece} for piece in pieces), {"delta": {}, "finish_reason": "tool_calls"}]
    frames = [frame(CHAT, {"object": "chat.completion.chunk", "choices": [choice]}) for choice in choices]
    with log(tmp_path, numbered(frames)) as ledger:
        assert list(ledger.sql(STATES)[1]) == [("c1", "SELECT 1", "complete", "stream")]
        assert ledger.state(NAME).calls[0]["value"] == "SELECT 1"
