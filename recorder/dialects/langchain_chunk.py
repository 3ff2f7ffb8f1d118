"""The tool call chunks that langchain-core 1.8 makes of an AIMessageChunk's fields when it constructs one."""

from __future__ import annotations

import json
from typing import Any

from recorder.deltas import CallField, ToolCallChunk


def chunk_tool_call_chunks(kwargs: dict[str, Any], run_id: str) -> list[ToolCallChunk]:
    """What `AIMessageChunk(**kwargs).tool_call_chunks` holds, in order; values as they are, unvalidated.

    `kwargs` are a message's fields: a `dumpd` object, its `kwargs`, a `model_dump`. Explicit chunks come first; without
    any calls the raw ones in `additional_kwargs` count (one malformed call among them, and LangChain takes none); else
    the parsed and the invalid calls are written back as chunks without an index. An item that is no object is left out;
    the library refuses it. Raises `RecursionError` where parsed arguments are nested too deeply.
    """
    if "lc" in kwargs and isinstance(kwargs.get("kwargs"), dict):
        kwargs = kwargs["kwargs"]
    chunks = _objects(kwargs.get("tool_call_chunks"))
    if chunks:
        return [_chunk(run_id, chunk, chunk.get("name"), chunk.get("args")) for chunk in chunks]
    calls, invalid = _objects(kwargs.get("tool_calls")), _objects(kwargs.get("invalid_tool_calls"))
    if not calls and not invalid:
        extra = kwargs.get("additional_kwargs")
        return _from_raw_calls(extra.get("tool_calls") if isinstance(extra, dict) else None, run_id)
    return [
        *(_unindexed(run_id, call, json.dumps(call.get("args")), "tool_calls") for call in calls),
        *(_unindexed(run_id, call, call.get("args"), "invalid_tool_calls") for call in invalid),
    ]


def _from_raw_calls(raw: Any, run_id: str) -> list[ToolCallChunk]:
    try:
        return [
            _chunk(run_id, call, call["function"]["name"], call["function"]["arguments"], "additional_kwargs")
            if "function" in call
            else _chunk(run_id, call, None, None, "additional_kwargs")
            for call in raw or ()
        ]
    except (KeyError, TypeError, AttributeError, IndexError):
        return []


def _chunk(
    run_id: str, source: dict[str, Any], name: Any, args: Any, found_in: CallField = "tool_call_chunks"
) -> ToolCallChunk:
    return ToolCallChunk(
        run_id=run_id,
        index=source.get("index"),
        id=source.get("id"),
        name=name,
        args=args,
        found_in=found_in,
        fields=source,
    )


def _unindexed(run_id: str, call: dict[str, Any], args: Any, found_in: CallField) -> ToolCallChunk:
    return ToolCallChunk(
        run_id=run_id,
        index=None,
        id=call.get("id"),
        name=call.get("name"),
        args=args,
        found_in=found_in,
        fields=call,
    )


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list | tuple) else []
