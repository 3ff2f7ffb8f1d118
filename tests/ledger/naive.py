"""A naive reading of exchanges: calls and results by ids alone, found by their shape wherever in the JSON they stand.

It knows nothing of dialects, deltas or projections: what it counts is what the pairings of the same events are checked
against.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field

from recorder.events import Event

CONVERSATION = ("messages", "input", "contents", "chat_history", "tool_results")
"""Where a request carries what was said before: what it says of its tools is no conversation."""
RESPONSES_CALLS = {
    "function_call",
    "custom_tool_call",
    "computer_call",
    "local_shell_call",
    "shell_call",
    "apply_patch_call",
    "tool_search_call",
}
RESULTS = {"functionResponse": "gemini", "function_response": "gemini", "toolResult": "converse"}


class Naive(Struct):
    """What a stream's requests and answers say. A call without an id goes by its name."""

    called: set[str] = field(default_factory=set)
    """Ids of calls in answers and histories so far."""
    answered: dict[str, bool] = field(default_factory=dict)
    """Ids of tool results, and whether a call with that id had been seen when the result came."""
    most: Counter[str] = field(default_factory=Counter)
    """How many results with an id one request has, at most."""
    shapes: dict[str, str] = field(default_factory=dict)
    """Whose shape each result has."""

    def read(self, event: Event) -> None:
        value = value_of(event.body)
        if event.kind != "http.request":
            self.called.update(id for id in calls_in(value) if id)
            return
        here: Counter[str] = Counter()
        told = value if isinstance(value, dict) else {}
        # The bodies of Bedrock's and Google's proxies hold the request one level deeper.
        told = told["request"] if isinstance(told.get("request"), dict) else told
        for part in entries_of([told[key] for key in CONVERSATION if key in told]):
            self.called.update(id for id in calls_of(part) if id)
            for shape, id in results_of(part):
                here[id] += 1
                self.answered.setdefault(id, id in self.called)
                self.shapes.setdefault(id, shape)
        self.most |= here


def value_of(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None


def entries_of(value: Any) -> Iterator[dict[str, Any]]:
    """Every object in the value, outer before inner, in the order in which they stand."""
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from entries_of(item)


def calls_in(value: Any) -> Iterator[str]:
    for part in entries_of(value):
        yield from calls_of(part)


def calls_of(part: dict[str, Any]) -> Iterator[str]:
    """The id (or the name) of the call that the object itself is or holds."""
    kind = part.get("type")
    of_chat = isinstance(part.get("function"), dict) and "arguments" in part["function"]
    if of_chat or (isinstance(kind, str) and kind.endswith(("tool_use", "mcp_approval_request"))):
        yield part.get("id") or ""
    elif kind in RESPONSES_CALLS:
        yield part.get("call_id") or ""
    for key in ("functionCall", "function_call", "toolUse"):
        if isinstance(call := part.get(key), dict):
            yield call.get("id") or call.get("toolUseId") or call.get("name") or ""


def results_of(part: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The shape and the id (or the name) of the client's result that the object itself is or holds."""
    kind = part.get("type")
    if part.get("role") == "tool":
        yield "chat", part.get("tool_call_id") or part.get("name") or part.get("tool_name") or ""
    elif kind == "tool_result":
        yield "anthropic", part["tool_use_id"]
    elif isinstance(kind, str) and kind.endswith("_output") and "call_id" in part:
        yield "responses", part["call_id"]
    elif kind == "mcp_approval_response":
        yield "responses", part["approval_request_id"]
    for key, shape in RESULTS.items():
        if isinstance(result := part.get(key), dict):
            yield shape, result.get("id") or result.get("toolUseId") or result.get("name") or ""
