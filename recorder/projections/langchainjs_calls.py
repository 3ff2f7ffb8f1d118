"""`tool_calls` and `invalid_tool_calls` as LangChain.js makes them of a message's tool call chunks.

Source: `collapseToolCallChunks` of @langchain/core 1.4 (`messages/utils.ts`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from recorder.projections.javascript_values import WHITE_SPACE, is_truthy, joined
from recorder.projections.langchainjs_merge import identity
from recorder.projections.langchainjs_partial_json import parse_partial

Calls = list[dict[str, Any]]


class Chunk(Struct, frozen=True):
    """A tool call chunk: its members without the arguments, and these."""

    fields: dict[str, Any]
    args: str | None


def collapsed(chunks: Sequence[Chunk]) -> tuple[Calls, Calls]:
    """The calls, and those of which no reading makes a call: without an id, or with arguments that are no object.

    No arguments are `{}`. That a call is among the first does not mean that it is complete.
    """
    calls: Calls = []
    invalid: Calls = []
    for group in _grouped(chunks):
        name = group[0].fields.get("name")
        head = {"name": "" if name is None else name}
        ids = [chunk.fields.get("id") for chunk in group]
        id = next(filter(is_truthy, ids), ids[0])
        text = joined("".join(chunk.args or "" for chunk in group))
        if any(chunk.fields.get("isCustomTool") is True for chunk in group):
            if is_truthy(id):
                calls.append({**head, "args": {"input": text}, "id": id, "type": "tool_call"})
                continue
        else:
            text = text.strip(WHITE_SPACE)
        value = parse_partial(text, {})
        if is_truthy(id) and isinstance(value, dict):
            calls.append({**head, "args": value, "id": id, "type": "tool_call"})
        else:
            error = {"error": "Malformed args.", "type": "invalid_tool_call"}
            invalid.append({**head, "args": text or "{}", "id": id, **error})
    return calls, invalid


def _grouped(chunks: Sequence[Chunk]) -> list[list[Chunk]]:
    """The chunks that are parsed together: those that the first of a group has the id of, or the index, or both."""
    groups: list[list[Chunk]] = []
    by_first: dict[tuple[Any, ...], list[Chunk]] = {}
    for chunk in chunks:
        id, index = _member(chunk, "id"), _member(chunk, "index")
        wanted = (id if is_truthy(chunk.fields.get("id")) else None, index)
        found = by_first.get(wanted) if wanted != (None, None) else None
        if found is not None:
            found.append(chunk)
            continue
        group = [chunk]
        groups.append(group)
        for key in {(id, index), (id, None), (None, index)}:
            by_first.setdefault(key, group)
    return groups


def _member(chunk: Chunk, key: str) -> tuple[Any, ...] | None:
    """What a member is compared by; None where there is none."""
    if key not in chunk.fields:
        return None
    # An object equals no other one.
    return identity(chunk.fields[key]) or (key, id(chunk))
