"""Small recordings, and what a stream made of them holds."""

from __future__ import annotations

import json
from typing import Any

from recorder.ledger import Ledger
from recorder.replay import emit
from recorder.replay.emit import Form


def chunk(
    *,
    content: str | None = None,
    id: str | None = None,
    name: str | None = None,
    args: str | None = None,
    finish: str | None = None,
) -> str:
    """One chat completion chunk, as JSON; `args` (with `id` and `name`) makes it a piece of call 0."""
    delta: dict[str, Any] = {} if content is None else {"content": content}
    if args is not None:
        function = {"name": name, "arguments": args} if name is not None else {"arguments": args}
        delta["tool_calls"] = [{"index": 0, "function": function} | ({"id": id} if id is not None else {})]
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return json.dumps({"object": "chat.completion.chunk", "choices": [choice]}, separators=(",", ":"))


CALL = (chunk(id="c1", name="add", args=""), chunk(args='{"a": 1'), chunk(args="}"), chunk(finish="tool_calls"))
"""An answer that streams one call."""


def sse(*payloads: str | bytes) -> bytes:
    return b"".join(b"data: " + _bytes(payload) + b"\n\n" for payload in payloads)


def ndjson(*payloads: str | bytes) -> bytes:
    return b"".join(_bytes(payload) + b"\n" for payload in payloads)


def _bytes(payload: str | bytes) -> bytes:
    return payload if isinstance(payload, bytes) else payload.encode()


def emitted(ledger: Ledger, stream: str, form: Form) -> bytes:
    return b"".join(emit(ledger, stream, form))


def calls(ledger: Ledger, stream: str) -> list[tuple[Any, ...]]:
    """The calls of a stream as they are at its end: what must not depend on how it was captured."""
    return [(call["id"], call["name"], call["raw"], call["value"], call["state"]) for call in ledger.calls(stream)]


def captures(ledger: Ledger, stream: str) -> list[tuple[int, int, int, bool]]:
    """First and last event, bytes, and whether the source ended, of each capture into the stream."""
    head = ledger.head(stream)
    return [(found.first_seq, found.last_seq, found.bytes, found.complete) for found in ledger.store.captures(head)]
