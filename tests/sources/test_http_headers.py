"""Headers in the shapes that documents have them in."""

from __future__ import annotations

from typing import Any

import pytest

from recorder.sources.http_headers import header, headers_of, media_type, status_of


@pytest.mark.parametrize(
    ("value", "headers"),
    [
        (None, {}),
        ({}, {}),
        ({"A": "1", "b": ["2", "3"]}, {"A": ["1"], "b": ["2", "3"]}),
        ([["a", "1"], ("a", "2")], {"a": ["1", "2"]}),
        ([{"name": "a", "value": "1"}, {"name": "A", "value": "2"}], {"a": ["1"], "A": ["2"]}),
        ([{"name": ":path", "value": "/?key=1"}, {"name": "a"}], {"a": [""]}),
        ({"a": None, "b": 3, b"c": b"\xff"}, {"a": ["None"], "b": ["3"], "c": ["\ufffd"]}),
        ({"a": "\ud83d"}, {"a": ["\\ud83d"]}),
    ],
)
def test_headers_are_read_in_every_shape(value: Any, headers: dict[str, list[str]]) -> None:
    assert headers_of(value) == headers


@pytest.mark.parametrize("value", [7, True, "text", [1], [["a"]], [["a", "b", "c"]]])
def test_what_is_no_pairs_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="that are no pairs"):
        headers_of(value)


def test_a_header_is_found_in_any_case() -> None:
    headers = {"Content-Type": ["Text/HTML; charset=utf-8"], "X": ["1"], "x": ["2"]}
    assert media_type(headers) == "text/html"
    assert header(headers, "x") == "1, 2"
    assert (header(headers, "y"), media_type({})) == (None, "")


@pytest.mark.parametrize("value", [0, -1, 99, 1000, 10**30, True, "200", 200.0, None, []])
def test_what_is_no_status_code_is_none(value: Any) -> None:
    assert status_of(value) is None
    assert status_of(204) == 204
