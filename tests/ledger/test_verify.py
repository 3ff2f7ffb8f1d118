"""Proof: whatever somebody changes behind the program's back is found, at the right event, and nothing else is.

What is done to a log is in `tests/ledger/tampering.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from recorder.capture import capture_file
from recorder.capture.exports import capture_export
from recorder.events import Event
from recorder.ledger import Ledger, erasure, projector, seal, transfer
from recorder.ledger.verify import Verdict, strays, verify, verify_all
from recorder.replay.export import export
from recorder.store import Store, StreamHead, open_store, tables
from recorder.store.reading import Reads
from tests.capture.made import chunk
from tests.ledger import tampering
from tests.ledger.logs import is_whole, snapshots_at_every_append
from tests.store.made import append, behind, erase, event
from tests.streams import CASSETTES

READ_MODEL = list(tables.READ_MODEL)


def verdicts(store: Store, *, projections: bool = False) -> dict[str, tuple[int | None, str | None]]:
    """What is wrong with each stream, and where first."""
    return {
        found.stream: (found.seq, found.problem)
        for found in verify_all(store, store.streams(), projections=projections)
    }


# What is found


def test_whatever_is_changed_is_found_at_the_first_bad_event(store: Store, database: str) -> None:
    for name, each in tampering.FOUND.items():
        tampering.fill(store, name, erased=each.erased)
    tampering.fill(store, "untouched")
    tampering.fill(store, "erased", erased=True)
    assert set(verdicts(store).values()) == {(None, None)}
    with behind(database) as other:
        for table in tampering.TABLES:
            other.unguard(table)
        for name, each in tampering.FOUND.items():
            does = each.does if callable(each.does) else [part.replace("{n}", name) for part in _statements(each.does)]
            tampering.apply(other, store, name, does if callable(does) else tuple(does))
    found = verdicts(store)
    assert {name: why for name, why in found.items() if why == (None, None)} == {
        "untouched": (None, None),
        "erased": (None, None),
    }
    for name, each in tampering.FOUND.items():
        seq, problem = found[name]
        assert problem is not None, name
        assert (seq, each.says in problem) == (each.seq, True), (name, problem)


def _statements(does: str | tuple[str, ...]) -> tuple[str, ...]:
    return (does,) if isinstance(does, str) else does


def test_what_leaves_a_whole_chain_is_found_by_a_seal_only(store: Store, database: str) -> None:
    for name, each in tampering.SEALED.items():
        tampering.fill(store, name, erased=each.erased)
    tampering.fill(store, "untouched")
    sealed = seal.read(seal.write(seal.make(store)).encode())
    assert seal.broken(store, sealed) == []
    with behind(database) as other:
        for table in tampering.TABLES:
            other.unguard(table)
        for name, each in tampering.SEALED.items():
            tampering.apply(other, store, name, each.does)
    assert set(verdicts(store).values()) == {(None, None)}
    assert strays(store) == []
    broken = {found.stream: (found.seq, found.problem) for found in seal.broken(store, sealed)}
    assert broken.keys() == tampering.SEALED.keys()
    for name, each in tampering.SEALED.items():
        assert broken[name][0] == each.seq, name
        assert each.says in broken[name][1], name


def test_the_events_of_a_stream_that_is_gone_are_found(store: Store, database: str) -> None:
    for name in ("a", "b", "c"):
        tampering.fill(store, name)
    keys = {name: store.head(name).stream_id for name in ("a", "b", "c")}
    with behind(database) as other:
        for table in tampering.TABLES:
            other.unguard(table)
        other.run("DELETE FROM log_streams WHERE name = 'a'")
        assert strays(store) == [f"there are events or appends of a stream that is gone, with the key {keys['a']}"]
        other.run("DELETE FROM log_streams WHERE name = 'c'")
        other.run("DELETE FROM log_events WHERE stream_id = ?", keys["c"])
        assert [text.rpartition(" ")[2] for text in strays(store)] == [str(keys["a"]), str(keys["c"])]
    assert verdicts(store) == {"b": (None, None)}


def test_a_stream_that_goes_while_it_is_verified_is_said_to_be_gone(store: Store, database: str) -> None:
    tampering.fill(store, "a")
    head = store.head("a")
    with behind(database) as other:
        other.unguard("log_streams")
        other.run("DELETE FROM log_streams")
    assert verify(store, head).problem == "the stream is gone"


def test_a_count_says_how_far_the_stream_was_whole(store: Store, database: str) -> None:
    tampering.fill(store, "a", erased=True)
    assert verify(store, store.head("a")) == Verdict(stream="a", events=6, erased=2)
    with behind(database) as other:
        other.unguard("log_events")
        other.run(other.spelled("UPDATE log_events SET body = {byte} WHERE seq = 5"))
    found = verify(store, store.head("a"))
    assert (found.events, found.erased, found.seq, found.whole) == (4, 2, 5, False)


NO_TEXT = {
    "a run": (1, "UPDATE log_origins SET run_id = {} WHERE stream_id = {s}"),
    "a source's id": (3, "UPDATE log_events SET source_id = {} WHERE stream_id = {s} AND seq = 3"),
    "a type": (1, "UPDATE log_event_types SET kind = {} WHERE kind = 'kind of a type'"),
    "an erasure": (None, "UPDATE log_erasures SET reason = {} WHERE stream_id = {s}"),
}


def test_a_text_that_cannot_be_read_is_named_and_hides_nothing_else(tmp_path: Path) -> None:
    """SQLite takes any bytes for a text; who reads it cannot."""
    with open_store(tmp_path / "x.db") as store:
        for name in NO_TEXT:
            tampering.fill(store, name, erased=True)
        tampering.fill(store, "untouched")
        sealed = seal.make(store)
        with behind(tmp_path / "x.db") as other:
            for table in tampering.TABLES:
                other.unguard(table)
            for name, (_, does) in NO_TEXT.items():
                other.run(does.format("CAST(x'ff' AS TEXT)", s=store.head(name).stream_id))
        found = verdicts(store)
        for name, (seq, _) in NO_TEXT.items():
            assert found[name][0] == seq, name
            assert "holds a text that is none" in str(found[name][1]), name
        assert found["untouched"] == (None, None)
        assert {each.stream for each in seal.broken(store, sealed)} == {"a run", "a type", "an erasure"}


# The read model


@pytest.fixture
def agent(store: Store) -> Ledger:
    """A run of an agent that has rows in every table of the read model, and an answer that is still open."""
    ledger = Ledger(store)
    capture_file(ledger, CASSETTES / "agent.jsonl", name="agent")
    capture_file(ledger, CASSETTES / "thinking.sse", name="whole")
    ledger.writer("open").append(list(ledger.events("whole", 1, 20)))
    capture_file(ledger, CASSETTES / "mistakes.jsonl", name="mistakes")
    return ledger


def test_the_streams_of_these_tests_have_rows_in_every_table(agent: Ledger) -> None:
    for name in READ_MODEL:
        assert any(any(True for _ in agent.store.rows(head, name)) for head in agent.streams()), name
    assert is_whole(agent.store)


@pytest.mark.parametrize("how", ["removed", "changed", "added"])
def test_a_row_of_the_read_model_is_compared(agent: Ledger, database: str, how: str) -> None:
    store = agent.store
    with behind(database) as other:

        def tampered() -> Iterator[StreamHead]:
            """One stream for each table, just as a row of it is another, and then all is well again."""
            for name in READ_MODEL:
                head = next(head for head in reversed(agent.streams()) if any(True for _ in store.rows(head, name)))
                before = list(other.run(f"SELECT * FROM rm_{name} WHERE stream_id = ?", head.stream_id))
                _tamper(other, name, head.stream_id, how)
                yield head
                other.run(f"DELETE FROM rm_{name} WHERE stream_id = ?", head.stream_id)
                for row in before:
                    listed = ", ".join(f'"{column}"' for column in _columns(other, name))
                    other.run(f"INSERT INTO rm_{name} ({listed}) VALUES ({', '.join('?' * len(row))})", *row)

        found = verify_all(store, tampered(), projections=True)
        for name, verdict in zip(READ_MODEL, found, strict=True):
            assert verdict.problem is not None, name
            assert f"than its events give, in rm_{name} (" in verdict.problem
    assert is_whole(store)


def _columns(other: Any, name: str) -> list[str]:
    cursor = other.driver.execute(f"SELECT * FROM rm_{name} LIMIT 0")
    return [column[0] for column in cursor.description]


def _tamper(other: Any, name: str, key: int, how: str) -> None:
    """Removes, changes or adds a row of one stream: the one with the greatest key."""
    table = tables.READ_MODEL[name]
    keys = [column.name for column in table.primary_key.columns if column.name != "stream_id"]
    order = ", ".join(f"{column} DESC" for column in keys)
    (last,) = other.run(f"SELECT {', '.join(keys)} FROM rm_{name} WHERE stream_id = ? ORDER BY {order} LIMIT 1", key)
    here = " AND ".join(f"{column} = ?" for column in keys)
    if how == "removed":
        other.run(f"DELETE FROM rm_{name} WHERE stream_id = ? AND {here}", key, *last)
    elif how == "changed":
        value = next(column for column in reversed(table.c.keys()) if column not in ("stream_id", *keys))
        kind = type(table.c[value].type).__name__
        new: object = {"Text": "tampered", "BigInteger": 77, "LargeBinary": b'{"tampered": 1}'}[kind]
        other.run(f"UPDATE rm_{name} SET {value} = ? WHERE stream_id = ? AND {here}", new, key, *last)
    else:
        names = [column for column in _columns(other, name) if column not in keys]
        others = ", ".join(f'"{column}"' for column in names)
        given = [f"{part}~" if isinstance(part, str) else part + 1 for part in last]
        other.run(
            f"INSERT INTO rm_{name} ({', '.join(keys)}, {others}) SELECT {', '.join('?' * len(keys))}, {others}"
            f" FROM rm_{name} WHERE stream_id = ? AND {here}",
            *given,
            key,
            *last,
        )


@pytest.mark.parametrize("reading", ["open", "pairings"])
def test_a_snapshot_is_compared_for_states_are_made_of_it(
    agent: Ledger, database: str, monkeypatch: pytest.MonkeyPatch, reading: str
) -> None:
    snapshots_at_every_append(monkeypatch)
    agent.rebuild("agent")
    agent.rebuild("open")
    store, head = agent.store, agent.head("open")
    assert is_whole(store)
    found = store.snapshot(head, 20, reading)
    assert found is not None
    with behind(database) as other:
        assert b"get_weather" in found[1]
        tampered = found[1].replace(b"get_weather", b"pay_weather")
        other.run(
            "UPDATE log_snapshots SET body = ? WHERE stream_id = ? AND reading = ?", tampered, head.stream_id, reading
        )
        verdict = verify(store, head, projections=True)
        assert (verdict.seq, verdict.problem) == (
            20,
            "its snapshot there is not what the events up to it give: run rec rebuild",
        )
        # None is needed.
        other.run("DELETE FROM log_snapshots")
    assert is_whole(store)


@pytest.mark.parametrize("seq", [0, 21])
def test_a_snapshot_of_an_event_that_there_is_not_is_found(agent: Ledger, database: str, seq: int) -> None:
    """The states at the events before the next one would be made of it; or those to come, once they are there."""
    store, head = agent.store, agent.head("open")
    with store.transaction() as transaction:
        transaction.save_snapshot(head, seq, "open", projector.VERSION, b"{}")
    assert verify(store, head).problem is None
    problem = verify(store, head, projections=True).problem
    assert problem == f"there is a snapshot of event {seq}, which there is not: run rec rebuild"
    agent.rebuild("open")
    assert is_whole(store)


def test_a_stream_whose_read_model_ends_early_is_said_to(agent: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    store = agent.store
    with store.transaction() as transaction:
        transaction.mark(store.head("agent"), stale="why", projection=store.head("agent").projection)
        transaction.mark(store.head("mistakes"), stale=None, projection=1)
    assert set(verdicts(store).values()) == {(None, None)}
    found = verdicts(store, projections=True)
    assert found["agent"] == (None, "its read model ends early (why): run rec rebuild")
    assert found["mistakes"][1] == f"its read model is of version 1, not of {projector.VERSION}: run rec rebuild"
    for name in ("agent", "mistakes"):
        agent.rebuild(name)
    assert is_whole(store)


def test_a_mark_that_the_read_model_ends_early_cannot_just_be_taken_away(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(store)

    def fail(*_: object) -> None:
        raise ValueError("planted")

    with monkeypatch.context() as patch:
        patch.setattr("recorder.ledger.projector.Fold.apply", fail)
        capture_file(ledger, CASSETTES / "weather.sse", name="weather")
    head = store.head("weather")
    assert head.stale is not None
    with store.transaction() as transaction:
        transaction.mark(head, stale=None, projection=head.projection)
        transaction.clear_read_model(head)
    found = verify(store, store.head("weather"), projections=True)
    assert found.problem is not None
    assert "lacks a row" in found.problem


def test_events_that_cannot_be_projected_are_named(agent: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    from recorder.projections.fold import Fold

    apply = Fold.apply

    def fail(self: Fold, seq: int, *rest: Any) -> None:
        if seq == 7:
            raise ValueError("planted")
        apply(self, seq, *rest)

    monkeypatch.setattr(Fold, "apply", fail)
    found = verify(agent.store, agent.head("agent"), projections=True)
    assert found.seq == 7
    assert found.problem is not None
    assert "planted" in found.problem


# What is no tampering


def test_what_the_program_itself_does_is_no_tampering(agent: Ledger, tmp_path: Path) -> None:
    store = agent.store
    append(store, "empty", [])
    agent.rename("agent", "renamed")
    erasure.erase(store, store.head("renamed"), first=3, last=9, reason="asked for")
    erasure.erase(store, store.head("renamed"), first=7, last=20, reason="asked for")
    erasure.erase(store, store.head("mistakes"), reason="a mistake", retire=True)
    capture_file(agent, CASSETTES / "mistakes.jsonl", name="mistakes")
    agent.rebuild("renamed")
    assert is_whole(store)
    with open_store(tmp_path / "copy.db") as copy, open_store(tmp_path / "taken.db") as taken:
        for head in store.streams():
            transfer.copy(store, head, copy)
            list(capture_export(Ledger(taken), export(agent, head.name)))
        assert len(copy.streams()) == len(taken.streams()) == len(store.streams()) == 6
        assert is_whole(copy)
        assert is_whole(taken)


def test_texts_that_databases_keep_in_other_ways_are_no_tampering(store: Store) -> None:
    """A NUL character and half of a surrogate pair: in a text, a call's id, a tool's name, a run's."""
    ledger = Ledger(store)
    odd = "a\0b \ud83d"
    frames = [chunk(content=odd), chunk(id=odd, name=odd, args=f'{{"a": "{odd}'), chunk(args='"}', finish=odd)]
    ledger.writer("s").append([event(n, each.encode()) for n, each in enumerate(frames, 1)])
    ledger.writer("t").append([event(n, each.encode(), run_id=odd, name=odd) for n, each in enumerate(frames, 1)])
    assert is_whole(store)
    erase(store, "s", 2, 2)
    ledger.rebuild("s")
    assert is_whole(store)


