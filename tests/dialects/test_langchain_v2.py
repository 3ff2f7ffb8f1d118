from __future__ import annotations

import asyncio
import json
from typing import Any

import msgspec
import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.runnables import RunnableLambda

from recorder.deltas import (
    Failure,
    Finding,
    History,
    HistoryCall,
    MessageChunk,
    MessageClosed,
    MessageFinished,
    MessageStarted,
    Restatement,
    RunEnded,
    RunStarted,
    ToolCallChunk,
    ToolFailed,
    ToolMessage,
)
from recorder.dialects import get
from tests.dialects.wire import decode_events, decode_frames, end, frame, of, partial, request, response, rules

LANGCHAIN = get("langchain.v2")
TOOL = {"type": "tool", "content": "2", "tool_call_id": "call_1", "status": "success"}
AI = {"type": "ai", "content": "", "tool_calls": [{"name": "add", "args": {"a": 1}, "id": "call_1"}]}


def event(kind: str, data: Any = None, run_id: str = "m1", **fields: Any) -> dict[str, Any]:
    return {
        "event": kind,
        "run_id": run_id,
        "name": "n",
        "tags": ["t"],
        "metadata": {"ls_model_name": "model-1"},
        "parent_ids": ["root", "parent"],
        "data": {} if data is None else data,
        **fields,
    }


def chunk(**fields: Any) -> dict[str, Any]:
    return event("on_chat_model_stream", {"chunk": {"type": "AIMessageChunk", "content": "", **fields}})


def names(deltas: list[Any]) -> list[str]:
    return [type(delta).__name__ for delta in deltas]


def test_the_envelope_is_the_events_own() -> None:
    envelope = LANGCHAIN.envelope(event("on_chain_start"), None)
    assert (envelope.kind, envelope.run_id, envelope.parent_run_id, envelope.name) == (
        "on_chain_start",
        "m1",
        "parent",
        "n",
    )
    wrapped = LANGCHAIN.envelope({"event": "events", "data": event("on_chain_end")}, "events")
    assert (wrapped.kind, wrapped.run_id) == ("on_chain_end", "m1")
    javascripts = LANGCHAIN.envelope({"event": "on_chain_end", "run_id": "r", "data": {}}, "data")
    assert (javascripts.kind, javascripts.parent_run_id) == ("on_chain_end", None)


@pytest.mark.parametrize(
    ("value", "event_name", "kind", "run_id"),
    [
        ({"event": "metadata", "data": {"run_id": "r"}}, None, "metadata", "r"),
        ({"run_id": "r", "attempt": 1}, "metadata", "metadata", "r"),
        ({"error": "E", "message": "no"}, "error", "error", None),
        (None, "end", "end", None),
        ([1], None, "unknown", None),
        ({"event": 3}, None, "3", None),
    ],
)
def test_the_envelope_of_what_a_server_adds(value: Any, event_name: str | None, kind: str, run_id: str | None) -> None:
    envelope = LANGCHAIN.envelope(value, event_name)
    assert (envelope.kind, envelope.run_id) == (kind, run_id)


def test_a_model_run_from_start_to_end() -> None:
    call = {"name": "add", "args": '{"a": 1}', "id": "call_1", "index": 0}
    end_output = {
        **AI,
        "response_metadata": {"finish_reason": "tool_calls"},
        "usage_metadata": {"input_tokens": 1},
        "id": "run-m1",
    }
    deltas = decode_frames(
        LANGCHAIN,
        event("on_chat_model_start", {"input": {"messages": [[{"type": "human", "content": "u"}, AI, TOOL]]}}),
        chunk(content="hm"),
        chunk(tool_call_chunks=[call, {**call, "index": 1}]),
        chunk(response_metadata={"finish_reason": "tool_calls"}),
        event("on_chat_model_end", {"output": end_output, "input": {}}),
    )
    assert names(deltas) == [
        "RunStarted",
        "MessageStarted",
        "History",
        "MessageChunk",
        "MessageChunk",
        "ToolCallChunk",
        "ToolCallChunk",
        "MessageChunk",
        "MessageFinished",
        "Restatement",
        "MessageClosed",
        "RunEnded",
    ]
    (started,) = of(RunStarted, deltas)
    assert (started.kind, started.name, started.parent_run_id, started.tags) == ("model", "n", "parent", ["t"])
    (message,) = of(MessageStarted, deltas)
    assert (message.role, message.model) == ("ai", "model-1")
    assert of(History, deltas)[0].source == "request"
    assert of(Restatement, deltas)[0].calls == AI["tool_calls"]
    assert {delta.run_id for delta in deltas} == {"m1"}


