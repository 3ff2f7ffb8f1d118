"""@langchain/core beside this project: the same chunks added by both, compared after every one of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import msgspec

from recorder.dialects.langchain_messages import message_chunk_of, message_of, tool_call_chunks_of
from recorder.ledger import snapshots
from recorder.projections.javascript_values import number
from recorder.projections.langchainjs_gather import LangChainJsGather
from recorder.projections.langchainjs_message import LangChainJsMessage
from recorder.projections.langchainjs_partial_json import LangChainJsJson
from recorder.projections.partial_json import INVALID, Follower
from recorder.replay.javascript_patch import same
from tests.javascript.library import Library

RUN = "run"
FIVE = dict.fromkeys(("name", "args", "id", "index"), None) | {"type": "tool_call_chunk"}
"""The members that a chunk always has here; the library may leave them undefined."""


class Sum(msgspec.Struct):
    """What this project adds up of a message's chunks."""

    gather: LangChainJsGather = msgspec.field(default_factory=LangChainJsGather)
    message: LangChainJsMessage = msgspec.field(default_factory=LangChainJsMessage)

    def add(self, seq: int, event: dict[str, Any]) -> list[str]:
        """Adds a chunk as an event holds it; gives what the library should refuse of it."""
        found = message_of(event)
        assert found is not None
        assert found.runtime == "javascript"
        before = len(self.message.refused)
        steps = self.gather.add(seq, tool_call_chunks_of(RUN, found.fields))
        self.message.add(message_chunk_of(RUN, found.fields, found.runtime))
        return [*self.message.refused[before:], *(detail for step in steps for _, _, detail in step.findings)]

    @property
    def observed(self) -> dict[str, Any]:
        """The sum's fields, under the library's names."""
        calls, invalid = self.gather.tool_calls()
        return {
            "tool_call_chunks": self.gather.tool_call_chunks(),
            "tool_calls": calls,
            "invalid_tool_calls": invalid,
            "content": self.message.content,
            "additional_kwargs": self.message.additional_kwargs,
            "response_metadata": self.message.response_metadata,
            "usage_metadata": self.message.usage,
            "id": self.message.message_id,
        }


@dataclass
class Verdict:
    """`added`: both sums were equal after every chunk. `refused`: equal until both refused the same chunk."""

    kind: Literal["added", "refused", "differs"]
    steps: int
    """How many prefixes were compared."""
    detail: str = ""


def compare(library: Library, chunks: Sequence[dict[str, Any]], *, resume: bool = False) -> Verdict:
    """Adds the chunks on both sides. `resume`: this project's state goes through a snapshot after every chunk."""
    ours = Sum()
    answers = library.ask("sum", chunks=list(chunks))
    for step, answer in enumerate(answers, 1):
        if "event" not in answer:
            # The library could not even make the chunk: no event can hold it.
            return Verdict("refused", step)
        reasons = ours.add(step, answer["event"])
        if "refused" in answer:
            kind: Literal["refused", "differs"] = "refused" if reasons else "differs"
            return Verdict(kind, step, f"only the library refuses: {answer['refused']}")
        if reasons:
            return Verdict("differs", step, f"the library does not refuse, but: {reasons}")
        observed = ours.observed
        for name, got in observed.items():
            want = answer["sum"].get(name)
            if canonical(name, got) != canonical(name, want):
                return Verdict("differs", step, f"{name}: the library {want!r}, here {got!r}")
        if resume:
            ours = snapshots.unpack(snapshots.pack(ours), Sum)
    return Verdict("added", len(answers))


def canonical(field: str, value: Any) -> str:
    """A text under which two values of a field are equal: 1 and true differ, and so do two orders of keys.

    But for the members of calls and their chunks, which are told in one order here, and null where they are undefined.
    """
    value = _plain(value)
    if field == "tool_call_chunks":
        value = [sorted((FIVE | chunk).items()) for chunk in value]
    elif field.endswith("tool_calls"):
        value = [sorted(({"id": None} | call).items()) for call in value]
    elif field == "usage_metadata":
        value = value or None
    return repr(value)


def _plain(value: Any) -> Any:
    """The value with its numbers as JavaScript spells them."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value if isinstance(value, bool) or not isinstance(value, int | float) else number(value)


def partial_difference(library: Library, text: str, cuts: Iterable[Iterable[int]]) -> str | None:
    """Feeds `text` once for each of `cuts` and compares after each piece; gives the first difference in words."""
    wanted = [None, *library.ask("partial", pieces=list(text))]
    for places in cuts:
        reader, follower = LangChainJsJson(), Follower()
        for start, end in pairwise(sorted({0, len(text), *places})):
            reader.feed(text[start:end])
            follower.apply(reader.changes())
            value, followed = (None if found is INVALID else found for found in (reader.value, follower.value))
            where = f"after {text[:end]!r} (piece {text[start:end]!r})"
            if repr(value) != repr(wanted[end]):
                return f"{where}: {value!r}, the library gives {wanted[end]!r}"
            if not same(followed, value):
                return f"{where}: changes give {followed!r}, the value is {value!r}"
    return None
