from __future__ import annotations

import msgspec

from recorder.projections.rope import Rope


def test_text_is_all_that_was_appended() -> None:
    rope = Rope()
    assert rope.text == ""
    for piece in ("a", "", "bc"):
        rope.append(piece)
    assert rope.text == "abc"
    rope.append("d")
    assert rope.text == "abcd"


def test_reading_joins_the_pieces_once() -> None:
    rope = Rope(["a", "b", "c"])
    assert rope.text is rope.text
    assert rope.parts == ["abc"]


def test_only_text_makes_it_true() -> None:
    assert not Rope()
    assert not Rope([""])
    assert Rope(["a"])


def test_it_grows_on_after_a_snapshot() -> None:
    rope = Rope(["a", "b"])
    rope = msgspec.msgpack.decode(msgspec.msgpack.encode(rope), type=Rope)
    rope.append("c")
    assert rope.text == "abc"
