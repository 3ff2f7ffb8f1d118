"""Which answer belongs to which call, over histories that repeat, ids that repeat and ids that are missing."""

from __future__ import annotations

import pytest

from recorder.deltas import HistoryAnswer, HistoryCall
from recorder.projections.pairing import Pairings


def call(id: str | None, name: str = "get", args: str = "{}") -> HistoryCall:
    return HistoryCall(id=id, name=name, args=args)


def answer(id: str | None, content: str = "ok", *, name: str | None = None, status: str = "success") -> HistoryAnswer:
    return HistoryAnswer(tool_call_id=id, content=content, name=name, status=status)


def shown(pairings: Pairings) -> list[tuple[str | None, str, int | None]]:
    return [(row.call_id, row.status, row.answer_seq) for row in pairings.rows]


def streamed(pairings: Pairings, ref: str, id: str | None, seq: int, name: str = "get", args: str = "{}") -> None:
    pairings.call(ref, id, name, seq, "client", "wire")
    pairings.call_finished(ref, args)


def test_an_answer_goes_to_its_call() -> None:
    pairings = Pairings()
    streamed(pairings, "1:0", "a", 1)
    streamed(pairings, "1:1", "b", 1)
    pairings.answer(5, "t1", answer("b"))
    pairings.answer(6, "t2", answer("a", status="error"))
    assert shown(pairings) == [("a", "error", 6), ("b", "answered", 5)]


def test_ids_are_compared_byte_for_byte() -> None:
    pairings = Pairings()
    streamed(pairings, "1:0", "call_A", 1)
    pairings.answer(2, "t", answer("call_a"))
    assert shown(pairings) == [("call_A", "open", None), ("call_a", "orphan", 2)]


def test_a_history_sent_again_is_no_second_answer() -> None:
    pairings = Pairings()
    streamed(pairings, "1:0", "a", 1)
    history = [call("a"), answer("a")]
    for seq in (5, 9, 13):
        pairings.restated(seq, history)
    assert shown(pairings) == [("a", "answered", 5)]


def test_a_call_first_seen_in_a_history_is_known() -> None:
    pairings = Pairings()
    calls, answers = pairings.restated(3, [call("a"), answer("a"), call("b")])
    assert [each.id for each, _ in calls] == ["a", "b"]
    assert [each.tool_call_id for each, _ in answers] == ["a"]
    pairings.restated(7, [call("a"), answer("a"), call("b"), answer("b")])
    assert shown(pairings) == [("a", "answered", 3), ("b", "answered", 7)]


def test_two_conversations_that_use_the_same_id_are_two_calls() -> None:
    pairings = Pairings()
    streamed(pairings, "1:0", "0", 1, args='{"x":1}')
    pairings.restated(2, [call("0", args='{"x":1}'), answer("0", "one")])
    streamed(pairings, "3:0", "0", 3, args='{"x":2}')
    pairings.restated(4, [call("0", args='{"x":2}'), answer("0", "two")])
    assert shown(pairings) == [("0", "answered", 2), ("0", "answered", 4)]


def test_an_id_used_twice_in_one_conversation_pairs_by_order() -> None:
    pairings = Pairings()
    streamed(pairings, "1:0", "0", 1, args='{"x":1}')
    pairings.restated(2, [call("0", args='{"x":1}'), answer("0", "one")])
    streamed(pairings, "3:0", "0", 3, args='{"x":2}')
    both = [call("0", args='{"x":1}'), answer("0", "one"), call("0", args='{"x":2}'), answer("0", "two")]
    pairings.restated(4, both)
    assert shown(pairings) == [("0", "answered", 2), ("0", "answered", 4)]


def test_calls_without_ids_pair_by_name_and_order() -> None:
    pairings = Pairings()
    streamed(pairings, "1:0", None, 1, "get")
    streamed(pairings, "1:1", None, 1, "put")
    pairings.restated(2, [call(None, "get"), call(None, "put"), answer(None, name="get"), answer(None, name="put")])
    assert [(row.name, row.status) for row in pairings.rows] == [("get", "answered"), ("put", "answered")]


