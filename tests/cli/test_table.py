"""Tables: aligned, one line a row, nothing in them moves the cursor."""

from __future__ import annotations

import pytest

from recorder.cli.table import SCREEN, _cut, _fitted, _width, printable, table


def test_numbers_stand_right_and_text_left() -> None:
    assert list(table(["n", "text"], [[1, "a"], [100, "bc"], ["", "d"]])) == [
        "  n  text",
        "---  ----",
        "  1  a",
        "100  bc",
        "     d",
    ]


def test_a_column_with_text_in_it_is_text() -> None:
    assert list(table(["a"], [[1], ["x"]])) == ["a", "-", "1", "x"]


def test_a_table_without_rows_has_its_header() -> None:
    assert list(table(["a", "bc"], [])) == ["a  bc", "-  --"]


def test_wide_and_combining_characters_are_measured_as_a_terminal_draws_them() -> None:
    assert _width("日本") == 4
    assert _width("e\u0301") == 1
    assert list(table(["a", "b"], [["日本", "x"], ["abcd", "y"]]))[2:] == ["日本  x", "abcd  y"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a\nb\r\tc", "a\\nb\\r\\tc"),
        ("\x1b[2J", "\\u001b[2J"),
        ("\ud83d", "\\ud83d"),
        ("\U000e0001", "\\U000e0001"),
        ("é日", "é日"),
        (1.5, "1.5"),
    ],
)
def test_what_would_move_the_cursor_is_escaped(value: object, shown: str) -> None:
    assert printable(value) == shown


def test_rows_behind_the_first_screen_are_given_whole() -> None:
    rows = [["x"]] * SCREEN + [["longer than all before"]]
    assert list(table(["a"], rows))[-1] == "longer than all before"


@pytest.mark.parametrize("room", [80, 60, 45])
def test_the_widest_columns_give_way(room: int) -> None:
    fitted = _fitted([3, 21, 400, 90], room)
    assert sum(fitted) + 2 * 3 <= room
    assert fitted[0] == 3
    assert _fitted([3, 21], 80) == [3, 21]


def test_a_pipe_gets_a_table_however_narrow_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "10")
    assert list(table(["a", "b"], [["x" * 30, "y" * 30]]))[2] == f"{'x' * 30}  {'y' * 30}"


def test_no_column_is_cut_to_nothing() -> None:
    assert _fitted([100, 100, 3], 10) == [12, 12, 3]


def test_what_is_cut_ends_with_an_ellipsis() -> None:
    assert _cut("abcdef", 4) == "abc…"
    assert _cut("日本語", 4) == "日…"
    assert _cut("abcd", 4) == "abcd"
