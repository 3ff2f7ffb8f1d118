from __future__ import annotations

from typing import Any

import pytest

from recorder.deltas import (
    BlockStopped,
    Failure,
    History,
    HistoryAnswer,
    HistoryCall,
    MessageClosed,
    MessageFinished,
    MessageStarted,
    RunEnded,
    TextChunk,
    ToolCallChunk,
    Usage,
)
from recorder.dialects import get, recognise
from tests.dialects.exchanges import state
from tests.dialects.wire import decode_events, decode_frames, end, frame, of, request, rules

INTERACTIONS = get("gemini.interactions")


def created(id: str = "i1") -> dict[str, Any]:
    return {"event_type": "interaction.created", "interaction": {"id": id, "status": "in_progress", "model": "m1"}}


def completed(status: str | None = "completed", **fields: Any) -> dict[str, Any]:
    return {"event_type": "interaction.completed", "interaction": {"id": "i1", "status": status, **fields}}


def start(index: int, **step: Any) -> dict[str, Any]:
    return {"event_type": "step.start", "index": index, "step": step}


def delta(index: int, **fields: Any) -> dict[str, Any]:
    return {"event_type": "step.delta", "index": index, "delta": fields}


def stop(index: int) -> dict[str, Any]:
    return {"event_type": "step.stop", "index": index}


TEXT = [start(0, type="model_output"), delta(0, type="text", text="a"), stop(0)]
STATUS = {"event_type": "interaction.status_update", "interaction_id": "i1", "status": "in_progress"}


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (created(), "interaction.created"),
        (STATUS, "interaction.status_update"),
        (TEXT[0], "step.start"),
        ({"event_type": "content.delta", "index": 0, "delta": {}}, "content.delta"),
        ({"event_type": "interaction.complete", "interaction": {}}, "interaction.complete"),
        ({"object": "interaction", "id": "i1"}, "interaction"),
        ({"id": "i1", "status": "completed", "outputs": []}, "interaction"),
    ],
)
def test_its_frames_are_recognised(value: Any, kind: str) -> None:
    assert recognise(value, None) is INTERACTIONS
    assert INTERACTIONS.envelope(value, None).kind == kind


@pytest.mark.parametrize(
    "value", [{"event_type": "error", "error": {}}, {"event_type": "step.start"}, {"status": "completed"}, [], "x"]
)
def test_others_frames_are_not(value: Any) -> None:
    assert not INTERACTIONS.recognises(value, None)


def test_a_message_is_an_interaction() -> None:
    deltas = decode_frames(INTERACTIONS, created(), STATUS, *TEXT, completed(), "[DONE]")
    assert [(each.message_id, each.role, each.model, each.restart) for each in of(MessageStarted, deltas)] == [
        ("i1", "ai", "m1", False)
    ]
    assert [each.text for each in of(TextChunk, deltas)] == ["a"]
    assert len(of(MessageClosed, deltas)) == len(of(RunEnded, deltas)) == 1
    assert rules(deltas) == []


@pytest.mark.parametrize(
    ("status", "truncating"),
    [
        ("completed", False),
        ("requires_action", False),
        ("incomplete", True),
        ("failed", True),
        ("cancelled", True),
        ("budget_exceeded", True),
        ("requires_continuation", True),
    ],
)
def test_its_status_says_whether_anything_was_cut_off(status: str, truncating: bool) -> None:
    (finished,) = of(MessageFinished, decode_frames(INTERACTIONS, created(), completed(status)))
    assert (finished.finish_reason, finished.truncating) == (status, truncating)


def test_an_end_without_a_status_gives_no_reason() -> None:
    deltas = decode_frames(INTERACTIONS, created(), completed(None))
    assert of(MessageFinished, deltas) == []
    assert len(of(MessageClosed, deltas)) == 1


def test_a_stream_without_its_end_is_not_whole() -> None:
    deltas = decode_events(
        INTERACTIONS, [*(frame(INTERACTIONS, each) for each in (created(), *TEXT)), end(INTERACTIONS)]
    )
    assert of(RunEnded, deltas)[0].terminated is False


