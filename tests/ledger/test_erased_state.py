"""What the state says of calls and answers of which an event was erased: never more than is known."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from recorder.events import Event
from tests.streams import CASSETTES, Folding, events_of, state_of

WEATHER = events_of(CASSETTES / "weather.sse")
AGENT = events_of(CASSETTES / "agent.jsonl")
FIRST, LAST, FINISH = 4, 17, 18
"""In weather.sse: the call's first and last event, and the one with the reason to stop."""


def erased(events: list[Event], *seqs: int) -> list[Event]:
    return [
        structs.replace(event, erased=True, body=b"", frame=None, cuts=None, meta=None, salt=None)
        if event.seq in seqs
        else event
        for event in events
    ]


def only_call(state: dict[str, Any]) -> dict[str, Any]:
    (call,) = [call for message in state["messages"] for call in message["calls"]]
    return call


def rules(state: dict[str, Any]) -> set[str]:
    return {finding["rule"] for finding in state["findings"]}


@pytest.mark.parametrize("seq", range(FIRST + 1, FINISH))
def test_a_call_that_lost_a_piece_is_erased_and_has_no_value(seq: int) -> None:
    state = state_of(erased(WEATHER, seq))
    call = only_call(state)
    assert (call["state"], call["value"]) == ("erased", None)
    assert rules(state) == set()


def test_a_call_is_as_it_was_before_the_erased_event() -> None:
    whole, holed = state_of(WEATHER, 8), state_of(erased(WEATHER, 9), 8)
    assert whole == holed


def test_a_call_is_complete_only_where_the_reason_to_stop_is_known() -> None:
    assert only_call(state_of(erased(WEATHER, FINISH)))["state"] == "erased"
    assert only_call(state_of(erased(WEATHER, FINISH + 1)))["state"] == "complete"


def test_a_call_that_lost_its_head_is_erased() -> None:
    call = only_call(state_of(erased(WEATHER, FIRST)))
    assert (call["id"], call["name"], call["state"]) == (None, None, "erased")


def test_an_answer_to_a_call_that_may_have_been_erased_is_no_orphan() -> None:
    rows = state_of(erased(AGENT, *range(1, 25)), 26)["pairings"]
    assert [row["status"] for row in rows] == ["erased", "erased"]
    (row,) = state_of([structs.replace(event, seq=seq) for seq, event in enumerate(AGENT[24:25], 1)])["pairings"]
    assert row["status"] == "orphan"


@pytest.mark.parametrize("recording", [WEATHER, AGENT], ids=["weather", "agent"])
@pytest.mark.parametrize("step", [2, 3, 5])
def test_the_prefix_law_holds_with_events_erased(recording: list[Event], step: int) -> None:
    events = erased(recording, *range(step, len(recording), step))
    folding = Folding()
    for n, event in enumerate(events, 1):
        folding.advance(event)
        assert folding.state == state_of(events, n)
        folding = folding.resumed()
