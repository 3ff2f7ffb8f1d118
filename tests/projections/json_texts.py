"""Hypothesis strategies: texts that are, or begin like, JSON, with what LangChain.js reads in its own way."""

from __future__ import annotations

import json

from hypothesis import strategies as st

KEYS = st.sampled_from(
    ["a", "b", "a", "", "é", "1", "0", "10", "01", "4294967295", "__proto__", "constructor", 'q"', "\\", "😀", "/~"]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, -1, 7, 12345, 10**20, 10**21, 2**53 + 1, 1.5, -0.0, 1e-7, 2.5e30, 1e400, float("nan")]),
    st.text(alphabet='abc "\\/\n\té😀{}[],:\ud83d\ude00\x1f\xa0', max_size=8),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=8,
)
TOKENS = [
    *("{", "{", "}", "}", "[", "[", "]", "]", ",", ",", ":", '"', '"', " ", "\n", '{"a":', ',"a":', ',"b":', '{"1":[1'),
    *("1", "0", "-", "-0", "12.50", "1e400", "-1E-2", "1e+", "0.", "01", "-.", "-.5", "true", "false", "null", "tru"),
    *("NaN", "-Infinity", "fals", "nulll", "n", '"x"', '"\\', "\\u00e9", "\\ud83d", "\\ude00", "\\ud83d\\ude00"),
    *('"\\ud8', "\\u12", "\\q", "\\\\", '\\"', "\\n", "\x01", "\ud83d", "\ude00", "x", "'", "\ufeff", "\xa0", "\x85"),
    *('"x ', "\\u", '"__proto__":', "```json"),
]


def _written(value: object, ascii: bool, indent: int | None, separators: tuple[str, str] | None) -> str:
    return json.dumps(value, ensure_ascii=ascii, indent=indent, separators=separators)


DOCUMENTS = st.builds(
    _written,
    VALUES,
    st.booleans(),
    st.sampled_from([None, None, 1]),
    st.sampled_from([None, (",", ":"), (" , ", " :\t")]),
)
OBJECTS = st.builds(_written, st.dictionaries(KEYS, VALUES, max_size=4), st.booleans(), st.none(), st.none())


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A document in which some tokens stand in the place of others."""
    text = draw(DOCUMENTS)
    for _ in range(draw(st.integers(1, 3))):
        at, length = draw(st.integers(0, len(text))), draw(st.integers(0, 2))
        text = text[:at] + draw(st.sampled_from(TOKENS)) + text[at + length :]
    return text


TEXTS = st.one_of(
    DOCUMENTS,
    mutated(),
    st.lists(st.sampled_from(TOKENS), max_size=14).map("".join),
    st.lists(DOCUMENTS, min_size=2, max_size=3).map(" ".join),
    st.text(alphabet='{}[]":,\\ \n\tu0019dDc-+.eEtrufalsn/é😀\ud83d\ude00\ufeff', max_size=28),
)
"""Anything, of 400 characters at most where they are compared after each."""
