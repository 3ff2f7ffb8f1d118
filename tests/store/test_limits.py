"""Very long, very large, very many, and nothing at all."""

from __future__ import annotations

import os
from typing import Any

import pytest

from recorder.errors import DatabaseUnusable
from recorder.ledger import Ledger
from recorder.store import Store
from tests.store.made import append, bodies, chain_is_whole, event, events, select

LONG = os.urandom(50_000).hex()
"""Too long for an entry of any index, and not to be compressed to less."""
GREATEST, LEAST = (1 << 63) - 1, -(1 << 63)


@pytest.mark.parametrize(
    "field", ["dialect", "kind", "framing", "run_id", "parent_run_id", "name", "source_id", "redacted"]
)
def test_a_long_text_in_the_envelope_is_stored(store: Store, field: str) -> None:
    append(store, "s", [event(1, **{field: LONG}), event(2, **{field: LONG + "x"})])
    append(store, "s", [event(3, **{field: LONG})])
    assert [getattr(found, field) for found in store.events(store.head("s"))] == [LONG, LONG + "x", LONG]
    assert chain_is_whole(store, "s")


def test_a_long_run_id_costs_postgres_the_read_model_and_no_event(store: Store, database: str) -> None:
    """An index of Postgres takes no entry of more than some 2,600 bytes: such a stream is stale, and says why."""
    body = b'{"id": "c", "choices": [{"index": 0, "delta": {"content": "hi"}}]}'
    ledger = Ledger(store)
    writer = ledger.writer("s")
    writer.append([event(1, body)])
    writer.append([event(2, body, run_id=LONG), event(3, body, run_id=LONG)])
    writer.append([event(4, body)])
    head = store.head("s")
    assert (head.last_seq, len(bodies(store, "s")), chain_is_whole(store, "s")) == (4, 4, True)
    if "://" not in database:
        assert head.stale is None
        return
    assert head.stale is not None
    assert "longer than an index entry" in head.stale
    assert "\n" not in head.stale
    assert select(store, "SELECT rule, seq FROM findings WHERE rule = 'projection-failed'") == [
        ("projection-failed", 2)
    ]
    assert ledger.state("s").of == 4


@pytest.mark.parametrize("what", ["name", "event id"])
def test_a_name_or_an_id_that_is_too_long_for_an_index_is_refused_in_one_line(
    store: Store, database: str, what: str
) -> None:
    append(store, "s", events(1, 2))
    name, given = (LONG, event(3)) if what == "name" else ("s", event(3, event_id=b"\xff" + os.urandom(20_000)))
    if "://" not in database:
        assert append(store, name, [given]).status == "stored"
        return
    with pytest.raises(DatabaseUnusable, match="refuses an id or a name that is longer than an index entry") as caught:
        append(store, name, [given])
    assert "\n" not in str(caught.value)
    assert [head.name for head in store.streams()] == ["s"]
    assert append(store, "s", [event(3)]).last_seq == 3


def test_numbers_of_64_bits_come_back_and_larger_ones_are_refused(store: Store) -> None:
    for number, moment in enumerate((GREATEST, LEAST, 0, -1), 1):
        append(store, "s", [event(number, arrived_at=moment)])
    assert [found.arrived_at for found in store.events(store.head("s"))] == [GREATEST, LEAST, 0, -1]
    assert chain_is_whole(store, "s")
    for many in (1, 100):  # one statement, and a COPY
        for moment in (GREATEST + 1, LEAST - 1, 1 << 80):
            with pytest.raises(OverflowError):
                append(store, "s", [event(10 + place, arrived_at=moment) for place in range(many)])
    assert store.head("s").last_seq == 4
    # The view shows a time where a calendar has one, and never fails.
    assert len(select(store, "SELECT * FROM events")) == 4
    assert select(store, "SELECT arrived_at FROM events WHERE seq = 3") == [("1970-01-01T00:00:00.000000Z",)]


def test_numbers_of_64_bits_in_the_read_model(store: Store) -> None:
    append(store, "s", events(1, 1))
    head = store.head("s")
    with store.transaction() as transaction:
        transaction.write_rows(head, {"pairings": [{"position": GREATEST, "call_seq": LEAST}]})
    assert select(store, "SELECT position, call_seq FROM pairings") == [(GREATEST, LEAST)]
    assert select(store, "SELECT :a, :b", a=GREATEST, b=LEAST) == [(GREATEST, LEAST)]


@pytest.mark.parametrize("count", [1, 2, 63, 64, 65, 500, 2000])
def test_batches_of_any_size_are_stored_the_same(store: Store, count: int) -> None:
    append(store, "s", events(1, 3))
    given: list[Any] = [event(number, b"%d" % number, run_id=f"r{number % 7}") for number in range(4, 4 + count)]
    given[0] = event(4, b"4", source_id="é", occurred_at=5, frame=b"\0", cuts=b"[]", meta=b"{}", redacted="key")
    receipt = append(store, "s", given, 3)
    assert (receipt.first_seq, receipt.last_seq) == (4, 3 + count)
    found = list(store.events(store.head("s"), 4))
    assert found == receipt.events
    assert [each.body for each in found] == [each.body for each in given]
    assert chain_is_whole(store, "s")


def test_empty_bodies_are_events(store: Store) -> None:
    append(store, "s", [event(number, b"") for number in range(1, 100)])
    assert bodies(store, "s") == [b""] * 99
    assert select(store, "SELECT text, body FROM events WHERE seq = 7") == [("", b"")]
    assert chain_is_whole(store, "s")


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 70])
def test_bodies_of_5_mb_come_back(store: Store, count: int) -> None:
    """`count` small events besides: one statement, and a COPY."""
    large = os.urandom(2_500_000).hex().encode()
    small = [event(number) for number in range(3, 3 + count)]
    append(store, "s", [event(1, large), event(2, b"\0" + large, frame=large), *small])
    found = list(store.events(store.head("s")))
    assert (found[0].body, found[1].body, found[1].frame) == (large, b"\0" + large, large)
    assert len(found) == 2 + count
    assert chain_is_whole(store, "s")
    assert append(store, "s", [event(1, large)]).status == "known"
    assert select(store, "SELECT length(text) FROM events WHERE seq = 1") == [(5_000_000,)]


def test_a_transaction_without_a_statement_is_fine(store: Store) -> None:
    with store.transaction():
        pass
    with store.transaction() as transaction:
        transaction.create_stream("s")
    assert [head.name for head in store.streams()] == ["s"]
