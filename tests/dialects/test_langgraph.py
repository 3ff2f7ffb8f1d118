from __future__ import annotations

from typing import Any

import msgspec
import pytest

from recorder.deltas import (
    AnyDelta,
    Failure,
    Finding,
    History,
    HistoryAnswer,
    MessageChunk,
    MessageClosed,
    MessageFinished,
    Restatement,
    RunEnded,
    RunStarted,
    ToolCallChunk,
    ToolFailed,
    ToolMessage,
)
from recorder.dialects import get
from recorder.events import NewEvent
from tests.dialects.wire import decode_events, decode_frames, event, frame, of, partial, request, rules

LANGGRAPH = get("langgraph")
OWN = "lc_run--01a22a02-1547-7241-99ca-b4e084888726"
RUN = OWN.removeprefix("lc_run--")
CALL = {"name": "f", "args": {"a": 1}, "id": "c1"}


def place(step: int | None = 1, task: str = "t1", graph: str = "", **fields: Any) -> dict[str, Any]:
    namespace = f"{graph}|model:{task}" if graph else f"model:{task}"
    return {"langgraph_node": "model", "langgraph_step": step, "langgraph_checkpoint_ns": namespace, **fields}


def chunk(id: str | None = OWN, at: dict[str, Any] | None = None, **fields: Any) -> list[Any]:
    return ["messages", [{"type": "AIMessageChunk", "content": "", "id": id, **fields}, at or place()]]


def ai(id: str | None = OWN, **fields: Any) -> dict[str, Any]:
    return {"type": "ai", "content": "ab", "id": id, **fields}


def tool(id: str | None = "a1", call: str = "c1", **fields: Any) -> dict[str, Any]:
    return {"type": "tool", "content": "3", "tool_call_id": call, "id": id, "status": "success", **fields}


def values(*messages: Any) -> list[Any]:
    return ["values", {"messages": list(messages)}]


def names(deltas: list[AnyDelta]) -> list[str]:
    return [type(delta).__name__ for delta in deltas]


def ends(deltas: list[AnyDelta]) -> list[tuple[str, str, bool]]:
    """How each model's run ended."""
    return [(end.run_id, end.status, end.terminated) for end in of(RunEnded, deltas) if end.kind == "model"]


def test_a_message_from_its_first_chunk_to_the_state_that_holds_it() -> None:
    deltas = decode_frames(
        LANGGRAPH,
        chunk(content="a", at=place(ls_model_name="m", tags=["x"])),
        chunk(content="b", tool_call_chunks=[{"name": "f", "args": '{"a": 1}', "id": "c1", "index": 0}]),
        chunk(response_metadata={"finish_reason": "tool_calls"}, chunk_position="last"),
        ["updates", {"model": {"messages": [ai(tool_calls=[CALL])]}}],
        values(ai(tool_calls=[CALL])),
    )
    assert names(deltas) == [
        "RunStarted",
        "MessageStarted",
        "MessageChunk",
        "MessageChunk",
        "ToolCallChunk",
        "MessageChunk",
        "MessageFinished",
        "Restatement",
        "MessageClosed",
        "RunEnded",
        "History",
        "History",
    ]
    (started,) = of(RunStarted, deltas)
    assert (started.run_id, started.kind, started.parent_run_id, started.tags) == (RUN, "model", "t1", ["x"])
    assert ends(deltas) == [(RUN, "ok", True)]


def test_chunks_after_the_first_have_the_runs_id_where_the_first_had_the_providers() -> None:
    deltas = decode_frames(
        LANGGRAPH, chunk("resp_1"), chunk(OWN, content="a"), chunk(OWN, content="b"), values(ai("resp_1"))
    )
    assert {each.run_id for each in of(MessageChunk, deltas)} == {"resp_1"}
    assert ends(deltas) == [("resp_1", "ok", True)]


def test_two_models_in_one_task_stay_two_messages() -> None:
    other = "lc_run--01a22a02-1547-7241-99ca-b4e084888799"
    deltas = decode_frames(
        LANGGRAPH, chunk(content="a"), chunk(other, content="x"), chunk(content="b"), chunk(other, content="y")
    )
    texts: dict[str, str] = {}
    for each in of(MessageChunk, deltas):
        texts[each.run_id] = texts.get(each.run_id, "") + str(each.content)
    assert sorted(texts.values()) == ["ab", "xy"]


