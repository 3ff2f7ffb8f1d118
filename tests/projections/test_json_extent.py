from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.projections.json_extent import JsonExtent


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("", False),
        ("{", False),
        ("{}", True),
        ('{"a": "}"', False),
        ('{"a": "}"}', True),
        ('{"a": "\\"}', False),
        ('{"a": "\\\\"}', True),
        ("[1, [2]", False),
        ("[1, [2]]", True),
        ("12", False),
        ('"text"', True),
        ('"te\\"xt', False),
        ("{} {", False),
    ],
)
def test_a_value_is_complete_when_what_opened_has_closed(text: str, complete: bool) -> None:
    extent = JsonExtent()
    extent.feed(text)
    assert extent.complete is complete


@given(st.text(alphabet='{}[]"\\ab,:1 ', max_size=40), st.data())
def test_cuts_make_no_difference(text: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(text)))
    whole, parts = JsonExtent(), JsonExtent()
    whole.feed(text)
    parts.feed(text[:cut])
    parts.feed(text[cut:])
    assert whole == parts
