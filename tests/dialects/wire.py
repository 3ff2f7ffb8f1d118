"""What the tests of dialects share: frames become events, events are decoded, states go through MessagePack."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from recorder.deltas import AnyDelta, Finding
from recorder.dialects.base import END, PARTIAL, REQUEST, RESPONSE, Dialect
from recorder.events import NewEvent
from recorder.events.jsontext import NotJson, decode
from recorder.sources import EventstreamReader, JsonArrayReader

RUN = "run-1"
D = TypeVar("D")


def event(
    dialect: Dialect, kind: str, body: bytes = b"", *, meta: dict[str, Any] | None = None, run_id: str | None = RUN
) -> NewEvent:
    return NewEvent(
        event_id=bytes(16),
        dialect=dialect.name,
        layer=dialect.layer,
        kind=kind,
        body=body,
        framing="{body}",
        arrived_at=0,
        run_id=run_id,
        meta=None if meta is None else json.dumps(meta).encode(),
    )


def frame(dialect: Dialect, body: object, event_name: str | None = None) -> NewEvent:
    """The event of a frame: bytes or text as they are, any other value as JSON."""
    data = body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else json.dumps(body).encode()
    try:
        value = decode(data)
    except NotJson:
        value = data.decode("utf-8", "replace")
    envelope = dialect.envelope(value, event_name)
    return event(dialect, envelope.kind, data, run_id=envelope.run_id or RUN)


def request(dialect: Dialect, body: object, url: str = "https://api.example/v1/x") -> NewEvent:
    return event(dialect, REQUEST, json.dumps(body).encode(), meta={"method": "POST", "url": url})


def response(dialect: Dialect, status: int = 200) -> NewEvent:
    return event(dialect, RESPONSE, meta={"status": status})


def end(dialect: Dialect) -> NewEvent:
    return event(dialect, END)


def partial(dialect: Dialect, body: bytes) -> NewEvent:
    return event(dialect, PARTIAL, body)


def decode_events(dialect: Dialect, events: Iterable[NewEvent]) -> list[AnyDelta]:
    """All deltas of the events, in order; between any two events the state is kept in a snapshot and read again."""
    state, deltas = dialect.start(), []
    for each in events:
        state, said = dialect.step(state, each)
        deltas.extend(said)
        state = msgspec.msgpack.decode(msgspec.msgpack.encode(state), type=dialect.state)
    return deltas


def decode_frames(dialect: Dialect, *bodies: object) -> list[AnyDelta]:
    return decode_events(dialect, [frame(dialect, body) for body in bodies])


def of(kind: type[D], deltas: Iterable[object]) -> list[D]:
    return [delta for delta in deltas if isinstance(delta, kind)]


def rules(deltas: Iterable[object]) -> list[str]:
    return [finding.rule for finding in of(Finding, deltas)]


def sse(path: Path) -> Iterator[tuple[str | None, str]]:
    """The event names and data of an SSE file, of AWS's messages, an array's elements, or the lines of a file."""
    if path.suffix == ".bin":
        for each in EventstreamReader().feed(path.read_bytes()):
            yield each.event, each.body.decode()
        return
    if path.suffix == ".json":
        yield from ((None, each.body.decode()) for each in JsonArrayReader().feed(path.read_bytes()))
        return
    text = path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")
    if path.suffix != ".sse":
        yield from ((None, line) for line in text.split("\n") if line.strip())
        return
    for block in text.split("\n\n"):
        fields = [line.partition(":") for line in block.split("\n")]
        data = [value.removeprefix(" ") for name, _, value in fields if name == "data"]
        if data:
            yield next((value.strip() for name, _, value in fields if name == "event"), None), "\n".join(data)
