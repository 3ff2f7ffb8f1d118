"""The reader of JSON as LangChain.js reads it, against the library whose value it must give at every character."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recorder.projections.langchainjs_partial_json import LangChainJsJson, parse_partial
from recorder.projections.partial_json import DEPTH_LIMIT, INVALID, Change, Follower
from tests.corpus import CORPUS, needs_corpus
from tests.javascript.library import Library
from tests.projections.json_texts import TEXTS
from tests.projections.langchainjs_oracle import partial_difference


@settings(max_examples=400)
@given(text=TEXTS, data=st.data())
def test_any_text_has_the_librarys_value_after_every_character_and_in_any_pieces(
    langchainjs: Library, text: str, data: st.DataObject
) -> None:
    text = text[:400]
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=6))
    assert partial_difference(langchainjs, text, [range(len(text)), cuts]) is None


@needs_corpus
def test_real_arguments_have_the_librarys_value_at_every_beginning(langchainjs: Library) -> None:
    lines = (CORPUS / "expected.jsonl").read_text("utf-8").splitlines()
    calls = [call for line in lines for call in json.loads(line)["calls"]]
    texts = {call["args"] for call in calls if len(call.get("args") or "") in range(1, 400)}
    assert len(texts) > 50
    for text in texts:
        assert partial_difference(langchainjs, text, [range(len(text))]) is None


WHOLE = {
    "literals at their first letter": '{"a":t,"b":fals',
    "a literal that goes on otherwise": "[nul1",
    "numbers": "[-0,-1.5e+3,12.,0.5,1E2,-",
    "a number that cannot be read for now": '{"a":-.5,"b":-e5',
    "zeros in front": "[01]",
    "numbers beyond a double's digits": "[12345678901234567890,1e21,123456789012345678901234,1e400]",
    "escapes": r'{"a":"x\"\\\/\b\f\n\r\té😀\ud83dx\ud83d\n',
    "an escape that is none": r'{"a":"\q"}',
    "an escape that breaks off in the middle": r'{"a":"\u12"}',
    "raw halves of a pair": '{"a":"\ud83d\ude00\ud83d","\ud83d\ude00":1}',
    "a raw and an escaped half": '["\ud83d\\ude00","\\ud83d\ude00"]',
    "raw control characters": '{"a":"x\n\ty\x00"}',
    "white space inside an open string": '{"a":"x  \n y ","b":"\\ ',
    "white space of JavaScript": '\xa0{\u2028"a"\ufeff:1\u3000}\v',
    "white space of Python only": '{\x1c"a":1}',
    "behind the value": '{"a":1} x',
    "a second value": '{"a":1}{"b":2}',
    "keys in numeric order": '{"b":1,"10":2,"2":{"1":3,"0":4},"01":5,"-1":6,"4294967294":7,"4294967295":8}',
    "a key that came again": '{"a":[1],"b":2,"a":{"c":"x',
    "the key that sets the prototype": '{"__proto__":{"a":1},"b":[{"__proto__":2}]}',
    "the same in what JSON.parse refuses": '{"__proto__":{"a":1},"b":-}',
    "commas that close": "[1,]",
    "mismatched closers": '{"a":[1}',
    "single quotes": "{'a':1}",
    "markdown": '```json\n{"a":1}\n```',
}


@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE)
def test_every_beginning_of_a_telling_text_has_the_librarys_value(langchainjs: Library, text: str) -> None:
    assert partial_difference(langchainjs, text, [range(len(text)), [3], []]) is None


@pytest.mark.parametrize("blank", ["", " ", "\n\ufeff\xa0"])
def test_nothing_but_white_space_is_what_the_reader_is_told(blank: str) -> None:
    assert parse_partial(blank) is INVALID
    assert parse_partial(blank, {}) == {}
    reader = LangChainJsJson(blank={})
    assert reader.changes() == []
    reader.feed(blank)
    assert reader.changes() == ([Change("set", (), {})] if blank else [])
    reader.feed("[")
    assert reader.changes() == [Change("set", (), [])]


def test_nesting_has_a_limit() -> None:
    assert parse_partial("[" * DEPTH_LIMIT) is not INVALID
    assert parse_partial("[" * (DEPTH_LIMIT + 1)) is INVALID


def test_values_given_out_do_not_change_when_more_is_fed() -> None:
    reader = LangChainJsJson()
    reader.feed('{"a":[1,{"b":"x')
    before = reader.value
    reader.feed('y","1":2},3],"d":4}')
    assert before == {"a": [1, {"b": "x"}]}
    assert reader.value == {"a": [1, {"1": 2, "b": "xy"}, 3], "d": 4}


def test_an_untracked_reader_keeps_no_changes() -> None:
    reader = LangChainJsJson(track=False)
    reader.feed('{"a":[1,"x')
    assert reader.changes() == []
    assert reader.value == {"a": [1, "x"]}


def test_changes_are_appends_and_small_sets() -> None:
    reader = LangChainJsJson()
    told = []
    for piece in ['{"a":"x', "y", "\\", "u00", "e9z ", '\ud83d"', ',"b":[-', ".", "5,t", "rue]", "}x"]:
        reader.feed(piece)
        told.append(reader.changes())
    assert told == [
        [Change("set", (), {}), Change("set", ("a",), "x")],
        [Change("append", ("a",), "y")],
        [Change("append", ("a",), "\\")],
        [Change("trim", ("a",), 1), Change("append", ("a",), "u00")],
        [Change("trim", ("a",), 3), Change("append", ("a",), "éz")],
        [Change("append", ("a",), " \ud83d")],
        [Change("set", ("b",), []), Change("set", ("b", 0), 0)],
        [Change("set", (), INVALID)],
        [Change("restore", ()), Change("set", ("b", 0), -0.5), Change("set", ("b", 1), True)],
        [],
        [Change("set", (), INVALID)],
    ]


def size(changes: Iterable[Change]) -> int:
    """What a list of changes takes to write down."""
    return sum(len(change.op) + len(json.dumps(change.path)) + len(repr(change.value)) for change in changes)


def told_by_pieces(text: str, length: int) -> int:
    reader, follower, total = LangChainJsJson(), Follower(), 0
    for start, end in pairwise([*range(0, len(text), length), len(text)]):
        reader.feed(text[start:end])
        changes = reader.changes()
        follower.apply(changes)
        total += size(changes)
    assert follower.value == reader.value
    return total


GROWING: dict[str, Callable[[int], str]] = {
    "a string": lambda n: json.dumps({"a": "lorem ipsum " * n}),
    "a string of escapes": lambda n: json.dumps({"a": "é😀\n" * 4 * n}),
    "raw halves of pairs": lambda n: '{"a":"' + "\ud83d\ude00" * 8 * n,
    "an array": lambda n: json.dumps({"a": list(range(1000, 1000 + 3 * n))}),
    "objects": lambda n: json.dumps([{"id": 1, "name": "x", "tags": ["a"]}] * n),
    "white space": lambda n: '{"a":"' + " " * 8 * n + '"}',
}


@pytest.mark.parametrize("length", [1, 4])
@pytest.mark.parametrize("text", GROWING.values(), ids=GROWING)
def test_the_size_of_all_changes_is_linear_in_the_text(text: Callable[[int], str], length: int) -> None:
    small, large = told_by_pieces(text(100), length), told_by_pieces(text(400), length)
    assert large <= 4.5 * small
    assert large <= 60 * len(text(400))
