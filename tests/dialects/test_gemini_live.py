from __future__ import annotations

from typing import Any

import pytest

from recorder.deltas import (
    BlockItem,
    Failure,
    Finding,
    History,
    MessageClosed,
    MessageFinished,
    MessageStarted,
    RunEnded,
    RunStarted,
    TextChunk,
    ToolCallChunk,
    ToolFailed,
    ToolMessage,
    Usage,
)
from recorder.dialects import get, recognise
from tests.dialects.wire import decode_events, decode_frames, end, frame, of, rules

LIVE = get("gemini.live")
SETUP: dict[str, Any] = {"setupComplete": {}}
GENERATED: dict[str, Any] = {"serverContent": {"generationComplete": True}}
OVER: dict[str, Any] = {"serverContent": {"turnComplete": True}}
CALL: dict[str, Any] = {"toolCall": {"functionCalls": [{"id": "c1", "name": "f", "args": {"a": 1}}]}}
RESULT: dict[str, Any] = {"toolResponse": {"functionResponses": [{"id": "c1", "name": "f", "response": {"output": 1}}]}}


def content(text: str, **fields: Any) -> dict[str, Any]:
    return {"serverContent": {"modelTurn": {"parts": [{"text": text}]}, **fields}}


def heard(side: str, text: str) -> dict[str, Any]:
    return {"serverContent": {f"{side}Transcription": {"text": text}}}


def shape(*frames: Any) -> list[str]:
    """The messages: where they start, what they hold, how they end."""
    names = {MessageStarted: "(", MessageClosed: ")", TextChunk: "t", ToolCallChunk: "c", ToolMessage: "a"}
    found = []
    for delta in decode_frames(LIVE, *frames):
        if isinstance(delta, MessageFinished):
            found.append("!" if delta.truncating else ".")
        elif type(delta) in names:
            found.append(names[type(delta)])
    return ["".join(found)]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (SETUP, "setupComplete"),
        (content("a"), "serverContent"),
        ({"usageMetadata": {}, "serverContent": {}}, "serverContent"),
        (CALL, "toolCall"),
        ({"toolCallCancellation": {"ids": []}}, "toolCallCancellation"),
        ({"goAway": {"timeLeft": "9s"}}, "goAway"),
        ({"server_content": {}}, "serverContent"),
    ],
)
def test_a_servers_message_is_recognised(value: Any, kind: str) -> None:
    assert recognise(value, None) is LIVE
    assert LIVE.envelope(value, None).kind == kind


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({"usageMetadata": {}}, "usageMetadata"),
        ({"setup": {"model": "m"}}, "setup"),
        ({"sessionResumptionUpdate": {}}, "sessionResumptionUpdate"),
        ({"error": {}}, "error"),
        ({"toolCall": "x"}, "toolCall"),
        ({"foo": 1}, "foo"),
        ([], "unknown"),
        ({}, "unknown"),
    ],
)
def test_what_others_may_say_as_well_is_not(value: Any, kind: str) -> None:
    assert not LIVE.recognises(value, None)
    assert LIVE.envelope(value, None).kind == kind


@pytest.mark.parametrize(
    ("frames", "messages"),
    [
        pytest.param([SETUP, content("a"), content("b"), GENERATED, OVER], "(tt.", id="a turn"),
        pytest.param([content("a"), OVER, content("b"), OVER], "(t.)(t.", id="two turns"),
        pytest.param([content("a"), content("b", turnComplete=True)], "(tt.", id="the last piece ends the turn"),
        pytest.param([CALL, content("a"), OVER], "(c.)(t.", id="what follows a call follows its answer"),
        pytest.param([content("a"), CALL, GENERATED, OVER, content("b"), OVER], "(tc.)(t.", id="a call ends a turn"),
        pytest.param([CALL, CALL, OVER], "(c.c", id="calls that follow each other"),
        pytest.param([CALL, RESULT, CALL, RESULT, content("a")], "(c.a)(c.a)(t", id="answers between them"),
        pytest.param([content("a"), {"serverContent": {"interrupted": True}}, OVER], "(t!", id="interrupted"),
        pytest.param([content("a"), GENERATED, {"serverContent": {"interrupted": True}}], "(t.", id="while it played"),
        pytest.param([content("a")], "(t", id="cut off"),
        pytest.param([SETUP, {"serverContent": {}}, OVER, GENERATED], "", id="nothing was said"),
    ],
)
def test_where_messages_begin_and_end(frames: list[Any], messages: str) -> None:
    assert shape(*frames) == [messages]


@pytest.mark.parametrize(
    ("reason", "truncating"),
    [
        ("NEED_MORE_INPUT", False),
        ("TURN_COMPLETE_REASON_UNSPECIFIED", False),
        ("RESPONSE_REJECTED", True),
        (None, False),
    ],
)
def test_a_turn_may_say_why_it_is_over(reason: str | None, truncating: bool) -> None:
    over = {"serverContent": {"turnComplete": True, "turnCompleteReason": reason}}
    (finished,) = of(MessageFinished, decode_frames(LIVE, content("a"), over))
    assert (finished.finish_reason, finished.truncating) == (reason, truncating)


def test_an_interruption_while_a_whole_turn_was_played_is_noted() -> None:
    deltas = decode_frames(LIVE, content("a"), GENERATED, {"serverContent": {"interrupted": True}})
    assert [(item.block, item.field, item.value) for item in of(BlockItem, deltas)] == [
        ("non_standard", "interrupted", True)
    ]


