"""The events of one message in version v3: `message-start`, its content blocks, `message-finish` or `error`.

A model's own stream has one message after another. A graph's says the model's run beside each event (Python in the
metadata, JavaScript in the event); the server's says the message's id, or nothing where one message is open.
"""

from __future__ import annotations

from typing import Any

from recorder.deltas import Failure, MessageClosed, MessageStarted, RunEnded, Usage
from recorder.dialects import langchain_model, langchain_v3_blocks
from recorder.dialects.finish_reasons import finish_of
from recorder.dialects.frames import Deltas, Frame, finding, unknown_frame
from recorder.dialects.http import error_text
from recorder.dialects.langgraph_messages import Messages, OpenMessage, Place, close, pass_step, place_of, start
from recorder.dialects.langgraph_parts import Part
from recorder.dialects.usage import whole_counts
from recorder.dialects.values import cleaned, dict_of

_AI = (None, "ai", "assistant")
_ENDS = ("message-finish", "error")


def read_event(
    messages: Messages, part: Part, metadata: dict[str, Any], data: dict[str, Any], frame: Frame, out: Deltas
) -> None:
    """Reads one event of a message's stream."""
    place = place_of(part, metadata)
    pass_step(messages, place, out)
    kind = data.get("event")
    run = run_of(data, metadata)
    id = _id(data)
    if kind == "message-start":
        _start(messages, place, run, id, metadata, data, out)
        return
    if (key := run or id or place.task or "") in messages.ignored:
        if kind in _ENDS:
            del messages.ignored[key]
        return
    message = _find(messages, place, run, id)
    if message is None:
        # The recording begins after the message did.
        message = messages.begin(place, id, run)
        start(message, metadata, out)
    _read(messages, message, data, frame, out)


def run_of(data: dict[str, Any], metadata: dict[str, Any]) -> str | None:
    """The model's run, where the event says it."""
    return cleaned(data.get("run_id")) or cleaned(metadata.get("run_id"))


def _start(
    messages: Messages,
    place: Place,
    run: str | None,
    id: str | None,
    metadata: dict[str, Any],
    data: dict[str, Any],
    out: Deltas,
) -> None:
    known = id is not None and messages.knows(id)
    # The events that follow say the run, the message's id, or neither.
    keys = [run] if run is not None else [id or "", place.task or ""]
    for key in keys:
        messages.ignored.pop(key, None)
    if known or data.get("role") not in _AI:
        for key in keys:
            messages.ignore(key)
        if known:
            out.append(finding(run or id or "", "event-repeated", f"message {id!r} was there already"))
        return
    earlier = _find(messages, place, run, None if place == Place() else id)
    if earlier is not None:
        close(messages, earlier, out)
    message = messages.begin(place, id, run)
    start(message, {**dict_of(data.get("metadata")), **metadata}, out)
    out.append(MessageStarted(run_id=message.run_id, message_id=id))


def _read(messages: Messages, message: OpenMessage, data: dict[str, Any], frame: Frame, out: Deltas) -> None:
    match data.get("event"):
        case "content-block-start":
            langchain_v3_blocks.start(message, data, out)
        case "content-block-delta":
            langchain_v3_blocks.delta(message, data, frame, out)
        case "content-block-finish":
            langchain_v3_blocks.finish(message, data, out)
        case "usage":
            _count(message, data, out)
        case "message-finish":
            _finish(messages, message, data, out)
        case "error":
            error = error_text(data)
            out.append(Failure(run_id=message.run_id, error=error))
            close(messages, message, out, error=error)
        case _:
            out.append(unknown_frame(frame))


def _finish(messages: Messages, message: OpenMessage, data: dict[str, Any], out: Deltas) -> None:
    metadata = dict_of(data.get("metadata"))
    _count(message, data, out)
    if model := cleaned(metadata.get("model_name")):
        out.append(MessageStarted(run_id=message.run_id, model=model))
    langchain_model.finish(message.run, message.run_id, {"response_metadata": metadata}, out)
    if not message.run.finished and (finished := finish_of(message.run_id, data.get("reason"))) is not None:
        # Gone from the protocol since it is in the metadata; JavaScript's says `stop` for calls, too.
        out.append(finished)
    messages.open.remove(message)
    out.append(MessageClosed(run_id=message.run_id))
    out.append(RunEnded(run_id=message.run_id, kind="model"))


def _count(message: OpenMessage, data: dict[str, Any], out: Deltas) -> None:
    if counts := whole_counts(data.get("usage")):
        out.append(Usage(run_id=message.run_id, counts=counts))


def _find(messages: Messages, place: Place, run: str | None, id: str | None) -> OpenMessage | None:
    """The open message that an event is about: by its run, by its id, else the one that its task opened last."""
    if run is not None:
        return next((each for each in reversed(messages.open) if each.run_id.partition("#")[0] == run), None)
    if id is not None:
        return messages.by_id(id)
    return next((each for each in reversed(messages.open) if each.place.is_same_task(place)), None)


def _id(data: dict[str, Any]) -> str | None:
    return cleaned(data.get("id")) or cleaned(data.get("message_id")) or None
