from __future__ import annotations

from typing import Any

import msgspec
import pytest

from recorder.deltas import (
    AnyDelta,
    BlockItem,
    BlockStarted,
    Failure,
    MessageClosed,
    MessageFinished,
    MessageStarted,
    RunEnded,
    RunStarted,
    TextChunk,
    ToolCallChunk,
    ToolMessage,
    Usage,
)
from recorder.dialects import get
from tests.dialects.wire import decode_frames, frame, of, rules

V3 = get("langchain.v3")
RUN = "01a22a02-1547-7241-99ca-b4e084888726"
START = {"event": "message-start", "role": "ai", "id": f"lc_run--{RUN}", "metadata": {"provider": "p", "model": "m"}}
FINISH = {"event": "message-finish", "usage": {"input_tokens": 1}, "metadata": {"finish_reason": "tool_calls"}}


def block(event: str, index: Any, **fields: Any) -> dict[str, Any]:
    return {"event": f"content-block-{event}", "index": index, **fields}


def call(index: int, **fields: Any) -> dict[str, Any]:
    content = {"type": "tool_call_chunk", "id": "c1", "name": "f", "args": "", "index": 0, **fields}
    return block("start", index, content=content)


def args(index: int, text: str) -> dict[str, Any]:
    return block("delta", index, delta={"type": "tool-call-delta", "args": text})


def done(index: int, **fields: Any) -> dict[str, Any]:
    return block("finish", index, content={"type": "tool_call", "id": "c1", "name": "f", "args": {"a": 1}, **fields})


def text(index: int, piece: str) -> dict[str, Any]:
    return block("delta", index, delta={"type": "text-delta", "text": piece})


def graph(method: str, data: Any, *namespace: str) -> dict[str, Any]:
    params = {"namespace": list(namespace), "timestamp": 1, "data": data}
    return {"type": "event", "seq": 1, "method": method, "params": params}


def names(deltas: list[AnyDelta]) -> list[str]:
    return [type(delta).__name__ for delta in deltas]


def test_a_message_from_start_to_finish() -> None:
    deltas = decode_frames(
        V3,
        START,
        block("start", 0, content={"type": "text", "text": ""}),
        text(0, "a"),
        call(1),
        args(1, '{"a"'),
        args(1, ": 1}"),
        block("finish", 0, content={"type": "text", "text": "a"}),
        done(1),
        FINISH,
    )
    assert names(deltas) == [
        "RunStarted",
        "MessageStarted",
        "MessageStarted",
        "BlockStarted",
        "TextChunk",
        "ToolCallChunk",
        "ToolCallChunk",
        "ToolCallChunk",
        "ToolCallChunk",
        "Usage",
        "MessageFinished",
        "MessageClosed",
        "RunEnded",
    ]
    assert {delta.run_id for delta in deltas} == {RUN}
    opened, *pieces, confirmed = of(ToolCallChunk, deltas)
    assert (opened.index, opened.id, opened.name, opened.args, opened.block) == (0, "c1", "f", "", "1")
    assert [(each.index, each.id, each.args, each.block) for each in pieces] == [
        (None, None, '{"a"', "1"),
        (None, None, ": 1}", "1"),
    ]
    assert (confirmed.restated, confirmed.args, confirmed.error) == (True, '{"a":1}', None)
    assert [each.model for each in of(MessageStarted, deltas)] == ["m", None]
    assert [(each.finish_reason, each.truncating) for each in of(MessageFinished, deltas)] == [("tool_calls", False)]


def test_a_finish_confirms_text_and_adds_what_is_missing_at_its_end() -> None:
    deltas = decode_frames(
        V3,
        START,
        text(0, "ab"),
        block("finish", 0, content={"type": "text", "text": "abc", "index": 0, "annotations": [1]}),
        block("finish", 1, content={"type": "text", "text": "whole"}),
    )
    assert [(each.block, each.text) for each in of(TextChunk, deltas)] == [("0", "ab"), ("0", "c"), ("1", "whole")]
    assert [(each.field, each.value, each.replace) for each in of(BlockItem, deltas)] == [("annotations", [1], True)]
    assert rules(deltas) == ["block-without-start"]


