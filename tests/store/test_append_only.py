"""The database itself keeps what is recorded: every way around it is tried with another tool than the store.

What SQL both kinds of database have is tried here, what one of them has besides in its own file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

import psycopg
import pytest

from recorder.errors import DatabaseUnusable
from recorder.store import Store, tables
from tests.store.made import Behind, append, behind, bodies, chain_is_whole, erase, event

_ALL = list(tables.events.c.keys())
_BLANK = "body = {empty}, frame = NULL, cuts = NULL, meta = NULL, salt = NULL, erased = 1"
_OTHER = {"BigInteger": "77", "LargeBinary": "{byte}", "Text": "'other'"}


def _row(**changed: str) -> str:
    """Selects event 1 of stream 1 with other values in some columns."""
    values = ", ".join(changed.get(column, column) for column in _ALL)
    return f"SELECT {values} FROM log_events WHERE stream_id = 1 AND seq = 1"


def copied(into: str = "log_events", **changed: str) -> str:
    """Inserts that."""
    return f"INSERT INTO {into} ({', '.join(_ALL)}) {_row(**changed)}"


BYPASSES = {
    **{
        f"update {name}": f"UPDATE log_events SET {name} = {_OTHER[type(column.type).__name__]}"
        " WHERE stream_id = 1 AND seq = 3"
        for name, column in tables.events.c.items()
    },
    "swap": "UPDATE log_events SET seq = 5 - seq WHERE stream_id = 1 AND seq IN (2, 3)",
    "update what is the same": "UPDATE log_events SET body = body WHERE stream_id = 1 AND seq = 3",
    "delete the last": "DELETE FROM log_events WHERE stream_id = 1 AND seq = 3",
    "delete all": "DELETE FROM log_events",
    "insert in the middle": copied(seq="2", event_id="{byte}"),
    "insert a second first": copied(event_id="{byte}"),
    "insert before the first": copied(seq="0", event_id="{byte}"),
    "insert behind a gap": copied(seq="5", event_id="{byte}"),
    "insert without a number": copied(seq="NULL", event_id="{byte}"),
    "insert a known id": copied(seq="4"),
    "insert two at a time, of which one is wrong": copied(seq="4", event_id="{byte}")
    + " UNION ALL "
    + _row(seq="6", event_id="{empty}"),
    "insert or update": copied(seq="1") + " ON CONFLICT (stream_id, seq) DO UPDATE SET body = {byte}",
    "blank without a record": f"UPDATE log_events SET {_BLANK} WHERE stream_id = 1 AND seq = 2",
    "blank what a record does not name": f"UPDATE log_events SET {_BLANK} WHERE stream_id = 1",
    "blank again": f"UPDATE log_events SET {_BLANK} WHERE stream_id = 2 AND seq = 1",
    "take a blank back": "UPDATE log_events SET erased = 0 WHERE stream_id = 2 AND seq = 1",
    "blank and keep the body": "UPDATE log_events SET frame = NULL, cuts = NULL, meta = NULL, salt = NULL, erased = 1 "
    "WHERE stream_id = 2 AND seq = 2",
    "blank the salt only": "UPDATE log_events SET salt = NULL, erased = 1 WHERE stream_id = 2 AND seq = 2",
    "blank without the mark": f"UPDATE log_events SET {_BLANK.removesuffix(', erased = 1')} WHERE stream_id = 2",
    "blank the hash too": f"UPDATE log_events SET {_BLANK}, hash = {{empty}} WHERE stream_id = 2 AND seq = 2",
    "blank the name too": f"UPDATE log_events SET {_BLANK}, origin_id = NULL WHERE stream_id = 2 AND seq = 2",
    "type update": "UPDATE log_event_types SET kind = 'other'",
    "type delete": "DELETE FROM log_event_types",
    "origin update": "UPDATE log_origins SET run_id = 'other'",
    "origin delete": "DELETE FROM log_origins",
    "stream delete": "DELETE FROM log_streams",
    "empty stream delete": "DELETE FROM log_streams WHERE last_seq = 0",
    "stream uuid": "UPDATE log_streams SET uuid = {uuid} WHERE stream_id = 1",
    "stream time": "UPDATE log_streams SET created_at = 0",
    "stream key": "UPDATE log_streams SET stream_id = 9 WHERE stream_id = 1",
    "stream goes back": "UPDATE log_streams SET last_seq = 2 WHERE stream_id = 1",
    "stream goes back with its hash": "UPDATE log_streams SET last_seq = 2, head_hash = (SELECT hash FROM log_events "
    "WHERE stream_id = 1 AND seq = 2) WHERE stream_id = 1",
    "stream runs ahead": "UPDATE log_streams SET last_seq = 4 WHERE stream_id = 1",
    "stream forgets": "UPDATE log_streams SET head_hash = {zeros} WHERE stream_id = 1",
    "stream begins anew": "UPDATE log_streams SET last_seq = 0, head_hash = {zeros} WHERE stream_id = 1",
    "stream takes a name": "UPDATE log_streams SET name = 'other' WHERE stream_id = 1",
    "stream that begins late": "INSERT INTO log_streams SELECT 9, {uuid}, 'x', 0, 5, {zeros}, NULL, NULL, NULL, 0",
    "stream that begins with a hash": "INSERT INTO log_streams SELECT 9, {uuid}, 'x', 0, 0, {byte}, NULL, 0, NULL, 0",
    "stream in another's place": "INSERT INTO log_streams SELECT 1, {uuid}, 'x', 0, 0, {zeros}, NULL, NULL, NULL, 0",
    "append update": "UPDATE log_appends SET position = position + 1",
    "append delete": "DELETE FROM log_appends",
    "append noted twice": "INSERT INTO log_appends SELECT 1, 0, max(position) + 1, 1, 3 FROM log_appends",
    "append that was none": "INSERT INTO log_appends SELECT 1, 0, max(position) + 1, 4, 4 FROM log_appends",
    "append of nothing": "INSERT INTO log_appends SELECT 1, 0, max(position) + 1, 4, 3 FROM log_appends",
    "append to no stream": "INSERT INTO log_appends SELECT 9, 0, max(position) + 1, 1, 1 FROM log_appends",
    "erasure update": "UPDATE log_erasures SET reason = 'other'",
    "erasure delete": "DELETE FROM log_erasures",
    "erasure behind a gap": "INSERT INTO log_erasures SELECT 2, 3, 1, 1, '', 0, {zeros}",
    "erasure of what there is not": "INSERT INTO log_erasures SELECT 2, 2, 1, 9, '', 0, {zeros}",
}


def outcomes(other: Behind, statements: Mapping[str, str]) -> dict[str, str]:
    """What became of each statement, of which none may change anything."""
    before = other.content()
    found = {}
    for name, statement in statements.items():
        try:
            other.run(other.spelled(statement))
            found[name] = "went through"
        except (sqlite3.IntegrityError, psycopg.IntegrityError):
            found[name] = "refused"
        if other.content() != before:
            found[name] = f"{found[name]}, and changed something"
            before = other.content()
    return found


@pytest.fixture
def filled(store: Store) -> Store:
    return fill(store)


def fill(store: Store) -> Store:
    """Stream 1 with three events, stream 2 with two of which the first is erased, and stream 3 with none."""
    append(store, "s", [event(1, frame=b"f"), event(2), event(3)])
    append(store, "other", [event(1), event(2)])
    erase(store, "other", 1, 1)
    append(store, "empty", [])
    return store


def test_a_bypass_is_refused_and_changes_nothing(filled: Store, database: str) -> None:
    with behind(database) as other:
        assert outcomes(other, BYPASSES) == dict.fromkeys(BYPASSES, "refused")
    assert bodies(filled, "s") == [event(1).body] * 3
    assert chain_is_whole(filled, "s")
    assert append(filled, "s", [event(4)]).last_seq == 4


def test_an_erasure_blanks_what_the_body_hash_covers(filled: Store) -> None:
    assert [(found.body, found.erased) for found in filled.events(filled.head("other"))] == [
        (b"", True),
        (event(2).body, False),
    ]
    assert chain_is_whole(filled, "other")


def test_a_rename_leaves_the_chain_whole(filled: Store) -> None:
    before = filled.head("s")
    with filled.transaction() as transaction:
        transaction.rename(before, "renamed")
    after = filled.head("renamed")
    assert (after.uuid, after.head_hash) == (before.uuid, before.head_hash)
    assert chain_is_whole(filled, "renamed")


def test_a_body_changed_with_the_triggers_gone_breaks_the_chain(filled: Store, database: str) -> None:
    with behind(database) as other:
        other.unguard("log_events")
        other.run(other.spelled("UPDATE log_events SET body = {byte} WHERE stream_id = 1 AND seq = 2"))
    assert not chain_is_whole(filled, "s")
    assert chain_is_whole(filled, "other")


def test_an_event_behind_the_head_of_its_stream_is_said_to_be_there(filled: Store, database: str) -> None:
    """Whoever may append may also append without the store; the next append is then not the next any more."""
    with behind(database) as other:
        other.run(other.spelled(copied(seq="4", event_id="{byte}")))
    with pytest.raises(DatabaseUnusable, match=r"refused: events are append-only|run rec verify"):
        append(filled, "s", [event(4)])
    assert filled.head("s").last_seq == 3
