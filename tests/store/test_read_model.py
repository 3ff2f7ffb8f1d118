"""Rows that projections write, and what the views of the contract make of them."""

from __future__ import annotations

from typing import Any

import pytest

from recorder.store import Store, StreamHead, reading
from tests.store.made import append, events, select

CONTRACT = {
    "streams": "stream created_at last_seq parent",
    "events": "stream seq dialect layer kind run_id parent_run_id name occurred_at arrived_at recorded_at body text",
    "runs": "stream run_id parent_run_id kind name tags metadata first_seq last_seq status error",
    "tool_call_chunks": "stream seq ordinal layer run_id message_id choice call_ref call_index call_id name args",
    "tool_calls": "stream call_ref layer run_id message_id choice position call_index call_id name args args_state "
    "first_seq last_seq executor",
    "tool_messages": "stream seq tool_call_id name content status artifact message_id additional_kwargs "
    "response_metadata source run_id",
    "pairings": "stream call_ref call_id name status call_seq answer_seq answer_status",
    "messages": "stream layer run_id message_id choice role model first_seq last_seq finish_reason input_tokens "
    "output_tokens text",
    "findings": "stream rule severity seq run_id call_id detail",
}


@pytest.fixture
def head(store: Store) -> StreamHead:
    append(store, "s", events(1, 9))
    return store.head("s")


def write(store: Store, head: StreamHead, **rows: list[dict[str, Any]]) -> None:
    with store.transaction() as transaction:
        transaction.write_rows(head, rows)


@pytest.mark.parametrize("view", CONTRACT)
def test_a_view_has_the_contracts_columns_first(store: Store, view: str) -> None:
    wanted = CONTRACT[view].split()
    assert store.query(f"SELECT * FROM {view}")[0][: len(wanted)] == wanted
    if view in ("messages", "tool_calls", "tool_call_chunks"):
        assert store.query(f"SELECT * FROM {view}_all")[0] == store.query(f"SELECT * FROM {view}")[0]


def test_clocks_are_spelled_as_the_events_room_spells_them(store: Store, head: StreamHead) -> None:
    from recorder.events import clock

    (found,) = store.events(head, 1, 1)
    spelled = select(store, "SELECT arrived_at, recorded_at, occurred_at FROM events WHERE seq = 1")
    assert spelled == [(clock.to_text(found.arrived_at), clock.to_text(found.recorded_at), None)]
    assert spelled[0][0] == "2023-11-14T22:13:20.000001Z"
    assert select(store, "SELECT created_at FROM streams") == [(clock.to_text(head.created_at),)]


def test_a_row_with_a_known_key_changes_only_the_columns_that_it_names(store: Store, head: StreamHead) -> None:
    write(store, head, runs=[{"run_id": "r", "name": "agent", "first_seq": 1}, {"run_id": "q"}])
    write(store, head, runs=[{"run_id": "r", "status": "ok"}, {"run_id": "r", "first_seq": 2, "status": "error"}])
    assert select(store, "SELECT run_id, name, first_seq, status FROM runs ORDER BY run_id") == [
        ("q", None, None, None),
        ("r", "agent", 2, "error"),
    ]


@pytest.mark.parametrize(
    "rows",
    [{"nothing": [{"a": 1}]}, {"runs": [{"run_id": "r", "colour": 1}]}, {"runs": [{"stream_id": 7, "run_id": ""}]}],
)
def test_a_table_or_column_that_there_is_not_is_an_error(store: Store, head: StreamHead, rows: Any) -> None:
    with pytest.raises(ValueError, match=r"no (table|column)"):
        write(store, head, **rows)


def test_any_text_can_be_written_and_found_again(store: Store, head: StreamHead, database: str) -> None:
    nul = r"\u0000" if "://" in database else "\0"  # Postgres has no such character.
    kept = {"": "", "\0": nul, "a\ud800": r"a\ud800", "\U0001f600": "\U0001f600", "'; --": "'; --", "\udfff": r"\udfff"}
    write(store, head, findings=[{"seq": 1, "ordinal": place, "detail": text} for place, text in enumerate(kept)])
    assert select(store, "SELECT detail FROM findings ORDER BY ordinal") == [(text,) for text in kept.values()]
    for text, found in kept.items():
        write(store, head, message_pieces=[{"message_ref": text, "seq": 1, "ordinal": 0, "text": text}])
        assert [row["text"] for row in store.rows(head, "message_pieces", equal={"message_ref": text})] == [found]
        with store.transaction() as transaction:
            transaction.drop_pieces(head, [text])
    assert list(store.rows(head, "message_pieces")) == []


def chunk(seq: int, args: str | None, ordinal: int = 0, ref: str = "c1", **fields: object) -> dict[str, Any]:
    return {"seq": seq, "ordinal": ordinal, "call_ref": ref, "args": args, **fields}


def test_the_arguments_of_an_open_call_are_its_chunks_in_order(store: Store, head: StreamHead) -> None:
    pieces = [(10, 0, "d"), (2, 1, "b"), (2, 0, "a"), (3, 0, None), (9, 0, "c"), (2, 10, "B")]
    write(store, head, tool_calls=[{"call_ref": ref, "args_state": "open"} for ref in ("c1", "c2", "c3")])
    for seq, ordinal, args in pieces:
        write(store, head, tool_call_chunks=[chunk(seq, args, ordinal), chunk(seq, "x", ordinal + 20, "c3")])
    calls = "SELECT call_ref, args FROM tool_calls ORDER BY call_ref"
    assert select(store, calls) == [("c1", "abBcd"), ("c2", ""), ("c3", "xxxxxx")]
    write(store, head, tool_calls=[{"call_ref": "c1", "args": "{}", "args_state": "complete"}])
    assert select(store, calls)[0] == ("c1", "{}")


