"""`langgraph`: what a graph streams in its stream modes, in Python, in JavaScript and from LangGraph's server.

Source: langgraph's `stream_mode` (values, updates, messages, tasks, debug, checkpoints, custom, tools) with and without
subgraphs, its parts of version v2, the server's SSE. `langgraph_parts` has the wrappings. Version v3 streams much of
the same in the same frames, so that `langchain.v3` is read by this decoder too; the server's mode `events` is read as
`langchain.v2` is. One decoder reads one stream: the messages and runs in it are interleaved.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field, structs

from recorder.deltas import AnyDelta, Failure
from recorder.dialects import langchain_v2, langgraph_conversation, langgraph_runs, langgraph_snapshots
from recorder.dialects.base import COMMENT, DONE, END, ERROR, PARTIAL, REQUEST, RESPONSE, Dialect, Envelope
from recorder.dialects.frames import Deltas, Frame, read_frame, unknown_frame
from recorder.dialects.http import error_text
from recorder.dialects.langchain_messages import message_of
from recorder.dialects.langchain_repr import MARK, holds_message_repr, message_as_repr
from recorder.dialects.langchain_v3_message import read_event, run_of
from recorder.dialects.langgraph_messages import Messages, close_all, place_of
from recorder.dialects.langgraph_parts import Part, is_known, is_v3, part_of
from recorder.dialects.langgraph_runs import Runs
from recorder.dialects.values import cleaned, dict_of, text_of
from recorder.events import Event, NewEvent

_NOT_PARTS = (REQUEST, RESPONSE, END, ERROR, PARTIAL, COMMENT, DONE)
_SILENT = ("custom", "input.requested")
_HEAD_BYTES = 1024
"""In so many bytes of a frame its event's name is looked for."""


class State(Struct):
    """What is open in a stream of parts, and in the LangChain events among them."""

    messages: Messages = field(default_factory=Messages)
    runs: Runs = field(default_factory=Runs)
    events: langchain_v2.State = field(default_factory=langchain_v2.State)
    repr_told: bool = False
    """It was said that the stream holds messages as reprs: it is said once."""


def recognises(value: Any, event_name: str | None) -> bool:
    """A part of a stream mode, or what only LangGraph's server sends beside them."""
    if (part := part_of(value, event_name)) is not None:
        return is_known(part) and not is_v3(part)
    return langchain_v2.is_servers(value, event_name)


def recognises_v3(value: Any, event_name: str | None) -> bool:
    """A part that version v3 alone streams."""
    part = part_of(value, event_name)
    return part is not None and is_known(part) and is_v3(part)


def envelope(value: Any, event_name: str | None) -> Envelope:
    """The kind is the event's name in the protocol, else the mode. The run is a model's, a tool's or a task's."""
    part = part_of(value, event_name)
    if part is None:
        return langchain_v2.envelope(value, event_name)
    if part.mode == "messages":
        found = _envelope_of_message(part)
    elif part.mode == "tools":
        found = _envelope_of_tool(dict_of(part.data))
    else:
        found = _envelope_of_task(part)
    return structs.replace(found, occurred_at=None if part.timestamp is None else part.timestamp * 1000)


def _envelope_of_message(part: Part) -> Envelope:
    first, metadata = _pair(part)
    place = place_of(part, metadata)
    if not is_event(first):
        return Envelope(kind=part.mode, run_id=place.task, name=place.node)
    run = run_of(first, metadata)
    return Envelope(
        kind=cleaned(first.get("event")) or part.mode,
        run_id=run or place.task,
        parent_run_id=place.task if run else None,
        name=place.node,
    )


def _envelope_of_tool(data: dict[str, Any]) -> Envelope:
    return Envelope(
        kind=cleaned(data.get("event")) or "tools",
        run_id=cleaned(data.get("tool_call_id")) or cleaned(data.get("toolCallId")),
        name=cleaned(data.get("tool_name")) or cleaned(data.get("name")),
    )


def _envelope_of_task(part: Part) -> Envelope:
    data = dict_of(part.data)
    task = dict_of(data.get("payload")) if part.mode == "debug" else data if part.mode == "tasks" else {}
    return Envelope(
        kind=cleaned(part.mode) or "unknown",
        run_id=cleaned(task.get("id")),
        parent_run_id=langgraph_runs.parent_of(part),
        name=cleaned(task.get("name")),
    )


def step(state: State, event: Event | NewEvent) -> tuple[State, list[AnyDelta]]:
    """Reads one event; never raises."""
    if event.kind in _NOT_PARTS:
        state.events, deltas = langchain_v2.step(state.events, event)
        return state, deltas
    out: Deltas = []
    if (frame := read_frame(event, out)) is None:
        return state, out
    part = part_of(frame.value, event_name_of(event)) or part_of(frame.value, event.kind)
    if part is None and state.messages.open and _is_of_message(frame):
        part = Part("messages", frame.value)
    if part is not None:
        _read(state, part, frame, out)
    elif _is_error(frame):
        told = {name: frame.value.get(name) for name in ("error", "message")}
        out.append(Failure(run_id=frame.run_id, error=error_text(told)))
    else:
        if frame.kind == "metadata":
            # Another run of the server: the first state that follows is what it begins with.
            state.messages.listed.clear()
        langchain_v2.read(state.events, frame, out)
    return state, out