def test_messages_without_ids_are_told_apart_by_their_tasks_and_steps() -> None:
    deltas = decode_frames(
        LANGGRAPH,
        chunk(None, content="a"),
        chunk(None, content="b"),
        chunk(None, content="x", at=place(task="t2")),
        chunk(None, content="c"),
        chunk(None, content="d", chunk_position="last"),
        chunk(None, content="e"),
    )
    texts: dict[str, str] = {}
    for each in of(MessageChunk, deltas):
        texts[each.run_id] = texts.get(each.run_id, "") + str(each.content)
    assert texts == {"t1#1": "abcd", "t2#2": "x", "t1#3": "e"}


def test_a_message_without_an_id_is_the_one_that_the_state_holds() -> None:
    deltas = decode_frames(
        LANGGRAPH,
        values({"type": "human", "content": "q", "id": "h1"}),
        chunk(None, content="ab", chunk_position="last"),
        values({"type": "human", "content": "q", "id": "h1"}, ai("state-1")),
    )
    assert [each.message_id for each in of(Restatement, deltas)] == ["state-1"]
    assert ends(deltas) == [("t1#1", "ok", True)]


def test_the_same_id_for_two_messages_is_two_runs() -> None:
    deltas = decode_frames(LANGGRAPH, chunk("resp_1"), values(ai("resp_1")), chunk("resp_1", at=place(2)))
    assert [each.run_id for each in of(RunStarted, deltas)] == ["resp_1", "resp_1#2"]


@pytest.mark.parametrize(
    ("fields", "finished"),
    [
        ({"response_metadata": {"finish_reason": "length"}}, ("length", True)),
        ({"response_metadata": {"stop_reason": "end_turn"}}, ("end_turn", False)),
        ({"chunk_position": "last"}, (None, False)),
    ],
)
def test_a_message_is_finished_by_its_reason_or_by_its_last_chunk(fields: Any, finished: Any) -> None:
    deltas = decode_frames(LANGGRAPH, chunk(**fields), chunk(usage_metadata={"input_tokens": 1}, **fields))
    assert {(each.finish_reason, each.truncating) for each in of(MessageFinished, deltas)} == {finished}


def test_the_next_step_of_the_graph_ends_what_was_streamed_in_the_one_before() -> None:
    done, cut = "resp_done", "resp_cut"
    deltas = decode_frames(
        LANGGRAPH,
        chunk(done, chunk_position="last"),
        chunk(cut, content="a", at=place(task="t2")),
        chunk("resp_elsewhere", at=place(1, graph="outer:t9")),
        chunk("resp_next", at=place(2)),
    )
    assert ends(deltas) == [(done, "ok", True), (cut, "ok", False)]
    assert rules(deltas) == ["missing-terminator"]


def test_a_state_ends_what_was_streamed_for_it_and_in_the_graphs_below() -> None:
    deltas = decode_frames(
        LANGGRAPH,
        chunk("below", chunk_position="last", at=place(3, graph="outer:t9")),
        chunk("here", content="a"),
        values(),
    )
    assert ends(deltas) == [("below", "ok", True), ("here", "ok", False)]


def test_what_is_whole_in_a_graph_below_is_over_when_the_graph_above_goes_on() -> None:
    below = place(1, graph="outer:t9")
    deltas = decode_frames(
        LANGGRAPH, chunk("whole", chunk_position="last", at=below), chunk("half", at=below), chunk("above", at=place(2))
    )
    assert ends(deltas) == [("whole", "ok", True)]


def test_a_long_conversation_is_known_as_long_as_the_state_holds_it() -> None:
    conversation = [ai(f"m{number}") for number in range(700)]
    deltas = decode_frames(
        LANGGRAPH,
        values(*conversation),
        ["updates", {"n": {"messages": conversation[:1]}}],
        values(*conversation, ai("new")),
    )
    assert [each.message_id for each in of(Restatement, deltas)] == ["new"]


def test_of_messages_that_are_over_little_is_kept() -> None:
    state = LANGGRAPH.start()
    sizes = []
    for number in range(900):
        for each in (
            chunk(f"resp_{number:04}", at=place(number)),
            ["messages", [tool(f"a{number:04}"), place(number)]],
        ):
            state, _ = LANGGRAPH.step(state, frame(LANGGRAPH, each))
        sizes.append(len(msgspec.msgpack.encode(state)))
    assert sizes[-1] == sizes[500]


