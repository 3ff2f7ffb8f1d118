from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessageChunk
from langchain_core.messages.ai import add_usage as their_usage
from langchain_core.messages.base import merge_content as their_content
from langchain_core.utils._merge import merge_dicts as their_dicts
from langchain_core.utils._merge import merge_lists as their_lists

from recorder.projections.growing import Undo, object_of, plain
from recorder.projections.merge import add_object, add_usage, better_id, merge_content, merge_dicts, merge_lists
from tests.projections import langchain_sequences as sequences
from tests.projections.langchain_oracle import canonical

objects = st.one_of(sequences.additional_kwargs, sequences.response_metadata)
lists = st.lists(st.one_of(sequences.blocks, st.sampled_from(["a", "", None, 1])), max_size=4)


def both(ours: Callable[..., Any], theirs: Callable[..., Any], *values: Any, field: str = "") -> None:
    """Folds the values with both functions: equal sums, or both refuse; what was added is not changed."""
    before = copy.deepcopy(values)
    expected, got = values[0], values[0]
    for value in values[1:]:
        try:
            expected = theirs(expected, copy.deepcopy(value))
        except (TypeError, ValueError, AttributeError):
            with pytest.raises((TypeError, ValueError)):
                ours(got, value)
            return
        got = ours(got, value)
        assert canonical(got, field) == canonical(expected, field)
    assert values == before


@given(st.lists(objects, min_size=2, max_size=4))
def test_objects_are_added_as_the_library_adds_them(values: list[dict[str, Any]]) -> None:
    both(merge_dicts, their_dicts, *values)


@given(st.lists(lists, min_size=2, max_size=4))
def test_lists_are_added_as_the_library_adds_them(values: list[list[Any]]) -> None:
    both(merge_lists, their_lists, *values)


@given(st.lists(sequences.contents, min_size=2, max_size=4))
def test_contents_are_added_as_the_library_adds_them(values: list[str | list[Any]]) -> None:
    both(merge_content, their_content, *values)


@given(st.lists(sequences.usages, min_size=2, max_size=4))
def test_counts_are_added_as_the_library_adds_them(values: list[dict[str, int] | None]) -> None:
    both(add_usage, their_usage, *values, field="usage_metadata")


@given(st.lists(sequences.message_ids, min_size=2, max_size=4))
def test_the_id_is_the_one_that_the_library_picks(ids: list[str | None]) -> None:
    expected, got = AIMessageChunk(content="", id=ids[0]), ids[0]
    for id in ids[1:]:
        expected, got = expected + AIMessageChunk(content="", id=id), better_id(got, id)
        assert got == expected.id


@pytest.mark.parametrize(
    ("left", "right", "merged"),
    [
        ({"finish_reason": "stop"}, {"finish_reason": "stop"}, {"finish_reason": "stopstop"}),
        ({"id": "a"}, {"id": "a"}, {"id": "a"}),
        ({"id": "a"}, {"id": "b"}, {"id": "ab"}),
        ({"n": 5}, {"n": 5}, {"n": 5}),
        ({"n": 5}, {"n": 6}, {"n": 11}),
        ({"created": 5}, {"created": 6}, {"created": 6}),
        ({"timestamp": 5}, {"timestamp": 6}, {"timestamp": 6}),
        ({"index": "lc_0"}, {"index": "lc_1"}, {"index": "lc_0"}),
        ({"a": None}, {"a": [1]}, {"a": [1]}),
        ({"a": [1]}, {"a": None}, {"a": [1]}),
        ({"a": {"type": "q"}}, {"a": {"type": "q"}}, {"a": {"type": "qq"}}),
    ],
)
def test_surprises_of_the_library_are_kept(left: dict[str, Any], right: dict[str, Any], merged: dict[str, Any]) -> None:
    assert merge_dicts(left, right) == their_dicts(left, right) == merged


@pytest.mark.parametrize(
    ("left", "right"),
    [({"a": 1}, {"a": True}), ({"a": True}, {"a": False}), ({"a": 1.5}, {"a": 2.5}), ({"a": "x"}, {"a": {}})],
)
def test_what_the_library_refuses_is_refused(left: dict[str, Any], right: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        their_dicts(left, right)
    with pytest.raises(TypeError, match="'a'"):
        merge_dicts(left, right)


def test_counts_nested_without_end_are_refused() -> None:
    deep: dict[str, Any] = {"n": 1}
    for _ in range(100):
        deep = {"n": deep}
    with pytest.raises(ValueError, match="nested"):
        add_usage(deep, deep)
    with pytest.raises(ValueError, match="max_depth"):
        their_usage(deep, deep)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("left", "right", "merged"),
    [
        ("a", "b", "ab"),
        ("", ["b"], ["", "b"]),
        (["a"], "b", ["ab"]),
        ([{"type": "text"}], "b", [{"type": "text"}, "b"]),
        ([{"type": "text"}], "", [{"type": "text"}]),
        ([], "lost", []),
        (
            [{"type": "text", "text": "a", "index": 0}],
            [{"type": "thinking", "thinking": "b", "index": 0}],
            [{"type": "text", "text": "a", "index": 0, "thinking": "b"}],
        ),
    ],
)
def test_content_keeps_the_left_type_and_may_lose_text(left: Any, right: Any, merged: Any) -> None:
    assert merge_content(left, right) == their_content(left, right) == merged


@pytest.mark.parametrize(
    ("left", "right", "merged"),
    [
        ([{"index": 0, "id": ""}], [{"index": 0, "id": "a"}], [{"index": 0, "id": "a"}]),
        ([{"index": 0, "id": "a"}], [{"index": 0, "id": ""}], [{"index": 0, "id": "a"}]),
        ([{"index": 0, "id": "a"}], [{"index": 0, "id": "b"}], [{"index": 0, "id": "a"}, {"index": 0, "id": "b"}]),
        ([{"index": "x"}], [{"index": "x"}], [{"index": "x"}, {"index": "x"}]),
        (
            [{"index": 0, "type": "text", "text": "a"}],
            [{"index": 0, "type": "non_standard", "value": {"type": "q", "b": 1}}],
            [{"index": 0, "type": "text", "text": "a", "extras": {"b": 1}}],
        ),
        (
            [{"index": 0, "type": "non_standard", "value": {"type": "q", "b": "c"}}],
            [{"index": 0, "type": "non_standard", "value": {"type": "q", "b": "d"}, "more": 1}],
            [{"index": 0, "type": "non_standard", "value": {"type": "q", "b": "cd"}}],
        ),
    ],
)
def test_blocks_are_added_by_index_and_id(left: list[Any], right: list[Any], merged: list[Any]) -> None:
    assert merge_lists(left, right) == their_lists(left, right) == merged


def test_indexes_that_are_equal_but_of_two_types_are_refused() -> None:
    left, right = {"index": True, "type": "non_standard"}, {"index": 1, "type": "non_standard", "value": {}}
    for ours_or_theirs in (merge_lists, their_lists):
        with pytest.raises(TypeError):
            ours_or_theirs([left], [right])


@given(objects, objects, objects)
def test_a_refused_addition_can_be_taken_back(
    first: dict[str, Any], second: dict[str, Any], third: dict[str, Any]
) -> None:
    node = object_of(first)
    undo = Undo()
    try:
        add_object(node, second, undo)
    except TypeError:
        undo.back()
    before = canonical(plain(node))
    undo = Undo()
    with contextlib.suppress(TypeError):
        add_object(node, {**third, "reasoning_content": 5}, undo)
    undo.back()
    assert canonical(plain(node)) == before
