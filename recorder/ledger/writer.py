"""Writing: events and what the projections make of them, in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from recorder.errors import DatabaseUnusable, ProjectionFailed, UnknownStream, Unstorable
from recorder.events import Event, NewEvent
from recorder.events.ids import new_stream_uuid
from recorder.events.upcast import upcast
from recorder.ledger import snapshots
from recorder.ledger.projector import VERSION, RowProjector
from recorder.store import Receipt, Store, StreamHead, Transaction

BATCH = 500
BATCH_BYTES = 4 * 1024 * 1024
"""Events, and bytes of their bodies, that are folded at a time in a rebuild."""


class StreamWriter:
    """Appends to one stream, which its first append makes where there is none of that name.

    Once it has seen the stream it stays with it, whatever name that is given meanwhile.
    """

    def __init__(
        self, store: Store, stream: str, *, head: StreamHead | None, parent: str | None, parent_seq: int | None
    ) -> None:
        self._store = store
        self.stream = stream
        self.head = head
        """The stream as this writer last saw it, None before there is one."""
        self.uuid = head.uuid if head is not None else new_stream_uuid()
        """The stream's UUID, the one that it will have included."""
        self._parent = parent
        self._parent_seq = parent_seq
        self._projector: RowProjector | None = None
        self._erasures = 0
        """How often something had been erased of the stream when the projector began: it may hold that still."""

    @property
    def required_head(self) -> StreamHead:
        """The stream; there must be one."""
        if self.head is None:
            raise UnknownStream(f"stream {self.stream!r} is not made yet")
        return self.head

    @property
    def last_seq(self) -> int:
        return self.head.last_seq if self.head is not None else 0

    def append(self, events: Sequence[NewEvent], *, expected: int | None = None) -> Receipt:
        """Stores events after `expected` (None: whatever is last); the same ids and bodies again are no new events.

        Raises `Conflict`, `IdentityClash`, `UnknownStream`, `DatabaseUnusable`; then nothing was stored.
        """
        before = self.head
        try:
            with self._store.transaction() as transaction:
                return self.append_in(transaction, events, expected=expected)
        except BaseException:
            self.head, self._projector = before, None
            raise

    def append_in(
        self, transaction: Transaction, events: Sequence[NewEvent], *, expected: int | None = None
    ) -> Receipt:
        """As `append`, inside a transaction of the caller's, who must drop this writer if that fails."""
        head = self._current(transaction)
        if head is None:
            head = transaction.create_stream(
                self.stream, uuid=self.uuid, parent=self._parent, parent_seq=self._parent_seq
            )
        receipt = transaction.append(head, events, expected)
        if receipt.events:
            self._project(transaction, head, receipt.events)
        self.head = transaction.current(head)
        return receipt

    def adopt_in(self, transaction: Transaction, events: Sequence[Event]) -> None:
        """Stores events of this stream as another database had them, behind the last one that is here.

        Those that are here already may come again. Raises `BadInput` where they are not the same, or do not continue
        the chain; the caller, whose transaction it is, must drop this writer then.
        """
        head = self._current(transaction)
        if head is None:
            raise UnknownStream(f"stream {self.stream!r} is not made yet")
        if new := transaction.adopt(head, events):
            self._project(transaction, head, list(map(upcast, new)))
        self.head = transaction.current(head)

    def _current(self, transaction: Transaction) -> StreamHead | None:
        if self.head is None:
            return transaction.head(self.stream)
        found = transaction.current(self.head)
        if found is None:
            raise UnknownStream(f"stream {self.head.name!r} is not in this database any more")
        return found

    def _project(self, transaction: Transaction, head: StreamHead, events: list[Event]) -> None:
        """Brings the read model up. Where a projection fails the stream is marked stale; the events are stored.

        `head` is the stream as it was before these events. A stale stream waits for a rebuild, or for a program of
        another version, which may know better.
        """
        if head.stale is not None and head.projection == VERSION:
            return
        try:
            with transaction.nested():
                if head.last_seq and head.projection != VERSION:
                    self._projector = None
                    rebuild(transaction, transaction.current(head) or head)
                    return
                projector = self._resumed(transaction, head)
                projector.advance(events)
                write(transaction, head, projector)
        except Exception as error:
            if concerns_database(error):
                raise
            self._projector = None
            mark_failed(transaction, head, events[0].seq, error)

    def _resumed(self, transaction: Transaction, head: StreamHead) -> RowProjector:
        """The projector at the head as it was before this append."""
        erasures = transaction.erasure_count(head)
        if self._projector is None or self._projector.at != head.last_seq or self._erasures != erasures:
            self._erasures = erasures
            base = snapshots.load(transaction, head, head.last_seq, VERSION) if head.last_seq else None
            self._projector = RowProjector(base)
            self._projector.catch_up(transaction.events(head, self._projector.at + 1, head.last_seq))
        return self._projector


def write(transaction: Transaction, head: StreamHead, projector: RowProjector) -> None:
    """Writes what a projector collected: rows, and a snapshot where one is due."""
    rows, closed = projector.take_rows()
    transaction.drop_pieces(head, closed)
    transaction.write_rows(head, rows)
    if head.projection != VERSION:
        transaction.mark(head, stale=None, projection=VERSION)
    for part, body in projector.take_snapshot().items():
        transaction.save_snapshot(head, projector.at, part, VERSION, body)


def rebuild(transaction: Transaction, head: StreamHead) -> None:
    """Computes read model and snapshots of a stream from its events. Raises `ProjectionFailed`."""
    transaction.clear_read_model(head)
    project_all(transaction, head, transaction.events(head))


def project_all(transaction: Transaction, head: StreamHead, events: Iterable[Event]) -> None:
    """Writes read model and snapshots of a stream that has none, from all its events. Raises `ProjectionFailed`."""
    project(transaction, head, RowProjector(), events)
    transaction.mark(head, stale=None, projection=VERSION)


def project(transaction: Transaction, head: StreamHead, projector: RowProjector, events: Iterable[Event]) -> None:
    """Writes what a projector makes of the next events. Raises `ProjectionFailed`."""
    following, before = iter(events), -1
    while projector.at != before:
        before = projector.at
        projector.advance(_bounded(following))
        write(transaction, head, projector)


def _bounded(events: Iterator[Event]) -> Iterator[Event]:
    """So many of the next events that what is made of them fits into memory."""
    size = 0
    for event in islice(events, BATCH):
        yield event
        size += len(event.body)
        if size >= BATCH_BYTES:
            return


def concerns_database(error: Exception) -> bool:
    """Whether it is no fault of a projection's: what was written fails with it, to be tried again as a whole."""
    return isinstance(error, DatabaseUnusable) and not isinstance(error, Unstorable)


def mark_failed(transaction: Transaction, head: StreamHead, seq: int, error: Exception) -> None:
    """Marks a stream stale and says why in a finding; `seq` is the first event that the read model is without."""
    reason = str(error) if isinstance(error, ProjectionFailed) else f"{type(error).__name__}: {error}"
    transaction.mark(head, stale=reason, projection=VERSION)
    finding = {
        "seq": seq,
        "ordinal": 0,
        "rule": "projection-failed",
        "severity": "error",
        "run_id": None,
        "call_id": None,
        "detail": f"the read model ends before this event: {reason}",
    }
    transaction.write_rows(head, {"findings": [finding]})