def test_a_database_without_streams_is_whole(store: Store) -> None:
    assert verdicts(store, projections=True) == {}
    assert strays(store) == []


def _while_reading(
    store: Store, monkeypatch: pytest.MonkeyPatch, at: int, does: Callable[[], object], *, time: int = 1
) -> None:
    """Does something, once, when event `at` was read for the first or the second time."""
    events, left = store.events, [does, *[lambda: None] * (time - 1)]

    def read(*args: Any, **kwargs: Any) -> Iterator[Event]:
        for each in events(*args, **kwargs):
            yield each
            if each.seq == at and left:
                left.pop()()

    monkeypatch.setattr(store, "events", read)


@pytest.mark.parametrize("time", [1, 2], ids=["while the chain is read", "while the events are folded"])
def test_events_that_are_appended_meanwhile_are_no_tampering(
    agent: Ledger, database: str, monkeypatch: pytest.MonkeyPatch, time: int
) -> None:
    store = agent.store
    with Ledger.open(database) as other:
        # The answer that is open goes on: its rows are others by the time when they are compared.
        rest = list(other.events("whole", 21))
        _while_reading(store, monkeypatch, 5, lambda: other.writer("open").append(rest), time=time)
        head = store.head("open")
        found = verify(store, head, projections=True)
    assert (found.problem, found.events) == (None, 20)
    assert store.head("open").last_seq == 26


