from __future__ import annotations

from typing import Any

import pytest

from recorder.deltas import (
    Finding,
    MessageClosed,
    MessageFinished,
    MessageStarted,
    RunEnded,
    TextChunk,
    ToolCallChunk,
    ToolMessage,
    Usage,
)
from recorder.dialects import get, recognise
from tests.dialects.exchanges import state
from tests.dialects.wire import decode_events, decode_frames, end, frame, of, response, rules

REALTIME = get("openai.realtime")


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "event_id": "event_1", **fields}


def created(id: str = "r1") -> dict[str, Any]:
    return event("response.created", response={"object": "realtime.response", "id": id, "status": "in_progress"})


def done(id: str = "r1", status: str | None = "completed", *output: Any, **fields: Any) -> dict[str, Any]:
    return event("response.done", response={"id": id, "status": status, "output": list(output), **fields})


def part(kind: str, item: str, *, id: str = "r1", place: int = 0, **fields: Any) -> dict[str, Any]:
    at = {"response_id": id, "item_id": item, "output_index": 0, "content_index": place}
    return event(f"response.{kind}", **at, **fields)


def item(kind: str, value: dict[str, Any], *, id: str = "r1", index: int = 0) -> dict[str, Any]:
    return event(f"response.output_item.{kind}", response_id=id, output_index=index, item=value)


def message(item_id: str, *content: dict[str, Any]) -> dict[str, Any]:
    return {"id": item_id, "type": "message", "role": "assistant", "content": list(content)}


def function(item_id: str, call_id: str, arguments: str, status: str = "completed") -> dict[str, Any]:
    named = {"name": "f", "call_id": call_id, "arguments": arguments}
    return {"id": item_id, "type": "function_call", "status": status, **named}


