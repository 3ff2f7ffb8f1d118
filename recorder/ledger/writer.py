"""Writing: events and what the projections make of them, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence

from recorder.errors import ProjectionFailed, UnknownStream
from recorder.events import Event, NewEvent
from recorder.events.ids import new_stream_uuid
from recorder.ledger import snapshots
from recorder.ledger.projector import VERSION, RowProjector
from recorder.store import Receipt, Store, StreamHead, Transaction

BATCH = 500
"""Events that are folded at a time in a rebuild."""


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
            self._projector = None
            mark_failed(transaction, head, events[0].seq, error)

    def _resumed(self, transaction: Transaction, head: StreamHead) -> RowProjector:
        """The projector at the head as it was before this append."""
        if self._projector is None or self._projector.at != head.last_seq:
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
    projector = RowProjector()
    batch: list[Event] = []
    for event in transaction.events(head, 1, None):
        batch.append(event)
        if len(batch) == BATCH:
            projector.advance(batch)
            write(transaction, head, projector)
            batch = []
    projector.advance(batch)
    write(transaction, head, projector)
    transaction.mark(head, stale=None, projection=VERSION)


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
