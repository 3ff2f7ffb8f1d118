"""Small made-up streams: values as lines of JSON, and conversations of several exchanges as events."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from msgspec import structs

from recorder.dialects import Dialect
from recorder.events import Event
from recorder.events.ids import derived_event_id
from tests.dialects.wire import end, frame, request, response
from tests.streams import STREAM, events_of, state_of, stored


def lines(values: Iterable[Any]) -> bytes:
    """One JSON value a line."""
    return "".join(json.dumps(value) + "\n" for value in values).encode()


def state(values: Iterable[Any], n: int | None = None) -> dict[str, Any]:
    """The state that a dump of these values has after its first `n` lines; its dialect is told by itself."""
    return state_of(events_of(lines(values)), n)


def conversation(dialect: Dialect, *exchanges: tuple[Any, list[Any]]) -> list[Event]:
    """The events of exchanges, each a request's body and the frames of its answer."""
    events = []
    for number, (body, frames) in enumerate(exchanges, 1):
        parts = [request(dialect, body), response(dialect), *(frame(dialect, each) for each in frames), end(dialect)]
        events += [structs.replace(part, run_id=f"run-{number}") for part in parts]
    return [
        stored(structs.replace(event, event_id=derived_event_id(STREAM, seq)), seq)
        for seq, event in enumerate(events, 1)
    ]


def pairings(dialect: Dialect, *exchanges: tuple[Any, list[Any]]) -> list[tuple[Any, ...]]:
    """Id, name and status of each pairing, and the content of its answer, where it has one."""
    found = state_of(conversation(dialect, *exchanges))
    contents = {(each["seq"], each["tool_call_id"]): each["content"] for each in found["tool_messages"]}
    return [
        (row["call_id"], row["name"], row["status"], contents.get((row["answer_seq"], row["call_id"])))
        for row in found["pairings"]
    ]
