"""Whatever is appended, in whatever order and by whom, the log is what a list would be."""

from __future__ import annotations

from contextlib import suppress
from itertools import count

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from recorder.errors import Conflict, IdentityClash
from recorder.events import NewEvent
from recorder.store import Position, Store, Transaction, open_store
from tests.store.made import chain_is_whole, event, eventually

STREAMS = st.sampled_from("abc")
BATCHES = st.builds(
    lambda first, number, spoiled: [
        event(place, b"spoiled" if place == spoiled else b"%d" % place) for place in range(first, first + number)
    ],
    st.integers(1, 12),
    st.integers(0, 5),
    st.integers(-12, 16),
)
EXPECTED = st.none() | st.integers(0, 16)


class Model:
    """A stream as a list: ids and bodies in their order, None for a body that was erased."""

    def __init__(self) -> None:
        self.stored: list[tuple[bytes, bytes | None]] = []

    def append(self, batch: list[NewEvent], expected: int | None) -> str | tuple[str, int, int]:
        """What the store must answer."""
        bodies = dict(self.stored)
        known = [each for each in batch if each.event_id in bodies]
        if any(bodies[each.event_id] not in (None, each.body) for each in known):
            return "clash"
        ids = [event_id for event_id, _ in self.stored]
        if not batch:
            return ("known", len(ids) + 1, len(ids))
        first = ids.index(known[0].event_id) if known else len(ids)
        if known != batch[: len(known)] or [each.event_id for each in known] != ids[first : first + len(known)]:
            return f"conflict at {len(ids)}"
        rest = batch[len(known) :]
        if not rest:
            return ("known", first + 1, first + len(known))
        if expected is not None and len(ids) != expected + len(known):
            return f"conflict at {len(ids)}"
        self.stored += [(each.event_id, each.body) for each in rest]
        return ("stored", first + 1 if known else len(ids) + 1, len(self.stored))


class Log(RuleBasedStateMachine):
    """Three streams, through one store at a time."""

    database = ""
    numbers = count()

    def __init__(self) -> None:
        super().__init__()
        self.store: Store = open_store(self.database)
        self.models = {name: Model() for name in "abc"}
        self.example = next(self.numbers)
        newest = self.store.newest_appends(1)
        self.began = newest[0].position if newest else Position()

    def name(self, stream: str) -> str:
        return f"{self.example}-{stream}"

    @initialize()
    def begin(self) -> None:
        with self.store.transaction() as transaction:
            for stream in self.models:
                transaction.create_stream(self.name(stream))

    def _append(self, transaction: Transaction, stream: str, batch: list[NewEvent], expected: int | None) -> None:
        head = transaction.head(self.name(stream))
        assert head is not None
        try:
            receipt = transaction.append(head, batch, expected)
            found: object = (receipt.status, receipt.first_seq, receipt.last_seq)
        except Conflict as conflict:
            found = f"conflict at {conflict.actual}"
        except IdentityClash:
            found = "clash"
        assert found == self.models[stream].append(batch, expected)

    @rule(stream=STREAMS, batch=BATCHES, expected=EXPECTED)
    def append(self, stream: str, batch: list[NewEvent], expected: int | None) -> None:
        with self.store.transaction() as transaction:
            self._append(transaction, stream, batch, expected)

    @rule(stream=STREAMS, batch=BATCHES)
    def append_what_fits(self, stream: str, batch: list[NewEvent]) -> None:
        self.append(stream, batch, len(self.models[stream].stored))

    @rule(parts=st.lists(st.tuples(STREAMS, BATCHES, EXPECTED), max_size=4))
    def append_to_several(self, parts: list[tuple[str, list[NewEvent], int | None]]) -> None:
        with self.store.transaction() as transaction:
            for stream, batch, expected in parts:
                self._append(transaction, stream, batch, expected)

    @rule(stream=STREAMS, batch=BATCHES)
    def take_back(self, stream: str, batch: list[NewEvent]) -> None:
        with suppress(RuntimeError, Conflict, IdentityClash), self.store.transaction() as transaction:
            transaction.append(self.store.head(self.name(stream)), batch)
            raise RuntimeError

    @rule(stream=STREAMS, gone=BATCHES, kept=BATCHES)
    def take_a_part_back(self, stream: str, gone: list[NewEvent], kept: list[NewEvent]) -> None:
        with self.store.transaction() as transaction:
            with suppress(RuntimeError, Conflict, IdentityClash), transaction.nested():
                transaction.append(self.store.head(self.name(stream)), gone)
                raise RuntimeError
            self._append(transaction, stream, kept, None)

    @rule(stream=STREAMS, first=st.integers(1, 6), number=st.integers(1, 3))
    def erase(self, stream: str, first: int, number: int) -> None:
        stored = self.models[stream].stored
        last = min(first + number - 1, len(stored))
        if first > last:
            return
        with self.store.transaction() as transaction:
            transaction.erase(self.store.head(self.name(stream)), first, last, "asked for")
        stored[first - 1 : last] = [(event_id, None) for event_id, _ in stored[first - 1 : last]]

    @rule()
    def open_again(self) -> None:
        self.store.close()
        self.store = open_store(self.database)

    def teardown(self) -> None:
        with self.store as store:
            heads = {stream: store.head(self.name(stream)) for stream in self.models}
            for stream, head in heads.items():
                stored = [(each.event_id, None if each.erased else each.body) for each in store.events(head)]
                assert stored == self.models[stream].stored
                assert chain_is_whole(store, head.name)
            wanted = {head.stream_id: list(range(1, head.last_seq + 1)) for head in heads.values() if head.last_seq}
            assert eventually(lambda: self._ranges(store, {head.stream_id for head in heads.values()}) == wanted)

    def _ranges(self, store: Store, own: set[int]) -> dict[int, list[int]]:
        """The events of the example's streams in the order of the tail."""
        found: dict[int, list[int]] = {}
        place = self.began
        while batch := store.appended(place, 3):
            for each in batch:
                if each.stream_id not in own:
                    continue
                found.setdefault(each.stream_id, []).extend(range(each.first_seq, each.last_seq + 1))
            place = batch[-1].position
        return found


def test_the_log_is_what_a_list_would_be(database: str) -> None:
    machine = type("Log", (Log,), {"database": database})
    run_state_machine_as_test(
        machine,
        settings=settings(max_examples=30, stateful_step_count=20, suppress_health_check=list(HealthCheck)),
    )