def test_a_whole_message_that_was_not_there_is_a_message() -> None:
    for told in (
        ["messages", [ai(tool_calls=[CALL]), place()]],
        ["updates", {"model": {"messages": [ai(tool_calls=[CALL])]}}],
    ):
        deltas = decode_frames(LANGGRAPH, told)
        assert [each.calls for each in of(Restatement, deltas)] == [[CALL]]
        assert ends(deltas) == [(RUN, "ok", True)]


def test_what_the_first_state_holds_is_history_and_what_the_next_adds_is_new() -> None:
    first, second = ai("m1", tool_calls=[CALL]), ai("m2")
    deltas = decode_frames(LANGGRAPH, values(first), values(first, tool(), second), values(first, tool(), second))
    assert [each.message_id for each in of(Restatement, deltas)] == ["m2"]
    assert [len(each.entries) for each in of(History, deltas)] == [1, 2, 2]


def test_history_that_a_node_gives_back_is_no_new_message() -> None:
    earlier = ai("m1", tool_calls=[CALL])
    deltas = decode_frames(
        LANGGRAPH, values(earlier), ["messages", [earlier, place()]], ["updates", {"n": {"messages": [earlier]}}]
    )
    assert of(Restatement, deltas) == []
    assert len(of(History, deltas)) == 3


def test_another_run_of_the_server_begins_with_history_again() -> None:
    run = {"event": "metadata", "data": {"run_id": "r2"}}
    deltas = decode_frames(LANGGRAPH, values(), run, values(ai("m1", tool_calls=[CALL])))
    assert of(Restatement, deltas) == []


def test_a_node_that_knows_a_message_by_no_id_adds_history_only() -> None:
    deltas = decode_frames(LANGGRAPH, ["updates", {"n": {"messages": [ai(None, tool_calls=[CALL])]}}])
    assert names(deltas) == ["History"]


def test_a_tools_answer_is_told_once_at_first_hand() -> None:
    deltas = decode_frames(
        LANGGRAPH,
        ["messages", [tool(), place(2, "t2")]],
        ["messages", [tool(), place(2, "t2")]],
        ["updates", {"tools": {"messages": [tool()]}}],
    )
    (answer,) = of(ToolMessage, deltas)
    assert (answer.run_id, answer.tool_call_id, answer.message_id) == ("t2", "c1", "a1")
    assert len(of(History, deltas)) == 2


def test_what_the_end_of_a_tools_run_told_is_not_told_again() -> None:
    deltas = decode_frames(
        LANGGRAPH,
        ["tools", {"event": "tool-started", "tool_call_id": "c1", "tool_name": "f", "input": {"a": 1}}],
        ["tools", {"event": "tool-output-delta", "tool_call_id": "c1", "delta": "x"}],
        ["tools", {"event": "tool-finished", "tool_call_id": "c1", "output": tool(None)}],
        ["messages", [tool("a1"), place(2)]],
        ["messages", [tool("a2"), place(2)]],
    )
    assert [(each.run_id, each.message_id) for each in of(ToolMessage, deltas)] == [("c1", None), ("t1", "a2")]
    assert [type(each) for history in of(History, deltas) for each in history.entries] == [HistoryAnswer]


def test_tools_runs_are_named_after_their_calls() -> None:
    started = ["tools", {"event": "on_tool_start", "toolCallId": "c1", "name": "f", "input": "{}"}]
    failed = ["tools", {"event": "tool-error", "tool_call_id": "c1", "message": "no"}]
    deltas = decode_frames(LANGGRAPH, started, failed, started)
    assert [(each.run_id, each.kind, each.name, each.input) for each in of(RunStarted, deltas)] == [
        ("c1", "tool", "f", "$[1].input"),
        ("c1#2", "tool", "f", "$[1].input"),
    ]
    assert [(each.tool_call_id, each.error) for each in of(ToolFailed, deltas)] == [("c1", "no")]
    assert [(each.run_id, each.status) for each in of(RunEnded, deltas)] == [("c1", "error")]


def test_an_output_that_is_no_tool_message_answers_nothing() -> None:
    deltas = decode_frames(
        LANGGRAPH, ["tools", {"event": "tool-finished", "tool_call_id": "run-id", "output": {"a": 1}}]
    )
    assert names(deltas) == ["RunEnded"]
    assert of(RunEnded, deltas)[0].output == "$[1].output"


