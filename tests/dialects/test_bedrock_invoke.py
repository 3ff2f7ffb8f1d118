"""What InvokeModel wraps is read by the dialect that it is in; texts of the makers' own forms by a small reader."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from recorder.deltas import (
    AnyDelta,
    Failure,
    History,
    MessageClosed,
    MessageFinished,
    MessageStarted,
    RunEnded,
    RunStarted,
    TextChunk,
    ToolCallChunk,
    Usage,
)
from recorder.dialects import get, recognise
from recorder.dialects.bedrock_invoke import State
from tests.dialects.test_bedrock_converse import ANSWER, failing
from tests.dialects.test_hostile_frames import SWAPS, check, paths, replaced
from tests.dialects.traffic import FRAMES
from tests.dialects.traffic.bedrock_invoke import METRICS, TEXTS, chunk
from tests.dialects.wire import decode_events, decode_frames, end, frame, of, request, response, rules

INVOKE = get("bedrock.invoke")
CLAUDE = [
    {"type": "message_start", "message": {"id": "m1", "role": "assistant", "model": "c", "usage": {"input_tokens": 9}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "t", "name": "f"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"a":1}'}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 4}},
    {"type": "message_stop"},
]
NOVA = [
    {"messageStart": {"role": "assistant"}},
    {"contentBlockDelta": {"delta": {"text": "hi"}, "contentBlockIndex": 0}},
    {"contentBlockStop": {"contentBlockIndex": 0}},
    {"messageStop": {"stopReason": "end_turn"}},
    {"metadata": {"usage": {"inputTokens": 9, "outputTokens": 4}, "metrics": {}, "trace": {}}},
]
GPT = [
    {"object": "chat.completion.chunk", "id": "c1", "choices": [{"index": 0, "delta": {"content": "hi"}}]},
    {"object": "chat.completion.chunk", "id": "c1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
]


def url(model: str) -> str:
    return f"https://bedrock-runtime.us-east-1.amazonaws.com/model/{model}/invoke-with-response-stream"


def wrapped(*values: Any) -> list[AnyDelta]:
    return decode_frames(INVOKE, *map(chunk, values))


@pytest.mark.parametrize(
    ("frames", "within"),
    [(CLAUDE, "anthropic.messages"), (NOVA, "bedrock.converse"), (GPT, "openai.chat")],
    ids=["anthropic", "nova", "openai"],
)
def test_a_wrapped_stream_says_what_it_says_unwrapped(frames: list[Any], within: str) -> None:
    events = [frame(INVOKE, chunk(each), "chunk") for each in frames]
    assert decode_events(INVOKE, [*events, end(INVOKE)]) == decode_events(
        get(within), [*(frame(get(within), each) for each in frames), end(get(within))]
    )
    assert [each.kind for each in events] == [frame(get(within), each).kind for each in frames]


def test_a_chunk_of_json_is_recognised() -> None:
    for value in (chunk(CLAUDE[0]), {"chunk": chunk(NOVA[0])}, chunk({"outputText": "a"}), chunk({})):
        assert recognise(value, "chunk") is INVOKE
        assert recognise(value, None) is INVOKE


@pytest.mark.parametrize("value", [chunk(b"an agent's text"), {"bytes": "no base64!"}, {"bytes": 4}, {"p": "abc"}, []])
def test_other_chunks_are_not(value: Any) -> None:
    assert not INVOKE.recognises(value, "chunk")


def test_what_a_recorder_unwrapped_is_read_all_the_same() -> None:
    assert decode_frames(INVOKE, *({"bytes": json.dumps(each)} for each in CLAUDE)) == wrapped(*CLAUDE)
    assert decode_frames(INVOKE, *CLAUDE) == wrapped(*CLAUDE)


def test_bedrocks_own_counts_come_before_the_message_closes() -> None:
    last = {"type": "message_stop", "amazon-bedrock-invocationMetrics": METRICS}
    deltas = wrapped(*CLAUDE[:-1], last)
    assert of(Usage, deltas)[-1].counts == {"input_tokens": 9, "output_tokens": 4}
    assert [type(delta) for delta in deltas[-3:]] == [Usage, MessageClosed, RunEnded]


# Whose frames they are


def test_the_frames_count_for_more_than_the_model_in_the_url() -> None:
    events = [request(INVOKE, {}, url("amazon.nova-micro-v1%3A0")), response(INVOKE)]
    deltas = decode_events(INVOKE, [*events, *(frame(INVOKE, chunk(each)) for each in CLAUDE), end(INVOKE)])
    assert [(chunk.id, chunk.args) for chunk in of(ToolCallChunk, deltas)] == [("t", ""), (None, '{"a":1}')]
    assert rules(deltas) == []
    assert len(of(RunEnded, deltas)) == 1


def test_a_guess_by_the_url_does_not_keep_a_text_from_being_read() -> None:
    events = [request(INVOKE, {"prompt": "hi"}, url("mistral.mistral-7b")), response(INVOKE)]
    frames = [frame(INVOKE, chunk({"outputs": [{"text": "hi", "stop_reason": "stop"}]}))]
    deltas = decode_events(INVOKE, [*events, *frames, end(INVOKE)])
    assert of(MessageStarted, deltas)[0].model == "mistral.mistral-7b"
    assert [text.text for text in of(TextChunk, deltas)] == ["hi"]
    assert of(RunEnded, deltas)[0].terminated is True


def test_a_dump_of_two_models_changes_the_dialect_with_the_answer() -> None:
    deltas = wrapped(*CLAUDE, *NOVA)
    assert [type(delta) for delta in deltas if isinstance(delta, MessageStarted | MessageClosed)] == [
        MessageStarted,
        MessageClosed,
    ] * 2
    assert len(of(RunStarted, deltas)) == 1
    assert rules(deltas) == []


def test_an_unknown_frame_stays_with_the_dialect_that_is_spoken() -> None:
    deltas = wrapped(*CLAUDE[:2], {"type": "hologram", "text": "later"}, *CLAUDE[2:])
    assert rules(deltas) == ["unknown-frame"]
    assert of(TextChunk, deltas) == []
    assert [chunk.args for chunk in of(ToolCallChunk, deltas)] == ["", '{"a":1}']


@pytest.mark.parametrize("broken", [{"bytes": "no base64!"}, chunk(b"no JSON"), {"bytes": ""}])
def test_a_frame_that_cannot_be_read_is_a_gap(broken: Any) -> None:
    deltas = decode_frames(INVOKE, *map(chunk, CLAUDE[:2]), broken)
    assert rules(deltas) == ["not-json"]


@pytest.mark.parametrize("frames", [CLAUDE, NOVA, TEXTS[:1]], ids=["anthropic", "nova", "titan"])
@pytest.mark.parametrize("way", range(5))
def test_an_exception_fails_the_run_whoever_speaks(frames: list[Any], way: int) -> None:
    failure = failing(INVOKE)[way]
    events = [*(frame(INVOKE, chunk(each)) for each in frames[:2]), failure, end(INVOKE)]
    deltas = decode_events(INVOKE, events)
    assert [failed.error for failed in of(Failure, deltas)] == [f"{failure.kind}: Oh no"]
    assert (of(RunEnded, deltas)[0].status, rules(deltas)) == ("error", [])
    assert [type(delta) for delta in decode_events(INVOKE, [failure])] == [RunStarted, Failure]


def test_the_inner_state_outlives_a_snapshot() -> None:
    """Plain values with text for keys, as they come out of one."""
    state = INVOKE.start()
    for each in GPT[:1]:
        state, _ = INVOKE.step(state, frame(INVOKE, chunk(each)))
    plain = json.loads(json.dumps(msgspec.to_builtins(state, str_keys=True)))
    restored = msgspec.convert(plain, State, str_keys=True)
    assert restored == state
    assert type(restored.inner) is get("openai.chat").state


def test_a_snapshot_of_another_shape_is_refused_as_a_whole() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"speaks": "openai.chat", "inner": {"choices": 4}}, State, str_keys=True)


@pytest.mark.parametrize("within", ["anthropic.messages", "bedrock.converse"])
def test_every_wrapped_field_may_have_every_other_type(within: str) -> None:
    for position, value in enumerate(FRAMES[within]):
        before = FRAMES[within][max(position - 1, 0) : position]
        for path in paths(value):
            for new in SWAPS:
                frames = map(chunk, [*before, replaced(value, path, new)])
                check(INVOKE, decode_frames(INVOKE, *frames))


# Requests and whole answers


CALLED = {"type": "tool_use", "id": "t1", "name": "add", "input": {"a": 1}}


@pytest.mark.parametrize(
    ("model", "body"),
    [
        ("anthropic.claude-3", {"messages": [{"role": "assistant", "content": [CALLED]}]}),
        ("arn%3Aaws%3Abedrock", {"anthropic_version": "x", "messages": [{"role": "assistant", "content": [CALLED]}]}),
        ("us.amazon.nova-lite-v1%3A0", {"messages": [ANSWER]}),
        ("arn%3Aaws%3Abedrock", {"inferenceConfig": {}, "messages": [ANSWER]}),
    ],
)
def test_a_requests_history_is_read_in_its_makers_form(model: str, body: Any) -> None:
    (history,) = of(History, decode_events(INVOKE, [request(INVOKE, body, url(model))]))
    assert history.entries[0].id == "t1"  # type: ignore[union-attr]


def test_a_prompt_has_no_history() -> None:
    deltas = decode_events(INVOKE, [request(INVOKE, {"inputText": "hi"}, url("amazon.titan-text-lite-v1"))])
    assert [type(delta) for delta in deltas] == [RunStarted]


def test_a_whole_answer_is_read_in_its_makers_form() -> None:
    answer = {"type": "message", "id": "m", "role": "assistant", "content": [CALLED], "stop_reason": "tool_use"}
    events = [request(INVOKE, {}, url("anthropic.claude-3")), response(INVOKE), frame(INVOKE, answer), end(INVOKE)]
    deltas = decode_events(INVOKE, events)
    assert [(chunk.id, chunk.args) for chunk in of(ToolCallChunk, deltas)] == [("t1", '{"a":1}')]
    assert of(RunEnded, deltas)[0].terminated is True


def test_a_refusal_is_told_with_its_text() -> None:
    events = [request(INVOKE, {}, url("anthropic.claude-3")), response(INVOKE, 403), frame(INVOKE, {"message": "No"})]
    assert [failed.error for failed in of(Failure, decode_events(INVOKE, events))] == ["HTTP 403 Forbidden: No"]


# Texts in forms of their own


@pytest.mark.parametrize(
    ("frames", "text", "reason", "counts"),
    [
        (TEXTS[0:2], "titan", ("FINISH", False), {"input_tokens": 3, "output_tokens": 2}),
        (TEXTS[2:4], "llama", ("length", True), {"input_tokens": 3, "output_tokens": 1}),
        (TEXTS[5:7], "co", ("COMPLETE", False), {}),
        (TEXTS[7:8], "here", ("MAX_TOKENS", True), {}),
        (TEXTS[8:9], "claude", ("stop_sequence", False), {}),
        (TEXTS[9:10], "whole", ("FINISH", False), {}),
        ([{"outputText": "", "completionReason": "CONTENT_FILTERED"}], "", ("CONTENT_FILTERED", True), {}),
    ],
    ids=["titan", "llama", "cohere", "cohere whole", "claude's completions", "titan whole", "filtered"],
)
def test_a_makers_text_and_its_reason_to_stop(
    frames: list[Any], text: str, reason: tuple[str, bool], counts: dict[str, int]
) -> None:
    events = [request(INVOKE, {}, url("x.y")), response(INVOKE), *(frame(INVOKE, chunk(each)) for each in frames)]
    deltas = decode_events(INVOKE, [*events, end(INVOKE)])
    assert "".join(found.text for found in of(TextChunk, deltas)) == text
    assert [(stop.finish_reason, stop.truncating) for stop in of(MessageFinished, deltas)] == [reason]
    assert {key: count for usage in of(Usage, deltas) for key, count in usage.counts.items()} == counts
    assert [started.model for started in of(MessageStarted, deltas)] == ["x.y"]
    assert of(RunEnded, deltas)[0].terminated is True
    assert rules(deltas) == []


def test_a_text_that_breaks_off_was_not_terminated() -> None:
    deltas = decode_events(INVOKE, [frame(INVOKE, chunk(TEXTS[0])), end(INVOKE)])
    assert of(RunEnded, deltas)[0].terminated is False


def test_several_answers_are_choices() -> None:
    deltas = wrapped(TEXTS[4])
    assert [(text.choice, text.text) for text in of(TextChunk, deltas)] == [(0, "mis"), (1, "tral")]
    assert [started.choice for started in of(MessageStarted, deltas)] == [0, 1]
    assert [stop.choice for stop in of(MessageFinished, deltas)] == [1]


def test_a_text_after_a_reason_to_stop_is_another_answers() -> None:
    deltas = wrapped(*TEXTS[0:2], *TEXTS[0:2])
    assert [type(delta) for delta in deltas if isinstance(delta, MessageStarted | MessageClosed)] == [
        MessageStarted,
        MessageClosed,
        MessageStarted,
    ]


def test_frames_of_no_known_form_are_counted() -> None:
    assert rules(wrapped({"later": 1}, 4, [])) == ["unknown-frame"] * 3


def test_an_error_within_is_a_failure() -> None:
    assert [failed.error for failed in of(Failure, wrapped({"error": {"message": "no"}}))] == ["no"]
