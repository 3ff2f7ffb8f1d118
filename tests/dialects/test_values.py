from __future__ import annotations

import json
from typing import Any

import pytest

from recorder.dialects.values import cleaned, compact, id_of, index_of, int_of


@pytest.mark.parametrize(
    ("value", "index"),
    [(0, 0), ("0", "0"), (None, None), (1.0, 1), (1.5, "1.5"), (True, "true"), ({"a": 1}, '{"a":1}'), ("", "")],
)
def test_an_index_is_kept_as_it_was_sent(value: Any, index: int | str | None) -> None:
    assert index_of(value) == index
    assert type(index_of(value)) is type(index)


@pytest.mark.parametrize(
    ("value", "number"), [(3, 3), (3.0, 3), (3.5, None), (True, None), ("3", None), (1 << 70, None)]
)
def test_only_whole_numbers_are_counts(value: Any, number: int | None) -> None:
    assert int_of(value) == number


def test_ids_are_text_and_numbers_become_text() -> None:
    values: list[Any] = ["", 7, True, None, {}]
    assert [id_of(value) for value in values] == ["", "7", None, None, None]


def test_arguments_keep_their_order_and_every_number() -> None:
    assert compact({"b": 1, "a": [1.0, "é"]}) == '{"b":1,"a":[1.0,"é"]}'
    assert compact(float("nan")) == "NaN"
    assert compact({"a": "\ud83d"}) == '{"a":"\ud83d"}'


def test_arguments_nested_too_deeply_are_still_text() -> None:
    value: Any = []
    for _ in range(100_000):
        value = [value]
    assert json.loads(compact(value)) == {"$repr": "nested too deeply"}


def test_text_for_an_envelope_has_no_lone_surrogate() -> None:
    assert cleaned("a\ud83d") == "a\\ud83d"
    assert cleaned(["a"]) is None
