"""Function calls of Gemini: without ids, several in one chunk, growing over many."""

from __future__ import annotations

from typing import Any

import pytest

from recorder.deltas import BlockItem, MessageFinished, ToolCallChunk
from recorder.dialects import get
from tests.dialects.wire import decode_frames, of, rules

GEMINI = get("gemini")
END: dict[str, Any] = {}


def chunk(*calls: Any, finish: str | None = None, **beside: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": [{"functionCall": c, **beside} for c in calls]}}
    return {"candidates": [candidate | ({"finishReason": finish} if finish else {})]}


def goes_on(*pieces: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**fields, **({"partialArgs": list(pieces)} if pieces else {}), "willContinue": True}


def piece(path: str, text: str, *, more: bool = False) -> dict[str, Any]:
    return {"jsonPath": path, "stringValue": text, **({"willContinue": True} if more else {})}


def calls(*frames: Any) -> list[tuple[Any, ...]]:
    """The calls that the frames make: id, name, arguments' pieces, by their blocks."""
    found: dict[Any, tuple[Any, list[Any], list[str | None]]] = {}
    for each in of(ToolCallChunk, decode_frames(GEMINI, *frames)):
        _, names, pieces = found.setdefault(each.block, (each.id, [], []))
        names += [each.name] if each.name else []
        pieces += [] if each.restated else [each.args]
    return [(id, *names, pieces) for id, names, pieces in found.values()]


@pytest.mark.parametrize(
    ("call", "args"),
    [
        ({"name": "f", "args": {"a": 1, "b": [True]}}, '{"a":1,"b":[true]}'),
        ({"name": "f", "args": {}}, "{}"),
        ({"name": "f", "args": None}, None),
        ({"name": "f"}, None),
        ({"name": "f", "args": '{"a": 1}'}, '{"a": 1}'),
    ],
)
def test_a_whole_call_is_one_chunk(call: dict[str, Any], args: str | None) -> None:
    (found,) = of(ToolCallChunk, decode_frames(GEMINI, chunk(call)))
    assert (found.id, found.index, found.name, found.args, found.executor) == (None, 0, "f", args, "client")


def test_calls_are_told_apart_by_their_place() -> None:
    same = {"name": "f", "args": {"a": 1}}
    frames = [chunk(same, same), chunk(same), chunk({"id": "c4", **same}), chunk({"name": "g"}, finish="STOP")]
    found = of(ToolCallChunk, decode_frames(GEMINI, *frames))
    assert [(each.block, each.index, each.id) for each in found] == [
        (0, 0, None),
        (1, 1, None),
        (2, 2, None),
        (3, 3, "c4"),
        (4, 4, None),
    ]


def test_a_call_grows_by_its_pieces_until_it_goes_on_no_more() -> None:
    frames = [
        chunk(goes_on(name="f")),
        chunk(goes_on(piece("$.id", "A", more=True))),
        chunk(goes_on(piece("$.id", "B", more=True), piece("$.id", ""))),
        chunk(goes_on()),
        chunk(goes_on({"jsonPath": "$.rows[0].n", "numberValue": 1}, {"jsonPath": "$.rows[0].z", "nullValue": None})),
        chunk(END, finish="STOP"),
    ]
    deltas = decode_frames(GEMINI, *frames)
    assert [each.args for each in of(ToolCallChunk, deltas)] == [
        "{",
        '"id":"A',
        "B",
        '","rows":[{"n":1,"z":null',
        "}]}",
    ]
    assert rules(deltas) == []


def test_calls_follow_each_other() -> None:
    frames = [
        chunk(goes_on(name="f"), goes_on(piece("$.a", "1")), END, goes_on(name="f")),
        chunk(END, {"name": "f", "args": {"a": "3"}}),
    ]
    assert calls(*frames) == [
        (None, "f", ["{", '"a":"1', '"}']),
        (None, "f", ["{", "}"]),
        (None, "f", ['{"a":"3"}']),
    ]


def test_ids_tell_calls_that_grow_side_by_side() -> None:
    frames = [
        chunk(goes_on(id="x", name="f"), goes_on(id="y", name="g")),
        chunk(goes_on(piece("$.a", "1"), id="x"), goes_on(piece("$.b", "2"), id="y")),
        chunk({"id": "y"}, {"id": "x"}),
    ]
    assert calls(*frames) == [("x", "f", ["{", '"a":"1', '"}']), ("y", "g", ["{", '"b":"2', '"}'])]


def test_a_repeated_name_goes_on_with_the_call_that_is_open() -> None:
    frames = [chunk(goes_on(name="f")), chunk(goes_on(piece("$.a", "1"), name="f")), chunk({"name": "f"})]
    assert calls(*frames) == [(None, "f", "f", "f", ["{", '"a":"1', '"}'])]


def test_an_id_may_come_late() -> None:
    deltas = decode_frames(GEMINI, chunk(goes_on(name="f")), chunk({"id": "x"}))
    assert [(each.block, each.id) for each in of(ToolCallChunk, deltas)] == [(0, None), (0, "x")]


def test_pieces_in_a_call_that_does_not_go_on_are_all_of_it() -> None:
    assert calls(chunk({"name": "f", "partialArgs": [piece("$.a", "1")]})) == [(None, "f", ['{"a":"1"}'])]


def test_whole_arguments_of_a_call_that_goes_on_are_pieces() -> None:
    frames = [chunk(goes_on(name="f", args={"a": 1})), chunk(goes_on(piece("$.b", "x"))), chunk(END)]
    assert calls(*frames) == [(None, "f", ['{"a":1', ',"b":"x', '"}'])]


def test_whole_arguments_behind_the_pieces_say_them_again() -> None:
    frames = [chunk(goes_on(name="f")), chunk(goes_on(piece("$.a", "1"))), chunk({"args": {"a": "1"}})]
    *_, last = of(ToolCallChunk, decode_frames(GEMINI, *frames))
    assert (last.args, last.restated, last.block) == ('{"a":"1"}', True, 0)


def test_a_signature_stays_with_its_call() -> None:
    frames = [chunk(goes_on(name="f"), thoughtSignature="s1"), chunk(goes_on(piece("$.a", "1"))), chunk(END)]
    items = of(BlockItem, decode_frames(GEMINI, *frames))
    assert [(item.block, item.field, item.value) for item in items] == [(0, "signature", "s1")]


def test_an_end_without_a_call_says_nothing() -> None:
    deltas = decode_frames(GEMINI, chunk({"name": "f"}), chunk(END, finish="STOP"))
    assert len(of(ToolCallChunk, deltas)) == 1
    assert rules(deltas) == []


def test_a_piece_that_goes_back_leaves_the_call_unclosed() -> None:
    frames = [
        chunk(goes_on(name="f")),
        chunk(goes_on(piece("$.a.x", "1"), piece("$.b", "2"))),
        chunk(goes_on(piece("$.a.y", "3"), piece("$.a.z", "4"))),
        chunk(END, finish="STOP"),
    ]
    deltas = decode_frames(GEMINI, *frames)
    assert "".join(each.args or "" for each in of(ToolCallChunk, deltas)) == '{"a":{"x":"1"},"b":"2'
    assert rules(deltas) == ["arguments-out-of-order"]


@pytest.mark.parametrize("path", ["$.a[*]", None, 7])
def test_a_path_that_cannot_be_read_leaves_the_call_unclosed(path: Any) -> None:
    deltas = decode_frames(GEMINI, chunk(goes_on({"jsonPath": path, "stringValue": "x"}, name="f")), chunk(END))
    assert [each.args for each in of(ToolCallChunk, deltas)] == ["{"]
    assert rules(deltas) == ["malformed-field"]


@pytest.mark.parametrize(("reason", "told"), [("STOP", ["arguments-unfinished"]), ("MAX_TOKENS", [])])
def test_a_call_that_was_to_go_on_when_its_message_ended(reason: str, told: list[str]) -> None:
    deltas = decode_frames(GEMINI, chunk(goes_on(piece("$.a", "1"), name="f")), chunk(finish=reason))
    assert [each.finish_reason for each in of(MessageFinished, deltas)] == [reason]
    assert "".join(each.args or "" for each in of(ToolCallChunk, deltas)) == '{"a":"1'
    assert rules(deltas) == told


def test_a_call_of_another_name_leaves_an_open_one_unfinished() -> None:
    frames = [chunk(goes_on(name="f")), chunk({"name": "g", "args": {}}), chunk(finish="STOP")]
    assert calls(*frames) == [(None, "f", ["{"]), (None, "g", ["{}"])]
    assert rules(decode_frames(GEMINI, *frames)) == ["arguments-unfinished"]


def test_of_pieces_that_go_back_the_first_is_told() -> None:
    back = [piece("$.a", "1"), piece("$.b", "2"), piece("$.a", "3"), piece("$.c", "4"), piece("$.a", "5")]
    assert rules(decode_frames(GEMINI, chunk(goes_on(*back, name="f")))) == ["arguments-out-of-order"]


def test_whole_arguments_of_another_type_are_told() -> None:
    assert rules(decode_frames(GEMINI, chunk(goes_on(name="f", args="a")))) == ["malformed-field"]


def test_a_late_id_is_what_the_call_is_continued_by() -> None:
    """So that a second call may open before the first one has ended."""
    frames = [
        chunk(goes_on(piece("$.a", "1"), name="f")),
        chunk(goes_on(piece("$.b", "2"), id="c1")),
        chunk(goes_on(piece("$.a", "3"), id="c2", name="g")),
        chunk({"id": "c1"}),
    ]
    assert [(names, "".join(piece or "" for piece in pieces)) for _, *names, pieces in calls(*frames)] == [
        (["f"], '{"a":"1","b":"2"}'),
        (["g"], '{"a":"3'),
    ]