def test_a_finish_that_says_another_text_is_a_finding() -> None:
    deltas = decode_frames(V3, START, text(0, "ab"), block("finish", 0, content={"type": "text", "text": "ax"}))
    assert rules(deltas) == ["block-without-start", "restatement-differs"]
    assert [each.text for each in of(TextChunk, deltas)] == ["ab"]


def test_a_call_that_is_invalid_says_why() -> None:
    content = {"type": "invalid_tool_call", "id": "c1", "name": "f", "args": '{"a', "error": "no JSON"}
    deltas = decode_frames(V3, START, call(0), args(0, '{"a'), block("finish", 0, content=content))
    assert [(each.args, each.error) for each in of(ToolCallChunk, deltas)] == [
        ("", None),
        ('{"a', None),
        ('{"a', "no JSON"),
    ]


@pytest.mark.parametrize(("streamed", "told"), [(True, ""), (False, "{}")])
def test_no_arguments_are_none_where_they_were_streamed(streamed: bool, told: str) -> None:
    begun = (
        call(0) if streamed else block("start", 0, content={"type": "tool_call", "id": "c1", "name": "f", "args": {}})
    )
    deltas = decode_frames(V3, START, begun, done(0, args={}))
    assert of(ToolCallChunk, deltas)[-1].args == told


def test_arguments_so_far_are_told_by_what_is_new_of_them() -> None:
    def so_far(whole: str) -> dict[str, Any]:
        return block("delta", 0, delta={"type": "block-delta", "fields": {"type": "tool_call_chunk", "args": whole}})

    deltas = decode_frames(V3, START, call(0), so_far('{"a"'), so_far('{"a": 1}'), so_far("other"))
    assert [each.args for each in of(ToolCallChunk, deltas)] == ["", '{"a"', ": 1}", None]
    assert rules(deltas) == ["restatement-differs"]


def test_earlier_versions_had_pieces_of_blocks_for_deltas() -> None:
    deltas = decode_frames(
        V3,
        START,
        block("start", 0, content_block={"type": "text", "text": ""}),
        block("delta", 0, content_block={"type": "text", "text": "a"}),
        block("start", 1, content_block={"type": "tool_call_chunk", "id": "c1", "name": "f", "args": ""}),
        block("delta", 1, content_block={"type": "tool_call_chunk", "args": "{}"}),
        block("delta", 2, content_block={"type": "audio", "data": "AA"}),
    )
    assert [(each.field, each.text) for each in of(TextChunk, deltas)] == [("text", "a"), ("data", "AA")]
    assert [each.args for each in of(ToolCallChunk, deltas)] == ["", "{}"]


def test_a_servers_tools_are_its_own() -> None:
    deltas = decode_frames(
        V3,
        START,
        call(0, type="server_tool_call_chunk"),
        args(0, "{}"),
        block("finish", 0, content={"type": "server_tool_call", "id": "c1", "name": "f", "args": {}}),
        block(
            "finish", 1, content={"type": "server_tool_result", "tool_call_id": "c1", "status": "error", "output": [1]}
        ),
    )
    assert {each.executor for each in of(ToolCallChunk, deltas)} == {"server"}
    (result,) = of(ToolMessage, deltas)
    assert (result.tool_call_id, result.content, result.status, result.executor) == ("c1", [1], "error", "server")