def test_the_first_versions_events_say_the_same() -> None:
    frames = [
        {"event_type": "interaction.start", "interaction": {"id": "i1", "agent": "deep-research"}},
        {"event_type": "content.start", "index": 0, "content": {"type": "text"}},
        {"event_type": "content.delta", "index": 0, "delta": {"type": "text", "text": "a"}},
        {"event_type": "content.stop", "index": 0},
        {"event_type": "content.start", "index": 1, "content": {"type": "function_call"}},
        {
            "event_type": "content.delta",
            "index": 1,
            "delta": {"type": "function_call", "id": "c1", "name": "f", "arguments": {"a": 1}},
        },
        {"event_type": "content.stop", "index": 1},
        {"event_type": "interaction.complete", "interaction": {"status": "requires_action"}},
    ]
    deltas = decode_frames(INTERACTIONS, *frames)
    assert of(MessageStarted, deltas)[0].model == "deep-research"
    assert [each.text for each in of(TextChunk, deltas)] == ["a"]
    assert [(each.id, each.name, each.args) for each in of(ToolCallChunk, deltas)] == [
        (None, None, ""),
        ("c1", "f", '{"a":1}'),
    ]
    assert rules(deltas) == []


def test_a_stream_taken_up_again_is_the_same_message() -> None:
    deltas = decode_frames(INTERACTIONS, created(), TEXT[0], created(), *TEXT[1:], completed())
    assert len(of(MessageStarted, deltas)) == 1


def test_a_stream_that_begins_in_its_middle_has_its_id_at_the_end() -> None:
    deltas = decode_frames(INTERACTIONS, *TEXT, completed())
    assert [each.message_id for each in of(MessageStarted, deltas)] == [None, "i1"]


def test_another_interaction_behind_the_first_is_another_message() -> None:
    deltas = decode_frames(INTERACTIONS, created(), *TEXT, completed(), created("i2"), *TEXT, completed())
    assert [(each.message_id, each.restart) for each in of(MessageStarted, deltas)] == [("i1", False), ("i2", False)]
    assert rules(deltas) == []


def test_another_one_in_an_open_stream_supersedes_it() -> None:
    deltas = decode_frames(INTERACTIONS, created(), *TEXT, created("i2"), *TEXT, completed())
    assert [(each.message_id, each.restart) for each in of(MessageStarted, deltas)] == [("i1", False), ("i2", True)]


def test_a_whole_interaction_is_read_at_once() -> None:
    whole = {
        "object": "interaction",
        "id": "i1",
        "model": "m1",
        "status": "requires_action",
        "usage": {"total_input_tokens": 3},
        "steps": [
            {"type": "thought", "summary": [{"type": "text", "text": "hm"}], "signature": "s"},
            {"type": "model_output", "content": [{"type": "text", "text": "a"}]},
            {"type": "function_call", "id": "c1", "name": "f", "arguments": {"a": 1}},
            {"type": "function_call", "id": "c2", "name": "g", "arguments": {}},
        ],
    }
    deltas = decode_frames(INTERACTIONS, whole)
    assert [(each.kind, each.field, each.text) for each in of(TextChunk, deltas)] == [
        ("thinking", "thinking", "hm"),
        ("thinking", "signature", "s"),
        ("text", "text", "a"),
    ]
    assert [(each.id, each.args) for each in of(ToolCallChunk, deltas)] == [("c1", '{"a":1}'), ("c2", "{}")]
    assert [each.finish_reason for each in of(MessageFinished, deltas)] == ["requires_action"]
    assert [each.counts for each in of(Usage, deltas)] == [{"input_tokens": 3}]
    assert len(of(RunEnded, deltas)) == 1


@pytest.mark.parametrize("status", ["in_progress", "queued"])
def test_what_an_interaction_in_the_background_has_so_far_is_not_whole(status: str) -> None:
    """It comes again, whole, with a later request: the call that it holds by now may lack its end."""
    call = {"type": "function_call", "id": "c1", "name": "f", "arguments": {"a": 1}}
    running = {"object": "interaction", "id": "i1", "status": status, "steps": [call]}
    (finished,) = of(MessageFinished, decode_frames(INTERACTIONS, running))
    assert (finished.finish_reason, finished.truncating) == (status, True)
    assert state([running])["messages"][0]["calls"][0]["state"] == "truncated"


def test_calls_that_the_end_repeats_are_confirmed() -> None:
    call = {"type": "function_call", "id": "c1", "name": "f", "arguments": {"a": 1}}
    frames = [created(), start(0, **call), stop(0), completed("requires_action", steps=[{"type": "thought"}, call])]
    first, again = of(ToolCallChunk, decode_frames(INTERACTIONS, *frames))
    assert (first.restated, again.restated) == (False, True)
    assert (again.id, again.block, again.args) == ("c1", None, '{"a":1}')


def test_what_the_end_holds_where_nothing_was_streamed_is_taken() -> None:
    output = {"type": "model_output", "content": [{"type": "text", "text": "a"}]}
    deltas = decode_frames(INTERACTIONS, created(), completed(steps=[output]))
    assert [each.text for each in of(TextChunk, deltas)] == ["a"]


