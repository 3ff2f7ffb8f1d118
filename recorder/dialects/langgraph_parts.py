"""What LangGraph streams, whatever it is wrapped in: a mode, the namespace of the graph that speaks, the data.

Source: langgraph's `stream` and `astream` (their modes, `subgraphs`, `version="v2"`), its and langchain-core's event
streams of version v3 (`langchain_protocol`), the server's SSE with its SDK's `StreamPart`, and JavaScript's alike:

- `[mode, data]`, with subgraphs `[[namespace…], mode, data]`, a dumped `StreamPart` `[event, data, id]`
- `{"type": mode, "ns": [namespace…], "data": …}`
- `{"type": "event", "method": mode, "params": {"namespace": […], "timestamp": ms, "data": …}}`
- `{"event": mode, "data": …}`, or an SSE event of that name; with subgraphs it is `mode|namespace|…`
- one mode alone: `[message, metadata]`, a state, a node's update, a task, a checkpoint, what a model streams (v3)
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from recorder.dialects.langchain_messages import message_of
from recorder.dialects.values import cleaned, dict_of, int_of, list_of, text_of

PROTOCOL = frozenset(
    {
        "message-start",
        "content-block-start",
        "content-block-delta",
        "content-block-finish",
        "message-finish",
    }
)
"""Events of one message's stream in version v3."""
TOOL_EVENTS = frozenset({"tool-started", "tool-output-delta", "tool-finished", "tool-error"})
SNAPSHOTS = ("messages/partial", "messages/complete", "messages/metadata")
"""The server's `messages` mode: messages as they are so far."""
MODES = frozenset(
    {"values", "updates", "messages", "tasks", "debug", "checkpoints", "custom", "tools", "lifecycle", *SNAPSHOTS}
)
"""Modes by which a stream is known. `custom:…` and `input.requested` come beside them."""
_YEAR_10000 = 253_402_300_800_000
_LANGGRAPH = ("langgraph_node", "langgraph_step", "langgraph_checkpoint_ns", "checkpoint_ns")
"""What LangGraph writes into the metadata of a message."""


class Part(Struct, frozen=True):
    """One thing that a graph or a model streamed."""

    mode: str
    data: Any
    namespace: tuple[str, ...] = ()
    """The subgraph that speaks, from the outside in, each as `node:task id`; empty for the root."""
    path: str = "$"
    """Where the data stands in the event's body, as a JSON path."""
    timestamp: int | None = None
    """Milliseconds since the epoch, where the stream has a clock."""


def part_of(value: Any, event_name: str | None) -> Part | None:
    """The part that a frame is: its JSON value and its SSE event name. None where it is none."""
    if event_name is not None and (found := _named(event_name)) is not None:
        return Part(found[0], value, found[1])
    if isinstance(value, list):
        return _listed(value) or _alone(value)
    if not isinstance(value, dict):
        return None
    return _enveloped(value) or _alone(value)


def is_known(part: Part) -> bool:
    """Whether a part can only be LangGraph's, or LangChain's v3: its data are such as its mode has."""
    if part.path != "$":
        return True
    match part.mode:
        case "messages":
            return is_protocol(part.data) or _is_pair(part.data)
        case "messages/partial" | "messages/complete":
            return isinstance(part.data, list) and all(message_of(item) is not None for item in part.data)
        case "tools":
            return "event" in dict_of(part.data)
        case "custom":
            return False
        case mode:
            return isinstance(part.data, dict) and mode in MODES


def is_protocol(data: Any) -> bool:
    """Whether the data are an event of v3 about one message."""
    return isinstance(data, dict) and text_of(data.get("event")) in PROTOCOL


def is_v3(part: Part) -> bool:
    """Whether only version v3 streams such a part."""
    data = part.data[0] if part.mode == "messages" and isinstance(part.data, list) and part.data else part.data
    return part.mode == "lifecycle" or part.path == "$.params.data" or is_protocol(data)


def task_of(segment: str | None) -> str | None:
    """The task's id in `node:task id`; None where there is none."""
    node, _, task = (segment or "").partition(":")
    return cleaned(task.partition(":")[0]) or None if node else None