def test_runs_of_one_stream_are_kept_apart() -> None:
    other = {**chunk(content="b"), "run_id": "m2"}
    deltas = decode_frames(LANGCHAIN, event("on_chat_model_start"), chunk(content="a"), other, chunk(content="c"))
    assert [(each.run_id, each.content) for each in of(MessageChunk, deltas)] == [("m1", "a"), ("m2", "b"), ("m1", "c")]


def test_of_runs_that_ended_little_is_kept() -> None:
    state = LANGCHAIN.start()
    sizes = []
    for number in range(600):
        for each in (event("on_chat_model_start"), chunk(content="a"), event("on_chat_model_end", {"output": AI})):
            state, _ = LANGCHAIN.step(state, frame(LANGCHAIN, {**each, "run_id": f"m{number:03}"}))
        sizes.append(len(msgspec.msgpack.encode(state)))
    assert state.models == {}
    assert sizes[-1] == sizes[300]


RUN = [
    event("on_chat_model_start", {"input": {"messages": [[{"type": "human", "content": "q"}]]}}),
    chunk(content="a"),
    event("on_chat_model_end", {"output": {**AI, "content": "a"}}),
]


def test_a_model_run_that_is_delivered_twice_is_read_once() -> None:
    once = decode_frames(LANGCHAIN, *RUN)
    twice = decode_frames(LANGCHAIN, *RUN, *({**each, "parent_ids": ["outer"]} for each in RUN))
    assert twice[: len(once)] == once
    assert rules(twice[len(once) :]) == ["event-repeated"] * 3
    assert {each.severity for each in of(Finding, twice)} == {"info"}
    assert len(twice) == len(once) + 3


def test_a_start_and_an_end_that_are_delivered_twice_are_read_once() -> None:
    start, piece, stop = RUN
    deltas = decode_frames(LANGCHAIN, start, start, piece, stop, stop)
    assert rules(deltas) == ["event-repeated"] * 2
    assert [len(of(kind, deltas)) for kind in (MessageStarted, Restatement, RunEnded)] == [1, 1, 1]
    failed = event("on_chat_model_error", {"error": "no"})
    assert len(of(Failure, decode_frames(LANGCHAIN, start, failed, failed))) == 1


def test_chunks_of_an_open_run_are_never_taken_for_repetitions() -> None:
    start, piece, stop = RUN
    assert [each.content for each in of(MessageChunk, decode_frames(LANGCHAIN, start, piece, piece, stop))] == [
        "a",
        "a",
    ]


def test_a_run_id_that_is_used_for_another_question_is_another_run() -> None:
    other = event("on_chat_model_start", {"input": {"messages": [[{"type": "human", "content": "p"}]]}})
    deltas = decode_frames(LANGCHAIN, *RUN, other, *RUN[1:])
    assert rules(deltas) == []
    assert len(of(Restatement, deltas)) == 2


def test_events_without_a_run_id_are_never_taken_for_repetitions() -> None:
    bare = [{key: value for key, value in each.items() if key != "run_id"} for each in RUN]
    deltas = decode_frames(LANGCHAIN, *bare, *bare)
    assert rules(deltas) == []
    assert len(of(Restatement, deltas)) == 2


def test_a_recording_that_begins_after_the_runs_start_starts_it() -> None:
    deltas = decode_frames(LANGCHAIN, chunk(content="a"), chunk(content="b"))
    assert names(deltas) == ["RunStarted", "MessageStarted", "MessageChunk", "MessageChunk"]


@pytest.mark.parametrize(
    ("metadata", "reason", "truncating"),
    [
        ({"finish_reason": "length"}, "length", True),
        ({"stop_reason": "max_tokens"}, "max_tokens", True),
        ({"done_reason": "stop"}, "stop", False),
        ({"stopReason": "tool_use"}, "tool_use", False),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "max_output_tokens", True),
        ({"finish_reason": None, "stop_reason": "end_turn"}, "end_turn", False),
    ],
)
def test_the_reason_is_read_under_every_integrations_name(metadata: Any, reason: str, truncating: bool) -> None:
    output = {"type": "ai", "content": "", "response_metadata": metadata}
    for frames in ([chunk(response_metadata=metadata)], [event("on_chat_model_end", {"output": output})]):
        (finished,) = of(MessageFinished, decode_frames(LANGCHAIN, *frames))
        assert (finished.finish_reason, finished.truncating) == (reason, truncating)


