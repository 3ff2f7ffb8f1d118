"""A connection that is cut while a commit is under way: nobody knows whether it happened, and a retry does no harm."""

from __future__ import annotations

import pytest

from recorder.errors import DatabaseUnusable
from recorder.ledger import Ledger
from recorder.store import Store, open_store
from tests.store.made import append, behind, bodies, chain_is_whole, event, events
from tests.store.proxy import Loss, proxied
from tests.store.test_tail import check, whole_tail


@pytest.mark.parametrize("expected", [None, 3])
@pytest.mark.parametrize("count", [1, 5, 100])
@pytest.mark.parametrize("loses", ["the question", "the answer"])
def test_a_retry_after_an_unknown_outcome_gets_the_numbers_of_the_first_try(
    url: str, loses: Loss, count: int, expected: int | None
) -> None:
    batch = events(4, 3 + count)
    with proxied(url) as (proxy, through), open_store(through) as store:
        append(store, "s", events(1, 3))
        proxy.loses = loses
        with pytest.raises(DatabaseUnusable) as caught:
            append(store, "s", batch, expected)
        assert "whether the last append was stored is unknown, to append it again does no harm" in str(caught.value)
        assert "\n" not in str(caught.value)
        proxy.loses = "nothing"
        assert store.head("s").last_seq == (3 + count if loses == "the answer" else 3)
        # Somebody else appends before the retry, where the first try did happen.
        if loses == "the answer":
            append(store, "s", [event(999)])
        receipt = append(store, "s", batch, expected)
        assert (receipt.first_seq, receipt.last_seq) == (4, 3 + count)
        assert receipt.status == ("known" if loses == "the answer" else "stored")
        assert bodies(store, "s")[: 3 + count] == [each.body for each in events(1, 3 + count)]
        assert chain_is_whole(store, "s")
        check(store, whole_tail(store))


def test_what_was_only_half_sent_was_not_stored(url: str) -> None:
    with proxied(url) as (proxy, through), open_store(through) as store:
        append(store, "s", events(1, 3))
        for watched, batch in ((b"INSERT INTO log_events", events(4, 5)), (b"COPY log_events", events(4, 300))):
            proxy.watched, proxy.loses = watched, "the question"
            with pytest.raises(DatabaseUnusable) as caught, store.transaction() as transaction:
                transaction.append(store.head("s"), batch)
            assert "cannot be reached" in str(caught.value)
            assert "unknown" not in str(caught.value)
            proxy.loses = "nothing"
            assert store.head("s").last_seq == 3
        assert append(store, "s", events(4, 5)).last_seq == 5


def test_a_ledgers_writer_goes_on_after_an_unknown_outcome(url: str) -> None:
    body = b'{"id": "c", "choices": [{"index": 0, "delta": {"content": "a"}}]}'
    with proxied(url) as (proxy, through), Ledger.open(through) as ledger:
        writer = ledger.writer("s")
        writer.append([event(1, body)])
        proxy.loses = "the answer"
        with pytest.raises(DatabaseUnusable, match="unknown"):
            writer.append([event(2, body)])
        proxy.loses = "nothing"
        assert writer.append([event(2, body)]).status == "known"
        writer.append([event(3, body)])
        assert ledger.head("s").stale is None
        assert _text(ledger.store) == "aaa"


def _text(store: Store) -> str:
    ((text,),) = store.query("SELECT text FROM messages_all")[1]
    return str(text)


def test_a_store_whose_server_ended_all_connections_goes_on(url: str) -> None:
    with proxied(url) as (proxy, through), open_store(through) as store:
        append(store, "s", events(1, 1))
        proxy.watched, proxy.loses = b"", "the question"  # whatever is sent next on whichever connection
        with pytest.raises(DatabaseUnusable):
            append(store, "s", events(2, 2))
        proxy.loses = "nothing"
        assert append(store, "s", [event(2, b'{"n": 2}', kind="new")]).last_seq == 2
        assert [found.seq for found in store.events(store.head("s"))] == [1, 2]


def test_connections_that_were_ended_while_nobody_used_them_are_replaced(postgres_store: Store, url: str) -> None:
    store = postgres_store
    append(store, "s", events(1, 1))

    def end_all() -> None:
        with behind(url) as other:
            mine = "datname = current_database() AND pid <> pg_backend_pid()"
            other.run(f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE {mine}")

    for number, use in enumerate((lambda: store.head("s").last_seq, lambda: len(store.streams())), 1):
        append(store, "s", [event(number + 1, kind=f"new-{number}")])
        end_all()
        assert use() >= 1
        end_all()
    assert append(store, "s", [event(9, kind="newer")]).last_seq == 4


@pytest.mark.parametrize("found_by", ["a statement of SQLAlchemy's", "a statement of the driver's"])
def test_a_connection_that_is_lost_within_a_part_of_a_transaction_is_told_as_such(
    postgres_store: Store, url: str, found_by: str
) -> None:
    """Whoever finds it out: where SQLAlchemy does, it lets nothing more through, and says so in words of its own."""
    append(postgres_store, "s", events(1, 1))

    def lose() -> None:
        with postgres_store.transaction() as transaction:
            head = transaction.head("s")
            assert head is not None
            with transaction.nested(), behind(url) as other:
                mine = "datname = current_database() AND pid <> pg_backend_pid()"
                other.run(f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE {mine}")
                if found_by == "a statement of SQLAlchemy's":
                    transaction.mark(head, stale="x", projection=1)
                else:
                    transaction.write_rows(head, {"findings": [{"seq": 1, "ordinal": 0, "rule": "x"}]})

    with pytest.raises(DatabaseUnusable) as told:
        lose()
    assert "\n" not in str(told.value)
    assert append(postgres_store, "s", events(2, 2)).last_seq == 2
    assert postgres_store.head("s").stale is None
