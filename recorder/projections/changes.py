"""What each event changed, in a form whose whole size is linear in the stream: text that grew is an append.

A change is a flat object that names what it is about: a message (`message`: its ref), a call (`call`), a run, a tool
message, a pairing, a finding. Applied in order, the changes of events 1 to N give the raw arguments, the partly
parsed value and the text of every call and message at N. A call's `value` changes as `PartialJson.changes` says it,
null standing for no value; before its first argument text a call reads as `{}`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recorder.deltas import Finding, HistoryAnswer, HistoryCall
from recorder.projections import render
from recorder.projections.gather import Entry, GatherStep
from recorder.projections.messages import Message
from recorder.projections.observer import Silent
from recorder.projections.pairing import Pairing, row_of
from recorder.projections.partial_json import INVALID, Change
from recorder.projections.readings import Gathered, JsonReader, reader_for
from recorder.projections.timeline import Run

Changes = list[dict[str, Any]]
_HEAD = ("message_id", "role", "model", "finish_reason", "usage")


class ChangeCollector(Silent):
    """Collects what the events change; `take()` gives it and begins anew."""

    wants_each = True

    def __init__(self) -> None:
        self._changes: Changes = []
        self._readers: dict[str, JsonReader] = {}
        self._texts: set[str] = set()
        self._states: dict[str, str] = {}
        self._ids: dict[str, str | None] = {}
        self._nameless: set[str] = set()
        """Calls whose name was told, and is empty."""
        self._heads: dict[str, tuple[Any, ...]] = {}
        self._pairings: dict[int, tuple[Any, ...]] = {}

    def take(self) -> Changes:
        taken, self._changes = self._changes, []
        return taken

    def message_changed(self, seq: int, message: Message) -> None:
        usage = message.usage
        head = (message.id, message.role, message.model, message.finish_reason, dict(usage) if usage else None)
        known = self._heads.get(message.ref)
        if head == known:
            return
        if known is None:
            self._add(message=message.ref, op="open", run_id=message.run_id, layer=message.layer, choice=message.choice)
            known = (None,) * len(_HEAD)
        changed = {
            name: new for name, old, new in zip(_HEAD, known, head, strict=True) if new != old and new is not None
        }
        if changed:
            self._add(message=message.ref, op="set", **changed)
        self._heads[message.ref] = head

    def calls_settled(self, seq: int, message: Message, entries: Sequence[Entry]) -> None:
        self.message_changed(seq, message)
        for entry in entries:
            state = message.state_of(entry)
            if self._states.get(entry.ref) != state:
                self._states[entry.ref] = state
                self._add(call=entry.ref, op="state", state=state)

    def message_closed(self, seq: int, message: Message) -> None:
        self._add(message=message.ref, op="close", **({"superseded": True} if message.superseded else {}))
        self._heads.pop(message.ref, None)
        for entry in message.gather.entries:
            self._readers.pop(entry.ref, None)
            self._texts.discard(entry.ref)
            self._nameless.discard(entry.ref)

    def text_added(self, seq: int, ordinal: int, message: Message, text: str) -> None:
        if message.scattered:
            # The blocks interleave: what came is not at the text's end.
            self._add(message=message.ref, op="set", field="text", value=message.text)
        else:
            self._add(message=message.ref, op="append", field="text", value=text)

    def block_changed(self, seq: int, message: Message, key: str, field: str, text: str | None) -> None:
        if (key, field) == ("text", "text"):
            return
        if text is None:
            block = message.blocks.by_key[key]
            value = block.kind if field == "type" else block.values.get(field)
            self._add(message=message.ref, block=key, op="set", field=field, value=value)
        else:
            self._add(message=message.ref, block=key, op="append", field=field, value=text)

    def chunk_gathered(self, seq: int, ordinal: int, message: Message, step: GatherStep) -> None:
        entry = step.entry
        if not step.opened and entry.id != self._ids.get(entry.ref):
            self._add(call=entry.ref, op="set", field="id", value=entry.id)
        self._ids[entry.ref] = entry.id
        if step.opened:
            self._states[entry.ref] = "open"
            self._add(
                call=entry.ref, op="open", message=message.ref, index=entry.index, id=entry.id, executor=entry.executor
            )
        # An empty name is one all the same where there was none.
        if step.name or (step.name is not None and not entry.name and entry.ref not in self._nameless):
            if not step.name:
                self._nameless.add(entry.ref)
            self._add(call=entry.ref, op="set" if step.renamed else "append", field="name", value=step.name)
        if step.cleared is not None:
            self._add(call=entry.ref, op="set", field="raw", value="")
            self._add_value(entry.ref, [Change(op="set", path=(), value=INVALID)])
            self._readers.pop(entry.ref, None)
        if step.args:
            self._add(call=entry.ref, op="append", field="raw", value=step.args)
            self._read(message.gather, entry, step.args)

    def _read(self, gathered: Gathered, entry: Entry, text: str) -> None:
        """Tells how the call's value changes by more of its arguments; text as it is, is its own value."""
        if entry.free_text:
            self._add_value(
                entry.ref, [Change(op="append" if entry.ref in self._texts else "set", path=(), value=text)]
            )
            self._texts.add(entry.ref)
            return
        reader = self._readers.get(entry.ref)
        if reader is None:
            reader = self._readers[entry.ref] = reader_for(gathered)
        reader.feed(text)
        self._add_value(entry.ref, reader.changes())

    def run_changed(self, seq: int, run: Run) -> None:
        shown: dict[str, Any] = {"kind": run.kind, "name": run.name, "status": run.status}
        if run.error is not None:
            shown["error"] = run.error
        self._add(run=run.run_id, op="start" if run.first_seq == seq else "set", **shown)

    def pairing_changed(self, seq: int, pairing: Pairing) -> None:
        held = (pairing.call_id, pairing.name, pairing.status, pairing.answer_seq)
        if self._pairings.get(pairing.position) != held:
            self._pairings[pairing.position] = held
            self._add(pairing=pairing.position, op="set", **row_of(pairing))

    def call_restated(self, seq: int, call: HistoryCall, pairing: Pairing, run_id: str, layer: str) -> None:
        self._add(call=pairing.call_ref, op="restated", id=call.id, name=call.name, raw=call.args)

    def tool_message(
        self, seq: int, ordinal: int, answer: HistoryAnswer, source: str, run_id: str, executor: str
    ) -> None:
        self._add(op="tool_message", **render.tool_message(seq, answer, source, run_id, executor))

    def found(self, seq: int, ordinal: int, finding: Finding) -> None:
        self._add(op="finding", rule=finding.rule, severity=finding.severity, detail=finding.detail)

    def _add_value(self, call: str, changes: list[Change]) -> None:
        for change in changes:
            value = None if change.value is INVALID else change.value
            self._add(call=call, op=change.op, field="value", path=list(change.path), value=value)

    def _add(self, **change: Any) -> None:
        self._changes.append(change)
