"""Real responses: their calls, the order of their items, and what is never said of a stream that was cut."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from typing import Any

import pytest

from recorder.events import Event
from recorder.ledger.projector import Projector
from tests.corpus import CORPUS, expected, needs_corpus
from tests.streams import events_of, state_of

pytestmark = needs_corpus

TEXTS = {"message": "text", "reasoning": "thinking"}
ENDS = ("response.completed", "response.incomplete", "response.failed")
OWN_TOOLS = ("function_call", "custom_tool_call")
ROWS = [row for row in expected() if row["api"] == "openai-responses"]
STREAMS = [row["stream"] for row in ROWS]


@cache
def events(stream: str) -> list[Event]:
    return events_of(CORPUS / "streams" / stream)


def values(stream: str) -> list[dict[str, Any]]:
    return [json.loads(event.body) for event in events(stream) if event.body.startswith(b"{")]


def items(stream: str, step: str) -> list[dict[str, Any]]:
    return [value["item"] for value in values(stream) if value["type"] == f"response.output_item.{step}"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["stream"]))
def test_a_stream_holds_the_calls_that_are_known_of_it(row: dict[str, Any]) -> None:
    (message,) = state_of(events(row["stream"]))["messages"]
    own = [call for call in message["calls"] if call["executor"] == "client"]
    assert [(call["id"], call["name"], call["index"]) for call in own] == [
        (call["id"], call["name"], call["index"]) for call in row["calls"]
    ]
    inputs = {item["call_id"]: item["input"] for item in items(row["stream"], "done") if "input" in item}
    # The corpus does not have the input of custom tools.
    assert [call["raw"] for call in own] == [
        inputs[call["id"]] if call["id"] in inputs else call["args"] for call in row["calls"]
    ]
    assert {call["state"] for call in own} <= {"complete"}


@pytest.mark.parametrize("stream", STREAMS)
def test_blocks_stand_in_the_order_of_the_whole_response(stream: str) -> None:
    """One block an item, or one a part; nothing that was streamed is missing, nothing is there twice."""
    output = next((value["response"]["output"] for value in values(stream) if value["type"] in ENDS), [])
    wanted = []
    for item in output:
        parts = len(item.get("content") or []) + len(item.get("summary") or [])
        kind = "tool_call" if item["type"].endswith("_call") else TEXTS.get(item["type"], item["type"])
        kind = "tool_call" if kind in ("mcp_list_tools", "mcp_approval_request", "program") else kind
        wanted += [kind] * (parts if item["type"] == "message" else max(parts, 1))
    (message,) = state_of(events(stream))["messages"]
    assert [block["type"] for block in message["blocks"]] == wanted


@pytest.mark.parametrize("stream", STREAMS)
def test_texts_are_those_of_the_whole_response(stream: str) -> None:
    output = next((value["response"]["output"] for value in values(stream) if value["type"] in ENDS), [])
    said = [part["text"] for item in output if item["type"] == "message" for part in item["content"]]
    thought = [
        part["text"]
        for item in output
        if item["type"] == "reasoning"
        for part in [*(item.get("summary") or []), *(item.get("content") or [])]
    ]
    (message,) = state_of(events(stream))["messages"]
    assert message["text"] == "".join(said)
    assert [block["thinking"] for block in message["blocks"] if block.get("thinking")] == thought


@pytest.mark.parametrize("part", range(4))
def test_no_call_is_complete_before_its_response_is_said_to_be(part: int) -> None:
    """Every event is a place where the file may have been cut."""
    seen = 0
    for stream in STREAMS[part::4]:
        projector = Projector()
        for event in events(stream):
            projector.advance([event])
            if event.kind in ENDS:
                break
            for message in projector.fold.state.messages.shown:
                states = {message.state_of(entry) for entry in message.gather.entries}
                assert states <= {"open"}, (stream, event.seq)
                seen += len(states)
    assert seen > 100


def test_findings_are_those_that_the_streams_are_known_for() -> None:
    found = Counter(finding["rule"] for stream in STREAMS for finding in state_of(events(stream))["findings"])
    # Items under two ids (Copilot, OpenRouter), a search for tools under two, and a quota that was used up.
    assert found == {"id-changed": 4, "failure": 1}


def test_who_runs_a_tool_is_told_by_its_item() -> None:
    calls: Counter[str] = Counter()
    for stream in STREAMS:
        (message,) = state_of(events(stream))["messages"]
        calls.update(call["executor"] for call in message["calls"])
        kinds = Counter(item["type"] for item in items(stream, "added"))
        assert len([call for call in message["calls"] if call["executor"] == "client"]) == sum(
            kinds[kind] for kind in OWN_TOOLS
        )
    assert calls["server"] > 20
    assert calls["local"] > 5
