"""Events and stores for the tests of this folder."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from recorder.events import Event, NewEvent
from recorder.events.chain import GENESIS, content_hash, relink
from recorder.store import Receipt, Store


def event(number: int, body: bytes = b'{"x": 1}', **fields: Any) -> NewEvent:
    """Event `number` of an agent's run; its id ascends with its number."""
    given: dict[str, Any] = {
        "event_id": number.to_bytes(16, "big"),
        "dialect": "openai.chat",
        "layer": "wire",
        "kind": "chunk",
        "body": body,
        "framing": "data: {body}\n\n",
        "arrived_at": 1_700_000_000_000_000 + number,
        "run_id": "run-1",
        **fields,
    }
    return NewEvent(**given)


def events(first: int, last: int) -> list[NewEvent]:
    return [event(number, b'{"n": %d}' % number) for number in range(first, last + 1)]


def append(store: Store, stream: str, given: list[NewEvent], expected: int | None = None) -> Receipt:
    """Appends in a transaction of its own, to a stream that is made where it is missing."""
    with store.transaction() as transaction:
        head = transaction.head(stream) or transaction.create_stream(stream)
        return transaction.append(head, given, expected)


def bodies(store: Store, stream: str) -> list[bytes]:
    return [found.body for found in store.events(store.head(stream))]


def chain_is_whole(store: Store, stream: str) -> bool:
    """Recomputes every hash of the stream from what is stored."""
    head = store.head(stream)
    previous = GENESIS
    for found in store.events(head, as_stored=True):
        previous = relink(previous, head.uuid, found)
        if found.hash != previous or (not found.erased and not _holds(found)):
            return False
    return previous == head.head_hash


def _holds(found: Event) -> bool:
    return found.salt is not None and content_hash(found.salt, found) == found.body_hash


def select(store: Store, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
    """The rows of a query of the user's."""
    return list(store.query(sql, parameters)[1])


@contextmanager
def raw(path: Path) -> Iterator[sqlite3.Connection]:
    """The file behind the store's back, as somebody with another tool would open it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection
