"""What is said of a call's arguments in SQL is true of real traffic: exact text, and complete only where it is."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recorder
from recorder.capture import capture_file
from recorder.events import Event
from recorder.ledger import Ledger
from recorder.ledger.projector import Projector
from tests.corpus import ARGUMENTS_AS_OBJECTS, expected, needs_corpus, stream_file
from tests.streams import events_of

pytestmark = needs_corpus

FINISHES = re.compile(
    rb'"(finish_reason|stop_reason|stopReason|finishReason)":\s*"|"toolCall":\s*\{"functionCalls"|"interaction\.completed"|'
    rb'"type":\s*"response\.done"|"done":\s*true|"TOOL_CALL_STATUS_COMPLETED"'
    rb"|^(?:data: )?\[DONE\]",
    re.MULTILINE,
)
"""How a frame of any provider says that its message is finished: a reason to stop, or at least a terminator."""
PROPER = {
    "stop",
    "tool_calls",
    "end_turn",
    "tool_use",
    "COMPLETE",
    "TOOL_CALL",
    "REASON_STOP",
    "REASON_TOOL_CALLS",
    "response.done",
    "STOP",
    "interaction.completed",
}
ROWS = [row for row in expected() if row["api"] != "openai-responses"]
"""Responses are looked at item by item, in a test of their own."""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    """All of these streams in one database, under their files' names."""
    with recorder.open(tmp_path_factory.mktemp("corpus") / "log.db") as ledger:
        for row in ROWS:
            capture_file(ledger, stream_file(row), name=row["stream"])
        yield ledger


def calls(log: Ledger, stream: str) -> list[tuple[Any, ...]]:
    """Id, name, arguments and state of the calls that a client must answer, in their order."""
    query = """
        SELECT call_id, name, args, args_state FROM tool_calls
        WHERE stream = ? AND executor = 'client' ORDER BY first_seq, position
    """
    return list(log.sql(query, (stream,))[1])


def named(row: dict[str, Any]) -> str:
    return str(row["stream"])


@pytest.mark.parametrize("row", ROWS, ids=named)
def test_calls_in_their_order_with_their_exact_text(row: dict[str, Any], log: Ledger) -> None:
    found = calls(log, row["stream"])
    assert [(id, name) for id, name, _, _ in found] == [(call["id"], call["name"]) for call in row["calls"]]
    read = json.loads if row["api"] in ARGUMENTS_AS_OBJECTS else str
    for (_, _, args, _), call in zip(found, row["calls"], strict=True):
        # The corpus writes {} for a call without any text, and does not say what Gemini's arguments in pieces come to.
        if "args" in call:
            assert read(args or "{}") == read(call["args"] or "{}")


@pytest.mark.parametrize("row", [row for row in ROWS if row["end"] in PROPER], ids=named)
def test_calls_of_a_finished_message_are_complete_or_empty(row: dict[str, Any], log: Ledger) -> None:
    for id, _, args, state in calls(log, row["stream"]):
        assert state == ("complete" if args else "empty"), id


def test_calls_of_a_message_without_a_reason_to_stop_are_told_apart_by_its_terminator(log: Ledger) -> None:
    # The corpus does not tell how completions, which have no calls, ended; a live session's turns end, not the session.
    others = ("openai-completions", "gemini-live")
    endless = [row["stream"] for row in ROWS if row["end"] is None and row["api"] not in others]
    assert endless
    for stream in endless:
        states = {state for *_, state in calls(log, stream)}
        ended = any(event.body == b"[DONE]" for event in log.events(stream))
        assert states <= ({"complete", "empty"} if ended else {"open", "truncated"}), stream
        _, found = log.sql("SELECT rule FROM findings WHERE stream = ?", (stream,))
        assert (("missing-finish-reason",) in list(found)) is ended


def finish_of(events: list[Event]) -> int:
    """The number of the first event that says so, one behind the last where none does."""
    return next((event.seq for event in events if FINISHES.search(_said(event))), len(events) + 1)


def _said(event: Event) -> bytes:
    """The event's body; that of a frame in base64 is what it wraps."""
    wrapped = json.loads(event.body) if event.dialect == "bedrock.invoke" else None
    return event.body if wrapped is None else b64decode(wrapped["bytes"])


@pytest.mark.parametrize("part", range(8))
def test_a_stream_cut_before_its_finish_has_no_complete_call(part: int) -> None:
    seen = 0
    for row in ROWS[part::8]:
        events = events_of(stream_file(row))
        projector = Projector()
        for event in events[: finish_of(events) - 1]:
            projector.advance([event])
            for message in projector.fold.state.messages.shown:
                states = {message.state_of(entry) for entry in message.gather.entries}
                assert states <= {"open", "truncated"}, (row["stream"], event.seq)
                seen += len(states)
    assert seen > 50


def test_a_file_cut_before_its_finish_has_no_complete_call_in_sql(tmp_path: Path) -> None:
    kept = [row for row in ROWS if row["calls"] and row["stream"].endswith(".sse")]
    with recorder.open(tmp_path / "log.db") as ledger:
        for row in kept:
            data = stream_file(row).read_bytes()
            finish = FINISHES.search(data)
            cut = tmp_path / row["stream"]
            cut.write_bytes(data[: finish.start() if finish else len(data)])
            capture_file(ledger, cut, name=row["stream"])
        _, states = ledger.sql("SELECT args_state, count(*) FROM tool_calls GROUP BY 1")
        found = dict(states)
    assert set(found) <= {"open", "truncated"}
    assert found["open"] > 100
