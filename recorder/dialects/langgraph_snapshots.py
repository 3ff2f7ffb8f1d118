"""The `messages` mode of LangGraph's server: every event has the whole message as it is so far, and no chunk.

Source: LangGraph's server (`messages/metadata`, `messages/partial`, `messages/complete`). What is new of the text is
told as a chunk. Arguments come parsed, as far as that goes, and nothing says how their text goes on: a call is told by
its id and name when it appears, and its arguments once the message has a reason to stop, or is restated.
"""

from __future__ import annotations

import json
from typing import Any

from recorder.deltas import MessageChunk, ToolCallChunk
from recorder.dialects import langchain_model
from recorder.dialects.frames import Deltas, finding
from recorder.dialects.langchain_messages import Message, message_chunk_of, parsed_calls
from recorder.dialects.langgraph_messages import Messages, OpenMessage, Place, pass_step, place_of, run_of_id, start
from recorder.dialects.langgraph_parts import Part
from recorder.dialects.values import cleaned, dict_of


def read_metadata(messages: Messages, part: Part, out: Deltas) -> None:
    """`messages/metadata`: `{message id: {"metadata": …}}`, before the first event of a message; a model's begins."""
    for key, value in dict_of(part.data).items():
        id, metadata = cleaned(key), dict_of(dict_of(value).get("metadata"))
        place = place_of(part, metadata)
        pass_step(messages, place, out)
        if id and run_of_id(id) is not None and not messages.knows(id):
            start(messages.begin(place, id), metadata, out)


def read_partial(messages: Messages, part: Part, id: str, message: Message, out: Deltas) -> None:
    """`messages/partial`: an AI message as it is so far."""
    opened = messages.by_id(id)
    if opened is None:
        opened = messages.begin(Place(graph="|".join(part.namespace)), id)
        start(opened, {}, out)
    opened.snapshots = True
    fields = message.fields
    _text(opened, fields.get("content"), out)
    _heads(opened, fields, out)
    langchain_model.finish(opened.run, opened.run_id, fields, out, once=True)
    if opened.run.finished:
        tell_rest(opened, fields, out)


def tell_rest(message: OpenMessage, fields: dict[str, Any], out: Deltas) -> None:
    """What a whole message has and its snapshots could not tell: once for each message."""
    if not message.snapshots or message.rest_told:
        return
    message.rest_told = True
    _heads(message, fields, out)
    whole = message_chunk_of(message.run_id, fields, message.run.runtime)
    content = whole.content if isinstance(whole.content, list) else ""
    out.append(
        MessageChunk(
            run_id=message.run_id,
            content=content,
            message_id=whole.message_id,
            additional_kwargs=whole.additional_kwargs,
            response_metadata=whole.response_metadata,
            usage=whole.usage,
            runtime=message.run.runtime,
        )
    )
    for position, call in enumerate(_calls(fields)):
        args = call["args"]
        text = args if isinstance(args, str) else json.dumps(args)
        out.append(ToolCallChunk(run_id=message.run_id, index=position, args=text if text != "{}" else None))


def _text(message: OpenMessage, content: object, out: Deltas) -> None:
    """What is new of the text; content that is a list is told at the end."""
    if not isinstance(content, str):
        return
    if not message.text.begins(content):
        out.append(finding(message.run_id, "restatement-differs", "the text so far is not what came before", "warning"))
    elif added := content[message.text.length :]:
        message.text.add(added)
        out.append(MessageChunk(run_id=message.run_id, content=added, runtime=message.run.runtime))


def _heads(message: OpenMessage, fields: dict[str, Any], out: Deltas) -> None:
    calls = _calls(fields)
    for position in range(message.calls, len(calls)):
        call = calls[position]
        out.append(ToolCallChunk(run_id=message.run_id, index=position, id=call["id"], name=call["name"]))
    message.calls = max(message.calls, len(calls))


def _calls(fields: dict[str, Any]) -> list[dict[str, Any]]:
    calls, invalid = parsed_calls(fields)
    return [*calls, *invalid]