def test_transcriptions_are_blocks_of_their_own() -> None:
    interim = {"serverContent": {"interimInputTranscription": {"text": "Hi"}}}
    frames = [interim, heard("input", "Hi "), heard("input", "there"), heard("output", "Hello"), content("hm")]
    deltas = decode_frames(LIVE, *frames, {"serverContent": {"outputTranscription": {"finished": True}}})
    assert [(each.block, each.kind, each.text) for each in of(TextChunk, deltas)] == [
        ("input_transcription", "input_transcription", "Hi "),
        ("input_transcription", "input_transcription", "there"),
        ("output_transcription", "output_transcription", "Hello"),
        (0, "text", "hm"),
    ]
    assert [(item.block, item.field, item.value) for item in of(BlockItem, deltas)] == [
        ("interim_input_transcription", "text", "Hi")
    ]
    assert len(of(MessageStarted, deltas)) == 1


def test_sound_is_counted_and_not_kept() -> None:
    sound = {"serverContent": {"modelTurn": {"parts": [{"inlineData": {"mimeType": "audio/pcm", "data": "AAAA"}}]}}}
    deltas = decode_frames(LIVE, sound, heard("output", "Hi"), sound)
    assert [item.value for item in of(BlockItem, deltas) if item.field == "bytes"] == [3, 6]
    assert "AAAA" not in repr(deltas)


def test_a_tool_call_is_whole_when_the_server_asks_for_it() -> None:
    (call,) = of(ToolCallChunk, decode_frames(LIVE, CALL))
    assert (call.id, call.name, call.args, call.executor) == ("c1", "f", '{"a":1}', "client")
    going = {"toolCall": {"functionCalls": [{"name": "g", "willContinue": True}]}}
    assert of(MessageFinished, decode_frames(LIVE, going)) == []
    ended = {"toolCall": {"functionCalls": [{}]}}
    assert len(of(MessageFinished, decode_frames(LIVE, going, ended))) == 1


def test_a_cancelled_call_needs_no_answer() -> None:
    deltas = decode_frames(LIVE, CALL, {"toolCallCancellation": {"ids": ["c1", None]}})
    assert [each.tool_call_id for each in of(ToolFailed, deltas)] == ["c1"]
    assert [(each.rule, each.call_id) for each in of(Finding, deltas)] == [("call-cancelled", "c1")]


def test_clients_messages_are_read_where_they_were_recorded() -> None:
    turn = {"role": "user", "parts": [{"functionResponse": {"id": "c0", "name": "f", "response": {"output": 1}}}]}
    deltas = decode_frames(LIVE, {"setup": {"model": "models/m1"}}, {"client_content": {"turns": [turn]}}, CALL, RESULT)
    assert of(MessageStarted, deltas)[0].model == "models/m1"
    assert [entry.name for entry in of(History, deltas)[0].entries] == ["f"]
    (answer,) = of(ToolMessage, deltas)
    assert (answer.tool_call_id, answer.name, answer.content, answer.executor) == ("c1", "f", {"output": 1}, "client")


def test_counts_may_follow_the_turn() -> None:
    counts = {"usageMetadata": {"promptTokenCount": 2, "responseTokenCount": 3}}
    frames = [counts, content("a"), {**OVER, **counts}, counts, content("b")]
    deltas = decode_frames(LIVE, *frames)
    kinds = [type(each) for each in deltas if isinstance(each, Usage | MessageStarted | MessageClosed)]
    assert kinds == [MessageStarted, Usage, Usage, MessageClosed, MessageStarted]


def test_a_session_has_an_id() -> None:
    started = of(RunStarted, decode_frames(LIVE, {"setupComplete": {"sessionId": "s1"}}))
    assert [each.metadata for each in started] == [None, {"session_id": "s1"}]


@pytest.mark.parametrize(
    ("frames", "terminated"),
    [([SETUP], True), ([SETUP, content("a")], False), ([content("a"), OVER], True), ([CALL], True)],
)
def test_a_connection_may_close_between_turns(frames: list[Any], terminated: bool) -> None:
    deltas = decode_events(LIVE, [*(frame(LIVE, each) for each in frames), end(LIVE)])
    assert [each.terminated for each in of(RunEnded, deltas)] == [terminated]


def test_a_gateways_error_is_a_failure() -> None:
    deltas = decode_frames(LIVE, content("a"), {"error": {"message": "upstream closed"}})
    assert [each.error for each in of(Failure, deltas)] == ["upstream closed"]


@pytest.mark.parametrize("name", ["goAway", "sessionResumptionUpdate", "realtimeInput", "voiceActivity"])
def test_what_is_about_the_connection_says_nothing(name: str) -> None:
    assert [type(each) for each in decode_frames(LIVE, {name: {}})] == [RunStarted]


@pytest.mark.parametrize(
    ("value", "rule"),
    [({"foo": 1}, "unknown-frame"), ([], "unknown-frame"), ({"serverContent": 1}, "malformed-field")],
)
def test_what_cannot_be_read_is_a_finding(value: Any, rule: str) -> None:
    assert rules(decode_frames(LIVE, value)) == [rule]


def test_a_call_that_was_to_go_on_when_its_turn_was_over_is_told() -> None:
    piece = {"jsonPath": "$.a", "stringValue": "x", "willContinue": True}
    begun = {"id": "c1", "name": "f", "partialArgs": [piece], "willContinue": True}
    assert rules(decode_frames(LIVE, SETUP, {"toolCall": {"functionCalls": [begun]}}, OVER)) == ["arguments-unfinished"]


def test_a_session_has_one_choice() -> None:
    deltas = decode_frames(LIVE, SETUP, content("a"), CALL, OVER)
    shown = [each for each in deltas if isinstance(each, TextChunk | ToolCallChunk | MessageStarted | MessageFinished)]
    assert {each.choice for each in shown} == {0}
