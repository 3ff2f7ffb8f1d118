"""Proof that a stream is what was appended: every hash, every number, every erasure, and the rows made of them.

Nothing here trusts what the database's own triggers refuse: it reads what is stored and computes it again. Whoever can
write to the tables can also write a whole new chain; against that stands a seal (`recorder.ledger.seal`) kept
elsewhere.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import Any

from msgspec import Struct

from recorder.errors import Corrupt, ProjectionFailed
from recorder.events import Event
from recorder.events.chain import GENESIS, content_hash, erasure_link, relink
from recorder.events.ids import new_stream_uuid
from recorder.ledger.erasure import Ranges, is_within, ranges_of
from recorder.ledger.projector import VERSION, RowProjector
from recorder.ledger.writer import project
from recorder.store import Store, StreamHead, open_store
from recorder.store.reading import Reads, read_model_tables


class Verdict(Struct, frozen=True, kw_only=True):
    """What verifying a stream showed."""

    stream: str
    events: int
    """How many events were found in order."""
    erased: int
    """How many of them were erased."""
    seq: int | None = None
    """The first event at which something is wrong; None where nothing is, or where it is of no one event."""
    problem: str | None = None
    """What is wrong first; None where the stream is whole."""

    @property
    def whole(self) -> bool:
        return self.problem is None


class Flaw(Exception):
    """The first thing that is wrong with a stream."""

    def __init__(self, problem: str, seq: int | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.seq = seq


def verify(store: Store, head: StreamHead, *, projections: bool = False) -> Verdict:
    """Verifies one stream up to its head. `projections`: compares the read model with one computed from the events.

    Reads only; the computed read model is kept in a file of its own meanwhile, so that memory does not grow with the
    stream.
    """
    (verdict,) = verify_all(store, [head], projections=projections)
    return verdict


def verify_all(store: Store, heads: Iterable[StreamHead], *, projections: bool = False) -> Iterator[Verdict]:
    """As `verify`, for streams one after the other."""
    with ExitStack() as stack:
        other = stack.enter_context(_other_store()) if projections else None
        for head in heads:
            yield _verdict(store, head, other)


def _verdict(store: Store, head: StreamHead, other: Store | None) -> Verdict:
    counts = [0, 0]
    try:
        _events(store, head, counts)
        _ends(store, head)
        if other is not None:
            _projections(store, head, other)
    except Flaw as flaw:
        return Verdict(stream=head.name, events=counts[0], erased=counts[1], seq=flaw.seq, problem=flaw.problem)
    except Corrupt as error:
        return Verdict(stream=head.name, events=counts[0], erased=counts[1], problem=str(error))
    return Verdict(stream=head.name, events=counts[0], erased=counts[1])


def strays(store: Store) -> list[str]:
    """What is wrong with the database beside its streams: events of a stream that is not there."""
    return [f"there are events or appends of a stream that is gone, with the key {key}" for key in store.strays()]


def _events(store: Store, head: StreamHead, counts: list[int]) -> None:
    """The chain from the first event to the head. Raises `Flaw`."""
    covered = _covered(store, head)
    previous = GENESIS
    for event in _read(store, head, counts):
        expected = relink(previous, head.uuid, event)
        if event.hash != expected:
            raise Flaw("its hash does not follow from the event before it and its own envelope", event.seq)
        previous = expected
        if _wrong_content(event, is_within(event.seq, covered)) is not None:
            # Somebody may have erased it just now.
            with store.view() as now:
                covered = _covered(now, head)
                again = next(now.events(head, event.seq, event.seq, as_stored=True))
            wrong = _wrong_content(again, is_within(event.seq, covered))
            if wrong is not None:
                raise Flaw(wrong, event.seq)
            event = again
        counts[0] += 1
        counts[1] += event.erased
    if counts[0] != head.last_seq:
        raise Flaw(f"the stream should have {head.last_seq} events and has {counts[0]}", counts[0] + 1)
    if previous != head.head_hash:
        raise Flaw("the stream's head has another hash than its last event", head.last_seq or None)


def _read(store: Store, head: StreamHead, counts: list[int]) -> Iterator[Event]:
    try:
        yield from store.events(head, as_stored=True)
    except Corrupt as error:
        raise Flaw(str(error), counts[0] + 1) from None


def _wrong_content(event: Event, is_erased: bool) -> str | None:
    """Why an event's content is not what its `body_hash` and the erasures say; None where it is."""
    if event.erased:
        if not is_erased:
            return "it was blanked, and no erasure says so"
        if event.body or event.salt or event.frame or event.cuts or event.meta:
            return "it is marked as erased, and holds content"
    elif event.salt is None:
        return "its salt is gone, so that its content proves nothing"
    elif content_hash(event.salt, event) != event.body_hash:
        return "its content is not what its hash was made of"
    elif is_erased:
        return "an erasure says that it was blanked, and it was not"
    return None


def _covered(reads: Reads, head: StreamHead) -> Ranges:
    """The events that were erased, by the stream's erasures, their own chain proved. Raises `Flaw`."""
    previous = GENESIS
    found = reads.erasures(head)
    for number, erasure in enumerate(found, 1):
        said = (erasure.first_seq, erasure.last_seq, erasure.reason, erasure.erased_at)
        if erasure.erasure != number or erasure.hash != erasure_link(previous, head.uuid, number, *said):
            raise Flaw(f"erasure {number} was changed after it was recorded")
        previous = erasure.hash
    return ranges_of(found)


