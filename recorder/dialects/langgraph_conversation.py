"""Messages as LangGraph streams them: piece by piece, in a node's output, in a whole state.

One message comes in all three, and is one message: the first whole of it confirms its pieces, what comes after that is
history. A whole answer that was not there before is a message of its own.
"""

from __future__ import annotations

from typing import Any

from recorder.deltas import History, MessageFinished
from recorder.dialects import langchain_model
from recorder.dialects.frames import Deltas
from recorder.dialects.langchain_messages import Message, history_of, message_of, tool_message_of
from recorder.dialects.langchain_walk import conversations, entries_in
from recorder.dialects.langgraph_messages import (
    Messages,
    OpenMessage,
    Place,
    close,
    close_all,
    pass_step,
    place_of,
    start,
)
from recorder.dialects.langgraph_parts import Part
from recorder.dialects.langgraph_runs import Runs
from recorder.dialects.langgraph_snapshots import read_partial, tell_rest
from recorder.dialects.values import cleaned, list_of


def read_piece(messages: Messages, runs: Runs, part: Part, metadata: dict[str, Any], value: Any, out: Deltas) -> None:
    """`[message, metadata]`: a chunk, or a message that a node gave and that was not streamed before."""
    message = message_of(value)
    if message is None:
        return
    place = place_of(part, metadata)
    pass_step(messages, place, out)
    if message.speaker == "tool":
        _answer(messages, runs, place, message, out)
    elif message.speaker != "other":
        _piece(messages, place, metadata, message, value, out)
    elif (id := _id(message)) is not None:
        messages.remember(id)


def read_snapshots(messages: Messages, runs: Runs, part: Part, out: Deltas) -> None:
    """`messages/partial` and `messages/complete`: messages as they are so far, and as they are."""
    place = Place(graph="|".join(part.namespace))
    for value in list_of(part.data):
        message = message_of(value)
        id = _id(message) if message is not None else None
        if message is None or id is None:
            continue
        if message.speaker == "tool":
            _answer(messages, runs, place, message, out)
        elif message.speaker == "other":
            messages.remember(id)
        elif part.mode == "messages/partial":
            read_partial(messages, part, id, message, out)
        else:
            _whole(messages, place, id, message, out, fresh=True)
            messages.remember(id)


def read_output(messages: Messages, graph: str, value: Any, out: Deltas, *, task: str | None = None) -> None:
    """What a node gave: its answers are new unless they are known."""
    _read(messages, Place(task, graph), value, out, fresh=True)


def read_state(messages: Messages, graph: str, value: Any, out: Deltas) -> None:
    """A graph's whole state: what was streamed for it is over. The first one holds what the run began with."""
    ids = _read(messages, Place(graph=graph), value, out, fresh=graph in messages.listed)
    messages.list_state(graph, ids)
    close_all(messages, messages.in_graph(graph), out)


def read_known(messages: Messages, graph: str, value: Any, out: Deltas, *, task: str | None = None) -> None:
    """What a node is given, or what a checkpoint holds: nothing in it is new."""
    _read(messages, Place(task, graph), value, out, fresh=False)


def _piece(
    messages: Messages, place: Place, metadata: dict[str, Any], message: Message, value: Any, out: Deltas
) -> None:
    id = _id(message)
    # JavaScript's server-sent events have the type `ai` for a chunk, too.
    chunk = message.speaker == "chunk" or "tool_call_chunks" in message.fields
    opened = messages.of_chunk(id, place) if chunk else messages.by_id(id)
    if opened is None:
        if not chunk and id is not None and messages.knows(id):
            _tell_history(place.task or "", message, out)
            return
        opened = messages.begin(place, id)
        start(opened, metadata, out)
    elif id is not None and id not in opened.ids:
        opened.ids.append(id)
        messages.remember(id)
    if chunk:
        last = opened.run.last
        langchain_model.stream(opened.run, opened.run_id, {"chunk": value}, out, chat=True)
        if opened.run.last and not last and not opened.run.finished:
            out.append(MessageFinished(run_id=opened.run_id, finish_reason=None))
    else:
        _end(messages, opened, message, out)


def _answer(messages: Messages, runs: Runs, place: Place, message: Message, out: Deltas) -> None:
    """A tool's message; where the end of the tool's run had it already, without its id, it is no second answer."""
    id = _id(message)
    told = runs.takes_told(cleaned(message.fields.get("tool_call_id")))
    if told or (id is not None and messages.knows(id)):
        _tell_history(place.task or "", message, out)
    else:
        out.append(tool_message_of(place.task or "", message.fields))
    if id is not None:
        messages.remember(id)


def _read(messages: Messages, place: Place, value: Any, out: Deltas, *, fresh: bool) -> list[str]:
    """Tells the messages in a value, and all its calls and answers as history; gives the messages' ids.

    A message without an id can't be told from one that is known: it is history.
    """
    ids = []
    for conversation, _ in conversations(value):
        for message in conversation:
            id = _id(message)
            if id is None:
                continue
            if message.speaker in ("ai", "chunk"):
                _whole(messages, place, id, message, out, fresh=fresh)
            messages.remember(id)
            ids.append(id)
    if entries := entries_in(value):
        out.append(History(run_id=place.task or "", entries=entries, source="event"))
    return ids


def _whole(messages: Messages, place: Place, id: str, message: Message, out: Deltas, *, fresh: bool) -> None:
    """A whole answer: of one that is streamed, or a new one."""
    opened = messages.by_id(id)
    if opened is None and not messages.knows(id):
        opened = messages.without_id(place.graph)
        if opened is None and fresh:
            opened = messages.begin(place, id)
            start(opened, {}, out)
    if opened is not None:
        _end(messages, opened, message, out)


def _end(messages: Messages, opened: OpenMessage, whole: Message, out: Deltas) -> None:
    """The whole message came: it is compared with its pieces, and nothing more will come."""
    opened.run.learn(whole.runtime)
    tell_rest(opened, whole.fields, out)
    langchain_model.restate(opened.run, opened.run_id, whole.fields, out)
    opened.run.last = True
    close(messages, opened, out)


def _tell_history(run_id: str, message: Message, out: Deltas) -> None:
    if entries := list(history_of(message)):
        out.append(History(run_id=run_id, entries=entries, source="event"))


def _id(message: Message) -> str | None:
    return cleaned(message.fields.get("id")) or None