def _named(name: str) -> tuple[str, tuple[str, ...]] | None:
    """Mode and namespace of an event name `mode|node:task|…`; None where it is no mode."""
    mode, *namespace = name.split("|")
    if mode in MODES or mode.startswith("custom:") or mode == "input.requested":
        return mode, tuple(namespace)
    return None


def _listed(value: list[Any]) -> Part | None:
    match value:
        case [str(mode), data] | [str(mode), data, str() | None]:
            found = _named(mode)
            return Part(found[0], data, found[1], "$[1]") if found is not None else None
        case [list(namespace), str(mode), data] if _is_namespace(namespace):
            found = _named(mode)
            return Part(found[0], data, _texts(namespace), "$[2]") if found is not None else None
        case _:
            return None


def _enveloped(value: dict[str, Any]) -> Part | None:
    kind = value.get("type")
    if kind == "event" and isinstance(method := value.get("method"), str):
        return _protocol_part(method, dict_of(value.get("params")))
    if "data" not in value:
        return None
    if isinstance(kind, str) and isinstance(value.get("ns"), list):
        mode = _named(kind)
        return Part(mode[0], value["data"], _texts(value["ns"]), "$.data") if mode is not None else None
    found = _named(text_of(value.get("event")) or "")
    return Part(found[0], value["data"], found[1], "$.data") if found is not None else None


def _protocol_part(method: str, params: dict[str, Any]) -> Part:
    return Part(
        mode=method,
        data=params.get("data"),
        namespace=_texts(list_of(params.get("namespace"))),
        path="$.params.data",
        timestamp=_milliseconds(params.get("timestamp")),
    )


def _milliseconds(value: Any) -> int | None:
    """A time that a clock can show, or None."""
    found = int_of(value)
    return found if found is not None and 0 <= found < _YEAR_10000 else None


def _alone(value: Any, namespace: tuple[str, ...] = (), path: str = "$") -> Part | None:
    """The part that the data of one mode are, where no mode is named: `stream_mode` was one mode, not a list."""
    if isinstance(value, list):
        if _is_pair(value):
            return Part("messages", value, namespace, path)
        if path == "$" and len(value) == 2 and _is_namespace(value[0]):
            return _alone(value[1], _texts(value[0]), "$[1]")
        return None
    if not isinstance(value, dict):
        return None
    if is_protocol(value):
        return Part("messages", value, namespace, path)
    if text_of(value.get("event")) in TOOL_EVENTS:
        return Part("tools", value, namespace, path)
    mode = _mode_of_object(value)
    return None if mode is None else Part(mode, value, namespace, path)


def _mode_of_object(value: dict[str, Any]) -> str | None:
    keys = value.keys()
    if {"step", "type", "payload"} <= keys and value["type"] in ("task", "task_result", "checkpoint"):
        return "debug"
    if {"id", "name", "triggers", "input"} <= keys or {"id", "name", "result", "interrupts"} <= keys:
        return "tasks"
    if {"config", "metadata", "values", "next"} <= keys:
        return "checkpoints"
    if _is_conversation(value.get("messages")):
        return "values"
    if "__interrupt__" in keys or any(_is_update(item) for item in value.values()):
        return "updates"
    return None


def _is_update(value: Any) -> bool:
    """Whether a node gave this: an object with LangChain's messages in one of its fields."""
    return isinstance(value, dict) and any(_is_conversation(item) for item in value.values())


def _is_conversation(value: Any) -> bool:
    """Whether this is a list of LangChain's messages; `{"role": …}` is everybody's."""
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(item, dict) and "role" not in item and message_of(item) is not None for item in value)


def _is_pair(value: Any) -> bool:
    """Whether this is `[message, metadata]`; the message may be an event of v3."""
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[1], dict):
        return False
    return (message_of(value[0]) is not None or is_protocol(value[0])) and any(key in value[1] for key in _LANGGRAPH)


def _is_namespace(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _texts(value: list[Any]) -> tuple[str, ...]:
    return tuple(cleaned(item) or "" for item in value)