def test_a_second_answer_is_a_duplicate_once() -> None:
    pairings = Pairings()
    streamed(pairings, "1:0", "a", 1)
    for seq in (2, 3):
        pairings.restated(seq, [call("a"), answer("a", "one"), answer("a", "two")])
    assert shown(pairings) == [("a", "answered", 2), ("a", "duplicate", 2)]


def test_the_same_tool_end_delivered_twice_is_one_answer() -> None:
    pairings = Pairings()
    streamed(pairings, "1:0", "a", 1)
    assert pairings.answer(2, "t1", answer("a")).new
    assert not pairings.answer(3, "t1", answer("a")).new
    assert pairings.answer(4, "t2", answer("a")).new
    assert shown(pairings) == [("a", "answered", 2), ("a", "duplicate", 4)]


def test_an_answer_without_a_call_is_an_orphan_once() -> None:
    pairings = Pairings()
    for seq in (2, 3):
        pairings.restated(seq, [answer("ghost")])
    assert shown(pairings) == [("ghost", "orphan", 2)]


def test_a_raising_tool_leaves_its_call_failed_until_a_message_comes() -> None:
    pairings = Pairings()
    streamed(pairings, "1:0", "a", 1)
    pairings.failed(2, "a", "f")
    assert shown(pairings) == [("a", "failed", None)]
    pairings.restated(4, [call("a"), answer("a", "Error", status="error")])
    assert shown(pairings) == [("a", "error", 4)]


def test_a_call_whose_message_was_started_over_waits_no_longer() -> None:
    pairings = Pairings()
    pairings.call("1:0", "a", "get", 1, "client", "wire")
    pairings.call_superseded("1:0")
    pairings.answer(2, "t", answer("a"))
    assert shown(pairings) == [("a", "superseded", None), ("a", "orphan", 2)]


def test_a_history_that_lost_its_calls_still_answers_the_latest_ones() -> None:
    pairings = Pairings()
    streamed(pairings, "1:0", "a", 1)
    pairings.restated(2, [answer("a")])
    assert shown(pairings) == [("a", "answered", 2)]


def test_two_answers_to_no_call_in_one_conversation_are_two_however_often_it_comes() -> None:
    pairings = Pairings()
    for seq in (2, 3):
        pairings.restated(seq, [answer("ghost"), answer("ghost")])
    assert shown(pairings) == [("ghost", "orphan", 2), ("ghost", "orphan", 2)]


def test_another_answer_to_no_call_in_another_conversation_is_not_taken_for_the_first() -> None:
    pairings = Pairings()
    pairings.restated(2, [answer("ghost", "one")])
    pairings.restated(3, [answer("ghost", "two")])
    assert shown(pairings) == [("ghost", "orphan", 2), ("ghost", "orphan", 3)]


def test_new_calls_and_answers_keep_the_order_that_the_conversation_has() -> None:
    pairings = Pairings()
    calls, answers = pairings.restated(
        1, [call("a"), call("b"), call("a", "put"), answer("b"), answer("a"), answer("x")]
    )
    assert [(each.id, each.name) for each, _ in calls] == [("a", "get"), ("b", "get"), ("a", "put")]
    assert [each.tool_call_id for each, _ in answers] == ["b", "a", "x"]
    assert shown(pairings) == [("a", "answered", 1), ("b", "answered", 1), ("a", "open", None), ("x", "orphan", 1)]


def test_a_branch_that_repeats_the_first_turn_answers_nothing_else() -> None:
    pairings = Pairings()
    streamed(pairings, "1:0", "0", 1)
    pairings.restated(2, [call("0"), answer("0", "one")])
    streamed(pairings, "3:0", "0", 3)
    pairings.restated(4, [call("0"), answer("0", "one")])
    assert shown(pairings) == [("0", "answered", 2), ("0", "open", None)]


def test_equal_calls_with_equal_answers_are_told_apart_by_their_number() -> None:
    pairings = Pairings()
    streamed(pairings, "1:0", "0", 1)
    pairings.restated(2, [call("0"), answer("0", "ok")])
    streamed(pairings, "3:0", "0", 3)
    pairings.restated(4, [call("0"), answer("0", "ok"), call("0"), answer("0", "ok")])
    assert shown(pairings) == [("0", "answered", 2), ("0", "answered", 4)]