def test_the_text_of_an_open_message_is_its_pieces_until_it_closes(store: Store, head: StreamHead) -> None:
    message = {"message_ref": "m", "text": None, "closed": 0}
    texts = [(1, 1, "b"), (1, 0, "a"), (12, 0, "d"), (5, 0, "c")]
    pieces = [{"message_ref": "m", "seq": seq, "ordinal": ordinal, "text": text} for seq, ordinal, text in texts]
    write(store, head, messages=[message, {"message_ref": "silent"}], message_pieces=pieces)
    assert select(store, "SELECT text FROM messages ORDER BY message_ref") == [("abcd",), ("",)]
    with store.transaction() as transaction:
        transaction.drop_pieces(head, ["m"])
        transaction.write_rows(head, {"messages": [{**message, "text": "abcd", "closed": 1}]})
        transaction.write_rows(head, {"messages": [{"message_ref": "silent", "closed": 1}]})
    assert select(store, "SELECT text FROM messages ORDER BY message_ref") == [("abcd",), (None,)]
    assert list(store.rows(head, "message_pieces")) == []


def test_what_a_chunk_leaves_out_is_its_calls(store: Store, head: StreamHead) -> None:
    call = {"call_ref": "c1", "layer": "wire", "run_id": "r", "message_ref": "m", "choice": 2}
    write(
        store,
        head,
        messages=[{"message_ref": "m", "message_id": "msg_1"}],
        tool_calls=[call],
        tool_call_chunks=[chunk(1, "a"), chunk(2, "b", run_id="other")],
    )
    assert select(store, "SELECT layer, run_id, message_id, choice FROM tool_call_chunks ORDER BY seq") == [
        ("wire", "r", "msg_1", 2),
        ("wire", "other", "msg_1", 2),
    ]


def test_one_row_a_logical_call_and_all_of_them_on_request(store: Store, head: StreamHead) -> None:
    messages: list[dict[str, Any]] = [
        {"message_ref": "wire", "run_id": "exchange"},
        {"message_ref": "framework", "run_id": "model"},
        {"message_ref": "given-up", "run_id": "model", "superseded": 1},
        {"message_ref": "alone"},
    ]
    refs = [message["message_ref"] for message in messages]
    calls = [
        {"call_ref": m["message_ref"], "message_ref": m["message_ref"], "run_id": m.get("run_id")} for m in messages
    ]
    write(
        store,
        head,
        runs=[{"run_id": "exchange", "serves": "model"}, {"run_id": "model"}],
        messages=messages,
        tool_calls=calls,
        tool_call_chunks=[chunk(place, "x", ref=str(ref)) for place, ref in enumerate(refs, 1)],
    )
    for view, column in (("messages", "message_ref"), ("tool_calls", "call_ref"), ("tool_call_chunks", "call_ref")):
        assert {row[0] for row in select(store, f"SELECT {column} FROM {view}")} == {"framework", "alone"}
        assert {row[0] for row in select(store, f"SELECT {column} FROM {view}_all")} == set(refs)


def test_rows_come_in_the_order_of_their_events_up_to_one_of_them(
    store: Store, head: StreamHead, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "BATCH_ROWS", 3)
    states = [{"message_ref": f"m{seq}", "closed_seq": 20 - seq, "body": b"{}"} for seq in range(1, 12)]
    answers = [{"seq": seq, "ordinal": ordinal, "name": f"{seq}.{ordinal}"} for seq in (9, 2, 4) for ordinal in (1, 0)]
    write(store, head, message_states=states, tool_messages=answers)
    assert [row["name"] for row in store.rows(head, "tool_messages", until=4)] == ["2.0", "2.1", "4.0", "4.1"]
    assert [row["closed_seq"] for row in store.rows(head, "message_states", until=15)] == list(range(9, 16))
    assert [row["message_ref"] for row in store.rows(head, "message_states", equal={"message_ref": "m3"})] == ["m3"]
    assert len(list(store.rows(head, "message_states"))) == 11
    with pytest.raises(ValueError, match="no one event"):
        next(store.rows(head, "pairings", until=1))
    with pytest.raises(ValueError, match="no column"):
        next(store.rows(head, "runs", equal={"colour": 1}))


def test_clearing_takes_one_streams_rows_and_snapshots_only(store: Store, head: StreamHead) -> None:
    append(store, "t", [])
    other = store.head("t")
    for each in (head, other):
        write(store, each, runs=[{"run_id": "r"}], pairings=[{"position": 1}], tool_call_chunks=[chunk(1, "x")])
        with store.transaction() as transaction:
            transaction.save_snapshot(each, 1, "open", 1, b"x")
    with store.transaction() as transaction:
        transaction.clear_read_model(head)
    for view in ("runs", "pairings", "tool_call_chunks"):
        assert select(store, f"SELECT stream FROM {view}") == [("t",)]
    assert store.snapshot(head, 9, "open", 1) is None
    assert store.snapshot(other, 9, "open", 1) == (1, b"x")
    assert store.head("s").last_seq == 9
