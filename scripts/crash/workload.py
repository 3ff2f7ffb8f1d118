"""Events that need no memory: number N of a stream is the same for the writer that dies and for whoever checks."""

from __future__ import annotations

import json
from hashlib import sha256

from recorder.events import NewEvent

FRAMING = "data: {body}\n\n"
_CALL_EVENTS = 12
"""One streamed answer: a call, its arguments piece by piece, its finish."""


def batch_size(number: int) -> int:
    """How many events batch `number` (1, 2, 3 …) has."""
    return 1 + number * 7 % 13


def boundaries(last: int) -> list[int]:
    """The events that batches end with, up to `last` or just beyond."""
    ends, number = [0], 1
    while ends[-1] < last:
        ends.append(ends[-1] + batch_size(number))
        number += 1
    return ends


def batch(number: int, first: int, stream: str) -> list[NewEvent]:
    """Batch `number`, whose first event is `first`."""
    return [event(stream, seq) for seq in range(first, first + batch_size(number))]


def body(seq: int) -> bytes:
    """A frame of a chat completion, such as event `seq` holds."""
    step, call = seq % _CALL_EVENTS, f"call_{seq // _CALL_EVENTS:06d}"
    if step == 0:
        delta: dict[str, object] = {
            "tool_calls": [{"index": 0, "id": call, "function": {"name": "f", "arguments": ""}}]
        }
    elif step == _CALL_EVENTS - 1:
        return _frame(seq, {}, "tool_calls")
    else:
        text = '{"text": "' if step == 1 else '"}' if step == _CALL_EVENTS - 2 else f"piece {seq} "
        delta = {"tool_calls": [{"index": 0, "function": {"arguments": text}}]}
    return _frame(seq, delta, None)


def _frame(seq: int, delta: dict[str, object], reason: str | None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    chunk = {"id": f"c-{seq // _CALL_EVENTS}", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}
    return json.dumps(chunk).encode()


def event(stream: str, seq: int) -> NewEvent:
    return NewEvent(
        event_id=sha256(f"{stream} {seq}".encode()).digest()[:16],
        dialect="openai.chat",
        layer="wire",
        kind="chat.completion.chunk",
        body=body(seq),
        framing=FRAMING,
        arrived_at=1_700_000_000_000_000 + seq,
        run_id=f"run-{seq // _CALL_EVENTS}",
    )