def test_two_conversations_side_by_side_lose_no_answer() -> None:
    pairings = Pairings()
    streamed(pairings, "1:0", "0", 1)
    streamed(pairings, "2:0", "0", 2)
    pairings.restated(3, [call("0"), answer("0", "one")])
    pairings.restated(4, [call("0"), answer("0", "two")])
    assert sorted(shown(pairings), key=str) == [("0", "answered", 3), ("0", "answered", 4)]


def test_a_conversation_known_from_histories_only_grows_at_its_end() -> None:
    pairings = Pairings()
    turns = [entry for content in ("one", "two", "three") for entry in (call("0"), answer("0", content))]
    for seq, length in ((1, 2), (2, 4), (3, 6)):
        pairings.restated(seq, turns[:length])
    assert shown(pairings) == [("0", "answered", 1), ("0", "answered", 2), ("0", "answered", 3)]


def test_a_window_over_a_conversation_finds_its_calls_again() -> None:
    pairings = Pairings()
    turns = [entry for content in ("one", "two", "three") for entry in (call("0"), answer("0", content))]
    pairings.restated(1, turns[:4])
    pairings.restated(2, turns[2:])
    assert shown(pairings) == [("0", "answered", 1), ("0", "answered", 1), ("0", "answered", 2)]


def test_answers_that_were_edited_since_make_no_new_calls() -> None:
    pairings = Pairings()
    pairings.restated(1, [call("0"), answer("0", "one"), call("0"), answer("0", "two")])
    calls, answers = pairings.restated(2, [call("0"), answer("0", "[cleared]"), call("0"), answer("0", "two")])
    assert (calls, answers) == ([], [])


def test_answers_without_id_and_name_are_those_of_the_calls_before_them() -> None:
    pairings = Pairings()
    streamed(pairings, "1:0", None, 1, "get")
    streamed(pairings, "1:1", None, 1, "put")
    pairings.restated(2, [call(None, "get"), call(None, "put"), answer(None, "one"), answer("", "two")])
    assert [(row.name, row.status) for row in pairings.rows] == [("get", "answered"), ("put", "answered")]


def test_hundreds_of_equal_calls_are_aligned() -> None:
    pairings = Pairings()
    turns = [entry for number in range(600) for entry in (call("0"), answer("0", f"{number % 7}"))]
    pairings.restated(1, turns)
    calls, answers = pairings.restated(2, turns[200:])
    assert (calls, answers) == ([], [])


def test_an_id_that_the_client_made_up_is_that_of_the_call_without_one() -> None:
    pairings = Pairings()
    streamed(pairings, "1:0", None, 1, args='{"a":1}')
    streamed(pairings, "1:1", None, 1, args='{"a":1}')
    history = [call("x1", args='{"a": 1}'), call("x2", args='{"a": 1}'), answer("x2", "two"), answer("x1", "one")]
    for seq in (2, 5):
        pairings.restated(seq, history)
    assert [(row.call_ref, row.call_id, row.answer_seq) for row in pairings.rows] == [
        ("1:0", None, 2),
        ("1:1", None, 2),
    ]
    assert pairings.answer(6, "t", answer("x1", "again")).pairing.status == "duplicate"


def test_a_call_whose_id_the_client_leaves_out_is_the_one_that_had_it() -> None:
    pairings = Pairings()
    streamed(pairings, "1:0", "a", 1, args='{"a":1}')
    pairings.restated(2, [call(None, args='{"a":1}'), answer(None, "one", name="get")])
    streamed(pairings, "3:0", "b", 3, args='{"a":1}')
    again = [call(None, args='{"a":1}'), answer(None, "one", name="get")]
    pairings.restated(4, [*again, call(None, args='{"a":1}'), answer(None, "two", name="get")])
    assert shown(pairings) == [("a", "answered", 2), ("b", "answered", 4)]


