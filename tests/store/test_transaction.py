"""Streams made and renamed, marks, and parts that are taken back."""

from __future__ import annotations

from contextlib import suppress

import pytest

from recorder.errors import BadInput, DatabaseUnusable, NameTaken
from recorder.store import Store
from tests.store.made import append, chain_is_whole, event, events, select


def test_a_new_stream_is_empty_and_has_an_identity(store: Store) -> None:
    with store.transaction() as transaction:
        head = transaction.create_stream("s", parent="p", parent_seq=4)
        assert transaction.head("s") == head
    assert store.head("s") == head
    assert (head.last_seq, head.head_hash, len(head.uuid), head.parent, head.parent_seq) == (0, bytes(32), 16, "p", 4)
    assert (head.stale, head.projection) == (None, 0)


def test_a_name_and_a_uuid_are_given_once(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.create_stream("s", uuid=b"u" * 16)
    with pytest.raises(NameTaken), store.transaction() as transaction:
        transaction.create_stream("s")
    with pytest.raises(BadInput, match="'s'"), store.transaction() as transaction:
        transaction.create_stream("t", uuid=b"u" * 16)
    assert [head.name for head in store.streams()] == ["s"]


def test_a_rename_takes_the_children_along_and_no_other_ones_name(store: Store) -> None:
    with store.transaction() as transaction:
        head = transaction.create_stream("s")
        transaction.create_stream("child", parent="s", parent_seq=1)
        with pytest.raises(NameTaken):
            transaction.rename(head, "child")
        transaction.rename(head, "s")
        transaction.rename(head, "t")
        # By identity: the head that was read before the rename still is this stream's.
        transaction.append(head, events(1, 1))
    assert [(found.name, found.parent) for found in store.streams()] == [("t", None), ("child", "t")]
    assert store.head("t").last_seq == 1


def test_marks_say_how_the_read_model_stands(store: Store) -> None:
    append(store, "s", events(1, 2))
    head = store.head("s")
    with store.transaction() as transaction:
        transaction.mark(head, stale="ValueError: \ud800", projection=3)
    assert (store.head("s").stale, store.head("s").projection) == (r"ValueError: \ud800", 3)
    with store.transaction() as transaction:
        transaction.mark(head, stale=None, projection=4)
    assert (store.head("s").stale, store.head("s").projection) == (None, 4)
    assert chain_is_whole(store, "s")


def test_a_nested_part_that_fails_is_taken_back_alone(store: Store) -> None:
    with store.transaction() as transaction:
        head = transaction.create_stream("s")
        transaction.append(head, events(1, 2))
        with suppress(RuntimeError), transaction.nested():
            transaction.append(head, [event(3, kind="rare", run_id="rare")])
            transaction.write_rows(head, {"findings": [{"seq": 1, "ordinal": 0, "rule": "gone"}]})
            raise RuntimeError
        with transaction.nested():
            transaction.write_rows(head, {"findings": [{"seq": 2, "ordinal": 0, "rule": "kept"}]})
        transaction.append(head, [event(3, kind="rare", run_id="rare")], 2)
    assert select(store, "SELECT seq, kind, run_id FROM events WHERE seq > 2") == [(3, "rare", "rare")]
    assert select(store, "SELECT rule FROM findings") == [("kept",)]
    assert chain_is_whole(store, "s")


def test_a_nested_part_survives_a_statement_that_the_database_refuses(store: Store) -> None:
    append(store, "s", events(1, 1))
    with store.transaction() as transaction:
        head = store.head("s")
        transaction.append(head, events(2, 2))
        with pytest.raises(OverflowError), transaction.nested():
            transaction.write_rows(head, {"pairings": [{"position": 1}, {"position": 1 << 64}]})
    assert store.head("s").last_seq == 2
    assert select(store, "SELECT * FROM pairings") == []


def test_an_error_that_is_overlooked_is_never_a_success(store: Store) -> None:
    """SQLite takes back the statement, Postgres the whole transaction: then the commit must say so."""
    append(store, "s", events(1, 1))
    told = None
    try:
        with store.transaction() as transaction:
            transaction.append(store.head("s"), events(2, 2))
            with suppress(DatabaseUnusable):
                transaction.write_rows(store.head("s"), {"findings": [{"seq": None, "ordinal": 0}]})
    except DatabaseUnusable as error:
        told = str(error)
    assert told is None or told.endswith("took the transaction back after an error: nothing of it was stored")
    assert store.head("s").last_seq == (2 if told is None else 1)
    assert append(store, "s", events(2, 2)).status == ("known" if told is None else "stored")
