"""LangChain's messages as they occur in JSON: `dumpd` constructors, `model_dump` and `message_to_dict` objects, roles.

Shapes read: `{"lc": 1, "type": "constructor", "id": […, "AIMessage"], "kwargs": {…}}`, `{"type": "ai", …fields}`,
`{"type": "ai", "data": {…fields}}`, `{"role": "assistant", …fields}`; Python's and JavaScript's alike.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

from msgspec import Struct

from recorder.deltas import HistoryAnswer, HistoryCall, MessageChunk, Restatement, Runtime, ToolCallChunk, ToolMessage
from recorder.dialects.langchain_chunk import chunk_tool_call_chunks
from recorder.dialects.values import arguments_of, compact, dict_of, id_of, index_of, list_of, text_of

Speaker = Literal["ai", "chunk", "tool", "other"]

_JAVASCRIPT = "langchain_core"
"""What LangChain.js writes first in the `id` of a constructor; Python's LangChain writes `langchain`."""
_SPEAKERS: dict[str, Speaker] = {
    "ai": "ai",
    "AIMessage": "ai",
    "assistant": "ai",
    "AIMessageChunk": "chunk",
    "tool": "tool",
    "ToolMessage": "tool",
    "ToolMessageChunk": "tool",
    "function": "tool",
    "FunctionMessage": "tool",
    "FunctionMessageChunk": "tool",
    "human": "other",
    "user": "other",
    "HumanMessage": "other",
    "HumanMessageChunk": "other",
    "system": "other",
    "developer": "other",
    "SystemMessage": "other",
    "SystemMessageChunk": "other",
    "chat": "other",
    "ChatMessage": "other",
    "ChatMessageChunk": "other",
    "remove": "other",
    "RemoveMessage": "other",
}


class Message(Struct, frozen=True):
    """A message's fields, and whose it is; `chunk` is an AIMessageChunk, which may be a piece or a sum."""

    speaker: Speaker
    fields: dict[str, Any]
    runtime: Runtime = "python"
    """Which LangChain wrote it, where it says so: their constructors have different names."""


def message_of(value: object) -> Message | None:
    """The message that a JSON value is, or None."""
    if not isinstance(value, dict):
        return None
    if "lc" in value:
        names = list_of(value.get("id"))
        speaker = _SPEAKERS.get(names[-1]) if names and isinstance(names[-1], str) else None
        fields = value.get("kwargs")
        if speaker is None and isinstance(fields, dict) and "content" in fields:
            # A program's own subclass: its message says what it is one of.
            speaker = _SPEAKERS.get(kind) if isinstance(kind := fields.get("type"), str) else None
        runtime: Runtime = "javascript" if names and names[0] == _JAVASCRIPT else "python"
        return Message(speaker, fields, runtime) if speaker and isinstance(fields, dict) else None
    kind, role = value.get("type"), value.get("role")
    speaker = _SPEAKERS.get(kind) if isinstance(kind, str) else _SPEAKERS.get(role) if isinstance(role, str) else None
    if speaker is None:
        return None
    if "content" in value or (speaker == "ai" and "tool_calls" in value):
        return Message(speaker, value)
    data = value.get("data")
    return Message(speaker, data) if isinstance(data, dict) and "content" in data else None


def tool_call_chunks_of(run_id: str, kwargs: dict[str, Any]) -> list[ToolCallChunk]:
    """What `AIMessageChunk(**kwargs).tool_call_chunks` holds, in types that a delta has.

    Explicit chunks; else from the parsed calls, written back with `json.dumps` and without an index; else from the raw
    calls in `additional_kwargs`. Nothing is validated here: that is the gathering's affair. Behind them the old
    `function_call`, which LangChain keeps in `additional_kwargs` only.
    """
    try:
        chunks = chunk_tool_call_chunks(kwargs, run_id)
    except (RecursionError, ValueError):
        chunks = []
    calls = [
        ToolCallChunk(
            run_id=run_id,
            index=_index(chunk.index),
            id=id_of(chunk.id),
            name=text_of(chunk.name),
            args=arguments_of(chunk.args),
            found_in=chunk.found_in,
            fields=chunk.fields,
        )
        for chunk in chunks
    ]
    return calls + function_call_of(run_id, dict_of(kwargs.get("additional_kwargs")))


