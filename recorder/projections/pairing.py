"""Pairing: which tool message answers which call.

An id may be missing, be used by two calls, or come back a hundred times because every request repeats the whole
conversation. So a call is known by its own ref, an answer at first hand goes to the first unanswered call with its id,
and a restated conversation is aligned with what is known (`pairing_alignment`) before anything in it counts as new.
Pairs that were made are never unmade: the state after an event does not depend on later ones.

Where a stream has a program's wire and its framework, each of them tells of the same call: the second row is the twin
of the first, and has what becomes of that.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct, field

from recorder.deltas import HistoryAnswer, HistoryCall
from recorder.events import jsontext
from recorder.projections.calls import args_key
from recorder.projections.pairing_aliases import recognised, strangers
from recorder.projections.pairing_alignment import Restated, align, content_key

PairingStatus = Literal["open", "answered", "error", "failed", "orphan", "duplicate", "superseded", "erased"]


class Pairing(Struct):
    """One row: a call and its answer, an answer without a call, or a second answer."""

    position: int
    call_ref: str | None
    call_id: str | None
    name: str | None
    status: PairingStatus
    call_seq: int | None
    answer_seq: int | None = None
    answer_status: str | None = None
    executor: str = "client"
    failed_seq: int | None = None
    """The event at which its tool raised; with it the status at any earlier event can be told from the last one."""
    args_key: str | None = None
    """Digest of a finished call's arguments; None while they may grow."""
    answer_key: str | None = None
    answer_run: str | None = None
    renamed: bool = False
    """A conversation restates the call under another id, or under none."""
    layer: str = ""
    """Of the message that streamed the call; empty for one that is known from a conversation only."""
    twin: int | None = None
    """The row of the same call on the other layer."""
    is_second: bool = False
    """It is the row of that call which came later: no answer goes to it, it has what the first one has."""


class Answered(Struct, frozen=True):
    """What became of one answer: the row that it changed or made, and whether it is a tool message not seen before."""

    pairing: Pairing
    new: bool