def _ends(store: Store, head: StreamHead) -> None:
    """That nothing lies before the first event or behind the head, and that the appends cover the stream once.

    Raises `Flaw`.
    """
    least, greatest = store.extent(head)
    if least < 1:
        raise Flaw("there are events before the first one of the stream", least)
    erasures = store.erasures(head)
    expected = 1
    for first, last in store.appends_of(head):
        if first != expected:
            raise Flaw(f"the appends of the stream do not cover event {expected}", expected)
        expected = last + 1
    # Another writer may have gone on since the head was read, and has by now.
    now = store.as_now(head)
    if now is None:
        raise Flaw("the stream is gone")
    if greatest > now.last_seq:
        raise Flaw("there are events behind the stream's head", now.last_seq + 1)
    for erasure in erasures:
        if not 1 <= erasure.first_seq <= erasure.last_seq <= now.last_seq:
            raise Flaw(f"erasure {erasure.erasure} names events that there are not")
    if expected <= head.last_seq:
        raise Flaw(f"the appends of the stream do not cover event {expected}", expected)
    if expected > now.last_seq + 1:
        raise Flaw(f"event {expected - 1} was appended, and is not there", now.last_seq + 1)


@contextmanager
def _other_store() -> Iterator[Store]:
    """A store of its own, for as long as it is needed."""
    with tempfile.TemporaryDirectory(prefix="recorder-verify-") as folder, open_store(Path(folder) / "v.db") as other:
        yield other


def _projections(store: Store, head: StreamHead, other: Store) -> None:
    """That the read model is what the events give. Raises `Flaw`."""
    is_compared = False
    while not is_compared:
        with other.transaction() as transaction:
            made = transaction.create_stream(new_stream_uuid().hex())
        try:
            is_compared = _compared(store, head, other, made)
        finally:
            with other.transaction() as transaction:
                transaction.clear_read_model(made)


def _compared(store: Store, head: StreamHead, other: Store, made: StreamHead) -> bool:
    """Compares the read model with one that is made here; False where an erasure came between. Raises `Flaw`."""
    _must_be_projected(head)
    erasures = store.erasure_count(head)
    projector = RowProjector()
    try:
        _fold_beside_snapshots(store, head, other, made, projector)
        # The rows that are compared must all be of one moment, and that must be a short one: what was appended until
        # then is folded in it, but not what was there before.
        with store.view() as now:
            current = now.as_now(head)
            if current is None:
                raise Flaw("the stream is gone")
            _must_be_projected(current)
            _fold(other, made, projector, now.events(current, head.last_seq + 1))
            for table in read_model_tables():
                _rows(table, now, current, other, made)
            # It would be taken for the state there once the stream has come to it.
            for seq, _ in now.snapshots(current, VERSION):
                if not 1 <= seq <= current.last_seq:
                    raise Flaw(f"there is a snapshot of event {seq}, which there is not: run rec rebuild")
    except Flaw:
        if store.erasure_count(head) == erasures:
            raise
    return store.erasure_count(head) == erasures


def _fold_beside_snapshots(
    store: Store, head: StreamHead, other: Store, made: StreamHead, projector: RowProjector
) -> None:
    """Folds the events; behind each that has a snapshot, that is compared with what was folded by then.

    Raises `Flaw`.
    """
    wanted: dict[int, list[str]] = {}
    for seq, reading in store.snapshots(head, VERSION):
        if 1 <= seq <= head.last_seq:
            wanted.setdefault(seq, []).append(reading)
    events = store.events(head)
    for seq in sorted(wanted):
        _fold(other, made, projector, _until(events, seq))
        computed = projector.snapshot()
        for reading in wanted[seq]:
            found = store.snapshot(head, seq, reading, VERSION)
            # Any may be deleted at any time.
            if found is not None and found[0] == seq and found[1] != computed.get(reading):
                raise Flaw("its snapshot there is not what the events up to it give: run rec rebuild", seq)
    _fold(other, made, projector, events)


def _until(events: Iterator[Event], last: int) -> Iterator[Event]:
    """The next events up to that one, and no look at the one behind it."""
    for event in events:
        yield event
        if event.seq == last:
            return


def _must_be_projected(head: StreamHead) -> None:
    if head.stale is not None:
        raise Flaw(f"its read model ends early ({head.stale}): run rec rebuild")
    if head.last_seq and head.projection != VERSION:
        raise Flaw(f"its read model is of version {head.projection}, not of {VERSION}: run rec rebuild")


def _fold(other: Store, made: StreamHead, projector: RowProjector, events: Iterable[Event]) -> None:
    try:
        with other.transaction() as transaction:
            project(transaction, made, projector, events)
    except ProjectionFailed as error:
        raise Flaw(str(error), error.seq) from None


def _rows(table: str, store: Reads, head: StreamHead, other: Reads, made: StreamHead) -> None:
    for stored, computed in zip_longest(store.rows(head, table), other.rows(made, table)):
        if stored == computed or (stored is not None and computed is not None and _same(stored, computed)):
            continue
        row = stored or computed or {}
        place = ", ".join(f"{name} {row[name]}" for name in row if name in ("seq", "message_ref", "call_ref", "run_id"))
        what = "lacks a row" if stored is None else "has a row too many" if computed is None else "has another row"
        seq = next((row[name] for name in ("seq", "first_seq", "closed_seq", "call_seq") if row.get(name)), None)
        raise Flaw(f"its read model {what} than its events give, in rm_{table} ({place or 'first'})", seq)


def _same(stored: dict[str, Any], computed: dict[str, Any]) -> bool:
    """Whether rows of two kinds of databases are the same: Postgres keeps a NUL character as its escape."""
    return {name: _escaped(value) for name, value in stored.items()} == {
        name: _escaped(value) for name, value in computed.items()
    }


def _escaped(value: Any) -> Any:
    return value.replace("\0", "\\u0000") if isinstance(value, str) else value