def function_call_of(run_id: str, additional_kwargs: dict[str, Any]) -> list[ToolCallChunk]:
    """The `function_call` as a chunk, if there is one."""
    call = additional_kwargs.get("function_call")
    if not isinstance(call, dict):
        return []
    name, args = text_of(call.get("name")), arguments_of(call.get("arguments"))
    return [ToolCallChunk(run_id=run_id, name=name, args=args, legacy=True, found_in="additional_kwargs")]


def message_chunk_of(run_id: str, fields: dict[str, Any], runtime: Runtime = "python") -> MessageChunk:
    """An AIMessageChunk's fields without its tool call chunks; `runtime`: which LangChain wrote them."""
    javascript = runtime == "javascript"
    usage = dict_of(fields.get("usage_metadata"))
    return MessageChunk(
        run_id=run_id,
        content=_javascript_content_of(fields) if javascript else content_of(fields.get("content")),
        message_id=id_of(fields.get("id")),
        name=text_of(fields.get("name")),
        additional_kwargs=dict_of(fields.get("additional_kwargs")) or None,
        response_metadata=dict_of(fields.get("response_metadata")) or None,
        # LangChain.js counts from nothing once a chunk has counts, be they null.
        usage=usage if usage or (javascript and "usage_metadata" in fields) else None,
        position=text_of(fields.get("chunk_position")),
        runtime=runtime,
    )


def restatement_of(run_id: str, fields: dict[str, Any], runtime: Runtime = "python") -> Restatement:
    """A whole AI message; `runtime`: which LangChain wrote it."""
    calls, invalid = parsed_calls(fields)
    return Restatement(
        run_id=run_id,
        content=_javascript_content_of(fields) if runtime == "javascript" else content_of(fields.get("content")),
        calls=calls,
        invalid_calls=invalid,
        raw=raw_of_calls(fields, calls),
        message_id=id_of(fields.get("id")),
        additional_kwargs=dict_of(fields.get("additional_kwargs")) or None,
        response_metadata=dict_of(fields.get("response_metadata")) or None,
        usage=dict_of(fields.get("usage_metadata")) or None,
        runtime=runtime,
    )


def content_of(content: object) -> str | list[Any]:
    """A message's content: text, or a list of text and blocks; null is none."""
    if isinstance(content, str | list):
        return content
    return "" if content is None else compact(content)


