"""Small made-up responses: items and the events that stream them."""

from __future__ import annotations

import json
from typing import Any

from tests.streams import events_of, state_of

Value = dict[str, Any]
CREATED = {"type": "response.created", "response": {"id": "resp_1", "object": "response", "model": "m1"}}


def event(kind: str, index: int | None = None, id: str | None = None, **fields: Any) -> Value:
    """`response.{kind}`, of the item with this output index and id."""
    place = {"output_index": index, "item_id": id}
    return {"type": f"response.{kind}", **{key: value for key, value in place.items() if value is not None}, **fields}


def added(index: int | None, item: Value) -> Value:
    return event("output_item.added", index, item=item)


def done(index: int | None, item: Value) -> Value:
    return event("output_item.done", index, item={"status": "completed", **item})


def ended(*output: Value, kind: str = "completed", **fields: Any) -> Value:
    """The response as it is in the end."""
    response = {"id": "resp_1", "object": "response", "status": kind, "output": list(output), **fields}
    return {"type": f"response.{kind}", "response": response}


def call(call_id: str, arguments: str = "", name: str = "get", **fields: Any) -> Value:
    """A function call whose item is `fc_{call_id}`."""
    return {
        "type": "function_call",
        "id": f"fc_{call_id}",
        "call_id": call_id,
        "name": name,
        "arguments": arguments,
        **fields,
    }


def message(text: str | None = None, id: str = "msg_1", **part: Any) -> Value:
    parts = [] if text is None else [{"type": "output_text", "text": text, "annotations": [], **part}]
    return {"type": "message", "id": id, "role": "assistant", "content": parts}


def arguments(index: int, id: str, *pieces: str) -> list[Value]:
    return [event("function_call_arguments.delta", index, f"fc_{id}", delta=piece) for piece in pieces]


def text(index: int, *pieces: str, id: str = "msg_1") -> list[Value]:
    return [event("output_text.delta", index, id, content_index=0, delta=piece) for piece in pieces]


def state(*frames: Value, n: int | None = None, gathering: Any = "default") -> Value:
    """The state that a dump of these frames has after its first `n`."""
    dump = "".join(f"data: {json.dumps(frame)}\n\n" for frame in frames).encode()
    return state_of(events_of(dump), n, gathering)


def calls(*frames: Value, n: int | None = None, gathering: Any = "default") -> list[tuple[Any, ...]]:
    """Id, name, raw arguments and state of each call."""
    found = state(*frames, n=n, gathering=gathering)["messages"]
    return [(each["id"], each["name"], each["raw"], each["state"]) for message in found for each in message["calls"]]


def blocks(*frames: Value) -> list[Value]:
    """The blocks of the one message."""
    (found,) = state(*frames)["messages"]
    return list(found["blocks"])


def rules(*frames: Value) -> list[str]:
    return [finding["rule"] for finding in state(*frames)["findings"]]
