"""A message said again at its end: what it adds where nothing was streamed, and how it differs where something was."""

from __future__ import annotations

import json
from typing import Any

from recorder.deltas import MessageChunk, Restatement, ToolCallChunk
from recorder.dialects.langchain_messages import function_call_of


def chunk_of_restatement(delta: Restatement) -> MessageChunk:
    """A message that was not streamed, as the one chunk that it is."""
    return MessageChunk(
        run_id=delta.run_id,
        content=delta.content,
        message_id=delta.message_id,
        additional_kwargs=delta.additional_kwargs,
        response_metadata=delta.response_metadata,
        usage=delta.usage,
        runtime=delta.runtime,
    )


def chunks_of_restatement(delta: Restatement) -> list[ToolCallChunk]:
    """The calls of a message that was not streamed, as chunks: whole arguments (raw where known), no index.

    Its old `function_call` comes last.
    """
    raw = delta.raw or [None] * len(delta.calls)
    given = [text if text is not None else call.get("args") for call, text in zip(delta.calls, raw, strict=True)]
    given += [call.get("args") for call in delta.invalid_calls]
    chunks = [
        ToolCallChunk(
            run_id=delta.run_id,
            id=call.get("id"),
            name=call.get("name"),
            args=args if isinstance(args, str) else json.dumps(args),
        )
        for call, args in zip([*delta.calls, *delta.invalid_calls], given, strict=True)
    ]
    return chunks + function_call_of(delta.run_id, delta.additional_kwargs or {})


def calls_differ(built: list[dict[str, Any]], restated: list[dict[str, Any]]) -> str | None:
    """One line on how the restated calls differ from the gathered ones, None where they are the same."""
    left, right = [_plain(call) for call in built], [_plain(call) for call in restated]
    if left == right:
        return None
    if len(left) != len(right):
        return f"the chunks give {len(left)} calls, the end of the run {len(right)}"
    position = next(index for index, pair in enumerate(zip(left, right, strict=True)) if pair[0] != pair[1])
    return f"call {position} is {left[position]} by its chunks, {right[position]} at the end of the run"


def _plain(call: dict[str, Any]) -> str:
    """A text under which equal calls are equal, NaN included."""
    return json.dumps([call.get("id"), call.get("name"), call.get("args")], sort_keys=True, default=repr)
