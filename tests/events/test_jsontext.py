r"""JSON as recordings hold it: what RFC 8259 leaves open must be read, shown and stored without an exception."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.events import jsontext
from recorder.events.jsontext import DEPTH_LIMIT, NotJson


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'{"a": [1, 2.5, null, true]}', {"a": [1, 2.5, None, True]}),
        (b'"\\ud83d"', "\ud83d"),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        (b"123456789012345678901234567890", 123456789012345678901234567890),
        (b"[Infinity, -Infinity]", [math.inf, -math.inf]),
        (b"1E400", math.inf),
        (b'{"a": 1, "a": 2}', {"a": 2}),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
    ],
)
def test_what_recordings_hold_is_read(data: bytes, value: Any) -> None:
    assert jsontext.decode(data) == value


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "Expecting value"),
        (b"{", "Expecting property name"),
        (b'"\xff"', "invalid UTF-8 at byte 1"),
        (b"[" * (DEPTH_LIMIT + 1) + b"]" * (DEPTH_LIMIT + 1), "nested deeper than 200"),
        (b"[" * 100_000, "nested deeper than 200"),
        (b"1" * 5000, "Exceeds the limit"),
    ],
)
def test_what_is_no_json_says_why(data: bytes, reason: str) -> None:
    with pytest.raises(NotJson, match=reason):
        jsontext.decode(data)


def test_nesting_counts_containers_and_not_the_brackets_in_strings() -> None:
    deep = b"[" * DEPTH_LIMIT + b"]" * DEPTH_LIMIT
    assert json.dumps(jsontext.decode(deep)).encode() == deep
    assert jsontext.decode(b'["' + b"[" * 500 + b'"]') == ["[" * 500]
    hidden = b'["]]]]]]", ' * 300 + b"1" + b"]" * 300
    with pytest.raises(NotJson, match="nested"):
        jsontext.decode(hidden)
    assert len(jsontext.decode(b"[" + b"[1]," * 5000 + b"1]")) == 5001


def test_invalid_utf8_reads_as_replacement_and_is_told() -> None:
    assert jsontext.decode_leniently(b'{"a": "x\xffy"}') == ({"a": "x\ufffdy"}, "invalid UTF-8 at byte 8")
    assert jsontext.decode_leniently(b'{"a": 1}') == ({"a": 1}, None)
    with pytest.raises(NotJson):
        jsontext.decode_leniently(b"\xff{")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": "é\ud83d"}, '{"a": "é\\ud83d"}'),
        (
            [math.nan, math.inf, -math.inf, 1.5],
            '[{"$number": "NaN"}, {"$number": "Infinity"}, {"$number": "-Infinity"}, 1.5]',
        ),
        (b"\x00\xff", '{"$bytes": "00ff"}'),
        ({1}, '{"$repr": "{1}"}'),
        ((1, 2), "[1, 2]"),
    ],
)
def test_what_json_cannot_spell_is_tagged(value: Any, text: str) -> None:
    assert jsontext.encode(value) == text
    json.loads(text)
    text.encode()


def test_what_is_nested_too_deeply_is_cut_where_that_is_said() -> None:
    value: Any = "bottom"
    for _ in range(3000):
        value = [value]
    shown = json.loads(jsontext.encode(value))
    for _ in range(DEPTH_LIMIT):
        (shown,) = shown
    assert shown == {"$deep": DEPTH_LIMIT}


def test_clean_text_is_what_a_database_takes() -> None:
    assert jsontext.clean("a\ud83db") == "a\\ud83db"
    assert jsontext.is_clean("a\U0001f600b")
    assert not jsontext.is_clean("\ud83d")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_what_is_written_reads_as_it_was(value: Any) -> None:
    text = jsontext.encode(value)
    assert jsontext.decode(text.encode()) == value


@given(st.text(alphabet=st.characters()))
def test_every_text_can_be_written(text: str) -> None:
    assert json.loads(jsontext.encode(text).encode()) == text