def test_tasks_are_runs_and_end_once() -> None:
    start = {"id": "t1", "name": "model", "input": {"messages": []}, "triggers": ["x"], "metadata": {"a": 1}}
    end: dict[str, Any] = {"id": "t1", "name": "model", "error": None, "result": {"messages": [ai()]}, "interrupts": []}
    deltas = decode_frames(
        LANGGRAPH,
        [["outer:t0"], "tasks", start],
        [["outer:t0"], "debug", {"step": 1, "type": "task", "payload": start}],
        [["outer:t0"], "messages", [{"type": "AIMessageChunk", "content": "a", "id": OWN}, place(graph="outer:t0")]],
        [["outer:t0"], "tasks", end],
        [["outer:t0"], "debug", {"step": 1, "type": "task_result", "payload": end}],
    )
    (task,) = [each for each in of(RunStarted, deltas) if each.kind == "chain"]
    assert (task.run_id, task.name, task.parent_run_id, task.metadata, task.input) == (
        "t1",
        "model",
        "t0",
        {"a": 1},
        "$[2].input",
    )
    assert [(each.run_id, each.kind, each.output) for each in of(RunEnded, deltas)] == [
        (RUN, "model", None),
        ("t1", "chain", "$[2].result"),
    ]


def test_a_task_that_fails_cuts_off_what_it_streamed() -> None:
    end: dict[str, Any] = {"id": "t1", "name": "model", "error": "ValueError('no')", "result": {}, "interrupts": []}
    deltas = decode_frames(LANGGRAPH, chunk(content="a"), ["tasks", end])
    assert ends(deltas) == [(RUN, "error", True)]
    assert [(each.run_id, each.error) for each in of(RunEnded, deltas)][-1] == ("t1", "ValueError('no')")


def test_the_end_of_one_task_leaves_what_another_one_streams() -> None:
    other = f"lc_run--{RUN[:-1]}7"
    end = {"id": "t1", "name": "model", "result": {}, "interrupts": []}
    frames = [chunk(content="a"), chunk(other, place(task="t2"), content="b"), ["tasks", end]]
    assert ends(decode_frames(LANGGRAPH, *frames)) == [(RUN, "ok", False)]


def test_what_a_task_is_given_and_what_a_checkpoint_holds_is_never_new() -> None:
    known = {"messages": [ai("m1", tool_calls=[CALL])]}
    for told in (
        ["tasks", {"id": "t", "name": "n", "input": known, "triggers": []}],
        ["checkpoints", {"config": {}, "metadata": {}, "values": known, "next": []}],
        ["debug", {"type": "checkpoint", "payload": {"values": known}}],
    ):
        deltas = decode_frames(LANGGRAPH, told)
        assert of(Restatement, deltas) == []
        assert len(of(History, deltas)) == 1


def test_a_restatement_confirms_even_what_a_checkpoint_holds() -> None:
    deltas = decode_frames(LANGGRAPH, chunk(content="ab"), ["checkpoints", {"values": {"messages": [ai()]}}])
    assert ends(deltas) == [(RUN, "ok", True)]


def test_a_subgraph_is_a_run() -> None:
    deltas = decode_frames(
        LANGGRAPH,
        ["lifecycle", {"event": "running", "graph_name": "root"}],
        ["lifecycle", {"event": "started", "namespace": ["outer:t0", "inner:t1"], "graph_name": "agent"}],
        ["lifecycle", {"event": "failed", "namespace": ["outer:t0", "inner:t1"], "error": "no"}],
        ["lifecycle", {"event": "failed", "namespace": ["outer:t0", "inner:t1"], "error": "no"}],
    )
    (started,) = of(RunStarted, deltas)
    assert (started.run_id, started.name, started.parent_run_id) == ("t1", "agent", "t0")
    failed = decode_frames(LANGGRAPH, ["lifecycle", {"event": "failed", "error": "no"}])
    assert [each.error for each in of(Failure, failed)] == ["no"]
    assert [(each.run_id, each.error) for each in of(RunEnded, deltas)] == [("t1", "no")]


def named(name: str, body: bytes, framing: str | None = None) -> NewEvent:
    """The event that a server-sent event of this name becomes."""
    template = framing if framing is not None else f"event: {name}\ndata: {{body}}\n\n"
    return msgspec.structs.replace(event(LANGGRAPH, "x", body), framing=template)


