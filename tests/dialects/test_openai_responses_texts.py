"""Texts, refusals, annotations and reasoning: part by part, and said again."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.responses import CREATED, added, blocks, done, ended, event, message, rules, state, text

ANNOTATION = {"type": "url_citation", "url": "https://a.example"}


def reasoning(*summary: str, content: tuple[str, ...] = (), **fields: Any) -> dict[str, Any]:
    return {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": piece} for piece in summary],
        "content": [{"type": "reasoning_text", "text": piece} for piece in content],
        **fields,
    }


def part(index: int, kind: str = "output_text", **fields: Any) -> dict[str, Any]:
    return event("content_part.added", 0, "msg_1", content_index=index, part={"type": kind, **fields})


def test_a_text_grows_and_is_only_confirmed_by_what_says_it_again() -> None:
    whole = message("hello")
    frames = [
        CREATED,
        added(0, message()),
        part(0, text=""),
        *text(0, "hel", "lo"),
        event("output_text.done", 0, "msg_1", content_index=0, text="hello"),
        event("content_part.done", 0, "msg_1", content_index=0, part=whole["content"][0]),
        done(0, whole),
        ended(whole),
    ]
    assert [state(*frames, n=n)["messages"][0]["text"] for n in (4, 5, 9)] == ["hel", "hello", "hello"]
    assert rules(*frames) == []
    assert blocks(*frames) == [{"type": "text", "text": "hello", "id": "msg_1"}]


@pytest.mark.parametrize(
    "again",
    [
        event("output_text.done", 0, "msg_1", content_index=0, text="hullo"),
        done(0, message("hullo")),
        ended(message("hullo")),
    ],
)
def test_a_text_that_is_said_again_otherwise_is_a_finding_and_not_appended(again: dict[str, Any]) -> None:
    frames = [CREATED, added(0, message()), *text(0, "hello"), again]
    assert state(*frames)["messages"][0]["text"] == "hello"
    assert rules(*frames) == ["restatement-differs"]


def test_the_same_difference_is_told_once() -> None:
    frames = [CREATED, added(0, message()), *text(0, "a"), done(0, message("b")), ended(message("b"))]
    assert rules(*frames) == ["restatement-differs"]


def test_halves_of_a_character_that_come_apart_are_no_difference() -> None:
    frames = [CREATED, added(0, message()), *text(0, "\ud83d", "\ude00"), done(0, message("\U0001f600")), ended()]
    assert "restatement-differs" not in rules(*frames)


@pytest.mark.parametrize("again", [done(0, message("hi")), ended(message("hi"))])
def test_a_text_that_was_not_streamed_is_taken(again: dict[str, Any]) -> None:
    assert state(CREATED, added(0, message()), again)["messages"][0]["text"] == "hi"


def test_a_part_begins_with_the_text_that_it_has() -> None:
    frames = [CREATED, added(0, message()), part(0, text="he"), *text(0, "y"), done(0, message("hey"))]
    assert state(*frames)["messages"][0]["text"] == "hey"
    assert rules(*frames) == []


def test_a_part_that_is_counted_from_one_is_the_whole_items_first() -> None:
    frames = [
        CREATED,
        added(0, message()),
        event("output_text.delta", 0, "msg_1", content_index=1, delta="hi"),
        done(0, message("hi")),
        ended(message("hi")),
    ]
    assert state(*frames)["messages"][0]["text"] == "hi"
    assert rules(*frames) == []


def test_parts_are_blocks_of_their_own() -> None:
    frames = [
        CREATED,
        added(0, {**message(), "phase": "commentary"}),
        *text(0, "so"),
        event("refusal.delta", 0, "msg_1", content_index=1, delta="I can"),
        event("refusal.delta", 0, "msg_1", content_index=1, delta="not"),
        event("refusal.done", 0, "msg_1", content_index=1, refusal="I cannot"),
    ]
    assert blocks(*frames) == [
        {"type": "text", "text": "so", "id": "msg_1", "phase": "commentary"},
        {"type": "refusal", "refusal": "I cannot", "id": "msg_1", "phase": "commentary"},
    ]


def test_a_part_of_another_kind_is_a_block_with_its_fields() -> None:
    item = {**message("hi"), "content": [*message("hi")["content"], {"type": "output_audio", "data": "AA"}]}
    assert blocks(CREATED, done(0, item))[1] == {"type": "output_audio", "data": "AA"}


def test_annotations_come_one_by_one_or_with_the_whole_text() -> None:
    item = message("hi", annotations=[ANNOTATION])
    one = event("output_text.annotation.added", 0, "msg_1", content_index=0, annotation_index=0, annotation=ANNOTATION)
    for frames in ([*text(0, "hi"), one, done(0, item)], [*text(0, "hi"), done(0, item)]):
        assert blocks(CREATED, added(0, message()), *frames, ended(item))[0]["annotations"] == [ANNOTATION]
        assert rules(CREATED, added(0, message()), *frames, ended(item)) == []


def test_annotations_of_another_number_are_a_finding() -> None:
    one = event("output_text.annotation.added", 0, "msg_1", content_index=0, annotation=ANNOTATION)
    item = message("hi", annotations=[ANNOTATION, ANNOTATION])
    assert rules(CREATED, added(0, message()), *text(0, "hi"), one, done(0, item)) == ["restatement-differs"]


def test_parts_of_a_summary_are_thinking_and_the_encrypted_content_is_kept_as_the_end_has_it() -> None:
    frames = [
        CREATED,
        added(0, reasoning(encrypted_content="half")),
        event("reasoning_summary_part.added", 0, "rs_1", summary_index=0, part={"type": "summary_text", "text": ""}),
        event("reasoning_summary_text.delta", 0, "rs_1", summary_index=0, delta="first"),
        event("reasoning_summary_text.done", 0, "rs_1", summary_index=0, text="first"),
        event("reasoning_summary_text.delta", 0, "rs_1", summary_index=1, delta="second"),
        done(0, reasoning("first", "second", encrypted_content="whole")),
    ]
    first = {"type": "thinking", "thinking": "first", "id": "rs_1", "part": "summary_text", "status": "completed"}
    assert blocks(*frames) == [
        {**first, "encrypted_content": "whole"},
        {"type": "thinking", "thinking": "second", "id": "rs_1", "part": "summary_text"},
    ]
    assert state(*frames)["messages"][0]["text"] == ""


def test_reasoning_text_is_thinking_under_any_kind_of_part() -> None:
    frames = [
        CREATED,
        added(0, reasoning()),
        event("content_part.added", 0, "rs_1", content_index=0, part={"type": "output_text", "text": ""}),
        event("reasoning_text.delta", 0, "rs_1", content_index=0, delta="hm"),
        event("content_part.done", 0, "rs_1", content_index=0, part={"type": "reasoning_text", "text": "hm"}),
        done(0, reasoning(content=("hm",))),
    ]
    assert [(block["type"], block["thinking"]) for block in blocks(*frames)] == [("thinking", "hm")]
    assert rules(*frames) == []


def test_reasoning_without_a_word_is_a_block_too() -> None:
    (block,) = blocks(CREATED, done(0, reasoning(encrypted_content="x")))
    assert (block["thinking"], block["encrypted_content"]) == ("", "x")


def test_items_of_other_kinds_are_blocks_with_their_fields() -> None:
    item = {"type": "compaction", "id": "cmp_1", "encrypted_content": "x"}
    assert blocks(CREATED, added(0, item), done(0, item), ended(item)) == [{**item, "status": "completed"}]


def test_speech_grows_in_a_block_of_its_own() -> None:
    frames = [
        event("audio.delta", delta="AA"),
        event("audio.transcript.delta", delta="hi"),
        event("audio.delta", delta="BB"),
    ]
    assert blocks(CREATED, *frames) == [{"type": "audio", "data": "AABB", "transcript": "hi"}]
