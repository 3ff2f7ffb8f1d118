"""The incremental reader against the library whose value it must give at every character."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.projections.partial_json import DEPTH_LIMIT, INVALID, Change, Follower, PartialJson, parse_partial
from tests.corpus import CORPUS, needs_corpus

pytest.importorskip("langchain_core", reason="langchain-core is the oracle of these tests")

from tests.projections.partial_json_oracle import Tally, difference, expect, spelled

LONG = "7" * 4301

# Whole texts: every beginning of each is compared, so that the cases on the way need no line of their own.
TEXTS = {
    "nothing": "",
    "white space only": " \t\r\n ",
    "white space everywhere": ' \n{ "a" :\t[ 1 , 2 ] , "b" : { } }\r\n ',
    "other white space is none": '{\u00a0"a":1}',
    "byte order mark": '\ufeff{"a":1}',
    "byte order mark, then a closer": "\ufeff}",
    "leading text": 'Sure: {"a":1}',
    "markdown fence": '```json\n{"a":1}\n```',
    "nested containers": '{"a":[1,[{"b":[]},{}],"x"],"c":{"d":{"e":null}}}',
    "escapes": r'{"a":"x\"\\\/\b\f\n\r\té😀"}',
    "escaped keys": r'{"a\u00e9\"":1,"b\\":2}',
    "dangling backslash": '{"a":"x\\',
    "half a pair, then text": r'["\ud83dx"]',
    "half a pair, then another escape": r'["\ud83d\n\ud83d\u0041\ud83d\\"]',
    "half pairs in a row": r'["\ud83d\ud83d\ude00\ude00\ude00"]',
    "half pair, then a raw half": '["\\ud83d\ude00"]',
    "raw halves": '["\ud83d\ude00"]',
    "a backslash before what looks like an escape": r'["\\ud83d\\u12"]',
    "pair broken by a wrong digit": r'{"k":1,"a":"x\ud83d\u12g"}',
    "wrong hexadecimal digit": r'{"k":1,"a":"x\u12x4","b":2}',
    "escape cut by the closing quote": r'{"a":"h\u00"}',
    "unknown escape": r'{"k":1,"a":"x\q","b":"y"}',
    "unknown escape in a key": r'{"k":1,"a\q":2}',
    "unknown escape in a root string": r'"x\q"',
    "backslash and raw newline": '{"a":"x\\\ny"}',
    "raw control characters": '{"a":"x\n\t\x00\x1fy","b\n":1}',
    "numbers": "[0,-0,-0.0,12,-12.5e+10,1E400,-1e-400,1.0,1e2]",
    "number at the root": "-12.50e+3 ",
    "leading zero": "[012]",
    "half numbers": '{"a":[-],"b":1}',
    "number without fraction": '{"a":1.}',
    "number with half an exponent": '{"a":1e+}',
    "number with two fractions": '{"a":1.2.3,"b":2}',
    "number that runs into letters": '{"a":12abc,"b":2}',
    "literals": "[true,false,null,NaN,Infinity,-Infinity]",
    "literal at the root": "null",
    "not a number at the root": " NaN ",
    "literal too long": "[truex,1]",
    "literal with a wrong letter": '{"a":[tru3],"b":1}',
    "capital literal": '{"a":True}',
    "single quotes": "{'a':1}",
    "bare keys": "{a:1}",
    "trailing comma in an object": '{"a":1,}',
    "trailing comma in an array": '{"a":[1,]}',
    "missing comma": '{"a":1 "b":2}',
    "missing colon": '{"a" 1}',
    "missing value": '{"a":,"b":1}',
    "quote within a string": '{"a":"b"c","d":1}',
    "key that comes again": '{"a":1,"b":2,"a":3}',
    "key that comes again with containers": '{"a":[1],"b":2,"a":{"c":[2]},"b":[]}',
    "key that comes again with a half-written escape": r'{"a":[1],"b":2,"a":"x\u0041y"}',
    "object closed by a bracket": '{"a":1]',
    "array closed by a brace": '{"a":[1}',
    "one closer too many": '{"a":1}}',
    "text after the value": '{"a":1} ok, "done"',
    "second object": '{"a":1}{"b":[2]}',
    "second object, nested like the first": '{"a":[{"x":1},{"y":2}],"c":3}{"a":[{"x":1},{"y":2}],"c":3}',
    "second array": "{}[]",
    "brackets after an error": '{"z":0,"a":[1 x ][][{}]}{',
    "brackets after an error under a key that came again": '{"a":5,"b":6,"a":[1 x ][][',
    "brackets that recall a closed container": '{"b":{"q":1},"c":5,"a":[1 x ]{}[{}]{',
    "brackets in a string after an error": r'{"a":[1 x "]\"]" ] "[',
    "mismatch after an error": '{"a":[1 x }',
    "mismatch after a mismatch": "[}]",
}

LONG_TEXTS = {
    "longest integer": f'{{"a":[1,{LONG[1:]},2]}}',
    "integer too long": f'{{"a":[1,{LONG},2]}}',
    "negative integer too long": f'{{"a":-{LONG}}}',
    "integer too long at the root": LONG + " ",
    "integer too long that becomes a float": f'{{"a":[1,{LONG}.25e-5000,2]}}',
    "integer too long that becomes a float at the root": LONG + ".5e1 ",
    "integer too long before a mismatch": f"[{LONG}}}",
    "a long float that the library cuts back through": f'{{"z":0,"a":[{LONG}.5 x ][',
    "a long float beside what is cut off": f'{{"z":{LONG}.5,"a":[1 x ][',
    "a long float after the container that is recalled": f"[[{LONG}.5],[1],{LONG}.5 x [",
    "a long float before the container that is recalled": f"[{LONG}.5,[1],2 x [",
}


def compare(text: str, cuts: list[int] | range | None = None) -> Tally:
    ends = sorted({0, len(text), *(range(len(text)) if cuts is None else cuts)})
    tally = Tally()
    assert difference(text, ends, expect(text, ends), tally) is None
    return tally


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_every_beginning_has_the_librarys_value(text: str) -> None:
    assert compare(text).left_out == 0


@pytest.mark.parametrize("text", LONG_TEXTS.values(), ids=LONG_TEXTS)
def test_numbers_too_long_to_read_have_the_librarys_value(text: str) -> None:
    digits = text.rindex(LONG[1:]) + len(LONG) - 3
    assert compare(text, range(digits, len(text))).left_out == 0
    assert compare(text, []).left_out == 0


@pytest.mark.parametrize("opener", ["[", '{"a":'])
def test_nesting_up_to_the_limit_has_the_librarys_value(opener: str) -> None:
    text = opener * DEPTH_LIMIT
    assert compare(text, [len(text) - 1]).left_out == 0


@pytest.mark.parametrize("opener", ["[", '{"a":'])
def test_nesting_beyond_the_limit_is_invalid_for_good(opener: str) -> None:
    reader, follower = PartialJson(), Follower()
    reader.feed(opener * (DEPTH_LIMIT + 1))
    follower.apply(reader.changes())
    assert reader.value is follower.value is INVALID
    reader.feed("]}}}")
    assert reader.value is INVALID
    assert not reader.changes()


def test_nesting_far_beyond_the_limit_neither_recurses_nor_differs() -> None:
    text = "[" * 100_000 + "]" * 100_000
    assert compare(text, [len(text) // 2]).left_out == 0


NASTY = st.text(alphabet='{}[]",:\\ \nu09dD8cC-+.eEtrulfasnNI\ud83d\ude00\x01\ufeff', max_size=30)
TOKENS = st.lists(
    st.sampled_from(
        [
            *("{", "}", "[", "]", ",", ":", '"', " ", '"a":', '"b"', "1", "-0.5", "1e", "true", "nul", "NaN"),
            *("-Infinity", "\\", "\\u00e9", "\\ud83d", "\\ude00", "\\u1", "\n", "x", LONG[:20]),
        ]
    ),
    max_size=16,
).map("".join)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=8,
)
DOCUMENTS = st.builds(json.dumps, VALUES, ensure_ascii=st.booleans(), indent=st.none() | st.just(1))


@st.composite
def mutated(draw: st.DrawFn) -> str:
    text = draw(DOCUMENTS)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(NASTY.map(lambda junk: junk[:3])) + text[at + draw(st.integers(0, 2)) :]
    return text


CONCATENATED = st.lists(DOCUMENTS, min_size=2, max_size=3).map("".join)
BROKEN = st.tuples(DOCUMENTS, st.sampled_from("x,:"), st.text(alphabet='{}[]"\\', max_size=12)).map("".join)
ANY_TEXT = st.one_of(NASTY, TOKENS, DOCUMENTS, mutated(), CONCATENATED, BROKEN)


@given(ANY_TEXT, st.data())
def test_any_text_has_the_librarys_value_after_every_character_and_in_any_pieces(
    text: str, data: st.DataObject
) -> None:
    expected = expect(text, range(len(text) + 1))
    tally = Tally()
    assert difference(text, range(len(text)), expected, tally) is None
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=6))
    assert difference(text, cuts, expected, tally) is None
    assert tally.left_out == 0


@needs_corpus
def test_real_arguments_have_the_librarys_value_at_every_beginning() -> None:
    lines = (CORPUS / "expected.jsonl").read_text("utf-8").splitlines()
    calls = [call for line in lines for call in json.loads(line)["calls"]]
    texts = {call["args"] for call in calls if len(call.get("args") or "") in range(1, 200)}
    assert len(texts) > 50
    for text in texts:
        assert compare(text).left_out == 0


@given(ANY_TEXT)
def test_one_shot_reading_and_untracked_reading_give_the_same_value(text: str) -> None:
    reader = PartialJson()
    reader.feed(text)
    assert spelled(parse_partial(text)) == spelled(reader.value)


def test_values_given_out_do_not_change_when_more_is_fed() -> None:
    reader = PartialJson()
    reader.feed('{"a":[1,{"b":"x')
    before = reader.value
    reader.feed('y","c":2},3],"d":4}')
    assert before == {"a": [1, {"b": "x"}]}
    assert reader.value == {"a": [1, {"b": "xy", "c": 2}, 3], "d": 4}


def test_an_untracked_reader_keeps_no_changes() -> None:
    reader = PartialJson(track=False)
    reader.feed('{"a":[1,"x')
    assert reader.changes() == []
    assert reader.value == {"a": [1, "x"]}


def test_changes_are_appends_and_small_sets() -> None:
    reader = PartialJson()
    told = []
    for piece in ['{"a":"x', "y", r"\u00", 'e9z","b":[1', "2,", "tru", "e]", "}"]:
        reader.feed(piece)
        told.append(reader.changes())
    assert told == [
        [Change("set", (), {}), Change("set", ("a",), "x")],
        [Change("append", ("a",), "y")],
        [Change("remove", ("a",))],
        [
            Change("restore", ("a",)),
            Change("append", ("a",), "éz"),
            Change("set", ("b",), []),
            Change("set", ("b", 0), 1),
        ],
        [Change("set", ("b", 0), 12)],
        [],
        [Change("set", ("b", 1), True)],
        [],
    ]


def test_applying_the_same_changes_twice_gives_two_independent_values() -> None:
    reader = PartialJson()
    reader.feed('{"a":[1],"b":{"c":2}}')
    changes = reader.changes()
    first, second = Follower(), Follower()
    first.apply(changes)
    second.apply(changes)
    assert first.value == second.value == {"a": [1], "b": {"c": 2}}
    assert first.value is not second.value
    assert changes[0] == Change("set", (), {})


def size(changes: list[Change]) -> int:
    """What a list of changes takes to write down."""
    return sum(len(change.op) + len(json.dumps(change.path)) + len(spelled(change.value)) for change in changes)


def told_by_pieces(text: str, length: int) -> int:
    reader, total = PartialJson(), 0
    for start in range(0, len(text), length):
        reader.feed(text[start : start + length])
        total += size(reader.changes())
    return total


GROWING: dict[str, Callable[[int], str]] = {
    "a string": lambda n: json.dumps({"a": "lorem ipsum " * n}),
    "a string of escapes": lambda n: json.dumps({"a": "é😀\n" * 4 * n}),
    "an array": lambda n: json.dumps({"a": list(range(1000, 1000 + 3 * n))}),
    "objects": lambda n: json.dumps([{"id": 1, "name": "x", "tags": ["a"]}] * n),
    "an escape under a key that came again": lambda n: json.dumps({"a": [1] * n})[:-1] + r',"a":"' + r"\u00e9" * n,
    "brackets after an error": lambda n: json.dumps({"a": [1] * 4 * n})[:-2] + " x " + "][" * n,
    "openers after the value": lambda n: json.dumps({"a": [1] * 4 * n}) + "[]" * n,
    "a second object like the first": lambda n: json.dumps({"a": [{"b": 1}] * n}) * 2,
}


@pytest.mark.parametrize("length", [1, 4])
@pytest.mark.parametrize("text", GROWING.values(), ids=GROWING)
def test_the_size_of_all_changes_is_linear_in_the_text(text: Callable[[int], str], length: int) -> None:
    small, large = told_by_pieces(text(100), length), told_by_pieces(text(400), length)
    assert large <= 4.5 * small
    assert large <= 60 * len(text(400))


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("{}", True),
        (' {"a":[1,"x",null]}\n', True),
        ("12", True),
        ("12.", False),
        ("-", False),
        ("true", True),
        ("tru", False),
        ('"x"', True),
        ('"x', False),
        ("NaN", False),
        ("[-Infinity]", False),
        ('{"a":"x\ny"}', False),
        ('{"a\t":1}', False),
        ("{} x", False),
        ("{}{}", False),
        ("{}}", False),
        (f"[{LONG}]", False),
        ("", False),
    ],
)
def test_complete_means_one_whole_value_by_rfc_8259(text: str, complete: bool) -> None:
    reader = PartialJson()
    reader.feed(text)
    assert reader.is_complete is complete