def test_a_made_up_id_is_not_given_to_a_call_of_another_conversation() -> None:
    pairings = Pairings()
    streamed(pairings, "1:0", None, 1)
    pairings.restated(2, [call("x1"), answer("x1")])
    streamed(pairings, "3:0", None, 3)
    pairings.restated(4, [call("x2"), answer("x2")])
    assert [(row.call_ref, row.answer_seq) for row in pairings.rows] == [("1:0", 2), ("3:0", 4)]


@pytest.mark.parametrize(
    "restated", [call("x", name="put"), call("x", args='{"b":1}')], ids=["another name", "other arguments"]
)
def test_a_call_that_is_otherwise_is_another_one(restated: HistoryCall) -> None:
    pairings = Pairings()
    streamed(pairings, "1:0", None, 1)
    pairings.restated(2, [restated, answer("x")])
    assert shown(pairings) == [(None, "open", None), ("x", "answered", 2)]


def test_a_call_that_never_was_whole_is_not_guessed() -> None:
    pairings = Pairings()
    pairings.call("1:0", None, "get", 1, "client", "wire")
    pairings.restated(2, [call("x"), answer("x")])
    assert shown(pairings) == [(None, "open", None), ("x", "answered", 2)]


def test_an_answer_that_came_before_its_call_was_known_is_one_answer() -> None:
    pairings = Pairings()
    pairings.answer(2, "t", answer("a", status="error"))
    assert shown(pairings) == [("a", "orphan", 2)]
    calls, answers = pairings.restated(5, [call("a"), answer("a", status="error")])
    assert ([each.id for each, _ in calls], answers) == (["a"], [])
    assert [(row.call_ref, row.name, row.call_seq) for row in pairings.rows] == [("5:h0", "get", 5)]
    assert shown(pairings) == [("a", "error", 2)]
    assert pairings.restated(6, [call("a"), answer("a", status="error")]) == ([], [])
    assert not pairings.answer(7, "t", answer("a", status="error")).new


def test_answers_that_came_before_their_calls_go_to_them_by_id_and_order() -> None:
    pairings = Pairings()
    for seq, content in ((2, "one"), (3, "two")):
        pairings.answer(seq, f"t{seq}", answer("0", content))
    pairings.answer(4, "t4", answer("1", "three"))
    turns = [call("0"), answer("0", "one"), call("0"), answer("0", "two"), call("1"), answer("1", "three")]
    calls, answers = pairings.restated(5, turns)
    assert ([pairing.call_ref for _, pairing in calls], answers) == (["5:h0", "5:h1", "5:h2"], [])
    assert shown(pairings) == [("0", "answered", 2), ("0", "answered", 3), ("1", "answered", 4)]


def test_a_call_restated_without_its_answer_takes_the_one_that_came_before_it() -> None:
    pairings = Pairings()
    pairings.answer(2, "t", answer("a"))
    pairings.restated(3, [call("a")])
    assert pairings.restated(4, [call("a"), answer("a")]) == ([], [])
    assert shown(pairings) == [("a", "answered", 2)]


def test_an_answer_without_an_id_waits_for_a_conversation_that_has_it() -> None:
    pairings = Pairings()
    pairings.answer(2, "t", answer(None, name="get"))
    pairings.restated(3, [call(None)])
    assert shown(pairings) == [(None, "orphan", 2), (None, "open", None)]
    pairings.answer(4, "t2", answer(None, "late", name="get"))
    pairings.restated(5, [call(None), answer(None, "late", name="get"), call(None), answer(None, name="get")])
    assert shown(pairings) == [(None, "answered", 2), (None, "answered", 4)]


def test_another_answer_under_the_same_id_is_not_taken_for_the_one_before() -> None:
    pairings = Pairings()
    pairings.answer(2, "t", answer("0", "of another conversation"))
    _, answers = pairings.restated(3, [call("0"), answer("0", "two")])
    assert [each.content for each, _ in answers] == ["two"]
    assert shown(pairings) == [("0", "orphan", 2), ("0", "answered", 3)]


