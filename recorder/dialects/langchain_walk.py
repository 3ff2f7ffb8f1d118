"""Finding the messages in whatever a chain, a graph or a tool was given or gave back.

A graph's state holds conversations anywhere: `{"messages": […]}`, under a node's name, in a `Command`'s update, in a
prompt value. One event often holds the same conversation twice (the input and the output of a node), so that a message
counts as often as the conversation that has it most often.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from recorder.deltas import AnyDelta, History, HistoryAnswer, HistoryCall
from recorder.dialects.langchain_messages import Message, history_of, message_of, tool_message_of
from recorder.dialects.values import compact, dict_of, list_of

Entry = HistoryCall | HistoryAnswer


def entries_in(value: object, *, pieces: bool = False) -> list[Entry]:
    """The calls and answers of all messages in the value, in document order.

    `pieces`: the value is what a chain streamed, where an AIMessageChunk that stands in no list is a piece of a message
    that its own model run streams too; its calls are no calls yet.
    """
    entries: list[Entry] = []
    counted: Counter[str] = Counter()
    for conversation, listed in conversations(value):
        here: Counter[str] = Counter()
        for message in conversation:
            if pieces and not listed and message.speaker == "chunk":
                continue
            for entry in history_of(message):
                key = _fingerprint(entry)
                here[key] += 1
                if here[key] > counted[key]:
                    counted[key] = here[key]
                    entries.append(entry)
    return entries


def answers_of_tool(run_id: str, output: object) -> list[AnyDelta]:
    """What a tool run's output says: its ToolMessage, a list of such, `Command`s with a message in their update.

    A `Command` that hands over a whole conversation restates it: what of that was known is no second answer. Any other
    output has no call's id, and the tool message will come with the chain's events.
    """
    deltas: list[AnyDelta] = []
    for item in output if isinstance(output, list) else [output]:
        message = message_of(item)
        if message is not None:
            if message.speaker == "tool":
                deltas.append(tool_message_of(run_id, message.fields))
            continue
        update = command_update(item)
        if update is None:
            continue
        found = [message for conversation, _ in conversations(update) for message in conversation]
        spoken = [message for message in found if message.speaker in ("ai", "chunk", "tool")]
        if len(spoken) == 1 and spoken[0].speaker == "tool":
            deltas.append(tool_message_of(run_id, spoken[0].fields))
        elif entries := entries_in(update):
            deltas.append(History(run_id=run_id, entries=entries, source="event"))
    return deltas


def command_update(value: object) -> object | None:
    """The update of a LangGraph `Command`: tagged, `dumpd` as a constructor, JavaScript's, or its plain fields."""
    fields = dict_of(value)
    if isinstance(tagged := fields.get("__command__"), dict):
        fields = tagged
    elif "lc" in fields:
        names = list_of(fields.get("id"))
        fields = dict_of(fields.get("kwargs")) if names and names[-1] == "Command" else {}
    elif fields.get("lg_name") != "Command" and not {"update", "goto"} <= fields.keys():
        return None
    return fields.get("update")


def conversations(value: object) -> Iterator[tuple[list[Message], bool]]:
    """Every list of messages, and every message that stands alone, in document order; and whether it was a list.

    Nothing inside a message is looked at: what a tool's artifact holds is another conversation. No recursion, for
    values may be nested as deep as JSON goes.
    """
    pending: list[Any] = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            if (message := message_of(item)) is not None:
                yield [message], False
            else:
                pending.extend(reversed(item.values()))
        elif isinstance(item, list):
            messages = [message_of(element) for element in item]
            conversation = [message for message in messages if message is not None]
            if conversation:
                yield conversation, True
            rest = [element for element, message in zip(item, messages, strict=True) if message is None]
            pending.extend(element for element in reversed(rest) if isinstance(element, dict | list))


def _fingerprint(entry: Entry) -> str:
    """The same message at two places: its own id counts for nothing, it may be set between them."""
    if isinstance(entry, HistoryCall):
        return f"call {entry.id} {entry.name} {entry.args}"
    return f"answer {entry.tool_call_id} {entry.name} {compact(entry.content)}"
