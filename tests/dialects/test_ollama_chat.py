from __future__ import annotations

from typing import Any

import pytest

from recorder.deltas import (
    BlockItem,
    Failure,
    MessageClosed,
    MessageFinished,
    MessageStarted,
    RunEnded,
    TextChunk,
    ToolCallChunk,
    Usage,
)
from recorder.dialects import get
from tests.dialects.exchanges import conversation, pairings, state
from tests.dialects.wire import decode_events, decode_frames, end, frame, of, rules
from tests.streams import state_of

OLLAMA = get("ollama.chat")


def line(content: str = "", **message: Any) -> dict[str, Any]:
    return {"model": "m1", "message": {"role": "assistant", "content": content, **message}, "done": False}


def call(name: str = "f", arguments: Any = None, *, id: str | None = None, **function: Any) -> dict[str, Any]:
    named = {} if id is None else {"id": id}
    return {**named, "function": {**function, "name": name, "arguments": {} if arguments is None else arguments}}


def last(reason: str | None = "stop", **fields: Any) -> dict[str, Any]:
    said = {} if reason is None else {"done_reason": reason}
    return {**line(), "done": True, **said, **fields}


def test_lines_are_one_message_and_the_last_one_ends_it() -> None:
    frames = [line(thinking="hm"), line("a"), line("b"), last(prompt_eval_count=7, eval_count=3, eval_duration=1)]
    deltas = decode_events(OLLAMA, [*(frame(OLLAMA, each) for each in frames), end(OLLAMA)])
    (started,) = of(MessageStarted, deltas)
    assert (started.role, started.model, started.message_id) == ("ai", "m1", None)
    assert [(text.block, text.text) for text in of(TextChunk, deltas)] == [
        ("thinking", "hm"),
        ("text", "a"),
        ("text", "b"),
    ]
    assert [usage.counts for usage in of(Usage, deltas)] == [{"input_tokens": 7, "output_tokens": 3}]
    assert len(of(MessageClosed, deltas)) == len(of(RunEnded, deltas)) == 1


def test_generated_text_is_read_like_a_message() -> None:
    """`/api/generate`."""
    frames = [
        {"model": "m1", "response": "a", "done": False},
        {"model": "m1", "response": "", "thinking": "hm", "done": False},
        {"model": "m1", "response": "", "done": True, "done_reason": "stop", "context": [1, 2], "eval_count": 3},
    ]
    deltas = decode_frames(OLLAMA, *frames)
    assert [(text.block, text.text) for text in of(TextChunk, deltas)] == [("text", "a"), ("thinking", "hm")]
    assert [finished.finish_reason for finished in of(MessageFinished, deltas)] == ["stop"]


@pytest.mark.parametrize(
    ("calls", "ids"),
    [
        ([call(arguments={"a": 1}), call(arguments={"a": 2})], [None, None]),
        ([call(arguments={"a": 1}), call(arguments={"a": 1})], [None, None]),
        ([call(), call()], [None, None]),
        ([call(arguments={"a": 1}, index=0), call(arguments={"a": 2}, index=0)], [None, None]),
        ([call(arguments={"a": 1}, id="c1", index=0), call(arguments={"a": 2}, id="c2", index=1)], ["c1", "c2"]),
        ([call(arguments={"a": 1}, id="c1"), call(arguments={"a": 1}, id="c2")], ["c1", "c2"]),
    ],
    ids=["by arguments", "alike", "without arguments", "index always 0", "ids and indices", "ids"],
)
@pytest.mark.parametrize("apart", [True, False], ids=["a line each", "in one line"])
def test_every_call_is_one_of_its_own(calls: list[dict[str, Any]], ids: list[str | None], apart: bool) -> None:
    carriers = [line(tool_calls=[each]) for each in calls] if apart else [line(tool_calls=calls)]
    (message,) = state([*carriers, last()])["messages"]
    assert [each["id"] for each in message["calls"]] == ids
    assert [each["value"] for each in message["calls"]] == [each["function"]["arguments"] for each in calls]
    assert {each["state"] for each in message["calls"]} == {"complete"}


def test_clients_that_gather_by_index_are_warned_of_one_that_does_not_count() -> None:
    calls = [call(arguments={"a": 1}, id="c1", index=0), call(arguments={"a": 2}, id="c2", index=0)]
    assert [found["rule"] for found in state([line(tool_calls=calls), last()])["findings"]] == ["index-reused"]


def test_arguments_are_an_object_and_become_its_text() -> None:
    deltas = decode_frames(OLLAMA, line(tool_calls=[call(arguments={"a": 1, "b": "é"})]))
    assert [chunk.args for chunk in of(ToolCallChunk, deltas)] == ['{"a":1,"b":"é"}']


@pytest.mark.parametrize(
    ("reason", "truncating"), [("stop", False), ("length", True), ("load", False), ("unload", False)]
)
def test_a_done_reason_says_whether_output_was_cut_off(reason: str, truncating: bool) -> None:
    (finished,) = of(MessageFinished, decode_frames(OLLAMA, last(reason)))
    assert (finished.finish_reason, finished.truncating) == (reason, truncating)


def test_an_old_server_that_gives_no_reason_ends_its_answer_all_the_same() -> None:
    found = state([line(tool_calls=[call()]), last(None)])
    assert [call["state"] for call in found["messages"][0]["calls"]] == ["complete"]
    assert [finding["rule"] for finding in found["findings"]] == ["missing-finish-reason"]