def test_a_block_of_another_kind_is_told_with_its_fields() -> None:
    image = {"type": "image", "mime_type": "image/png"}
    deltas = decode_frames(
        V3,
        START,
        block("start", 0, content=image),
        block("delta", 0, delta={"type": "data-delta", "data": "AA"}),
        block("delta", 0, delta={"type": "block-delta", "fields": {"type": "image", "url": "u"}}),
        block("finish", 0, content={**image, "base64": "AA"}),
    )
    assert [(each.kind, each.data) for each in of(BlockStarted, deltas)] == [("image", {"mime_type": "image/png"})]
    assert {each.field: each.value for each in of(BlockItem, deltas)} == {
        "url": "u",
        "mime_type": "image/png",
        "base64": "AA",
    }


def test_a_place_that_is_opened_again_is_another_block() -> None:
    deltas = decode_frames(V3, START, call(0), args(0, "{}"), call(0, id="c2"), args(0, "[]"))
    assert rules(deltas) == ["block-index-reused"]


def test_an_unknown_delta_is_a_finding() -> None:
    assert rules(decode_frames(V3, START, block("delta", 0, delta={"type": "new-delta"}))) == ["unknown-frame"]


def test_an_unknown_event_of_a_message_is_a_finding() -> None:
    events = [START, {"event": "content-block-extend", "index": 0}]
    assert rules(decode_frames(V3, *(graph("messages", [event, {"run_id": RUN}]) for event in events))) == [
        "unknown-frame"
    ]


def test_an_id_that_comes_with_all_arguments_so_far_is_taken() -> None:
    fields = {"type": "tool_call_chunk", "id": "c1", "args": '{"a"'}
    frames = [START, call(0, id=None), block("delta", 0, delta={"type": "block-delta", "fields": fields})]
    assert [(each.id, each.args) for each in of(ToolCallChunk, decode_frames(V3, *frames))] == [
        (None, ""),
        ("c1", '{"a"'),
    ]


def test_a_recording_that_begins_late_opens_the_message() -> None:
    deltas = decode_frames(V3, text(0, "a"), FINISH)
    assert [each.run_id for each in of(TextChunk, deltas)] == ["message#1"]
    assert len(of(MessageClosed, deltas)) == 1


def test_one_message_after_another_in_a_models_streams() -> None:
    other = {**START, "id": "lc_run--01a22a02-1547-7241-99ca-b4e084888799"}
    deltas = decode_frames(V3, START, text(0, "a"), FINISH, other, text(0, "b"), FINISH)
    runs = [each.run_id for each in of(TextChunk, deltas)]
    assert len(set(runs)) == 2
    assert [each.terminated for each in of(RunEnded, deltas)] == [True, True]


def test_a_graphs_messages_are_told_apart_by_their_runs() -> None:
    def piece(data: dict[str, Any], run: str) -> dict[str, Any]:
        return graph("messages", [data, {"langgraph_checkpoint_ns": "model:t1", "langgraph_step": 1, "run_id": run}])

    deltas = decode_frames(
        V3,
        piece({**START, "id": "m1"}, "r1"),
        piece({**START, "id": "m2"}, "r2"),
        piece(text(0, "a"), "r1"),
        piece(text(0, "b"), "r2"),
        piece(FINISH, "r1"),
        piece(text(0, "c"), "r2"),
    )
    assert [(each.run_id, each.text) for each in of(TextChunk, deltas)] == [("r1", "a"), ("r2", "b"), ("r2", "c")]
    assert [each.run_id for each in of(MessageClosed, deltas)] == ["r1"]
    assert {each.parent_run_id for each in of(RunStarted, deltas)} == {"t1"}