def conversation(kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return event(f"conversation.item.{kind}", item=value)


def answer(call_id: str = "c1", output: Any = "x") -> dict[str, Any]:
    return {"id": "a1", "type": "function_call_output", "call_id": call_id, "output": output}


def streamed_call(item_id: str = "i1", call_id: str = "c1", id: str = "r1") -> list[dict[str, Any]]:
    """A call as the server streams it, every end of it included."""
    pieces = [
        part("function_call_arguments.delta", item_id, id=id, call_id=call_id, delta=each) for each in ('{"a"', ": 1}")
    ]
    whole = function(item_id, call_id, '{"a": 1}')
    return [
        item("added", {**whole, "arguments": "", "status": "in_progress"}, id=id),
        conversation("added", {**whole, "arguments": "", "status": "in_progress"}),
        *pieces,
        part("function_call_arguments.done", item_id, id=id, call_id=call_id, name="f", arguments='{"a": 1}'),
        conversation("done", whole),
        item("done", whole, id=id),
    ]


@pytest.mark.parametrize("prefix", ["", "output_"], ids=["beta", "general"])
def test_text_and_what_was_spoken_are_parts_under_the_names_of_both_releases(prefix: str) -> None:
    frames = [
        created(),
        item("added", message("i1")),
        part("content_part.added", "i1", part={"type": f"{prefix}text", "text": ""}),
        part(f"{prefix}text.delta", "i1", delta="a"),
        part(f"{prefix}text.done", "i1", text="a"),
        part("content_part.added", "i1", place=1, part={"type": f"{prefix}audio", "transcript": ""}),
        part(f"{prefix}audio_transcript.delta", "i1", place=1, delta="b"),
        part(f"{prefix}audio.delta", "i1", place=1, delta="AAAA"),
        part(f"{prefix}audio.done", "i1", place=1),
        part(f"{prefix}audio_transcript.done", "i1", place=1, transcript="b"),
        item(
            "done", message("i1", {"type": f"{prefix}text", "text": "a"}, {"type": f"{prefix}audio", "transcript": "b"})
        ),
        done("r1", "completed", message("i1", {"type": f"{prefix}text", "text": "a"})),
    ]
    (told,) = state(frames)["messages"]
    assert told["blocks"] == [{"type": "text", "text": "a"}, {"type": "audio", "transcript": "b"}]
    assert (told["message_id"], told["text"], told["finish_reason"]) == ("r1", "a", "completed")
    assert rules(decode_frames(REALTIME, *frames)) == []


def test_a_call_is_one_however_often_it_is_said() -> None:
    whole = function("i1", "c1", '{"a": 1}')
    found = state([created(), *streamed_call(), done("r1", "completed", whole)])
    (told,) = found["messages"]
    assert [(call["id"], call["name"], call["raw"], call["state"]) for call in told["calls"]] == [
        ("c1", "f", '{"a": 1}', "complete")
    ]
    assert len(found["pairings"]) == 1
    assert found["findings"] == []


def test_a_call_is_complete_with_its_response_and_not_before() -> None:
    frames = [created(), *streamed_call(), done()]
    states = [[call["state"] for told in state(frames, n)["messages"] for call in told["calls"]] for n in range(1, 10)]
    assert states == [[], *([["open"]] * 7), ["complete"]]


@pytest.mark.parametrize(
    ("status", "details", "reason"),
    [
        ("cancelled", {"type": "cancelled", "reason": "turn_detected"}, "turn_detected"),
        ("cancelled", {"type": "cancelled", "reason": "client_cancelled"}, "client_cancelled"),
        ("incomplete", {"type": "incomplete", "reason": "max_output_tokens"}, "max_output_tokens"),
        ("incomplete", {"type": "incomplete", "reason": "content_filter"}, "content_filter"),
        ("failed", {"type": "failed", "error": {"type": "server_error", "message": "no"}}, "failed"),
        ("cancelled", None, "cancelled"),
    ],
)
def test_calls_of_a_response_that_was_not_completed_are_truncated(status: str, details: Any, reason: str) -> None:
    """Even where their items were done before."""
    found = state([created(), *streamed_call(), done("r1", status, status_details=details)])
    (told,) = found["messages"]
    assert told["finish_reason"] == reason
    assert [call["state"] for call in told["calls"]] == ["truncated"]
    failures = [finding["detail"] for finding in found["findings"] if finding["rule"] == "failure"]
    assert failures == (["server_error: no"] if status == "failed" else [])


def test_a_half_written_call_of_a_cancelled_response_is_restated_as_it_was() -> None:
    half = function("i1", "c1", '{"a"', status="incomplete")
    frames = [created(), *streamed_call()[:3], done("r1", "cancelled", half)]
    found = state(frames)
    assert [(call["raw"], call["state"]) for call in found["messages"][0]["calls"]] == [('{"a"', "truncated")]
    assert found["findings"] == []


def test_responses_of_a_session_are_messages_one_after_the_other() -> None:
    session = event("session.created", session={"id": "s", "model": "m1"})
    frames = [session, created(), done(), created("r2"), part("text.delta", "i2", id="r2", delta="b"), done("r2")]
    told = state(frames)["messages"]
    assert [(each["message_id"], each["choice"], each["model"], each["text"]) for each in told] == [
        ("r1", 0, "m1", ""),
        ("r2", 0, "m1", "b"),
    ]
    assert len({each["run_id"] for each in told}) == 1


def test_responses_that_are_open_at_once_are_kept_apart() -> None:
    frames = [
        created("r1"),
        created("r2"),
        *streamed_call("i1", "c1", "r1")[:3],
        *streamed_call("i2", "c2", "r2"),
        part("text.delta", "i3", id="r1", delta="a"),
        done("r2"),
        created("r3"),
        part("text.delta", "i4", id="r3", delta="c"),
        done("r3"),
        done("r1", "cancelled"),
    ]
    told = {each["message_id"]: each for each in state(frames)["messages"]}
    assert {id: (each["choice"], each["text"]) for id, each in told.items()} == {
        "r1": (0, "a"),
        "r2": (1, ""),
        "r3": (1, "c"),
    }
    states = {id: [(call["id"], call["state"]) for call in each["calls"]] for id, each in told.items()}
    assert states == {"r1": [("c1", "truncated")], "r2": [("c2", "complete")], "r3": []}


def test_an_end_closes_its_own_message_only() -> None:
    deltas = decode_frames(REALTIME, created("r1"), created("r2"), done("r2"))
    assert [closed.choice for closed in of(MessageClosed, deltas)] == [1]


def test_a_session_that_ends_while_a_response_is_open_cuts_it_off() -> None:
    frames = [frame(REALTIME, each) for each in (created(), *streamed_call())]
    assert of(RunEnded, decode_events(REALTIME, [*frames, end(REALTIME)]))[0].terminated is False
    whole = [*frames, frame(REALTIME, done()), end(REALTIME)]
    assert of(RunEnded, decode_events(REALTIME, whole))[0].terminated is True


def test_a_switched_protocol_is_no_refusal() -> None:
    deltas = decode_events(REALTIME, [response(REALTIME, 101), frame(REALTIME, created()), frame(REALTIME, done())])
    assert [started.message_id for started in of(MessageStarted, deltas)] == ["r1"]
    assert rules(deltas) == []


def test_a_response_of_which_only_the_end_was_recorded_is_whole() -> None:
    output = [
        message("i1", {"type": "output_text", "text": "a"}, {"type": "output_audio", "transcript": "b"}),
        function("i2", "c1", '{"a": 1}'),
    ]
    (told,) = state([done("r1", "completed", *output)])["messages"]
    assert [block["type"] for block in told["blocks"]] == ["text", "audio", "tool_call"]
    assert [(call["raw"], call["state"]) for call in told["calls"]] == [('{"a": 1}', "complete")]


def test_deltas_of_a_response_that_was_not_created_are_read_with_a_finding() -> None:
    deltas = decode_frames(REALTIME, part("text.delta", "i1", delta="a"), part("text.delta", "i1", delta="b"))
    assert rules(deltas) == ["message-without-start"]
    assert [text.text for text in of(TextChunk, deltas)] == ["a", "b"]


def test_events_of_a_response_that_is_done_begin_none() -> None:
    deltas = decode_frames(REALTIME, created(), done(), part("text.delta", "i1", delta="a"), done())
    assert rules(deltas) == ["message-without-start", "message-without-start"]
    assert len(of(MessageStarted, deltas)) == 1


def test_responses_without_an_id_follow_each_other() -> None:
    frames = [each for text in "ab" for each in (created(""), part("text.delta", "i1", id="", delta=text), done(""))]
    assert [told["text"] for told in state(frames)["messages"]] == ["a", "b"]


def test_a_text_that_its_end_gives_otherwise_is_a_finding() -> None:
    deltas = decode_frames(
        REALTIME, created(), part("text.delta", "i1", delta="ab"), part("text.done", "i1", text="abc")
    )
    assert rules(deltas) == ["restatement-differs"]
    assert [text.text for text in of(TextChunk, deltas)] == ["ab"]


def test_a_character_that_two_deltas_share_is_no_difference() -> None:
    halves = [part("text.delta", "i1", delta=half) for half in ("a\ud83d", "\ude00")]
    frames = [created(), *halves, part("text.done", "i1", text="a\U0001f600")]
    assert "restatement-differs" not in rules(decode_frames(REALTIME, *frames))


def test_a_text_that_was_not_streamed_is_taken_from_its_end() -> None:
    frames = [created(), part("audio_transcript.done", "i1", transcript="a"), item("done", message("i1"))]
    assert [text.text for text in of(TextChunk, decode_frames(REALTIME, *frames))] == ["a"]


@pytest.mark.parametrize("at_top", [True, False])
def test_counts_stand_in_the_response_or_beside_it(at_top: bool) -> None:
    usage = {
        "input_tokens": 63,
        "output_tokens": 22,
        "total_tokens": 85,
        "input_token_details": {"cached_tokens": 8, "audio_tokens": 30, "cached_tokens_details": {"text_tokens": 8}},
        "output_token_details": {"reasoning_tokens": 2},
    }
    ending = {**done(usage={}), "usage": usage} if at_top else done(usage=usage)
    (counted,) = of(Usage, decode_frames(REALTIME, created(), ending))
    assert counted.counts == {
        "input_tokens": 63,
        "output_tokens": 22,
        "total_tokens": 85,
        "input_token_details": {"cache_read": 8, "audio": 30},
        "output_token_details": {"reasoning": 2},
    }
    assert counted.choice == 0


@pytest.mark.parametrize(
    "told",
    [
        [conversation("created", answer())],
        [conversation("added", answer()), conversation("done", answer())],
        [conversation("done", answer())],
        [{"type": "conversation.item.create", "item": answer()}, conversation("added", answer())],
        [conversation("added", answer()), event("conversation.item.retrieved", item=answer())],
    ],
    ids=["beta", "general", "only its end", "the client's event too", "asked for again"],
)
def test_a_clients_answer_counts_once(told: list[dict[str, Any]]) -> None:
    found = state([created(), *streamed_call(), done(), *told])
    assert [(row["call_id"], row["status"]) for row in found["pairings"]] == [("c1", "answered")]
    assert [(each["tool_call_id"], each["content"]) for each in found["tool_messages"]] == [("c1", "x")]


def test_a_second_answer_is_a_duplicate_and_one_to_nobody_an_orphan() -> None:
    told = [conversation("added", each) for each in (answer(), answer(output="y"), answer("c9"))]
    found = state([created(), *streamed_call(), done(), *told])
    assert [row["status"] for row in found["pairings"]] == ["answered", "duplicate", "orphan"]


def test_a_client_that_goes_on_with_a_conversation_says_its_calls_first() -> None:
    old = function("i0", "c0", '{"a": 0}')
    frames = [{"type": "conversation.item.create", "item": old}, conversation("added", old), conversation("done", old)]
    found = state([*frames, conversation("added", answer("c0"))])
    assert [(row["call_id"], row["status"]) for row in found["pairings"]] == [("c0", "answered")]
    assert found["messages"] == []


def test_a_servers_call_and_its_result_are_told() -> None:
    call = {"id": "i1", "type": "mcp_call", "server_label": "s", "name": "f", "arguments": ""}
    whole = {**call, "arguments": "{}", "output": "x"}
    frames = [
        created(),
        item("added", call),
        event("response.mcp_call.in_progress", item_id="i1", output_index=0),
        part("mcp_call_arguments.delta", "i1", delta="{}"),
        part("mcp_call_arguments.done", "i1", arguments="{}"),
        item("done", whole),
        done("r1", "completed", whole),
    ]
    found = state(frames)
    assert [(call["id"], call["raw"], call["executor"]) for call in found["messages"][0]["calls"]] == [
        ("i1", "{}", "server")
    ]
    assert [(row["status"], row["executor"]) for row in found["pairings"]] == [("answered", "server")]
    assert found["findings"] == []


def test_a_servers_result_may_come_after_its_response() -> None:
    call = {"id": "i1", "type": "mcp_call", "name": "f", "arguments": "{}"}
    late = [
        event("response.mcp_call.completed", item_id="i1", output_index=0),
        conversation("done", {**call, "output": "x"}),
    ]
    found = state([created(), item("done", call), done("r1", "completed", call), *late])
    assert [(row["status"], row["executor"]) for row in found["pairings"]] == [("answered", "server")]
    assert found["findings"] == []


def test_a_servers_call_that_failed_has_its_error_for_an_answer() -> None:
    failed = {"id": "i1", "type": "mcp_call", "name": "f", "arguments": "{}", "error": {"type": "x", "message": "no"}}
    (told,) = of(ToolMessage, decode_frames(REALTIME, created(), item("done", failed)))
    assert (told.status, told.content) == ("error", "x: no")


def test_a_request_for_approval_is_answered_by_the_client() -> None:
    asked = {"id": "i1", "type": "mcp_approval_request", "name": "f", "arguments": "{}"}
    verdict = {"id": "i2", "type": "mcp_approval_response", "approval_request_id": "i1", "approve": True}
    found = state([created(), item("done", asked), done(), conversation("added", verdict)])
    assert [call["executor"] for call in found["messages"][0]["calls"]] == ["local"]
    assert [(each["tool_call_id"], each["content"]) for each in found["tool_messages"]] == [("i1", {"approve": True})]
    assert [row["status"] for row in found["pairings"]] == ["answered"]


def test_an_error_leaves_the_session_and_its_responses_as_they_are() -> None:
    error = event("error", error={"type": "invalid_request_error", "message": "no such item"})
    found = state([created(), *streamed_call(), error, done()])
    assert [(finding["rule"], finding["severity"], finding["detail"]) for finding in found["findings"]] == [
        ("failure", "error", "invalid_request_error: no such item")
    ]
    assert [call["state"] for call in found["messages"][0]["calls"]] == ["complete"]


def test_a_transcription_that_failed_is_told() -> None:
    failed = event("conversation.item.input_audio_transcription.failed", item_id="u", error={"message": "too quiet"})
    assert [finding.detail for finding in of(Finding, decode_frames(REALTIME, failed))] == ["too quiet"]


def test_what_is_neither_answer_nor_tool_says_nothing() -> None:
    quiet = [
        event("input_audio_buffer.speech_started", item_id="u"),
        event("conversation.item.added", item={"id": "u", "type": "message", "role": "user"}),
        event("conversation.item.input_audio_transcription.delta", item_id="u", delta="hello"),
        event("rate_limits.updated", rate_limits=[]),
        event("output_audio_buffer.started", response_id="r1"),
        event("mcp_list_tools.completed", item_id="l"),
        event("ping", timestamp=1),
        {"type": "input_audio_buffer.append", "audio": "AAAA"},
        {"type": "response.create"},
        {"type": "response.cancel"},
    ]
    assert [type(delta).__name__ for delta in decode_frames(REALTIME, *quiet)] == ["RunStarted"]


def test_a_session_or_a_response_that_forces_a_tool_is_told_once() -> None:
    forced, free = ({"tool_choice": choice} for choice in ("required", "auto"))
    frames = [
        {"type": "session.update", "session": forced},
        *(event("session.updated", session=forced) for _ in range(2)),
        event("session.updated", session=free),
        {"type": "response.create", "response": {"tool_choice": {"type": "function", "name": "f"}}},
    ]
    assert [finding.detail for finding in of(Finding, decode_frames(REALTIME, *frames))] == [
        "the request forces tool 'any'",
        "the request forces tool 'f'",
    ]


@pytest.mark.parametrize(
    ("value", "ours"),
    [
        (created(), True),
        (event("rate_limits.updated"), True),
        ({"type": "session.update", "session": {}}, True),
        ({"type": "conversation.item.create", "item": {}}, True),
        ({"type": "response.created", "sequence_number": 0, "response": {"object": "response"}}, False),
        ({"type": "response.create"}, False),
        (event("error"), False),
        (event("ping"), False),
    ],
)
def test_its_frames_are_known_by_their_ids(value: Any, ours: bool) -> None:
    assert (recognise(value, None) is REALTIME) is ours


def test_events_of_other_kinds_are_findings() -> None:
    frames = [event("response.hologram.delta", response_id="r1"), event("hologram"), created(), 7]
    deltas = decode_frames(REALTIME, created(), *frames[:2], frames[3])
    assert rules(deltas) == ["unknown-frame", "unknown-frame", "unknown-frame"]


def test_items_of_other_kinds_are_blocks() -> None:
    (told,) = state([created(), item("done", {"id": "i1", "type": "hologram", "x": 1}), done()])["messages"]
    assert told["blocks"] == [{"type": "hologram", "id": "i1", "x": 1}]


def test_items_that_share_an_output_index_are_told_apart() -> None:
    frames = [created(), part("text.delta", "i1", delta="a"), *streamed_call("i2"), done()]
    (told,) = state(frames)["messages"]
    assert [block["type"] for block in told["blocks"]] == ["text", "tool_call"]
    assert [chunk.block for chunk in of(ToolCallChunk, decode_frames(REALTIME, *frames))] == ["i2"] * 5


def test_a_finish_without_a_status_leaves_it_to_the_text() -> None:
    found = state([created(), *streamed_call(), done("r1", None)])
    assert of(MessageFinished, decode_frames(REALTIME, created(), done("r1", None))) == []
    assert [finding["rule"] for finding in found["findings"]] == ["missing-finish-reason"]
    assert [call["state"] for call in found["messages"][0]["calls"]] == ["complete"]


@pytest.mark.parametrize(
    ("details", "told"),
    [
        ({"error": {"code": "quota", "message": "none left"}}, "quota: none left"),
        ({"type": "failed", "reason": "odd"}, "failed"),
        (None, "failed"),
    ],
)
def test_a_response_that_failed_says_why(details: Any, told: str) -> None:
    deltas = decode_frames(REALTIME, created(), done("r1", "failed", status_details=details))
    assert [(each.rule, each.detail) for each in of(Finding, deltas)] == [("failure", told)]


def test_a_part_may_begin_with_a_text() -> None:
    begun = part("content_part.added", "i1", part={"type": "text", "text": "He"})
    deltas = decode_frames(REALTIME, created(), begun, part("output_text.delta", "i1", delta="y"))
    assert [each.text for each in of(TextChunk, deltas)] == ["He", "y"]


def test_a_delta_of_another_type_is_told() -> None:
    assert rules(decode_frames(REALTIME, created(), part("output_text.delta", "i1", delta=7))) == ["malformed-field"]
