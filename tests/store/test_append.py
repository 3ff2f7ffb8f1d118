"""What an append answers, and what is in the log afterwards."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from msgspec import structs

from recorder.errors import BadInput, Conflict, IdentityClash, UnknownStream
from recorder.events import NewEvent, clock
from recorder.store import Store
from tests.store.made import append, behind, bodies, chain_is_whole, erase, event, events, select


def test_stored_events_come_back_as_they_went_in(store: Store) -> None:
    given_event = event(
        1,
        b"\x00{}\n",
        parent_run_id="run-0",
        name="agent",
        source_id="7",
        occurred_at=1_699_999_999_000_001,
        frame=b"id: 7\ndata: \x00{}\n\n",
        cuts=b"[[3, 5]]",
        meta=b'{"url": "/v1"}',
        redacted="authorization",
    )
    before = clock.now()
    receipt = append(store, "weather", [given_event, event(2)])
    assert (receipt.status, receipt.first_seq, receipt.last_seq) == ("stored", 1, 2)
    found = list(store.events(store.head("weather")))
    assert found == receipt.events
    for field in given_event.__struct_fields__:
        assert getattr(found[0], field) == getattr(given_event, field)
    assert [each.seq for each in found] == [1, 2]
    assert before <= found[0].recorded_at <= clock.now()
    assert chain_is_whole(store, "weather")


def test_events_with_and_without_rare_fields_keep_their_order(store: Store) -> None:
    append(store, "s", [event(1), event(2, source_id="2"), event(3), event(4, meta=b"{}"), event(5)])
    assert [found.source_id for found in store.events(store.head("s"))] == [None, "2", None, None, None]
    assert chain_is_whole(store, "s")


MATRIX: dict[str, tuple[list[NewEvent], dict[int | None, str]]] = {
    # Of a stream with events 1 to 3: what is appended, and the answer by what was expected.
    "none": ([], {None: "known 4-3", 3: "known 4-3", 0: "known 4-3", 7: "known 4-3"}),
    "new": (events(4, 5), {None: "stored 4-5", 3: "stored 4-5", 0: "conflict", 2: "conflict", 4: "conflict"}),
    "all known": (events(1, 3), {None: "known 1-3", 3: "known 1-3", 0: "known 1-3", 7: "known 1-3"}),
    "some known": (events(2, 3), {None: "known 2-3", 3: "known 2-3", 0: "known 2-3", 1: "known 2-3"}),
    "partly known": (events(2, 5), {None: "stored 2-5", 1: "stored 2-5", 0: "conflict", 3: "conflict"}),
    "known behind new": ([*events(4, 4), *events(3, 3)], {None: "conflict", 3: "conflict", 0: "conflict"}),
    "known in another order": ([*events(2, 2), *events(1, 1)], {None: "conflict", 0: "conflict"}),
    "known with a gap": ([*events(1, 1), *events(3, 3)], {None: "conflict", 0: "conflict"}),
    "another body": ([event(2, b"other")], {None: "clash at 2", 1: "clash at 2", 0: "clash at 2"}),
    "another body among others": (
        [*events(1, 2), event(3, b"other"), *events(4, 4)],
        {None: "clash at 3", 0: "clash at 3"},
    ),
    "one id twice": ([*events(4, 4), *events(4, 4)], {None: "bad input", 3: "bad input"}),
}


@pytest.mark.parametrize("name", MATRIX)
def test_an_append_is_answered_by_what_is_there_and_what_was_expected(store: Store, name: str) -> None:
    given, answers = MATRIX[name]
    for number, (expected, answer) in enumerate(answers.items()):
        stream = f"s{number}"
        append(store, stream, events(1, 3))
        try:
            receipt = append(store, stream, given, expected)
            found = f"{receipt.status} {receipt.first_seq}-{receipt.last_seq}"
        except Conflict:
            found = "conflict"
        except IdentityClash as clash:
            found = f"clash at {clash.seq}"
        except BadInput:
            found = "bad input"
        assert found == answer, expected
        new = [each.body for each in given if each not in events(1, 3)] if found.startswith("stored") else []
        assert bodies(store, stream) == [each.body for each in events(1, 3)] + new
        assert chain_is_whole(store, stream)


def test_an_append_to_an_empty_stream_may_expect_it(store: Store) -> None:
    for number, expected in enumerate((None, 0)):
        append(store, f"s{number}", [])
        assert append(store, f"s{number}", events(1, 2), expected).last_seq == 2
    append(store, "t", [])
    with pytest.raises(Conflict) as caught:
        append(store, "t", events(1, 2), 1)
    assert (caught.value.expected, caught.value.actual) == (1, 0)


def test_a_retry_gets_the_first_receipt_whatever_it_expects(store: Store) -> None:
    append(store, "s", events(1, 3))
    append(store, "s", events(4, 9))
    for expected in (None, 0, 3, 9, 77):
        receipt = append(store, "s", events(4, 6), expected)
        assert (receipt.status, receipt.first_seq, receipt.last_seq, receipt.events) == ("known", 4, 6, [])
    assert store.head("s").last_seq == 9


@pytest.mark.parametrize("expected", [None, 2])
def test_the_new_rest_of_a_partly_known_batch_is_stored(store: Store, expected: int | None) -> None:
    append(store, "s", events(1, 2))
    append(store, "s", events(3, 4))
    receipt = append(store, "s", events(3, 6), expected)
    assert (receipt.status, receipt.first_seq, receipt.last_seq) == ("stored", 3, 6)
    assert [each.seq for each in receipt.events] == [5, 6]
    assert bodies(store, "s") == [each.body for each in events(1, 6)]
    assert chain_is_whole(store, "s")


def test_the_rest_is_a_conflict_where_somebody_else_appended_meanwhile(store: Store) -> None:
    append(store, "s", events(1, 2))
    append(store, "s", events(8, 8))
    with pytest.raises(Conflict) as caught:
        append(store, "s", events(1, 4), 0)
    assert (caught.value.expected, caught.value.actual) == (2, 3)
    assert append(store, "s", events(1, 4)).last_seq == 5


def test_a_wrong_expectation_is_a_conflict_that_says_where_the_stream_is(store: Store) -> None:
    append(store, "s", events(1, 3))
    for expected in (0, 2, 4):
        with pytest.raises(Conflict) as caught:
            append(store, "s", events(4, 5), expected)
        assert caught.value.actual == 3
    assert store.head("s").last_seq == 3


@pytest.mark.parametrize("order", [[3, 1, 2], [2, 1], [1, 9, 2], [9, 1], [1, 3]])
def test_known_events_in_another_order_are_a_conflict(store: Store, order: list[int]) -> None:
    append(store, "s", events(1, 3))
    with pytest.raises(Conflict):
        append(store, "s", [event(number, b'{"n": %d}' % number) for number in order])
    assert store.head("s").last_seq == 3


@pytest.mark.parametrize("expected", [None, 0, 3, 8])
def test_the_same_id_with_another_body_stores_nothing(store: Store, expected: int | None) -> None:
    append(store, "s", events(1, 3))
    with pytest.raises(IdentityClash) as caught:
        append(store, "s", [*events(1, 1), event(2, b"other"), event(4)], expected)
    assert caught.value.seq == 2
    assert bodies(store, "s") == [each.body for each in events(1, 3)]


@pytest.mark.parametrize("changed", [{"frame": b"x"}, {"meta": b"{}"}])
def test_frame_and_meta_belong_to_the_body(store: Store, changed: dict[str, bytes]) -> None:
    append(store, "s", [event(1)])
    with pytest.raises(IdentityClash):
        append(store, "s", [event(1, **changed)])


def test_other_network_cuts_make_no_other_event(store: Store) -> None:
    append(store, "s", [event(1, cuts=b"[[1, 1]]")])
    assert append(store, "s", [event(1, cuts=b"[[2, 2]]")]).status == "known"


def test_one_id_twice_in_a_batch_is_refused(store: Store) -> None:
    with pytest.raises(BadInput):
        append(store, "s", [event(1), event(2), event(1)])
    assert store.streams() == []


def test_the_same_id_in_two_streams_is_two_events(store: Store) -> None:
    append(store, "a", events(1, 2))
    assert append(store, "b", events(1, 2)).status == "stored"


def test_an_empty_append_is_fine(store: Store) -> None:
    assert (append(store, "s", []).first_seq, append(store, "s", [], 5).last_seq) == (1, 0)
    append(store, "s", events(1, 2))
    receipt = append(store, "s", [])
    assert (receipt.status, receipt.first_seq, receipt.last_seq) == ("known", 3, 2)


def test_several_appends_in_one_transaction_go_on_from_each_other(store: Store) -> None:
    with store.transaction() as transaction:
        head = transaction.create_stream("s")
        transaction.append(head, events(1, 2), 0)
        assert transaction.append(head, events(3, 4), 2).last_seq == 4
        assert [each.seq for each in transaction.events(transaction.head("s") or head)] == [1, 2, 3, 4]
    assert chain_is_whole(store, "s")


def test_nothing_of_a_failed_transaction_is_stored(store: Store) -> None:
    append(store, "s", events(1, 1))
    with suppress(RuntimeError), store.transaction() as transaction:
        transaction.append(store.head("s"), [event(2, kind="new-kind", run_id="new-run")])
        raise RuntimeError
    assert store.head("s").last_seq == 1
    append(store, "s", [event(2, kind="new-kind", run_id="new-run")])
    assert [(each.kind, each.run_id) for each in store.events(store.head("s"), 2)] == [("new-kind", "new-run")]


def test_appending_to_a_stream_of_another_database_is_refused(store: Store) -> None:
    append(store, "s", [])
    strange = structs.replace(store.head("s"), stream_id=99)
    with pytest.raises(UnknownStream), store.transaction() as transaction:
        transaction.append(strange, events(1, 1))


def test_a_body_that_is_no_text_becomes_binary(store: Store) -> None:
    bad = [b"\xff", b"\xed\xa0\x80", b"\xc3", b"caf\xe9"]
    append(store, "s", [event(number, body) for number, body in enumerate([*bad, "café".encode(), b""], 1)])
    found = list(store.events(store.head("s")))
    assert [each.encoding for each in found] == ["binary"] * 4 + ["utf-8"] * 2
    assert [each.body for each in found][:4] == bad
    assert select(store, "SELECT text FROM events ORDER BY seq") == [(None,)] * 4 + [("café",), ("",)]
    assert chain_is_whole(store, "s")
    assert append(store, "s", [event(number, body) for number, body in enumerate(bad, 1)]).status == "known"


def test_lone_surrogates_in_the_envelope_are_stored_as_their_escapes(store: Store) -> None:
    texts: dict[str, Any] = {
        "kind": "k\ud800",
        "run_id": "r\udfff",
        "name": "n\ud83d",
        "source_id": "\ud800",
        "redacted": "\ud800",
    }
    given_event = event(1, **texts)
    append(store, "s\ud800", [given_event])
    assert store.head("s\ud800").name == r"s\ud800"
    (found,) = store.events(store.head("s\ud800"))
    assert (found.kind, found.run_id, found.name, found.source_id) == (r"k\ud800", r"r\udfff", r"n\ud83d", r"\ud800")
    assert chain_is_whole(store, r"s\ud800")
    assert append(store, "s\ud800", [given_event]).status == "known"


@pytest.mark.parametrize("moment", [-1, 1 << 62, 1 << 70, -(1 << 64)])
def test_a_source_time_that_no_calendar_has_is_no_time(store: Store, moment: int) -> None:
    append(store, "s", [event(1, occurred_at=moment)])
    assert select(store, "SELECT occurred_at FROM events") == [(None,)]
    assert chain_is_whole(store, "s")


def test_a_retry_of_an_erased_event_is_known_and_said_to_be_erased(store: Store) -> None:
    append(store, "s", events(1, 3))
    erase(store, "s", 2, 2)
    receipt = append(store, "s", events(1, 4))
    assert (receipt.first_seq, receipt.last_seq, receipt.erased) == (1, 4, 1)
    assert chain_is_whole(store, "s")
    assert select(store, "SELECT text, erased FROM events WHERE seq = 2") == [(None, 1)]


def test_types_and_origins_are_stored_once(store: Store, database: str) -> None:
    for start in range(1, 40, 3):
        append(store, "s", [event(start), event(start + 1, run_id=None), event(start + 2, run_id="", name=None)])
    with behind(database) as other:
        assert other.run("SELECT count(*) FROM log_event_types") == [(1,)]
        assert other.run("SELECT run_id FROM log_origins ORDER BY origin_id") == [("run-1",), ("",)]
    assert [each.run_id for each in store.events(store.head("s"), 1, 3)] == ["run-1", None, ""]