class Pairings(Struct):
    """All calls and answers of a stream so far."""

    rows: list[Pairing] = field(default_factory=list)
    by_ref: dict[str, int] = field(default_factory=dict)
    by_key: dict[str, list[int]] = field(default_factory=dict)
    """Rows of calls under their id, or under their name where they have none; and under what they are restated by."""
    extra: dict[str, list[int]] = field(default_factory=dict)
    """Orphans and duplicates under the same keys."""
    erased: bool = False
    """An event was erased: its calls are not known."""

    def call(self, ref: str, id: str | None, name: str | None, seq: int, executor: str, layer: str) -> Pairing:
        """A call was opened, or grew: its id and name may become known late."""
        position = self.by_ref.get(ref)
        if position is None:
            first = self._on_other_layer(id, name, layer)
            row = self._row(ref, id, name, "open", seq)
            row.executor, row.layer = executor, layer
            self.by_ref[ref] = row.position
            if first is not None:
                self._make_twins(first, row)
            else:
                self.by_key.setdefault(_key(id, name), []).append(row.position)
            return row
        row = self.rows[position]
        row.call_seq = seq
        if row.is_second:
            row.call_id, row.name = id, name
        elif (id, name) != (row.call_id, row.name):
            self.by_key[_key(row.call_id, row.name)].remove(position)
            row.call_id, row.name = id, name
            self.by_key.setdefault(_key(id, name), []).append(position)
        return row

    def call_finished(self, ref: str, raw: str | None) -> None:
        """A call's arguments are final: from now on a restated call must have the same."""
        position = self.by_ref.get(ref)
        if position is not None:
            self.rows[position].args_key = args_key(raw)

    def call_superseded(self, ref: str) -> Pairing | None:
        """The message that held the call was started over."""
        position = self.by_ref.get(ref)
        if position is None or self.rows[position].answer_seq is not None:
            return None
        row = self.rows[position]
        row.status = "superseded"
        if not row.is_second:
            self.by_key[_key(row.call_id, row.name)].remove(position)
        return row

    def failed(self, seq: int, id: str | None, name: str | None) -> Pairing | None:
        """The tool raised: the call's status until a tool message comes, if one does."""
        for position in self.by_key.get(_key(id, name), ()):
            row = self.rows[position]
            if row.status == "open":
                row.status, row.failed_seq = "failed", seq
                self._mirror(row)
                return row
        return None

    def answer(self, seq: int, run_id: str, answer: HistoryAnswer) -> Answered:
        """An answer at first hand: goes to the first unanswered call with its id."""
        key = _key(answer.tool_call_id, answer.name)
        content = content_key(answer)
        calls = self._calls(key)
        for row in calls:
            if row.answer_seq is None:
                return self._settle(row, seq, run_id, answer, content)
        for row in [*calls, *self._extras(key)]:
            if row.answer_key == content and row.answer_run in (None, run_id):
                row.answer_run = run_id
                return Answered(row, new=False)
        return self._extra(seq, run_id, answer, content, calls[-1] if calls else None)

    def restated(
        self, seq: int, entries: list[HistoryCall | HistoryAnswer]
    ) -> tuple[list[tuple[HistoryCall, Pairing]], list[tuple[HistoryAnswer, Answered]]]:
        """A conversation as an event repeats it: the calls and answers in it that were not known, each in its order."""
        keys = _keys(entries)
        said: dict[str, Restated] = {}
        for entry, key in zip(entries, keys, strict=True):
            part = said.setdefault(key, Restated())
            part.calls.append(entry) if isinstance(entry, HistoryCall) else part.answers.append(entry)
        aligned = {key: align(self._calls(key), part) for key, part in said.items()}
        for key in self._take_aliases(said, aligned):
            aligned[key] = align(self._calls(key), said[key])
        known = {key: iter(found) for key, found in aligned.items()}
        rows: dict[str, list[Pairing]] = {}
        calls: list[tuple[HistoryCall, Pairing]] = []
        for entry, key in zip(entries, keys, strict=True):
            if not isinstance(entry, HistoryCall):
                continue
            row, place = next(known[key]), len(rows.setdefault(key, []))
            if row is None:
                answers_of_key = said[key].answers
                row = self._first_seen(seq, entry, key, answers_of_key[place] if place < len(answers_of_key) else None)
                calls.append((entry, row))
            rows[key].append(row)
        answers = [(entry, key) for entry, key in zip(entries, keys, strict=True) if isinstance(entry, HistoryAnswer)]
        return calls, self._restated_answers(seq, rows, answers)

    def _first_seen(self, seq: int, call: HistoryCall, key: str, answer: HistoryAnswer | None) -> Pairing:
        """The row of a call that is known from a conversation only; `answer`: the one that this gives it.

        Its answer may have been seen before it, where a capture began in between or the call's event was erased: then
        it is an orphan, whose row becomes the call's. It is told by its content, or by its id where the conversation
        has not got to the answer.
        """
        orphans = (row for row in self._extras(key) if row.call_ref is None)
        orphan = next((row for row in orphans if _may_answer(row, call, answer)), None)
        row = orphan or self._row(None, call.id, call.name, "open", None)
        if orphan is not None:
            orphan.status = _answered_as(orphan.answer_status)
            self.extra[key].remove(orphan.position)
        row.call_ref, row.call_id, row.name, row.call_seq = f"{seq}:h{row.position}", call.id, call.name, seq
        row.executor, row.args_key = call.executor, args_key(call.args)
        self.by_ref[row.call_ref] = row.position
        insort(self.by_key.setdefault(key, []), row.position)
        return row

    def _take_aliases(self, said: Mapping[str, Restated], aligned: Mapping[str, Sequence[object]]) -> set[str]:
        """Lets known calls be found by the ids that they are restated under; gives the keys that found some."""
        taken: set[str] = set()
        for (name, with_id), met in strangers(said, aligned).items():
            rows = self._calls(_key(None, name)) if with_id else self.rows
            candidates = [
                row
                for row in rows
                if row.name == name
                and row.args_key is not None
                and bool(row.call_id) is not with_id
                and not row.renamed
                and not row.is_second
                and row.status not in ("duplicate", "superseded")
            ]
            for key, row in recognised(candidates, met):
                row.renamed = True
                insort(self.by_key.setdefault(key, []), row.position)
                taken.add(key)
        return taken

    def _restated_answers(
        self, seq: int, rows: dict[str, list[Pairing]], answers: list[tuple[HistoryAnswer, str]]
    ) -> list[tuple[HistoryAnswer, Answered]]:
        """Answers in their order go to the restated calls in theirs; what is left is a second answer or an orphan."""
        same = Counter(key for _, key in answers)
        calls = {key: rows.get(key) or self._calls(key)[-count:] for key, count in same.items()}
        waiting = {key: iter(found) for key, found in calls.items()}
        told = {key: Counter(row.answer_key for row in self._extras(key)) for key in same}
        new: list[tuple[HistoryAnswer, Answered]] = []
        for answer, key in answers:
            row = next(waiting[key], None)
            if row is not None:
                if row.answer_seq is None:
                    new.append((answer, self._settle(row, seq, None, answer, content_key(answer))))
                continue
            content = content_key(answer)
            told[key][content] -= 1
            if told[key][content] < 0:
                last = calls[key][-1] if calls[key] else None
                new.append((answer, self._extra(seq, None, answer, content, last)))
        return new

    def _settle(self, row: Pairing, seq: int, run_id: str | None, answer: HistoryAnswer, content: str) -> Answered:
        row.status = _answered_as(answer.status)
        row.answer_seq, row.answer_status = seq, answer.status
        row.answer_key, row.answer_run = content, run_id
        self._mirror(row)
        return Answered(row, new=True)

    def twin_of(self, row: Pairing) -> Pairing | None:
        """The row of the same call on the other layer, which changes with it; None where there is none."""
        return self.rows[row.twin] if row.twin is not None and not row.is_second else None

    def _on_other_layer(self, id: str | None, name: str | None, layer: str) -> Pairing | None:
        """The call of the other layer that one with this id must be: the last one with the id that has no twin.

        Where the wire gives no ids (Gemini) a framework makes some up: then it is the first one of that name.
        """
        by_id = [row for row in self._calls(_key(id, name)) if row.twin is None and row.layer not in ("", layer)]
        if by_id:
            return by_id[-1] if id else by_id[0]
        unnamed = self._calls(_key(None, name)) if id and name else []
        found = (row for row in unnamed if row.twin is None and row.layer not in ("", layer) and not row.call_id)
        return next(found, None)

    def _make_twins(self, first: Pairing, second: Pairing) -> None:
        first.twin, second.twin, second.is_second = second.position, first.position, True
        if second.call_id and not first.call_id:
            insort(self.by_key.setdefault(_key(second.call_id, None), []), first.position)
        self._mirror(first)

    def _mirror(self, row: Pairing) -> None:
        """Gives the second row of the call what became of the first."""
        second = self.twin_of(row)
        if second is not None and second.status != "superseded":
            second.status, second.failed_seq = row.status, row.failed_seq
            second.answer_seq, second.answer_status = row.answer_seq, row.answer_status

    def _extra(
        self, seq: int, run_id: str | None, answer: HistoryAnswer, content: str, call: Pairing | None
    ) -> Answered:
        """An answer that no open call waits for: a duplicate where there is a call, else an orphan.

        Behind an erased event, which may have held the call, it is called erased.
        """
        key = _key(answer.tool_call_id, answer.name)
        row = self._row(None, answer.tool_call_id, answer.name, "erased" if self.erased else "orphan", None)
        if call is not None:
            row.status, row.call_ref, row.call_seq = "duplicate", call.call_ref, call.call_seq
            row.name, row.executor = call.name, call.executor
        row.answer_seq, row.answer_status, row.answer_key, row.answer_run = seq, answer.status, content, run_id
        self.extra.setdefault(key, []).append(row.position)
        return Answered(row, new=True)

    def _calls(self, key: str) -> list[Pairing]:
        return [self.rows[position] for position in self.by_key.get(key, ())]

    def _extras(self, key: str) -> list[Pairing]:
        return [self.rows[position] for position in self.extra.get(key, ())]

    def _row(
        self, ref: str | None, id: str | None, name: str | None, status: PairingStatus, seq: int | None
    ) -> Pairing:
        row = Pairing(position=len(self.rows), call_ref=ref, call_id=id, name=name, status=status, call_seq=seq)
        self.rows.append(row)
        return row