def parsed_calls(fields: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A whole AI message's calls and invalid calls as `{"name", "args", "id"}`.

    JavaScript's dumps may lack the parsed calls of a sum of chunks, and older messages have raw ones in
    `additional_kwargs` only: those are parsed strictly, as LangChain does for a message that is no chunk.
    """
    listed = _objects(fields.get("tool_calls"))
    # `{"role": "assistant"}` has OpenAI's raw calls in the place of parsed ones.
    calls = [_call(call, call.get("args")) for call in listed if "function" not in call]
    invalid = [_call(call, arguments_of(call.get("args"))) for call in _objects(fields.get("invalid_tool_calls"))]
    raw = _raw_calls(listed)
    if not calls and not invalid and not raw:
        extra = dict_of(fields.get("additional_kwargs"))
        raw = _objects(fields.get("tool_call_chunks")) or _raw_calls(_objects(extra.get("tool_calls")))
    for call in raw:
        args = _strict(call.get("args"))
        if isinstance(args, dict):
            calls.append(_call(call, args))
        else:
            invalid.append(_call(call, arguments_of(call.get("args"))))
    return calls, invalid


def raw_of_calls(fields: dict[str, Any], calls: list[dict[str, Any]]) -> list[str | None]:
    """The raw arguments of each of the message's calls, out of its tool call chunks; None where these do not have them.

    LangChain parses the chunks of a sum in their order, leniently: `{"a":1,"b":[2` is a call like any other. A text
    that is whole and says something else is not the call's: somebody changed the call since.
    """
    chunks = _objects(fields.get("tool_call_chunks"))
    texts: list[str | None] = []
    position = 0
    for call in calls:
        found = next((at for at in range(position, len(chunks)) if _same_identity(chunks[at], call)), None)
        text = None if found is None else arguments_of(chunks[found].get("args"))
        texts.append(text if text is not None and _strict(text) in (None, call["args"]) else None)
        position = position if found is None else found + 1
    return texts


def history_of(message: Message) -> Iterator[HistoryCall | HistoryAnswer]:
    """What a message of a conversation says of calls and answers."""
    if message.speaker == "tool":
        yield history_answer_of(message.fields)
    elif message.speaker in ("ai", "chunk"):
        calls, invalid = parsed_calls(message.fields)
        for call, raw in zip(calls, raw_of_calls(message.fields, calls), strict=True):
            # Whole arguments are spelled alike wherever the message stands, with its chunks or without.
            args = raw if raw is not None and _strict(raw) is None else arguments_of(call["args"])
            yield HistoryCall(id=call["id"], name=call["name"], args=args or "")
        for call in invalid:
            # Without an id it can't be told from the pieces of another call.
            if call["id"]:
                yield HistoryCall(id=call["id"], name=call["name"], args=call["args"] or "")
        legacy = dict_of(message.fields.get("additional_kwargs")).get("function_call")
        if isinstance(legacy, dict):
            args = arguments_of(legacy.get("arguments")) or ""
            yield HistoryCall(id=None, name=text_of(legacy.get("name")), args=args, legacy=True)


def history_answer_of(fields: dict[str, Any]) -> HistoryAnswer:
    """A ToolMessage's fields, all of them."""
    return HistoryAnswer(
        tool_call_id=id_of(fields.get("tool_call_id")),
        content=fields.get("content"),
        name=text_of(fields.get("name")),
        status=text_of(fields.get("status")) or "success",
        artifact=fields.get("artifact"),
        message_id=id_of(fields.get("id")),
        additional_kwargs=dict_of(fields.get("additional_kwargs")),
        response_metadata=dict_of(fields.get("response_metadata")),
    )


def tool_message_of(run_id: str, fields: dict[str, Any]) -> ToolMessage:
    """A ToolMessage at its first hand."""
    answer = history_answer_of(fields)
    return ToolMessage(
        run_id=run_id,
        tool_call_id=answer.tool_call_id,
        content=answer.content,
        name=answer.name,
        status=answer.status,
        artifact=answer.artifact,
        message_id=answer.message_id,
        additional_kwargs=answer.additional_kwargs,
        response_metadata=answer.response_metadata,
    )


def _javascript_content_of(fields: dict[str, Any]) -> str | list[Any]:
    """A message that was made of the new kind of blocks is written with these alone; one without either has none."""
    return content_of(fields["content"] if "content" in fields else list_of(fields.get("content_blocks")))


def _index(index: object) -> int | str | None:
    """As it was sent; pydantic takes true for 1."""
    return int(index) if isinstance(index, int) else index_of(index)


def _call(source: dict[str, Any], args: Any) -> dict[str, Any]:
    return {"name": text_of(source.get("name")), "args": args, "id": id_of(source.get("id"))}


def _raw_calls(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """OpenAI's spelling of calls in LangChain's."""
    return [
        {"id": call.get("id"), "name": function.get("name"), "args": function.get("arguments")}
        for call in calls
        if isinstance(function := call.get("function"), dict)
    ]


def _same_identity(chunk: dict[str, Any], call: dict[str, Any]) -> bool:
    """Whether the chunk has the call's id, and its name where the chunk has one."""
    name = text_of(chunk.get("name")) or ""
    return id_of(chunk.get("id")) == call["id"] and name == (call["name"] or "")


def _strict(args: object) -> object:
    if not isinstance(args, str):
        return args
    try:
        return json.loads(args) if args else {}
    except (ValueError, RecursionError):
        return None


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in list_of(value) if isinstance(item, dict)]