def _read(state: State, part: Part, frame: Frame, out: Deltas) -> None:
    if not state.repr_told and MARK in frame.body and holds_message_repr(part.data):
        state.repr_told = True
        out.append(message_as_repr(frame.run_id, part.mode))
    data, graph = dict_of(part.data), "|".join(part.namespace)
    match part.mode:
        case "messages":
            _messages(state, part, frame, out)
        case "messages/metadata":
            langgraph_snapshots.read_metadata(state.messages, part, out)
        case "messages/partial" | "messages/complete":
            langgraph_conversation.read_snapshots(state.messages, state.runs, part, out)
        case "values":
            langgraph_conversation.read_state(state.messages, graph, part.data, out)
        case "updates":
            langgraph_conversation.read_output(state.messages, graph, part.data, out)
        case "tasks":
            _task(state, part, data, part.path, out)
        case "debug":
            _debug(state, part, data, out)
        case "checkpoints":
            langgraph_conversation.read_known(state.messages, graph, data.get("values"), out)
        case "tools":
            if not langgraph_runs.read_tool(state.runs, part, data, out):
                out.append(unknown_frame(frame, part.mode))
        case "lifecycle":
            langgraph_runs.lifecycle(state.runs, part, data, out)
        case mode if mode not in _SILENT and not mode.startswith("custom:"):
            out.append(unknown_frame(frame, mode))


def _messages(state: State, part: Part, frame: Frame, out: Deltas) -> None:
    first, metadata = _pair(part)
    if is_event(first):
        read_event(state.messages, part, metadata, first, frame, out)
    elif message_of(first) is not None:
        langgraph_conversation.read_piece(state.messages, state.runs, part, metadata, first, out)
    elif not isinstance(first, str):
        out.append(unknown_frame(frame, part.mode))


def _task(state: State, part: Part, task: dict[str, Any], path: str, out: Deltas) -> None:
    """A task's start, or its end: then the messages that it streamed are over."""
    id, graph = cleaned(task.get("id")), "|".join(part.namespace)
    if "result" not in task and "error" not in task:
        langgraph_runs.task_started(state.runs, part, task, path, out)
        langgraph_conversation.read_known(state.messages, graph, task.get("input"), out, task=id)
        return
    langgraph_conversation.read_output(state.messages, graph, task.get("result"), out, task=id)
    error = error_text(task["error"]) if task.get("error") else None
    over = [message for message in state.messages.open if id is not None and message.place.task == id]
    close_all(state.messages, over, out, error=error)
    langgraph_runs.task_ended(state.runs, task, path, out)


def _debug(state: State, part: Part, data: dict[str, Any], out: Deltas) -> None:
    payload = dict_of(data.get("payload"))
    if data.get("type") == "checkpoint":
        graph = "|".join(part.namespace)
        langgraph_conversation.read_known(state.messages, graph, payload.get("values"), out)
    else:
        _task(state, part, payload, f"{part.path}.payload", out)


def event_name_of(event: Event | NewEvent) -> str | None:
    """The SSE event's name, which its template or its frame holds; None where it has none."""
    head = event.frame if event.frame is not None else event.framing.partition("{body}")[0].encode()
    for line in head[:_HEAD_BYTES].splitlines():
        if line.startswith(b"event:"):
            return line[6:].removeprefix(b" ").decode("utf-8", "replace").replace("{kind}", event.kind)
    return None


def is_event(value: Any) -> bool:
    """Whether this is an event of a message's stream in version v3, be it one that is not known."""
    return isinstance(value, dict) and isinstance(value.get("event"), str) and message_of(value) is None


def _pair(part: Part) -> tuple[Any, dict[str, Any]]:
    """The message, or the event about one, and its metadata."""
    if isinstance(part.data, list):
        return (part.data[0], dict_of(part.data[1])) if len(part.data) == 2 else (None, {})
    return part.data, {}


def _is_of_message(frame: Frame) -> bool:
    """An event of a model's own stream that others have alike: about the message that is open, if one is."""
    value = dict_of(frame.value)
    return text_of(value.get("event")) in ("error", "usage") and "data" not in value


def _is_error(frame: Frame) -> bool:
    """An error of the protocol: `{"type": "error", "error": code, "message": …}`."""
    value = dict_of(frame.value)
    return value.get("type") == "error" and "event" not in value


LANGGRAPH = Dialect(
    name="langgraph",
    layer="framework",
    state=State,
    recognises=recognises,
    envelope=envelope,
    step=step,
)
