from __future__ import annotations

from typing import Any

from recorder.deltas import Restatement
from recorder.projections.restatement import chunks_of_restatement
from tests.streams import events_of, state_of


def call(id: str, args: Any) -> dict[str, Any]:
    return {"name": "f", "args": args, "id": id}


def test_the_chunks_of_a_restatement_have_the_raw_arguments_where_they_are_known() -> None:
    delta = Restatement(
        run_id="r",
        calls=[call("a", {"n": [1]}), call("b", {"n": 2}), call("c", {})],
        raw=['{"n":[1', None, ""],
        invalid_calls=[call("d", "[")],
    )
    assert [(chunk.id, chunk.args) for chunk in chunks_of_restatement(delta)] == [
        ("a", '{"n":[1'),
        ("b", '{"n": 2}'),
        ("c", ""),
        ("d", "["),
    ]
    assert [chunk.args for chunk in chunks_of_restatement(Restatement(run_id="r", calls=[call("a", {})]))] == ["{}"]


def test_a_call_that_was_cut_off_is_not_complete_though_only_the_sum_was_recorded() -> None:
    sum_of_chunks = (
        b'{"event":"on_chat_model_end","run_id":"r","data":{"output":{"type":"AIMessageChunk","content":"",'
        b'"tool_call_chunks":[{"name":"f","args":"{\\"a\\":1,\\"b\\":[2","id":"a","index":0}],'
        b'"tool_calls":[{"name":"f","args":{"a":1,"b":[2]},"id":"a"}]%s}}}\n'
    )
    (message,) = state_of(events_of(sum_of_chunks % b""))["messages"]
    (shown,) = message["calls"]
    assert (shown["raw"], shown["state"]) == ('{"a":1,"b":[2', "invalid")
    assert [each["args"] for each in message["tool_calls"]] == [{"a": 1, "b": [2]}]
    cut_off = sum_of_chunks % b',"response_metadata":{"finish_reason":"lengthlength"}'
    assert state_of(events_of(cut_off))["messages"][0]["calls"][0]["state"] == "truncated"
