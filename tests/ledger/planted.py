"""Recordings in which something is planted that can be found again wherever it is."""

from __future__ import annotations

from recorder.events import NewEvent
from recorder.store import Store
from tests.capture.made import chunk
from tests.store.made import select
from tests.streams import events_of


def needle(number: int, place: str) -> str:
    return f"needle-{number}-{place}-needle"


def planted(numbers: range, *, size: int = 0) -> list[bytes]:
    """For each number an answer that says it in its text, a call's id and arguments, and in what cannot be read."""
    frames: list[str] = []
    for number in numbers:
        frames += [
            chunk(content=needle(number, "text") + " " * size),
            chunk(id=needle(number, "id"), name="add", args='{"a": "'),
            chunk(args=needle(number, "args") + "x" * size),
            chunk(args='"}'),
            f'{{"broken {needle(number, "broken")}',
        ]
    return [frame.encode() for frame in [*frames, chunk(finish="tool_calls")]]


PLACES = ("text", "id", "args", "broken")
EACH = 5
"""Events for each number."""


def read_sse(content: bytes) -> list[NewEvent]:
    return list(events_of(content))


def dump(store: Store) -> str:
    """Everything that a query gives."""
    tables = ["events", "messages_all", "tool_calls_all", "tool_call_chunks_all", "pairings", "findings", "runs"]
    tables += ["rm_message_states", "log_snapshots", "log_captures"]
    rows = [row for table in tables for row in select(store, f"SELECT * FROM {table}")]
    return "\n".join(
        " ".join(each.decode("utf-8", "replace") if isinstance(each, bytes) else str(each) for each in row)
        for row in rows
    )