def test_the_sum_at_the_end_does_not_repeat_the_reason() -> None:
    output = {"type": "ai", "content": "", "response_metadata": {"finish_reason": "stopstop"}}
    deltas = decode_frames(
        LANGCHAIN,
        chunk(response_metadata={"finish_reason": "stop"}),
        event("on_chat_model_end", {"output": output}),
    )
    assert [finished.finish_reason for finished in of(MessageFinished, deltas)] == ["stop"]


@pytest.mark.parametrize(
    "output",
    [
        {"generations": [[{"text": "hi", "message": {"type": "ai", "content": "hi"}, "generation_info": {}}]]},
        {"generations": [[{"text": "hi", "generation_info": {"finish_reason": "stop"}}]], "llm_output": None},
        {"type": "ai", "content": "hi"},
        "hi",
    ],
)
def test_a_whole_answer_is_restated_in_every_shape(output: Any) -> None:
    deltas = decode_frames(LANGCHAIN, event("on_llm_end", {"output": output}))
    assert [restated.content for restated in of(Restatement, deltas)] == ["hi"]
    assert names(deltas)[-2:] == ["MessageClosed", "RunEnded"]


@pytest.mark.parametrize(
    "piece", ["hi", {"text": "hi"}, {"lc": 1, "id": ["x", "GenerationChunk"], "kwargs": {"text": "hi"}}]
)
def test_a_completion_models_pieces_are_text(piece: Any) -> None:
    deltas = decode_frames(LANGCHAIN, event("on_llm_stream", {"chunk": piece}))
    assert [each.content for each in of(MessageChunk, deltas)] == ["hi"]


def test_tools_answer_and_fail() -> None:
    deltas = decode_frames(
        LANGCHAIN,
        event("on_tool_start", {"input": {"a": 1}}, "t1"),
        event("on_tool_end", {"output": TOOL}, "t1"),
        event("on_tool_error", {"error": {"__exc__": "builtins.KeyError", "str": "'x'"}, "tool_call_id": "c2"}, "t2"),
        event("on_tool_error", {"error": "Error: no\n    at tool"}, "t3"),
    )
    (answer,) = of(ToolMessage, deltas)
    assert (answer.run_id, answer.tool_call_id, answer.content) == ("t1", "call_1", "2")
    assert [(failed.tool_call_id, failed.name, failed.error) for failed in of(ToolFailed, deltas)] == [
        ("c2", "n", "KeyError: 'x'"),
        (None, "n", "Error: no\n    at tool"),
    ]
    assert [(ended.kind, ended.status) for ended in of(RunEnded, deltas)] == [
        ("tool", "ok"),
        ("tool", "error"),
        ("tool", "error"),
    ]


def test_a_chains_events_restate_the_conversation_in_order() -> None:
    deltas = decode_frames(
        LANGCHAIN,
        event("on_chain_start", {"input": {"messages": [AI]}}, "c"),
        event("on_chain_stream", {"chunk": {"node": {"messages": [AI, TOOL]}}}, "c"),
        event("on_chain_stream", {"chunk": "text"}, "c"),
        event("on_chain_end", {"input": [AI], "output": [AI, TOOL]}, "c"),
    )
    histories = of(History, deltas)
    assert [names(list(history.entries)) for history in histories] == [
        ["HistoryCall"],
        ["HistoryCall", "HistoryAnswer"],
        ["HistoryCall", "HistoryAnswer"],
    ]
    assert {history.source for history in histories} == {"event"}


@pytest.mark.parametrize("kind", ["chain", "prompt", "parser", "retriever", "tool", "llm", "chat_model"])
def test_every_kind_of_run_starts_and_ends(kind: str) -> None:
    deltas = decode_frames(LANGCHAIN, event(f"on_{kind}_start"), event(f"on_{kind}_end"))
    expected = "model" if kind in ("llm", "chat_model") else kind
    assert [started.kind for started in of(RunStarted, deltas)] == [expected]
    assert [ended.kind for ended in of(RunEnded, deltas)] == [expected]


