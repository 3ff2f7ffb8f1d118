"""Which item an event is about, on servers that keep to the protocol and on those that do not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.responses import (
    CREATED,
    added,
    arguments,
    blocks,
    call,
    calls,
    done,
    ended,
    message,
    rules,
    state,
    text,
)

A, B = '{"a":1}', '{"b":2}'
REASONING = {"type": "reasoning", "id": "rs_1", "summary": []}


def reused(frame: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """The event with other fields; None takes one away."""
    changed = {**frame, **fields}
    return {key: value for key, value in changed.items() if value is not None}


def other_id(frame: dict[str, Any], number: int) -> dict[str, Any]:
    """The event as a gateway sends it that gives each event of an item an id of its own."""
    if "item" in frame:
        return {**frame, "item": {**frame["item"], "id": f"id-{number}"}}
    return {**frame, "item_id": f"id-{number}"} if "item_id" in frame else frame


INTERLEAVED = [
    added(0, call("a")),
    added(1, call("b")),
    *arguments(1, "b", B[:3]),
    *arguments(0, "a", A[:4]),
    *arguments(1, "b", B[3:]),
    *arguments(0, "a", A[4:]),
    done(1, call("b", B)),
    done(0, call("a", A)),
]
WHOLE = ended(call("a", A), call("b", B))
TWO = [("a", "get", A, "complete"), ("b", "get", B, "complete")]

STREAMS: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "interleaved": (INTERLEAVED, []),
    "every event has another item id": (
        [other_id(frame, number) for number, frame in enumerate(INTERLEAVED)],
        ["id-changed", "id-changed"],
    ),
    "no output index": ([reused(frame, output_index=None) for frame in INTERLEAVED], []),
    "an output index that moves": (
        [
            reused(frame, output_index=frame["output_index"] + 5) if frame["type"].endswith("done") else frame
            for frame in INTERLEAVED
        ],
        [],
    ),
    "every item has index 0": ([reused(frame, output_index=0) for frame in INTERLEAVED], ["block-index-reused"]),
    "no item ids": (
        [
            reused(frame, item_id=None, **({"item": {**frame["item"], "id": ""}} if "item" in frame else {}))
            for frame in INTERLEAVED
        ],
        [],
    ),
    "one after the other at one index, without item ids": (
        [
            reused(
                frame,
                item_id=None,
                output_index=0,
                **({"item": {**frame["item"], "id": ""}} if "item" in frame else {}),
            )
            for frame in (
                added(0, call("a")),
                *arguments(0, "a", A),
                done(0, call("a", A)),
                added(0, call("b")),
                *arguments(0, "b", B),
                done(0, call("b", B)),
            )
        ],
        ["block-index-reused"],
    ),
    "announced twice": ([INTERLEAVED[0], *INTERLEAVED], []),
    "done twice": ([*INTERLEAVED, INTERLEAVED[-1]], []),
    "never done": (INTERLEAVED[:6], []),
    "done only": ([done(0, call("a", A)), done(1, call("b", B))], ["block-without-start"] * 2),
    "never announced": (
        [*arguments(0, "a", A), *arguments(1, "b", B), done(0, call("a", A)), done(1, call("b", B))],
        ["block-without-start"] * 2,
    ),
    "announced after the first piece": (
        [*arguments(0, "a", A[:4]), added(0, call("a")), *arguments(0, "a", A[4:]), *INTERLEAVED[1:3], INTERLEAVED[4]],
        ["block-without-start"],
    ),
    "only the whole response": ([], []),
}


@pytest.mark.parametrize("last", [WHOLE, ended()], ids=["restated", "not restated"])
@pytest.mark.parametrize(("frames", "told"), STREAMS.values(), ids=STREAMS.keys())
def test_two_calls_stay_two(frames: list[dict[str, Any]], told: list[str], last: dict[str, Any]) -> None:
    if not frames and last == ended():
        assert calls(CREATED, last) == []
        return
    assert sorted(calls(CREATED, *frames, last)) == TWO
    found = rules(CREATED, *frames, last)
    assert [rule for rule in found if rule != "readings-part"] == told
    # Only where an index is used again does LangChain, which goes by it, make something else of the calls.
    assert ("readings-part" in found) == ("block-index-reused" in told)


def test_two_calls_under_one_item_id_are_told_apart_by_their_own() -> None:
    whole = call("a", A, id="fc"), call("b", B, id="fc")
    frames = [added(0, call("a", id="fc")), added(1, call("b", id="fc")), done(0, whole[0]), done(1, whole[1])]
    assert sorted(calls(CREATED, *frames, ended(*whole))) == TWO
    assert rules(CREATED, *frames, ended(*whole)) == []


def test_calls_that_name_another_id_at_their_end_keep_the_first() -> None:
    frames = [CREATED, added(0, call("a")), *arguments(0, "a", A), done(0, call("a2", A, id="fc_a")), ended()]
    assert calls(*frames) == [("a", "get", A, "complete")]
    assert rules(*frames) == ["id-changed"]


def test_a_search_for_tools_has_the_id_of_its_end() -> None:
    search = {"type": "tool_search_call", "id": "ts", "call_id": "call_1", "arguments": {}, "execution": "client"}
    whole = {**search, "call_id": "call_2", "arguments": {"q": "x"}}
    assert calls(CREATED, added(0, search), done(0, whole), ended(whole)) == [
        ("call_2", "tool_search", '{"q":"x"}', "complete")
    ]


def test_another_name_at_the_end_is_a_finding_and_an_empty_one_is_nothing() -> None:
    frames = [CREATED, added(0, call("a")), *arguments(0, "a", A)]
    assert calls(*frames, done(0, call("a", A, name="put")), ended()) == [("a", "get", A, "complete")]
    assert rules(*frames, done(0, call("a", A, name="put")), ended()) == ["name-changed"]
    assert rules(*frames, done(0, call("a", A, name="")), ended()) == []


def test_text_never_goes_to_a_call_or_to_reasoning_at_its_index() -> None:
    frames = [
        CREATED,
        added(0, REASONING),
        added(0, call("a")),
        *text(0, "hi", id="new"),
        *arguments(0, "a", A),
        ended(),
    ]
    found = blocks(*frames)
    assert [(block["type"], block.get("text") or block.get("args")) for block in found] == [
        ("thinking", None),
        ("tool_call", A),
        ("text", "hi"),
    ]


def test_blocks_stand_in_the_order_in_which_their_items_came() -> None:
    frames = [
        CREATED,
        added(0, REASONING),
        added(1, message(id="m1")),
        *text(1, "one", id="m1"),
        added(2, call("a")),
        added(3, message(id="m2")),
        *text(3, "two", id="m2"),
        *text(1, "!", id="m1"),
    ]
    assert [block["type"] for block in blocks(*frames)] == ["thinking", "text", "tool_call", "text"]
    assert state(*frames)["messages"][0]["text"] == "one!two"


def test_an_item_that_the_whole_response_lacks_is_a_finding() -> None:
    frames = [CREATED, added(0, call("a")), *arguments(0, "a", A), added(1, call("b")), *arguments(1, "b", B)]
    assert rules(*frames, ended(call("b", B))) == ["restatement-differs"]
    assert sorted(calls(*frames, ended(call("b", B)))) == TWO


def test_a_call_that_only_the_whole_response_has_takes_no_others_place() -> None:
    frames = [CREATED, added(0, call("b")), *arguments(0, "b", B), done(0, call("b", B))]
    assert sorted(calls(*frames, ended(call("a", A), call("b", B)))) == TWO
    assert rules(*frames, ended(call("a", A), call("b", B))) == []


def test_the_end_of_a_call_that_was_not_announced_is_not_that_of_the_one_that_is_open() -> None:
    frames = [CREATED, added(0, call("a")), *arguments(0, "a", A), done(0, call("b", B)), ended()]
    assert sorted(calls(*frames)) == TWO


def test_what_only_the_whole_response_has_is_taken_from_it() -> None:
    frames = [CREATED, added(0, message()), *text(0, "hi"), ended(message("hi"), call("a", A))]
    assert calls(*frames) == [("a", "get", A, "complete")]
    assert [block["type"] for block in blocks(*frames)] == ["text", "tool_call"]
    assert rules(*frames) == []