def test_a_call_is_open_until_the_last_line() -> None:
    frames = [line(tool_calls=[call()]), line(), last()]
    states = [state(frames, n)["messages"][0]["calls"][0]["state"] for n in (1, 2, 3)]
    assert states == ["open", "open", "complete"]


def test_an_error_in_mid_stream_cuts_the_message_off() -> None:
    deltas = decode_events(OLLAMA, [frame(OLLAMA, line("a")), frame(OLLAMA, {"error": "oom"}), end(OLLAMA)])
    assert [failure.error for failure in of(Failure, deltas)] == ["oom"]
    assert of(RunEnded, deltas)[0].status == "error"


def test_answers_of_a_dump_are_messages_of_their_own() -> None:
    texts = [
        message["text"] for message in state([line("a"), last(), line("b"), {"error": "oom"}, line("c")])["messages"]
    ]
    assert texts == ["a", "b", "c"]


def test_a_whole_answer_is_one_line() -> None:
    whole = {**last(), "message": {"role": "assistant", "content": "a", "tool_calls": [call()]}}
    deltas = decode_events(OLLAMA, [frame(OLLAMA, whole), end(OLLAMA)])
    assert [type(delta).__name__ for delta in deltas] == [
        "RunStarted",
        "MessageStarted",
        "TextChunk",
        "ToolCallChunk",
        "MessageFinished",
        "MessageClosed",
        "RunEnded",
    ]


def test_other_fields_of_a_message_are_kept() -> None:
    (item,) = of(BlockItem, decode_frames(OLLAMA, line(images=["AAAA"])))
    assert (item.block, item.field, item.value) == ("non_standard", "images", ["AAAA"])


def test_fields_of_other_types_are_findings() -> None:
    frames = [line(tool_calls=["x"]), {**line(), "message": {"role": "assistant", "content": 3}}, [1], {"status": "x"}]
    assert rules(decode_frames(OLLAMA, *frames)) == [
        "malformed-field",
        "malformed-field",
        "unknown-frame",
        "unknown-frame",
    ]


def asks(calls: list[dict[str, Any]], *answers: dict[str, Any]) -> dict[str, Any]:
    return {
        "model": "m1",
        "messages": [line(tool_calls=calls)["message"], *({"role": "tool", **each} for each in answers)],
    }


TWICE = [call(arguments={"a": 1}), call(arguments={"a": 2})]


@pytest.mark.parametrize(
    "answers",
    [
        [{"content": "one", "tool_name": "f"}, {"content": "two", "tool_name": "f"}],
        [{"content": "one", "name": "f"}, {"content": "two", "name": "f"}],
        [{"content": "one"}, {"content": "two"}],
    ],
    ids=["tool_name", "name", "no name"],
)
def test_calls_without_ids_pair_by_name_and_order(answers: list[dict[str, Any]]) -> None:
    asked = [line(tool_calls=[each]) for each in TWICE]
    events = conversation(OLLAMA, ({}, [*asked, last()]), (asks(TWICE, *answers), [line("done"), last()]))
    found = state_of(events)
    assert [(row["status"], row["call_ref"]) for row in found["pairings"]] == [("answered", "3:0"), ("answered", "4:0")]
    assert [message["content"] for message in found["tool_messages"]] == ["one", "two"]


def test_calls_with_ids_pair_by_them() -> None:
    calls = [call(id="c1"), call(id="c2")]
    answers = [{"content": "two", "tool_call_id": "c2"}]
    asked = ({}, [line(tool_calls=calls), last()])
    assert pairings(OLLAMA, asked, (asks(calls, *answers), [line("done"), last()])) == [
        ("c1", "f", "open", None),
        ("c2", "f", "answered", "two"),
    ]


@pytest.mark.parametrize(
    ("streamed", "restated", "answers"),
    [
        (
            TWICE,
            [{**TWICE[0], "id": "u1"}, {**TWICE[1], "id": "u2"}],
            [{"content": "two", "tool_call_id": "u2"}, {"content": "one", "tool_call_id": "u1"}],
        ),
        (
            [{**TWICE[0], "id": "c1"}, {**TWICE[1], "id": "c2"}],
            TWICE,
            [{"content": "one"}, {"content": "two"}],
        ),
    ],
    ids=["ids of its own", "no ids"],
)
def test_a_client_may_make_ids_up_or_leave_them_out(
    streamed: list[dict[str, Any]], restated: list[dict[str, Any]], answers: list[dict[str, Any]]
) -> None:
    asked = ({}, [line(tool_calls=streamed), last()])
    found = state_of(conversation(OLLAMA, asked, (asks(restated, *answers), [line("done"), last()])))
    assert [(row["status"], row["call_ref"]) for row in found["pairings"]] == [("answered", "3:0"), ("answered", "3:1")]


def test_a_conversation_that_is_sent_again_adds_nothing() -> None:
    asked = ({}, [line(tool_calls=TWICE), last()])
    again = (
        asks(TWICE, {"content": "one", "tool_name": "f"}, {"content": "two", "tool_name": "f"}),
        [line("a"), last()],
    )
    found = state_of(conversation(OLLAMA, asked, again, again))
    assert len(found["pairings"]) == len(found["tool_messages"]) == 2


@pytest.mark.parametrize(
    "value",
    [
        {"model": "m1", "message": {"content": "a"}},
        {"message": {"content": "a"}, "done": False},
        {"model": "m1", "response": None, "done": True},
    ],
)
def test_what_others_may_say_too_is_not_recognised(value: Any) -> None:
    assert not OLLAMA.recognises(value, None)