def test_only_a_models_error_cuts_a_message_off() -> None:
    error = {"error": {"lc": 1, "type": "not_implemented", "repr": "ValueError('no')"}}
    deltas = decode_frames(
        LANGCHAIN, chunk(content="a"), event("on_chat_model_error", error), event("on_chain_error", error, "c")
    )
    assert [failure.run_id for failure in of(Failure, deltas)] == ["m1"]
    assert [(ended.run_id, ended.error) for ended in of(RunEnded, deltas)] == [
        ("m1", "ValueError('no')"),
        ("c", "ValueError('no')"),
    ]
    assert of(MessageClosed, deltas) == []


@pytest.mark.parametrize("kind", ["on_custom_event", "on_text", "on_retry", "on_agent_action", "on_agent_finish"])
def test_callbacks_that_say_nothing_of_a_message_are_silent(kind: str) -> None:
    assert decode_frames(LANGCHAIN, event(kind, {"output": "x"})) == []


def test_custom_events_and_a_servers_own_say_nothing_but_its_error() -> None:
    assert (
        decode_frames(LANGCHAIN, event("on_custom_event", {"pct": 5}), {"event": "metadata", "data": {"run_id": "r"}})
        == []
    )
    (failure,) = decode_frames(LANGCHAIN, {"event": "error", "data": {"error": "ValueError", "message": "no"}})
    assert isinstance(failure, Failure)
    assert failure.error == "ValueError: no"
    (named,) = decode_events(LANGCHAIN, [frame(LANGCHAIN, {"error": "ValueError", "message": "no"}, "error")])
    assert isinstance(named, Failure)


def test_what_it_does_not_know_is_a_finding() -> None:
    deltas = decode_frames(LANGCHAIN, event("on_dream_start"), ["messages", []], {"event": "values", "data": {}})
    assert rules(deltas) == ["unknown-frame"] * 3
    assert of(Finding, deltas)[0].detail.startswith(
        'on_dream_start: not known to this dialect: {"event": "on_dream_start"'
    )


def test_the_exchange_that_carries_the_events_is_a_run_too() -> None:
    carried = [request(LANGCHAIN, {}), response(LANGCHAIN), frame(LANGCHAIN, event("on_chain_start")), end(LANGCHAIN)]
    deltas = decode_events(LANGCHAIN, [*carried, partial(LANGCHAIN, b"x")])
    assert [(ended.kind, ended.terminated) for ended in of(RunEnded, deltas)] == [("exchange", True)]
    assert rules(deltas) == ["partial-frame"]


class Scripted(GenericFakeChatModel):
    """A model that streams two interleaved calls, split as a provider would."""

    def _stream(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        pieces = [
            ("add", '{"a"', "call_1", 0),
            ("sub", "", "call_2", 1),
            (None, ": 1}", None, 0),
            (None, "{}", None, 1),
        ]
        for name, args, id, index in pieces:
            call = {"name": name, "args": args, "id": id, "index": index}
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[call]))  # type: ignore[list-item]


def test_a_live_stream_is_read_as_the_library_sent_it() -> None:
    chain: Any = RunnableLambda(lambda text: [("user", text)]) | Scripted(messages=iter([AIMessage("")]))

    async def events() -> list[Any]:
        return [json.loads(json.dumps(dumpd(each))) async for each in chain.astream_events("hi", version="v2")]

    deltas = decode_frames(LANGCHAIN, *asyncio.run(events()))
    assert rules(deltas) == []
    chunks = of(ToolCallChunk, deltas)
    assert [(each.index, each.id, each.name, each.args) for each in chunks] == [
        (0, "call_1", "add", '{"a"'),
        (1, "call_2", "sub", ""),
        (0, None, None, ": 1}"),
        (1, None, None, "{}"),
    ]
    restated = [call["args"] for each in of(Restatement, deltas) for call in each.calls]
    assert restated == [{"a": 1}, {}]
    heard = {entry.id for history in of(History, deltas) for entry in history.entries if isinstance(entry, HistoryCall)}
    assert heard == {"call_1", "call_2"}
    assert {ended.run_id for ended in of(RunEnded, deltas)} == {started.run_id for started in of(RunStarted, deltas)}
