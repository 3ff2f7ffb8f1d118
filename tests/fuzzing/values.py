"""JSON values changed in one place: another type, a hostile value, another id."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

Path = tuple[str | int, ...]

IDENTITY = frozenset(
    {
        *("id", "index", "call_id", "item_id", "response_id", "tool_call_id", "tool_use_id", "toolUseId", "responseId"),
        *("output_index", "content_index", "contentBlockIndex", "interaction_id", "event_id", "run_id", "parent_ids"),
        *("object", "type", "event", "role", "name", "status", "mode", "method", "namespace", "choice"),
    }
)
"""Members that say whose a frame is and what it is."""
ENDS = frozenset(
    {
        *("finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason", "doneReason", "done", "status"),
        *("completionReason", "is_finished", "chunk_position", "turnComplete", "reason"),
    }
)
"""Members that say that an answer is at its end, and why."""
KINDS = frozenset({"type", "event", "event_type", "object"})
"""Members that name what happened: an end, among others."""
STATUSES = ("completed", "incomplete", "failed", "cancelled", "in_progress", "requires_action")
REASONS = {
    "stop_reason": ("end_turn", "tool_use", "max_tokens", "refusal"),
    "stopReason": ("end_turn", "tool_use", "max_tokens", "guardrail_intervened"),
    "status": STATUSES,
    "done_reason": ("stop", "length", "load"),
}
"""Words for why an answer stopped, by the member that has them; others have those below."""
LOUD_REASONS = ("STOP", "COMPLETE", "MAX_TOKENS", "MAX_TOKENS", "ERROR", "SAFETY", "REASON_STOP", "REASON_MAX_LEN")
QUIET_REASONS = ("stop", "tool_calls", "length", "content_filter", "error", "null", "last")
EVENTS = (
    *("message_stop", "message-end", "response.completed", "response.done", "interaction.completed", "message-finish"),
    *("error", "done", "comment", "partial", "damaged", "http.request", "http.response", "http.end", "http.error"),
)
_LONGEST = 100_000


def paths(value: Any, at: Path = ()) -> Iterator[Path]:
    """Where something stands in the value; the value itself is at the empty path."""
    yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from paths(inner, (*at, key))


def at(value: Any, path: Path) -> Any:
    """What stands there."""
    for key in path:
        value = value[key]
    return value


def replaced(value: Any, path: Path, new: Any) -> Any:
    """A copy of the value in which something else stands there."""
    if not path:
        return new
    value = copy.deepcopy(value)
    at(value, path[:-1])[path[-1]] = new
    return value


def without(value: Any, path: Path) -> Any:
    """A copy of the value in which nothing stands there."""
    value = copy.deepcopy(value)
    del at(value, path[:-1])[path[-1]]
    return value


def hostile(rng: random.Random) -> Any:
    """A value that nobody should send."""
    return rng.choice(
        [
            *(None, True, False, 0, -1, 1, 2, 1.5, -0.0, 1 << 53, 1 << 63, -(1 << 63), 1 << 70, 10**400),
            *(float("nan"), float("inf"), float("-inf"), 1e308),
            *(
                "",
                " ",
                "x",
                "0",
                "null",
                "{}",
                "[DONE]",
                "\ud83d",
                "a\udc00b",
                "\x00",
                "\u2028",
                "\ufeff",
                "é\r\n\r\nb",
            ),
            *("ERROR", "length", "stop", "done", "http.end", "assistant", "tool", '{"a":1}', '{"a":', "'", "%s", "NaN"),
            *([], [[]], [None], ["x"], [{}], [{"type": "text", "text": 1}], {}, {"x": {"y": 1}}, {"": None}),
            *({"\ud83d": "\ud83d"}, {"type": "tool_use"}, {"id": 1}, {"id": None, "index": "0"}),
            _nested(rng.choice([20, 150, 199, 201, 1200])),
            rng.choice(["x", "é", "{", '"', "\\", "\ud83d", "😀"]) * rng.choice([1000, _LONGEST]),
        ]
    )


def bitten(rng: random.Random, text: str) -> str:
    """The text with something put into it, in place of a piece or of nothing."""
    start = rng.randrange(len(text) + 1)
    put = rng.choice(["", "\ud83d", "\ud83d", "\x00", '"', "\\", "{", "}", "}", "é", "\u2028", '","x":"', ":", "1"])
    return text[:start] + put + text[start + rng.choice([0, 0, 1, 5]) :]


def encoded(rng: random.Random, value: Any) -> bytes:
    """The value as JSON in one of its spellings; NaN, and lone surrogates as bytes that are no UTF-8, may be in it."""
    try:
        text = json.dumps(value, ensure_ascii=rng.random() < 0.5, separators=rng.choice([None, (",", ":")]))
    except (RecursionError, ValueError):
        text = "[" * 1200 + "]" * 1200
    return text.encode("utf-8", "surrogatepass")


def _nested(depth: int) -> Any:
    value: Any = "deep"
    for level in range(depth):
        value = {"a": value} if level % 2 else [value]
    return value