def test_javascript_says_the_run_in_the_event_and_a_reason_of_its_own() -> None:
    deltas = decode_frames(
        V3,
        graph("messages", {"event": "message-start", "id": "m1", "run_id": "r1"}, "model:t1"),
        graph("messages", {**text(0, "a"), "run_id": "r1"}, "model:t1"),
        graph("messages", {"event": "usage", "usage": {"input_tokens": 1}, "run_id": "r1"}, "model:t1"),
        graph("messages", {"event": "message-finish", "reason": "length", "run_id": "r1"}, "model:t1"),
    )
    assert [(each.finish_reason, each.truncating) for each in of(MessageFinished, deltas)] == [("length", True)]
    assert [each.counts for each in of(Usage, deltas)] == [{"input_tokens": 1}]
    assert of(RunStarted, deltas)[0].parent_run_id == "t1"


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        ({"input_tokens": 1.0, "output_tokens": "%s", "total_tokens": True}, [{"input_tokens": 1}]),
        ({"input_token_details": {"cache_read": 2, "audio": None}}, [{"input_token_details": {"cache_read": 2}}]),
        ({"output_tokens": [1]}, []),
        (7, []),
    ],
)
def test_what_is_no_whole_number_is_no_count(usage: Any, counts: list[Any]) -> None:
    deltas = decode_frames(V3, START, {**FINISH, "usage": usage})
    assert [each.counts for each in of(Usage, deltas)] == counts


def test_an_error_in_the_stream_cuts_the_message_off() -> None:
    deltas = decode_frames(V3, START, text(0, "a"), {"event": "error", "message": "no", "code": "c"})
    assert [each.error for each in of(Failure, deltas)] == ["c: no"]
    assert [(each.status, each.error) for each in of(RunEnded, deltas)] == [("error", "c: no")]


def test_what_is_no_answer_and_what_was_there_already_is_not_streamed_again() -> None:
    known = {"messages": [{"type": "ai", "content": "a", "id": "m1"}]}
    deltas = decode_frames(
        V3,
        graph("values", known),
        graph("messages", {"event": "message-start", "role": "ai", "id": "m1", "run_id": "r1"}),
        graph("messages", {**text(0, "a"), "run_id": "r1"}),
        graph("messages", {"event": "message-finish", "run_id": "r1"}),
        graph("messages", {"event": "message-start", "role": "human", "id": "h1", "run_id": "r2"}),
        graph("messages", {**text(0, "q"), "run_id": "r2"}),
        graph("messages", {"event": "message-finish", "run_id": "r2"}),
    )
    assert names(deltas) == ["Finding"]
    assert rules(deltas) == ["event-repeated"]


@pytest.mark.parametrize("end", [[FINISH], []], ids=["to its end", "in part"])
def test_without_a_run_what_was_there_already_is_what_follows_its_start(end: list[Any]) -> None:
    again = decode_frames(
        V3, START, text(0, "a"), FINISH, START, text(0, "a"), *end, {**START, "id": "m2"}, text(0, "b")
    )
    assert [each.text for each in of(TextChunk, again)] == ["a", "b"]
    assert rules(again) == ["block-without-start", "event-repeated", "block-without-start"]


def test_a_models_stream_that_broke_off_is_cut_off_by_the_next() -> None:
    deltas = decode_frames(V3, START, call(0), args(0, "{}"), {**START, "id": "m2"}, call(0))
    assert [(each.run_id, each.terminated) for each in of(RunEnded, deltas)] == [(RUN, False)]


def test_a_message_that_begins_anew_cuts_the_first_off() -> None:
    def piece(data: dict[str, Any]) -> dict[str, Any]:
        return graph("messages", [data, {"langgraph_checkpoint_ns": "model:t1", "run_id": "r1"}])

    deltas = decode_frames(V3, piece({**START, "id": "m1"}), piece(text(0, "a")), piece({**START, "id": "m2"}))
    assert [(each.run_id, each.terminated) for each in of(RunEnded, deltas)] == [("r1", False)]
    assert rules(deltas) == ["block-without-start", "missing-terminator"]


def test_of_messages_that_ended_little_is_kept() -> None:
    state = V3.start()
    sizes = []
    for number in range(900):
        for each in ({**START, "id": f"m{number:04}"}, call(0), args(0, "{}"), done(0, args={}), FINISH):
            state, _ = V3.step(state, frame(V3, each))
        sizes.append(len(msgspec.msgpack.encode(state)))
    assert sizes[-1] == sizes[500]