@pytest.mark.parametrize("at", [2, 14, 20])
@pytest.mark.parametrize("time", [1, 2], ids=["while the chain is read", "while the events are folded"])
def test_events_that_are_erased_meanwhile_are_no_tampering(
    agent: Ledger, database: str, monkeypatch: pytest.MonkeyPatch, time: int, at: int
) -> None:
    store = agent.store
    monkeypatch.setattr("recorder.store.reading.BATCH_ROWS", 3)
    with open_store(database) as other:
        head = store.head("open")
        _while_reading(
            store,
            monkeypatch,
            at,
            lambda: erasure.erase(other, head, first=8, last=18, reason="asked for"),
            time=time,
        )
        found = verify(store, head, projections=True)
    assert found.problem is None
    assert verify(store, head).erased == 11


def test_an_erasure_between_two_batches_of_a_read_is_no_tampering(
    store: Store, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first of two erasures makes the records be read again, which then name events that were read before."""
    append(store, "a", [event(number) for number in range(1, 10)])
    monkeypatch.setattr("recorder.store.reading.BATCH_ROWS", 3)
    with open_store(database) as other:
        _while_reading(store, monkeypatch, 3, lambda: erase(other, "a", 4, 4))
        events, left = store.events, [lambda: erase(other, "a", 5, 9)]

        def read(*args: Any, **kwargs: Any) -> Iterator[Event]:
            for each in events(*args, **kwargs):
                if each.seq == 4 and left:
                    left.pop()()
                yield each

        monkeypatch.setattr(store, "events", read)
        found = verify(store, store.head("a"))
    assert (found.problem, found.events) == (None, 9)


@pytest.mark.parametrize("table", ["runs", "message_pieces", "findings"])
def test_rows_that_are_written_while_others_are_compared_are_no_tampering(
    agent: Ledger, database: str, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    """All rows that are compared are those of one moment."""
    store = agent.store
    with Ledger.open(database) as other:
        rest = list(other.events("whole", 21))
        left = [lambda: other.rebuild("open"), lambda: other.writer("open").append(rest)]
        rows = Reads.rows

        def read(self: Reads, head: Any, name: str, **kwargs: Any) -> Any:
            if name == table and left and head.name == "open":
                left.pop()()
            return rows(self, head, name, **kwargs)

        monkeypatch.setattr(Reads, "rows", read)
        assert verify(store, store.head("open"), projections=True).problem is None
        assert len(left) == 1
        assert verify(store, store.head("open"), projections=True).problem is None
        assert left == []