@pytest.mark.parametrize(
    "body",
    [
        {"event_type": "error", "error": {"code": "rate_limit", "message": "Slow down"}},
        {"error": {"code": "rate_limit", "message": "Slow down"}},
        completed("failed", errors=[{"code": "rate_limit", "message": "Slow down"}]),
    ],
)
def test_an_error_fails_the_run(body: Any) -> None:
    deltas = decode_events(
        INTERACTIONS, [*(frame(INTERACTIONS, each) for each in (created(), body)), end(INTERACTIONS)]
    )
    assert [each.error for each in of(Failure, deltas)] == ["rate_limit: Slow down"]
    assert of(RunEnded, deltas)[0].status == "error"


def test_counts_come_with_any_event() -> None:
    usage = {"total_tokens": 3}
    frames = [created(), {**STATUS, "usage": usage}, *TEXT[:2], {**stop(0), "usage": usage}, completed(usage=usage)]
    assert [each.counts for each in of(Usage, decode_frames(INTERACTIONS, *frames))] == [{"total_tokens": 3}] * 3


@pytest.mark.parametrize(
    ("given", "entry"),
    [
        (
            [{"type": "function_call", "id": "c1", "name": "f", "arguments": {"a": 1}}],
            HistoryCall(id="c1", name="f", args='{"a":1}'),
        ),
        (
            [{"type": "google_search_call", "id": "g1", "arguments": {"queries": ["q"]}}],
            HistoryCall(id="g1", name="google_search", args='{"queries":["q"]}', executor="server"),
        ),
        (
            {"type": "function_result", "call_id": "c1", "name": "f", "result": "ok"},
            HistoryAnswer(tool_call_id="c1", name="f", content="ok"),
        ),
        (
            [
                {
                    "role": "user",
                    "content": [{"type": "function_result", "call_id": "c1", "result": 1, "is_error": True}],
                }
            ],
            HistoryAnswer(tool_call_id="c1", content=1, status="error"),
        ),
    ],
)
def test_a_request_brings_results(given: Any, entry: Any) -> None:
    deltas = decode_events(INTERACTIONS, [request(INTERACTIONS, {"model": "m", "input": given})])
    assert [each.entries for each in of(History, deltas)] == [[entry]]


@pytest.mark.parametrize("given", ["hi", [{"type": "text", "text": "hi"}], [{"role": "user", "content": "hi"}], None])
def test_a_request_without_results_says_nothing(given: Any) -> None:
    assert of(History, decode_events(INTERACTIONS, [request(INTERACTIONS, {"input": given})])) == []


@pytest.mark.parametrize(
    ("choice", "forced"),
    [
        ("any", "'any'"),
        ({"allowed_tools": {"mode": "any", "tools": ["f"]}}, "'f'"),
        ({"allowed_tools": {"mode": "any", "tools": ["f", "g"]}}, "'any'"),
        ({"allowed_tools": {"mode": "auto", "tools": ["f"]}}, None),
        ("auto", None),
    ],
)
def test_a_forced_tool_is_a_finding(choice: Any, forced: str | None) -> None:
    body = {"input": "hi", "generation_config": {"tool_choice": choice}}
    deltas = decode_events(INTERACTIONS, [request(INTERACTIONS, body)])
    details = [each.detail for each in deltas if getattr(each, "rule", "") == "forced-tool-choice"]
    assert details == ([] if forced is None else [f"the request forces tool {forced}"])


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        ({"event_type": "interaction.new", "interaction_id": "i"}, "unknown-frame"),
        ([], "unknown-frame"),
        ({"event_type": "interaction.completed", "interaction": 1}, "malformed-field"),
    ],
)
def test_what_cannot_be_read_is_a_finding(value: Any, rule: str) -> None:
    assert rule in rules(decode_frames(INTERACTIONS, created(), value))


def test_a_streamed_call_begins_without_arguments_and_stays_open_until_its_stop() -> None:
    call = {"type": "function_call", "id": "c1", "name": "f", "arguments": {}}
    deltas = decode_frames(INTERACTIONS, created(), start(0, **call))
    (chunk,) = of(ToolCallChunk, deltas)
    assert (chunk.name, chunk.args) == ("f", "")
    assert of(BlockStopped, deltas) == []


def test_at_the_end_only_calls_with_an_id_are_confirmed() -> None:
    step = {"type": "model_output", "id": "s1", "content": [{"type": "text", "text": "a"}]}
    nameless = {"type": "function_call", "name": "f", "arguments": {}}
    frames = [created(), *TEXT, completed(steps=[step, nameless])]
    assert of(ToolCallChunk, decode_frames(INTERACTIONS, *frames)) == []