@pytest.mark.parametrize("framing", [None, "event:values|a:1\r\ndata:{body}\r\n\r\n"])
def test_a_server_sent_events_name_is_the_mode(framing: str | None) -> None:
    deltas = decode_events(
        LANGGRAPH, [named("values|a:1", b'{"messages": [{"type": "tool", "content": "x"}]}', framing)]
    )
    assert names(deltas) == ["History"]


def test_the_name_is_read_from_a_frame_that_no_template_rebuilds() -> None:
    body = b'{"event": "message-start", "id": "m1", "run_id": "r1"}'
    told = msgspec.structs.replace(
        event(LANGGRAPH, "message-start", body), frame=b"event: messages|model:t1\ndata: " + body + b"\n\n"
    )
    (started,) = of(RunStarted, decode_events(LANGGRAPH, [told]))
    assert (started.run_id, started.parent_run_id) == ("r1", "t1")


def test_the_servers_own_events_are_read_as_langchains() -> None:
    inner = {"event": "on_chain_start", "run_id": "r", "name": "n", "data": {"input": 1}, "parent_ids": []}
    deltas = decode_frames(
        LANGGRAPH,
        {"event": "metadata", "data": {"run_id": "r"}},
        {"event": "events", "data": inner},
        {"event": "error", "data": {"error": "E", "message": "m"}},
        {"type": "error", "id": 1, "error": "no_such_run", "message": "gone"},
        {"event": "end", "data": None},
    )
    assert [each.input for each in of(RunStarted, deltas)] == ["$.data.data.input"]
    assert [each.error for each in of(Failure, deltas)] == ["E: m", "no_such_run: gone"]


def test_what_is_custom_says_nothing_and_what_is_not_known_is_a_finding() -> None:
    assert decode_frames(LANGGRAPH, ["custom", {"a": 1}], ["custom:mine", 1], ["input.requested", {}]) == []
    odd = [["messages", [{"type": "odd"}, {}]], ["tools", {"event": "odd"}], {"what": "else"}]
    assert rules(decode_frames(LANGGRAPH, *odd)) == ["unknown-frame"] * 3


def test_messages_that_were_dumped_as_text_are_said_once() -> None:
    told = ["messages", ["content='a' additional_kwargs={} response_metadata={} id='m1'", place()]]
    deltas = decode_frames(LANGGRAPH, told, told)
    assert rules(deltas) == ["message-as-repr"]
    assert of(Finding, deltas)[0].severity == "warning"


def test_parts_of_http_are_read() -> None:
    deltas = decode_events(LANGGRAPH, [request(LANGGRAPH, {}), partial(LANGGRAPH, b"x")])
    assert [each.kind for each in of(RunStarted, deltas)] == ["exchange"]
    assert rules(deltas) == ["partial-frame"]


def test_chunks_of_javascript_have_the_type_of_whole_messages() -> None:
    piece = {"type": "ai", "id": "m1", "content": "a", "tool_call_chunks": []}
    deltas = decode_frames(LANGGRAPH, ["messages", [piece, place()]], ["messages", [piece, place()]])
    assert [each.content for each in of(MessageChunk, deltas)] == ["a", "a"]
    assert of(MessageClosed, deltas) == []
    assert of(ToolCallChunk, deltas) == []


def snapshot(text: str, **fields: Any) -> dict[str, Any]:
    return {"event": "messages/partial", "data": [{"type": "ai", "id": OWN, "content": text, **fields}]}


def test_of_a_text_so_far_what_is_new_is_told() -> None:
    deltas = decode_frames(LANGGRAPH, snapshot("a"), snapshot("ab"), snapshot("ab"))
    assert [each.content for each in of(MessageChunk, deltas)] == ["a", "b"]
    assert rules(deltas) == []


def test_a_text_so_far_that_does_not_go_on_is_a_finding() -> None:
    deltas = decode_frames(LANGGRAPH, snapshot("ab"), snapshot("b"))
    assert [each.content for each in of(MessageChunk, deltas)] == ["ab"]
    assert rules(deltas) == ["restatement-differs"]


def test_a_reason_that_every_snapshot_repeats_finishes_the_message_once() -> None:
    over = {"response_metadata": {"finish_reason": "stop"}}
    deltas = decode_frames(LANGGRAPH, snapshot("a", **over), snapshot("a", **over))
    assert [each.finish_reason for each in of(MessageFinished, deltas)] == ["stop"]