def test_behind_an_erased_event_an_answer_finds_its_restated_call() -> None:
    pairings = Pairings(erased=True)
    pairings.answer(2, "t", answer("a"))
    assert shown(pairings) == [("a", "erased", 2)]
    pairings.restated(3, [call("a"), answer("a")])
    assert shown(pairings) == [("a", "answered", 2)]


# Two layers in one stream


def both(pairings: Pairings, id: str | None, name: str = "get", wire_id: str | None = "", seq: int = 1) -> None:
    """A call as the wire and then as the framework streams it."""
    pairings.call(f"{seq}:0", id if wire_id == "" else wire_id, name, seq, "client", "wire")
    pairings.call(f"{seq + 1}:0", id, name, seq + 1, "client", "framework")


def statuses(pairings: Pairings) -> list[tuple[str | None, str, int | None]]:
    return [(row.call_ref, row.status, row.answer_seq) for row in pairings.rows]


def test_one_answer_answers_the_call_on_both_layers() -> None:
    pairings = Pairings()
    both(pairings, "a")
    first = pairings.answer(9, "t", HistoryAnswer(tool_call_id="a", content="x"))
    assert statuses(pairings) == [("1:0", "answered", 9), ("2:0", "answered", 9)]
    assert pairings.twin_of(first.pairing) is pairings.rows[1]
    # The next request says both again: nothing is new.
    history = [HistoryCall(id="a", name="get", args="{}"), HistoryAnswer(tool_call_id="a", content="x")]
    assert pairings.restated(10, history) == ([], [])
    assert len(pairings.rows) == 2


def test_a_failure_and_the_answer_that_tells_it_reach_both_layers() -> None:
    pairings = Pairings()
    both(pairings, "a")
    pairings.failed(5, "a", "get")
    assert statuses(pairings) == [("1:0", "failed", None), ("2:0", "failed", None)]
    pairings.restated(6, [HistoryAnswer(tool_call_id="a", content="no", status="error")])
    assert statuses(pairings) == [("1:0", "error", 6), ("2:0", "error", 6)]


def test_ids_that_come_again_in_each_turn_pair_turn_by_turn() -> None:
    pairings = Pairings()
    both(pairings, "call_0", seq=1)
    pairings.answer(3, "t", HistoryAnswer(tool_call_id="call_0", content="x"))
    both(pairings, "call_0", seq=4)
    assert [row.status for row in pairings.rows] == ["answered", "answered", "open", "open"]
    pairings.answer(6, "u", HistoryAnswer(tool_call_id="call_0", content="y"))
    assert statuses(pairings)[2:] == [("4:0", "answered", 6), ("5:0", "answered", 6)]


def test_a_wire_without_ids_is_found_by_the_ids_that_the_framework_makes_up() -> None:
    pairings = Pairings()
    both(pairings, "made-up-1", wire_id=None, seq=1)
    both(pairings, "made-up-2", wire_id=None, seq=3)
    pairings.answer(7, "t", HistoryAnswer(tool_call_id="made-up-2", content="x"))
    assert [row.status for row in pairings.rows] == ["open", "open", "answered", "answered"]
    # And by name and order in the next request, which has no ids either.
    history: list[HistoryCall | HistoryAnswer] = [
        HistoryCall(id=None, name="get", args="{}"),
        HistoryCall(id=None, name="get", args="{}"),
        HistoryAnswer(tool_call_id=None, name="get", content="w"),
        HistoryAnswer(tool_call_id=None, name="get", content="x"),
    ]
    calls, answers = pairings.restated(8, history)
    assert (calls, [answered.pairing.call_ref for _, answered in answers]) == ([], ["1:0"])
    assert [row.status for row in pairings.rows] == ["answered"] * 4


def test_calls_of_one_layer_are_never_taken_for_one() -> None:
    pairings = Pairings()
    pairings.call("1:0", "a", "get", 1, "client", "wire")
    pairings.call("2:0", "a", "get", 2, "client", "wire")
    pairings.answer(3, "t", HistoryAnswer(tool_call_id="a", content="x"))
    assert [row.status for row in pairings.rows] == ["answered", "open"]
