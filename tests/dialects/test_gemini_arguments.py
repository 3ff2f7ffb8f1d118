"""Values with paths become one JSON text that only grows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.dialects.gemini_arguments import OPENING, Arguments, Step, path_of, piece_of


def written(*pieces: tuple[str, Any]) -> str:
    """The text of the pieces, closed; None of them may be refused."""
    arguments, text = Arguments(), OPENING
    for path, value in pieces:
        steps = path_of(path)
        assert steps is not None
        added = arguments.add(steps, value)
        assert added is not None, (path, text)
        text += added
    return text + arguments.close()


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        ([], "{}"),
        ([("$.a", "x")], '{"a":"x"}'),
        ([("$.a", "x"), ("$.a", ""), ("$.b", "y")], '{"a":"x","b":"y"}'),
        ([("$.a", "New "), ("$.a", "Delhi")], '{"a":"New Delhi"}'),
        ([("$.a", 1), ("$.b", 2.5), ("$.c", True), ("$.d", None)], '{"a":1,"b":2.5,"c":true,"d":null}'),
        ([("$.a", 1), ("$.a", 1)], '{"a":1}'),
        ([("$.a.b.c", 1), ("$.a.b.d", 2), ("$.a.e", 3), ("$.f", 4)], '{"a":{"b":{"c":1,"d":2},"e":3},"f":4}'),
        ([("$.l[0]", 1), ("$.l[1]", 2), ("$.z", 3)], '{"l":[1,2],"z":3}'),
        ([("$.l[0].a", 1), ("$.l[0].b", 2), ("$.l[1].a", 3)], '{"l":[{"a":1,"b":2},{"a":3}]}'),
        ([("$.l[0][0]", 1), ("$.l[0][1]", 2), ("$.l[1][0]", "x")], '{"l":[[1,2],["x"]]}'),
        ([("$.l[0].a", 1), ("$.m[0].a", 1)], '{"l":[{"a":1}],"m":[{"a":1}]}'),
        ([("$.a", {"b": [1]}), ("$.c", [])], '{"a":{"b":[1]},"c":[]}'),
        ([("$.a", 'q"\n'), ("$.a", "é")], '{"a":"q\\"\\né"}'),
        ([("$.a", "\ud83d"), ("$.a", "\ude00")], '{"a":"\\ud83d\\ude00"}'),
        ([("$['a b']", 1), ('$["c.d"][0]', 2)], '{"a b":1,"c.d":[2]}'),
    ],
)
def test_pieces_in_their_order_are_one_text(pieces: list[tuple[str, Any]], text: str) -> None:
    assert written(*pieces) == text


@pytest.mark.parametrize(
    ("before", "refused"),
    [
        (["$.a.b", "$.c"], "$.a.d"),
        (["$.a", "$.b"], "$.a"),
        (["$.l[0]", "$.l[1]"], "$.l[0]"),
        (["$.l[0]"], "$.l[2]"),
        ([], "$.l[1]"),
        (["$.a"], "$.l[1].b"),
        (["$.a"], "$.a.b"),
        (["$.a.b"], "$.a"),
        (["$.a.b"], "$.a[0]"),
        (["$.a[0]"], "$.a.b"),
        (["$.a"], "$[0]"),
        ([], "$[0]"),
        ([], "$"),
        (["$.a"], "$"),
    ],
)
def test_what_cannot_follow_leaves_the_text_unclosed(before: list[str], refused: str) -> None:
    arguments = Arguments()
    for path in before:
        assert arguments.add(path_of(path) or [], 1) is not None
    assert arguments.add(path_of(refused) or [], 2) is None
    assert arguments.add(["z"], 3) is None
    assert arguments.close() == ""


def test_a_value_of_another_kind_at_the_same_place_is_refused() -> None:
    for first, second in (("x", 1), (1, "x"), (1, 2), (True, 1)):
        arguments = Arguments()
        arguments.add(["a"], first)
        assert arguments.add(["a"], second) is None


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("$", []),
        ("$.a", ["a"]),
        ("$.a.b[0].c", ["a", "b", 0, "c"]),
        ("$['a'][\"b\"]", ["a", "b"]),
        (r"""$['it\'s "x"']""", ['it\'s "x"']),
        (r'$["\u00e9\\"]', ["é\\"]),
        ("$.ключ-1", ["ключ-1"]),
        ("$.\ud83d", ["\\ud83d"]),
        ("a", None),
        ("$..a", None),
        ("$.a[*]", None),
        ("$.a[-1]", None),
        ("$.a b", None),
        ("$.a[99999999999]", None),
        (r"$['\x']", None),
        ("$.", None),
        (None, None),
        (7, None),
    ],
)
def test_paths(text: Any, path: list[Step] | None) -> None:
    assert path_of(text) == path


@pytest.mark.parametrize(
    ("piece", "read"),
    [
        ({"jsonPath": "$.a", "stringValue": "x", "willContinue": True}, (["a"], True, "x")),
        ({"json_path": "$.a", "number_value": 1}, (["a"], True, 1)),
        ({"jsonPath": "$.a", "boolValue": False}, (["a"], True, False)),
        ({"jsonPath": "$.a", "nullValue": "NULL_VALUE"}, (["a"], True, None)),
        ({"jsonPath": "$.a", "nullValue": None}, (["a"], True, None)),
        ({"jsonPath": "$.a", "willContinue": True}, (["a"], False, None)),
        ({"stringValue": "x"}, (None, True, "x")),
        ("x", (None, False, None)),
    ],
)
def test_pieces(piece: Any, read: tuple[Any, ...]) -> None:
    assert piece_of(piece) == read


scalars = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, min_size=1, max_size=3) | st.dictionaries(st.text(max_size=3), inner, min_size=1),
    max_leaves=12,
)


def leaves(value: Any, path: list[Step]) -> list[tuple[list[Step], Any]]:
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in leaves(item, [*path, key])]
    if isinstance(value, list):
        return [leaf for place, item in enumerate(value) for leaf in leaves(item, [*path, place])]
    return [(path, value)]


@given(st.dictionaries(st.text(max_size=3), values, max_size=4), st.integers(1, 3))
def test_the_pieces_of_any_arguments_give_them_back(arguments: dict[str, Any], size: int) -> None:
    writer, text = Arguments(), OPENING
    for path, value in leaves(arguments, []):
        parts = [value[at : at + size] for at in range(0, len(value), size)] if isinstance(value, str) else [value]
        for part in parts or [""]:
            added = writer.add(path, part)
            assert added is not None
            text += added
    assert json.loads(text + writer.close()) == arguments