def _may_answer(orphan: Pairing, call: HistoryCall, answer: HistoryAnswer | None) -> bool:
    """Whether an answer that came before its call was known is this call's."""
    return bool(call.id) if answer is None else orphan.answer_key == content_key(answer)


def _answered_as(status: str | None) -> PairingStatus:
    return "error" if status == "error" else "answered"


def _key(id: str | None, name: str | None) -> str:
    """Ids are compared byte for byte; calls and answers without one pair by name and order."""
    return f"id {id}" if id else f"name {name}"


def _keys(entries: list[HistoryCall | HistoryAnswer]) -> list[str]:
    """The key of each entry. An answer without id and name is that of the next call without an id."""
    unanswered: list[str] = []
    keys = []
    for entry in entries:
        id = entry.id if isinstance(entry, HistoryCall) else entry.tool_call_id
        key = _key(id, entry.name)
        if id:
            keys.append(key)
        elif isinstance(entry, HistoryCall):
            unanswered.append(key)
            keys.append(key)
        else:
            if entry.name is None and unanswered:
                key = unanswered[0]
            if key in unanswered:
                unanswered.remove(key)
            keys.append(key)
    return keys


def row_of(pairing: Pairing) -> dict[str, Any]:
    """The pairing in the contract's shape."""
    return {
        "call_id": jsontext.cleaned(pairing.call_id),
        "name": jsontext.cleaned(pairing.name),
        "status": pairing.status,
        "call_seq": pairing.call_seq,
        "answer_seq": pairing.answer_seq,
        "call_ref": pairing.call_ref,
        "answer_status": pairing.answer_status,
        "executor": pairing.executor,
    }
