"""Bodies in the shapes that recorders write."""

from __future__ import annotations

from typing import Any

import pytest

from recorder.sources.http_body import WrongBody, body_of


@pytest.mark.parametrize(
    ("message", "body"),
    [
        ({}, b""),
        ({"body": None}, b""),
        ({"body": "ä"}, "ä".encode()),
        ({"body": b"\xff"}, b"\xff"),
        ({"body": {"string": "a"}}, b"a"),
        ({"body": {"string": b"\xff"}}, b"\xff"),
        ({"body": {"string": None}}, b""),
        ({"body": {"base64_string": "/w=="}}, b"\xff"),
        ({"body": {"encoding": "base64", "string": "/w=="}}, b"\xff"),
        ({"body": {"encoding": "UTF-8", "string": "a"}}, b"a"),
        ({"body": ["a", b"b"]}, b"ab"),
        ({"body": {"string": ["a", "b"]}}, b"ab"),
        ({"body": {"state": [b"a", 0, None]}}, b"a"),
        ({"body": {"args": [[b"a", b"b"]]}}, b"ab"),
        ({"body": {}}, b""),
        ({"content": "a"}, b"a"),
        ({"parsed_body": {"a": ["ä", None]}}, '{"a":["ä",null]}'.encode()),
        ({"parsed_body": None, "body": "a"}, b"a"),
        ({"body": "\ud83d"}, b"\xed\xa0\xbd"),
    ],
)
def test_a_body_is_read_in_every_shape(message: dict[str, Any], body: bytes) -> None:
    assert body_of(message) == body


@pytest.mark.parametrize(
    ("body", "problem", "kept"),
    [
        (7, "a body of type int", b"7"),
        ({"messages": []}, "a body with the keys messages", b'{"messages":[]}'),
        ([1, 2], "a body of type list", b"[1,2]"),
        ({"base64_string": "a"}, "no base64", b"a"),
        ({("a", "b"): 1}, "no JSON form", b""),
    ],
)
def test_another_shape_is_named_and_kept(body: Any, problem: str, kept: bytes) -> None:
    with pytest.raises(WrongBody, match=problem) as refusal:
        body_of({"body": body})
    assert refusal.value.kept == kept
