"""Streams from one database into another, or out of an export: with their UUIDs, numbers, times and hashes.

A stream that is there already is continued where it has the same past. What arrives is verified: a chain that does not
continue the one that is there is refused, and nothing of that batch is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import takewhile
from typing import Literal

from msgspec import Struct

from recorder.errors import BadInput, NameTaken, RecorderError
from recorder.events import Event
from recorder.events.chain import GENESIS
from recorder.ledger.erasure import is_within, ranges_of, recompute
from recorder.ledger.writer import StreamWriter
from recorder.store import Capture, Erasure, Store, StreamHead, Transaction
from recorder.store.transaction import follows

Part = Event | Erasure | Capture
"""What a stream is made of, in the order in which it is received."""
EXPORT_FORMAT = "export/1"
"""The version of what `rec export --jsonl` writes."""
_BATCH_EVENTS = 500
_BATCH_BYTES = 4 * 1024 * 1024


class Origin(Struct, frozen=True, kw_only=True):
    """What a stream is besides its events. Times are microseconds since the epoch."""

    uuid: bytes
    name: str
    created_at: int
    parent: str | None = None
    parent_seq: int | None = None


class Moved(Struct, frozen=True, kw_only=True):
    """What became of one stream."""

    stream: str
    status: Literal["stored", "extended", "known"]
    events: int
    """How many events are new."""
    last_seq: int
    erasures: int = 0
    """How many erasures are new."""
    remains: str | None = None
    """Where what they blanked here may still be, and until when; None where it is nowhere."""


def origin_of(head: StreamHead) -> Origin:
    return Origin(
        uuid=head.uuid,
        name=head.name,
        created_at=head.created_at,
        parent=head.parent,
        parent_seq=head.parent_seq,
    )


def copy(source: Store, head: StreamHead, target: Store, *, name: str | None = None) -> Moved:
    """Copies a stream, or what the target lacks of it. Raises `BadInput`, `NameTaken`, `Corrupt`."""
    there = target.by_uuid(head.uuid)
    start = there.last_seq if there is not None else 0
    if there is not None and start:
        if start > head.last_seq:
            raise BadInput(f"stream {head.name!r} has {head.last_seq} events here and {start} there: copy it back")
        known = next(source.events(head, start, start, as_stored=True))
        if known.hash != there.head_hash:
            raise BadInput(f"stream {head.name!r} went another way there: they differ at or before event {start}")
    return receive(target, origin_of(head), parts(source, head, start + 1), name=name)


def parts(source: Store, head: StreamHead, first: int = 1) -> Iterator[Part]:
    """Events from `first` to the head, the erasures of them before them, the notes of captures behind them.

    An erasure that is made meanwhile comes before the first event that it blanked, or behind them all; one of later
    events than the head's is left out.
    """
    told = 0

    def untold() -> Iterator[Erasure]:
        nonlocal told
        for each in takewhile(lambda each: each.last_seq <= head.last_seq, source.erasures(head)[told:]):
            told += 1
            yield each

    yield from untold()
    covered = ranges_of(source.erasures(head)[:told])
    for event in source.events(head, first, as_stored=True):
        if event.erased and not is_within(event.seq, covered):
            yield from untold()
            covered = ranges_of(source.erasures(head)[:told])
        yield event
    yield from untold()
    yield from source.captures(head)


def receive(target: Store, origin: Origin, parts: Iterable[Part], *, name: str | None = None) -> Moved:
    """Stores a stream's events, erasures and notes of captures as they come; what is here already is known.

    Raises `BadInput` where a part is another than the one that is here, or does not follow from those before it, and
    `NameTaken`; what came before stays.
    """
    there = target.by_uuid(origin.uuid)
    receiver = _Receiver(target, origin, there, name or origin.name)
    try:
        for kind, batch in _batches(parts):
            with target.transaction() as transaction:
                receiver.take(transaction, kind, batch)
    except RecorderError:
        with suppress(RecorderError), target.transaction() as transaction:
            receiver.erase(transaction)
        raise
    with target.transaction() as transaction:
        receiver.end(transaction)
    head = receiver.writer.required_head
    new = head.last_seq - (there.last_seq if there is not None else 0)
    status: Literal["stored", "extended", "known"] = "stored" if there is None else "extended"
    if there is not None and not new and not receiver.erasures:
        status = "known"
    return Moved(
        stream=head.name,
        status=status,
        events=new,
        last_seq=head.last_seq,
        erasures=receiver.erasures,
        remains=target.scrub() if receiver.erasures else None,
    )


class _Receiver:
    """Stores what comes of one stream, a batch a transaction. Whatever raises, nothing more is to be given to it."""

    def __init__(self, target: Store, origin: Origin, there: StreamHead | None, name: str) -> None:
        self._origin = origin
        self.writer = StreamWriter(target, name, head=there, parent=None, parent_seq=None)
        self.erasures = 0
        """How many were new."""
        self._waiting = target.erasures(there) if there is not None else []
        """Erasures that are here, and behind them those that came: they wait for all the events that they name."""
        self._here = len(self._waiting)

    def take(self, transaction: Transaction, kind: type, batch: Sequence[Part]) -> None:
        """Stores parts of one kind. Raises `BadInput`, `NameTaken`."""
        head = self.writer.head = self.writer.head or self._made(transaction)
        if kind is Event:
            self._take_events(transaction, head, [each for each in batch if isinstance(each, Event)])
        elif kind is Erasure:
            for each in batch:
                assert isinstance(each, Erasure)
                self._take_erasure(head, each)
        else:
            self.erase(transaction)
            self._take_captures(transaction, head, [each for each in batch if isinstance(each, Capture)])

    def end(self, transaction: Transaction) -> None:
        """Told when all has come. Raises `BadInput`, `NameTaken`."""
        self.writer.head = self.writer.head or self._made(transaction)
        self.erase(transaction)
        if self._here < len(self._waiting):
            raise BadInput(f"stream {self.writer.head.name!r} ends before the events of its erasure {self._here + 1}")

    def erase(self, transaction: Transaction) -> None:
        """Applies the erasures that came, as far as all events that they name are here."""
        head, last = self.writer.required_head, self.writer.last_seq
        new = list(takewhile(lambda each: each.last_seq <= last, self._waiting[self._here :]))
        for erasure in new:
            transaction.adopt_erasure(head, erasure)
        if new:
            recompute(transaction, head)
        self._here += len(new)
        self.erasures += len(new)

    def _made(self, transaction: Transaction) -> StreamHead:
        try:
            return transaction.create_stream(
                self.writer.stream,
                uuid=self._origin.uuid,
                created_at=self._origin.created_at,
                parent=self._origin.parent,
                parent_seq=self._origin.parent_seq,
            )
        except NameTaken:
            raise NameTaken(
                f"another stream has the name {self.writer.stream!r} there: give one of the two another (rec rename)"
            ) from None

    def _take_events(self, transaction: Transaction, head: StreamHead, events: Sequence[Event]) -> None:
        covered = ranges_of(self._waiting)
        for event in events:
            if event.erased and not is_within(event.seq, covered):
                raise BadInput(f"stream {head.name!r}: event {event.seq} has no content, and no erasure says why")
        self.writer.adopt_in(transaction, events)

    def _take_erasure(self, head: StreamHead, erasure: Erasure) -> None:
        if 1 <= erasure.erasure <= self._here:
            if erasure.hash != self._waiting[erasure.erasure - 1].hash:
                raise BadInput(
                    f"stream {head.name!r} was erased here in another way than there: what is here stays; erase here"
                    " too what is erased there"
                )
            return
        previous = self._waiting[-1].hash if self._waiting else GENESIS
        if not follows(erasure, previous, head.uuid, len(self._waiting) + 1):
            raise BadInput(f"stream {head.name!r}: erasure {erasure.erasure} does not follow from those before it")
        self._waiting.append(erasure)

    def _take_captures(self, transaction: Transaction, head: StreamHead, captures: Sequence[Capture]) -> None:
        """A note says how much of a source is in the stream: one of more than is here would lose the rest."""
        known = {each.capture: each for each in transaction.captures(head)}
        for capture in captures:
            here = known.get(capture.capture)
            is_further = here is None or (capture.last_seq, capture.complete) > (here.last_seq, here.complete)
            if is_further and capture.last_seq <= self.writer.last_seq:
                transaction.save_capture(head, capture)


def _batches(parts: Iterable[Part]) -> Iterator[tuple[type, list[Part]]]:
    """Parts of one kind at a time, as many as fit into memory. Raises what the parts raise, behind those that came."""
    batch: list[Part] = []
    size, error = 0, None
    try:
        for part in parts:
            if batch and (type(part) is not type(batch[0]) or len(batch) == _BATCH_EVENTS or size >= _BATCH_BYTES):
                yield type(batch[0]), batch
                batch, size = [], 0
            batch.append(part)
            size += len(part.body) + len(part.frame or b"") if isinstance(part, Event) else 0
    except RecorderError as raised:
        error = raised
    if batch:
        yield type(batch[0]), batch
    if error is not None:
        raise error
