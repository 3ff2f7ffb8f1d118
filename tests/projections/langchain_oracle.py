"""langchain-core beside this project: the same chunks added by both, compared after every one of them."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
from langchain_core.messages import AIMessageChunk

from recorder.deltas import MessageChunk
from recorder.projections.langchain_gather import chunk_tool_call_chunks, chunks_of, tool_calls_of
from recorder.projections.langchain_sum import LangChainSum

RUN = "run"
CHEAP = ("tool_call_chunks", "tool_calls", "invalid_tool_calls", "content")
FIELDS = (*CHEAP, "additional_kwargs", "response_metadata", "usage_metadata", "id", "chunk_position")


@dataclass
class Verdict:
    """`added`: both sums were equal after every chunk. `refused`: equal until both refused the same chunk."""

    kind: Literal["added", "refused", "differs"]
    steps: int
    """How many prefixes were compared."""
    detail: str = ""
    healed_at_once: bool = False
    """The first chunk had explicit invalid calls, whose `error` the library keeps until the next chunk is added."""


def delta_of(kwargs: dict[str, Any], constructed: AIMessageChunk | None) -> MessageChunk:
    """The delta that an AIMessageChunk of these fields is: an event holds it as it was constructed, if it could be."""
    return MessageChunk(
        run_id=RUN,
        content=kwargs.get("content", "") if constructed is None else copy.deepcopy(constructed.content),
        message_id=kwargs.get("id"),
        additional_kwargs=kwargs.get("additional_kwargs"),
        response_metadata=kwargs.get("response_metadata"),
        usage=kwargs.get("usage_metadata"),
        position=kwargs.get("chunk_position"),
    )


def observed(total: LangChainSum) -> dict[str, Any]:
    """The fields of this project's sum, under LangChain's names."""
    calls, invalid = tool_calls_of(total.gather.entries)
    return {
        "tool_call_chunks": chunks_of(total.gather.entries),
        "tool_calls": calls,
        "invalid_tool_calls": invalid,
        "content": total.message.content,
        "additional_kwargs": total.message.additional_kwargs,
        "response_metadata": total.message.response_metadata,
        "usage_metadata": total.message.usage,
        "id": total.message.message_id,
        "chunk_position": total.message.position,
    }


def compare(chunks: Sequence[dict[str, Any]], fields: Sequence[str] = FIELDS, *, resume: bool = False) -> Verdict:
    """Adds the chunks on both sides. `resume`: this project's state goes through a snapshot after every chunk."""
    theirs: AIMessageChunk | None = None
    ours = LangChainSum()
    healed = bool(chunks) and _has_explicit_invalid(chunks[0])
    for step, kwargs in enumerate(chunks, 1):
        chunk, refusal = _constructed(kwargs)
        before = len(ours.message.refused)
        steps = ours.add(step, delta_of(kwargs, chunk), chunk_tool_call_chunks(kwargs, RUN))
        findings = [finding for done in steps for finding in done.findings]
        reasons = [*ours.message.refused[before:], *(detail for _, _, detail in findings)]
        if chunk is not None:
            theirs, refusal = _added(theirs, chunk)
        if refusal is not None:
            if reasons:
                return Verdict("refused", step, healed_at_once=healed)
            return Verdict("differs", step, f"only LangChain refuses: {refusal!r}", healed)
        if reasons:
            return Verdict("differs", step, f"LangChain does not refuse, but: {reasons}", healed)
        got = observed(ours)
        for field in fields:
            if step == 1 and healed and field in ("tool_calls", "invalid_tool_calls"):
                continue
            want = getattr(theirs, field)
            if canonical(got[field], field) != canonical(want, field):
                return Verdict("differs", step, f"{field}: LangChain {want!r}, here {got[field]!r}", healed)
        if resume:
            ours = msgspec.msgpack.decode(msgspec.msgpack.encode(ours), type=LangChainSum)
    return Verdict("added", len(chunks), healed_at_once=healed)


def canonical(value: Any, field: str = "") -> str:
    """A text under which two values are equal: 1, 1.0 and true differ, and so do two orders of keys.

    But for token counts, whose keys the library puts in no order.
    """
    return json.dumps(value, sort_keys=field == "usage_metadata")


def _constructed(kwargs: dict[str, Any]) -> tuple[AIMessageChunk | None, Exception | None]:
    try:
        return AIMessageChunk(**kwargs), None
    except Exception as error:
        return None, error


def _added(left: AIMessageChunk | None, right: AIMessageChunk) -> tuple[AIMessageChunk | None, Exception | None]:
    try:
        return right if left is None else left + right, None
    except Exception as error:
        return None, error


def _has_explicit_invalid(kwargs: dict[str, Any]) -> bool:
    return bool(kwargs.get("invalid_tool_calls")) and not kwargs.get("tool_call_chunks")
