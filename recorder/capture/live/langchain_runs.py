"""LangChain's runs while they are recorded: what their later events repeat, and who records them."""

from __future__ import annotations

from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

from recorder.capture.live.items import Taker
from recorder.capture.live.values import encode

MOST_RUNS = 10_000
"""Runs that are open at once, and runs that are remembered: one whose generator is dropped may never end."""
MOST_INPUTS = 32 * 1024 * 1024
"""Bytes of inputs that are kept for the ends of runs; beyond it an end comes without."""


class Run:
    """A run that has begun, as one handler hears of it."""

    __slots__ = (
        "calls",
        "copies",
        "given",
        "input",
        "is_told",
        "kind",
        "mine",
        "name",
        "parents",
        "run_id",
        "sink",
        "tail",
        "tool_call_id",
    )

    def __init__(self, sink: Taker, run_id: UUID, kind: str, parents: tuple[str, ...], mine: bool) -> None:
        self.sink = sink
        self.run_id = str(run_id)
        self.kind = kind
        """`chat_model`, `llm`, `chain`, `prompt`, `parser`, `tool`, `retriever`: a part of its events' names."""
        self.parents = parents
        """The ids of the runs around it, the root's first."""
        self.mine = mine
        """False where somebody else records it into the same sink."""
        self.name: str | None = None
        self.tail = b""
        """How the body of each of its events ends: run, name, tags, metadata, parents."""
        self.input: bytes | None = None
        self.is_told = False
        """Whether events of version v3 have told its message to the end."""
        self.tool_call_id: object = None
        self.given = 0
        """Identity of what it was started with, until its next event: by it a copy of the start is known."""
        self.copies = 1
        """How often the handler is in the run's list: it hears everything as often."""
        self.calls = 0

    def begin(self, name: str | None, tags: object, metadata: object) -> None:
        """Takes what all events of the run say."""
        self.name = name
        self.tail = self.tail_of(name, tags, metadata)

    def tail_of(self, name: str | None, tags: object, metadata: object) -> bytes:
        """The end of an event's body, behind its data."""
        return b',"run_id":"%b","name":%b,"tags":%b,"metadata":%b,"parent_ids":%b}' % (
            self.run_id.encode(),
            encode(name),
            encode(tags or []),
            encode(metadata or {}),
            encode(self.parents),
        )

    def is_repeated(self) -> bool:
        """Whether the event that comes now is a further copy of the one before. Counts it."""
        self.calls += 1
        return self.calls % self.copies != 1


class Owner:
    """Who records runs: a handler, or a reader of events. It holds neither of them."""

    __slots__ = ("handles", "open")

    def __init__(self, *, handles: bool) -> None:
        self.handles = handles
        """Whether it is a handler."""
        self.open: set[UUID] = set()
        """A handler's runs that have begun and not ended."""


class Book:
    """What is known of the runs in one sink, whoever records them."""

    def __init__(self) -> None:
        self.owners: dict[UUID, Owner] = {}
        """Who records a run, also when it is over; the oldest run first."""
        self._parents: dict[UUID, tuple[str, ...]] = {}

    def own(self, run_id: UUID, wanted: Owner) -> Owner:
        """Who records the run: who asks, where nobody did before."""
        owner = self.owners.setdefault(run_id, wanted)
        bound(self.owners)
        return owner

    def take_over(self, run_id: UUID, owner: Owner) -> None:
        self.owners.pop(run_id, None)
        self.own(run_id, owner)

    def parents_of(self, run_id: UUID, parent: UUID | None) -> tuple[str, ...]:
        """The runs around a run that begins, the root's first."""
        parents = () if parent is None else (*self._parents.get(parent, ()), str(parent))
        self._parents[run_id] = parents
        bound(self._parents)
        return parents


_books: WeakKeyDictionary[Taker, Book] = WeakKeyDictionary()


def book_of(sink: Taker) -> Book:
    """The book of a sink."""
    book = _books.get(sink)
    return _books.setdefault(sink, Book()) if book is None else book


def bound(remembered: dict[Any, Any]) -> None:
    """Forgets the oldest entries where there are too many."""
    while len(remembered) > MOST_RUNS:
        try:
            remembered.pop(next(iter(remembered)), None)
        except (StopIteration, RuntimeError):
            # Another thread did it.
            return
