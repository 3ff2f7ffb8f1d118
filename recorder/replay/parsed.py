"""What LangChain's JSON output parsers stream of a call: its arguments so far, or how they changed, as JSON Patch.

Source: `JsonOutputFunctionsParser` of langchain-core 1.8 (`output_parsers/openai_functions.py`) and of @langchain/core
1.4, over their cumulative parsers: after each chunk the arguments so far are parsed, and what differs from the last
value is given out. They do so for the old `function_call`; here it is done for every call.
"""

from __future__ import annotations

from typing import Any

import jsonpatch
from msgspec import Struct

from recorder.projections.gather import Entry, GatherStep
from recorder.projections.langchainjs_gather import LangChainJsGather
from recorder.projections.langchainjs_partial_json import LangChainJsJson
from recorder.projections.messages import Message
from recorder.projections.observer import Silent
from recorder.projections.partial_json import INVALID, Invalid, Json, PartialJson
from recorder.replay import javascript_patch

Patch = list[dict[str, Any]]


class Parsed(Struct, frozen=True):
    """A call whose value is another one since the event before."""

    call_ref: str
    call_id: str | None
    before: Any
    """The value that was given out last, None before the first."""
    value: Any
    javascript: bool

    @property
    def patch(self) -> Patch | None:
        """The operations of the parsers' `diff` mode; None where LangChain.js has none: for 0, false and empty text."""
        if not self.javascript:
            operations: Patch = jsonpatch.make_patch(self.before, self.value).patch
            return operations
        if not isinstance(self.value, dict | list) and not self.value:
            return None
        return javascript_patch.compare({} if self.before is None else self.before, self.value)


class _Call:
    """The arguments of a call as they grow, and what was given out of them."""

    def __init__(self, message: Message, entry: Entry) -> None:
        self.message = message
        self.entry = entry
        self.javascript = isinstance(message.gather, LangChainJsGather)
        self.given: Any = None
        self.restart()

    def restart(self) -> None:
        self._reader = LangChainJsJson(track=False) if self.javascript else PartialJson(track=False)

    def feed(self, text: str) -> None:
        self._reader.feed(text)

    def step(self, whole: bool) -> Parsed | None:
        """What the parser gives after a chunk; `whole`: name and arguments."""
        value = self._value(whole)
        same = javascript_patch.same(value, self.given) if self.javascript else value == self.given
        if value is INVALID or value is None or same:
            return None
        before, self.given = self.given, value
        return Parsed(self.entry.ref, self.entry.id, before, value, self.javascript)

    def _value(self, whole: bool) -> Json | Invalid:
        value = self._reader.value
        if not whole:
            return value
        if self.javascript:
            # It takes nothing that can be read for null, Python's gives nothing out then.
            value = None if value is INVALID else value
        return value if value is INVALID else {**self._function(), "arguments": value}

    def _function(self) -> dict[str, Any]:
        """The call's other fields: those of LangChain's own `function_call`, else the name."""
        merged = self.message.merged
        held = merged.additional_kwargs.get("function_call") if merged is not None and self.entry.legacy else None
        return held if isinstance(held, dict) else {"name": self.entry.name, "arguments": None}


class ParsedCollector(Silent):
    """Follows the calls of a fold; `take()` gives those whose value changed since the last time, and begins anew.

    `whole`: the values are `{"name": …, "arguments": …}` (the parsers' `args_only=False`), not the arguments alone.
    Calls whose arguments are no JSON but text are left out.
    """

    wants_each = True

    def __init__(self, *, whole: bool = False) -> None:
        self._whole = whole
        self._calls: dict[str, _Call] = {}
        self._touched: dict[str, None] = {}
        self._closed: list[str] = []

    def message_closed(self, seq: int, message: Message) -> None:
        self._closed += [entry.ref for entry in message.gather.entries]

    def chunk_gathered(self, seq: int, ordinal: int, message: Message, step: GatherStep) -> None:
        entry = step.entry
        if entry.free_text:
            return
        call = self._calls.get(entry.ref)
        if call is None:
            call = self._calls[entry.ref] = _Call(message, entry)
        if step.cleared is not None:
            call.restart()
        if step.args:
            call.feed(step.args)
        self._touched[entry.ref] = None

    def take(self) -> list[Parsed]:
        steps = [self._calls[ref].step(self._whole) for ref in self._touched]
        for ref in self._closed:
            self._calls.pop(ref, None)
        self._touched, self._closed = {}, []
        return [parsed for parsed in steps if parsed is not None]
