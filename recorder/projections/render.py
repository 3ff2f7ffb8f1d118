"""The state in the contract's shapes: plain values that print as `rec replay --at N --json` prints them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from recorder.deltas import Finding, HistoryAnswer
from recorder.events import jsontext
from recorder.projections import blocks as wire_blocks
from recorder.projections import readings
from recorder.projections.gather import Entry
from recorder.projections.messages import Message
from recorder.projections.partial_json import INVALID

_CALL_BLOCKS = frozenset({"tool_use", "tool_call", "tool_call_chunk", "function_call", "server_tool_use"})
"""Block types under which LangChain content holds a call that stands in `calls` too."""


def message(message: Message) -> dict[str, Any]:
    """One message with its calls.

    `tool_call_chunks`, `tool_calls` and `invalid_tool_calls` have LangChain's fields and hold what LangChain has there:
    calls that the provider runs itself, and the legacy `function_call`, stand in `calls` only.
    """
    entries = message.gather.entries
    tool_calls, invalid_tool_calls = readings.tool_calls(message.gather)
    shown: dict[str, Any] = {
        "run_id": message.run_id,
        "message_ref": message.ref,
        "message_id": message.id,
        "layer": message.layer,
        "gather": readings.name_of(message.gather),
        "choice": message.choice,
        "role": message.role,
        "model": message.model,
        "first_seq": message.first_seq,
        "last_seq": message.last_seq,
        "finish_reason": message.finish_reason,
        "text": message.text,
        "blocks": _blocks(message),
        "tool_call_chunks": readings.tool_call_chunks(message.gather),
        "tool_calls": tool_calls,
        "invalid_tool_calls": invalid_tool_calls,
        "usage": message.usage,
        "calls": [call(message, entry) for entry in entries],
    }
    if message.merged is not None:
        shown["additional_kwargs"] = message.merged.additional_kwargs
        shown["response_metadata"] = message.merged.response_metadata
    else:
        for legacy in (entry for entry in entries if entry.legacy):
            arguments = legacy.args.text if legacy.args is not None else ""
            shown["additional_kwargs"] = {"function_call": {"name": legacy.name, "arguments": arguments}}
    if message.superseded:
        shown["superseded"] = True
    return shown


def call(message: Message, entry: Entry) -> dict[str, Any]:
    """One call: raw arguments, the value they have so far (None where they have none), truth-state, provenance.

    `free_text`: the arguments are no JSON, and their value is the text. `gaps`, where there are any, are events between
    its first and its last that could not be read.
    """
    raw = entry.args.text if entry.args is not None else ""
    value = (
        INVALID
        if message.state_of(entry) == "erased"
        else raw
        if entry.free_text
        else readings.value_of(message.gather, raw)
    )
    shown: dict[str, Any] = {
        "id": entry.id,
        "name": entry.name,
        "index": entry.index,
        "raw": raw,
        "value": None if value is INVALID else value,
        "state": message.state_of(entry),
        "first_seq": entry.first_seq,
        "last_seq": entry.last_seq,
        "seqs": [list(pair) for pair in entry.seqs],
        "call_ref": entry.ref,
        "executor": entry.executor,
    }
    if entry.legacy:
        shown["legacy"] = True
    if entry.free_text:
        shown["free_text"] = True
    if gaps := [seq for seq in message.gaps if entry.first_seq < seq < entry.last_seq]:
        shown["gaps"] = gaps
    return shown


def finding(seq: int, found: Finding) -> dict[str, Any]:
    """One finding, with the event that it is about."""
    return {
        "seq": seq,
        "rule": found.rule,
        "severity": found.severity,
        "detail": jsontext.clean(found.detail),
        "run_id": jsontext.cleaned(found.run_id),
        "call_id": jsontext.cleaned(found.call_id),
    }


def tool_message(seq: int, answer: HistoryAnswer, source: str, run_id: str, executor: str) -> dict[str, Any]:
    """One tool message, with LangChain's fields and where it was first seen.

    Ids and names are as the read model can hold them, so that they are the same whether folded or read from it.
    """
    return {
        "tool_call_id": jsontext.cleaned(answer.tool_call_id),
        "name": jsontext.cleaned(answer.name),
        "content": answer.content,
        "artifact": answer.artifact,
        "status": jsontext.cleaned(answer.status),
        "id": jsontext.cleaned(answer.message_id),
        "additional_kwargs": answer.additional_kwargs,
        "response_metadata": answer.response_metadata,
        "seq": seq,
        "source": source,
        "run_id": run_id,
        "executor": executor,
    }


def _blocks(message: Message) -> list[dict[str, Any]]:
    entries = {entry.ref: entry for entry in message.gather.entries}
    if message.merged is None:
        return [
            _call_block(entries[block.call], wire_blocks.render(block))
            if block.call is not None
            else wire_blocks.render(block)
            for block in message.blocks.by_key.values()
        ]
    return _content_blocks(message, list(entries.values()))


def _content_blocks(message: Message, entries: list[Entry]) -> list[dict[str, Any]]:
    """LangChain content as blocks; calls that content does not hold come after it, as LangChain shows them."""
    assert message.merged is not None
    content = message.merged.content
    shown: list[dict[str, Any]] = []
    reasoning = message.merged.additional_kwargs.get("reasoning_content")
    if isinstance(reasoning, str) and reasoning:
        shown.append({"type": "thinking", "thinking": reasoning})
    waiting = {entry.ref: entry for entry in entries}
    for item in [content] if isinstance(content, str) else content:
        if isinstance(item, str):
            if item:
                shown.append({"type": "text", "text": item})
        elif isinstance(item, dict):
            entry = _entry_of(item, waiting.values()) if _is_call(item.get("type")) else None
            if entry is None:
                shown.append(item)
            else:
                del waiting[entry.ref]
                shown.append(_call_block(entry))
    return shown + [_call_block(entry) for entry in waiting.values()]


def _is_call(kind: object) -> bool:
    return isinstance(kind, str) and kind in _CALL_BLOCKS


def _entry_of(item: dict[str, Any], entries: Iterable[Entry]) -> Entry | None:
    id, index = item.get("id"), item.get("index")
    for entry in entries:
        if (id and entry.id == id) or (not id and index is not None and entry.index == index):
            return entry
    return None


def _call_block(entry: Entry, others: dict[str, Any] | None = None) -> dict[str, Any]:
    """A call as a block, with the block's `others` fields behind the call's own."""
    shown = {
        "type": wire_blocks.TOOL_CALL,
        "id": entry.id,
        "name": entry.name,
        "args": entry.args.text if entry.args is not None else "",
        "call_ref": entry.ref,
    }
    return {**shown, **{name: value for name, value in (others or {}).items() if name not in shown}}
