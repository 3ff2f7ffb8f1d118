"""The tail on Postgres, where transactions commit in another order than they begin, and a dump begins a new order."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from recorder.errors import DatabaseUnusable
from recorder.store import Appended, Store, open_store
from recorder.store.postgres import statements
from tests import postgres_server
from tests.postgres import Server
from tests.store.catalogs import catalog
from tests.store.made import append, behind, bodies, chain_is_whole, event, events, eventually
from tests.store.roles import role
from tests.store.test_tail import all_appends, check, followed, whole_tail

WRITERS, APPENDS = 8, 12


def test_nothing_is_skipped_while_a_transaction_is_held_open(postgres_store: Store) -> None:
    store = postgres_store
    streams = [f"s{number}" for number in range(20)]
    append(store, "held", events(1, 1))
    before = whole_tail(store)
    written = threading.Barrier(WRITERS + 1)

    def write(writer: int) -> None:
        for number in range(APPENDS):
            append(store, streams[(writer * 7 + number * 3) % 20], [event(writer * 1000 + number)])
        written.wait(60)
        for number in range(APPENDS, 2 * APPENDS):
            append(store, streams[(writer * 7 + number * 3) % 20], [event(writer * 1000 + number)])

    def read() -> list[Appended]:
        return followed(store, list(before), 1 + 2 + 2 * WRITERS * APPENDS)

    with ThreadPoolExecutor(WRITERS + 2) as pool:
        with store.transaction() as held:
            held.append(store.head("held"), events(2, 3))
            readers = [pool.submit(read) for _ in range(2)]
            writers = [pool.submit(write, writer) for writer in range(WRITERS)]
            written.wait(60)
            # 96 appends are committed, and all lie behind one that is not.
            assert all_appends(store) == before
            held.append(store.head("s0"), [event(999_999)])
        for writing in writers:
            writing.result()
        found = [reader.result() for reader in readers]
    for each in found:
        check(store, each)
        assert len(each) == 1 + 2 + 2 * WRITERS * APPENDS
    assert found[0] == found[1] == all_appends(store)


def test_a_transaction_that_began_earlier_appends_behind_what_came_meanwhile(postgres_store: Store, url: str) -> None:
    store = postgres_store
    append(store, "a", events(1, 1))
    append(store, "b", events(1, 1))
    with store.transaction() as early:
        early.append(store.head("b"), events(2, 2))
        append(store, "a", events(2, 2))
        append(store, "a", events(3, 3))
        early.append(store.head("a"), events(4, 4))
        early.append(store.head("a"), events(5, 5))
        seen = all_appends(store)
    found = whole_tail(store)
    assert found[: len(seen)] == seen
    check(store, found)
    ours = [each for each in found if each.stream_id == store.head("a").stream_id]
    assert [each.first_seq for each in ours] == [1, 2, 3, 4, 5]
    # Behind them all, and behind what the transaction wrote elsewhere, goes whatever comes next.
    append(store, "b", events(3, 3))
    assert whole_tail(store)[:-1] == found


def test_a_transaction_that_only_reads_holds_nothing_up(postgres_store: Store, url: str) -> None:
    with psycopg.connect(url) as reading:
        reading.execute("SELECT * FROM events")
        append(postgres_store, "a", events(1, 1))
        assert len(whole_tail(postgres_store)) == 1


def test_an_index_finds_the_next_appends(postgres_store: Store, url: str) -> None:
    for number in range(40):
        append(postgres_store, f"s{number % 3}", [event(number)])
    with psycopg.connect(url) as connection:
        connection.execute("SET enable_seqscan = off")
        connection.execute("SET enable_sort = off")
        explained = connection.execute(f"EXPLAIN {statements.APPENDS}", (0, 5, 1, 1, 10)).fetchall()
    plan = "\n".join(row[0] for row in explained)
    assert "Index Only Scan using log_appends_order" in plan or "Index Scan using log_appends_order" in plan
    assert "Sort" not in plan


def _far_ahead(url: str) -> None:
    """What a dump of another server would leave: an append whose transaction this server has not come to."""
    with behind(url) as other:
        other.unguard("log_appends")
        other.run("UPDATE log_appends SET position = position + 1000000")
        other.run("ALTER TABLE log_appends ENABLE ALWAYS TRIGGER log_appends_insert")


def test_positions_that_no_transaction_has_reached_are_noticed(postgres_store: Store, url: str) -> None:
    store = postgres_store
    append(store, "a", events(1, 2))
    _far_ahead(url)
    with pytest.raises(DatabaseUnusable, match="restored from a dump, its order begins anew: run rec db upgrade once"):
        store.appended()
    with open_store(url, readonly=True) as reader:
        with pytest.raises(DatabaseUnusable, match="restored from a dump"):
            reader.appended()
        assert "restored from a dump: rec tail waits until rec db upgrade was run once" in [
            problem.text for problem in reader.problems()
        ]
    with open_store(url) as writer:
        append(writer, "a", events(3, 3))
        found = whole_tail(writer)
    assert [(each.position.epoch, each.first_seq) for each in found] == [(0, 1), (1, 3)]
    assert all_appends(store) == found
    check(store, found)
    append(store, "b", events(1, 1))
    assert [each.position.epoch for each in whole_tail(store)] == [0, 1, 1]


def test_a_writer_that_may_not_begin_a_new_order_is_told_who_may(postgres_store: Store, url: str) -> None:
    append(postgres_store, "a", events(1, 2))
    _far_ahead(url)
    with role(url, "SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA public") as writer, behind(url) as other:
        other.run(f"REVOKE INSERT, UPDATE ON log_epochs FROM {make_url(writer).username}")
        with pytest.raises(DatabaseUnusable, match="from a dump: the owner of its tables must run rec db upgrade once"):
            open_store(writer)
    open_store(url).close()
    with role(url, "SELECT ON ALL TABLES IN SCHEMA public") as reader:
        open_store(reader).close()


def test_of_many_that_open_a_restored_database_one_begins_the_new_order(postgres_store: Store, url: str) -> None:
    append(postgres_store, "a", events(1, 2))
    _far_ahead(url)
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: open_store(url).close(), range(6)))
    with behind(url) as other:
        assert other.run("SELECT epoch FROM log_epochs ORDER BY epoch") == [(0,), (1,)]
    open_store(url).close()
    with behind(url) as other:
        assert other.run("SELECT max(epoch) FROM log_epochs") == [(1,)]


def test_an_append_that_is_open_while_a_new_order_begins_is_not_lost(postgres_store: Store, url: str) -> None:
    store = postgres_store
    append(store, "a", events(1, 2))
    append(store, "b", events(1, 2))
    _far_ahead(url)
    with ThreadPoolExecutor(1) as pool:
        with store.transaction() as early:
            early.append(store.head("b"), events(3, 3))
            opening = pool.submit(lambda: open_store(url).close())
            with behind(url) as other:
                waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'LOCK TABLE%'"
                assert eventually(lambda: other.run(waiting))
        opening.result(30)
    append(store, "a", events(3, 3))
    check(store, whole_tail(store))


@pytest.mark.slow
def test_a_dump_that_was_restored_elsewhere_goes_on(postgres_store: Store, url: str, own_server: Path) -> None:
    source = postgres_store
    append(source, "a", events(1, 2))
    with behind(url) as other:
        # Ids of transactions that the new server will not come to in this test.
        other.run("DO $$ BEGIN FOR i IN 1..20000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$")
    append(source, "b", [event(number, b"\0\xff %d" % number, meta=b"{}") for number in range(1, 100)])
    append(source, "a", events(3, 4))
    seen = whole_tail(source)
    running = Server(postgres_server.start(own_server))
    target = running.new(empty=True)
    dump = own_server / "dump"
    postgres_server.control(own_server, "pg_dump", "-Fc", "-f", str(dump), url)
    postgres_server.control(own_server, "pg_restore", "--exit-on-error", "-d", target, str(dump))
    with behind(url) as there, behind(target) as here:
        assert catalog(here) == catalog(there)
        assert here.content() == there.content()
    with open_store(target, readonly=True) as reader, pytest.raises(DatabaseUnusable, match="restored from a dump"):
        reader.appended()
    with open_store(target) as store:
        assert [problem for problem in store.problems() if problem.kind == "damage"] == []
        append(store, "a", events(5, 5))
        append(store, "c", events(1, 1))
        found = whole_tail(store)
        assert found[: len(seen)] == seen
        check(store, found)
        # Who followed the old server goes on from where it was.
        assert [each.first_seq for each in all_appends(store, seen[-1].position)] == [5, 1]
        assert bodies(store, "b") == bodies(source, "b")
        assert all(chain_is_whole(store, name) for name in "abc")
