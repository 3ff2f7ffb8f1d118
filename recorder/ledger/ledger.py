"""The ledger: append and project in one transaction, the state at any event, rebuild."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from recorder.errors import OutOfRange, UnknownStream
from recorder.events import Event
from recorder.ledger import snapshots
from recorder.ledger.last_message import last_message as last_message_of
from recorder.ledger.last_message import narrowed
from recorder.ledger.projector import VERSION, Projector
from recorder.ledger.state import (
    ClosedParts,
    State,
    closed_message,
    gathered_as,
    in_order,
    known_finding,
    known_tool_message,
    pairing_rows,
)
from recorder.ledger.writer import StreamWriter, rebuild
from recorder.projections import render
from recorder.projections.fold import Gathering
from recorder.store import Store, StreamHead, open_store


class Ledger:
    """A database of streams. Open it with `recorder.open`, close it or use it as a context manager."""

    def __init__(self, store: Store) -> None:
        self.store = store

    @classmethod
    def open(
        cls, database: str | Path, *, create: bool = True, readonly: bool = False, patience: float | None = None
    ) -> Ledger:
        """Opens a database, a new one if there is none and `create` is true; see `recorder.store.open_store`.

        Raises `DatabaseUnusable` where it cannot be opened as asked, `SchemaMismatch` where a newer program made it.
        """
        return cls(open_store(database, create=create, readonly=readonly, patience=patience))

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        self.store.close()

    # Reading

    def streams(self) -> list[StreamHead]:
        """All streams, the oldest first."""
        return self.store.streams()

    def head(self, stream: str) -> StreamHead:
        """The stream of that name; `latest` is the one that was appended to last. Raises `UnknownStream`."""
        found = self.store.find(stream)
        if found is None and stream == "latest":
            found = self.store.latest()
        return found if found is not None else self.store.head(stream)

    def find(self, stream: str) -> StreamHead | None:
        """The stream of exactly that name, None where there is none."""
        return self.store.find(stream)

    def events(self, stream: str, first: int = 1, last: int | None = None) -> Iterator[Event]:
        """Events `first` to `last` (both included; None: to the end), read in small batches."""
        yield from self.store.events(self.head(stream), first, last)

    def state(
        self,
        stream: str,
        n: int | None = None,
        *,
        gather: Gathering = "default",
        last_message: bool = False,
    ) -> State:
        """The state after event `n` (None: the last one; 0: before the first).

        `gather` picks the reading of the calls. `last_message` narrows the state to the message opened last, with the
        tool messages and pairings of its calls; its cost does not grow with the stream. Raises `UnknownStream`,
        `OutOfRange`, `ProjectionFailed`.
        """
        head = self.head(stream)
        at = head.last_seq if n is None else n
        if not 0 <= at <= head.last_seq:
            raise OutOfRange(f"stream {head.name!r} has events 1 to {head.last_seq}: there is no state at {at}")
        projected = gather == "default" and head.stale is None and head.projection == VERSION
        if not last_message:
            return self._from_snapshot(head, at) if projected else self._from_start(head, at, gather)
        found = last_message_of(self.store, head, at, self._reading(head)) if projected else None
        return found if found is not None else narrowed(self._from_start(head, at, gather))

    def calls(self, stream: str, n: int | None = None) -> list[dict[str, Any]]:
        """The calls of the state after event `n`, in order."""
        return self.state(stream, n).calls

    def sql(
        self, query: str, parameters: Sequence[object] | Mapping[str, object] = ()
    ) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
        """Column names and rows of a read-only query. Raises `QueryRefused` where it is wrong or would write."""
        return self.store.query(query, parameters)

    def _from_start(self, head: StreamHead, at: int, gather: Gathering) -> State:
        closed = ClosedParts()
        projector = Projector(gathering=gather, observer=closed)
        projector.advance(self.store.events(head, 1, at))
        return self._state(head, at, gather, projector, closed)

    def _from_snapshot(self, head: StreamHead, at: int) -> State:
        base = snapshots.load(self.store, head, at, VERSION)
        if base is None:
            return self._from_start(head, at, "default")
        closed = ClosedParts()
        until = base.open_state.fold.at
        closed.messages = [closed_message(row) for row in self.store.rows(head, "message_states", until=until)]
        closed.findings = [known_finding(row) for row in self.store.rows(head, "findings", until=until)]
        closed.tool_messages = [known_tool_message(row) for row in self.store.rows(head, "tool_messages", until=until)]
        projector = Projector(open_state=base.open_state, pairings=base.pairings, observer=closed)
        projector.advance(self.store.events(head, until + 1, at))
        return self._state(head, at, "default", projector, closed)

    def _state(self, head: StreamHead, at: int, gather: Gathering, projector: Projector, closed: ClosedParts) -> State:
        fold = projector.fold
        messages = in_order(closed.messages + [render.message(message) for message in fold.state.messages.shown])
        return State(
            stream=head.name,
            at=at,
            of=head.last_seq,
            gather=gathered_as(messages, self._reading(head) if gather == "default" else gather),
            messages=messages,
            tool_messages=closed.tool_messages,
            pairings=pairing_rows(fold.pairings) if fold.pairings is not None else [],
            findings=closed.findings,
        )

    def _reading(self, head: StreamHead) -> str:
        """What `default` means for the stream as long as it has no message: it goes by the layer of its first event."""
        first = next(self.store.events(head, 1, 1), None)
        return "langchain" if first is not None and first.layer == "framework" else "wire"

    # Writing

    def writer(self, stream: str, *, parent: str | None = None, parent_seq: int | None = None) -> StreamWriter:
        """A writer of one stream, made with its first append if there is none of that name."""
        return StreamWriter(self.store, stream, head=self.find(stream), parent=parent, parent_seq=parent_seq)

    def rename(self, stream: str, name: str) -> None:
        """Gives a stream another name. Raises `UnknownStream`, `NameTaken`."""
        head = self.head(stream)
        with self.store.transaction() as transaction:
            transaction.rename(head, name)

    def rebuild(self, stream: str) -> int:
        """Computes read model and snapshots of a stream anew, in one transaction; gives the number of its events."""
        head = self.head(stream)
        with self.store.transaction() as transaction:
            current = transaction.head(head.name)
            if current is None:
                raise UnknownStream(f"stream {head.name!r} is gone")
            rebuild(transaction, current)
            return current.last_seq
