"""The read model's rows, collected while a fold runs.

Rows are full rows by primary key, so that writing one again is harmless. What grows event by event (an open call's
arguments, an open message's text) is NULL in its row; chunks and pieces hold it until the call or message closes. A
chunk has of its own only what differs from its call; the view adds the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from recorder.deltas import Finding, HistoryAnswer, HistoryCall
from recorder.events import jsontext
from recorder.projections import render
from recorder.projections.calls import strict_value
from recorder.projections.gather import Entry, GatherStep
from recorder.projections.messages import Message
from recorder.projections.observer import Silent
from recorder.projections.pairing import Pairing
from recorder.projections.timeline import Run

Row = dict[str, Any]


class RowCollector(Silent):
    """Collects what a batch of events changed; `take()` gives the rows and begins anew."""

    def __init__(self) -> None:
        self._written_pieces: set[str] = set()
        self._begin()

    def _begin(self) -> None:
        self._messages: dict[str, Message] = {}
        self._calls: dict[str, tuple[Message, Entry]] = {}
        self._runs: dict[str, Run] = {}
        self._pairings: dict[int, Pairing] = {}
        self._pieces: dict[str, list[Row]] = {}
        self._plain: dict[str, list[Row]] = {}
        self._closed: list[tuple[int, Message]] = []

    def message_changed(self, seq: int, message: Message) -> None:
        self._messages[message.ref] = message

    def calls_settled(self, seq: int, message: Message, entries: Sequence[Entry]) -> None:
        self._messages[message.ref] = message
        for entry in entries:
            self._calls[entry.ref] = (message, entry)

    def message_closed(self, seq: int, message: Message) -> None:
        self._messages[message.ref] = message
        self._closed.append((seq, message))

    def text_added(self, seq: int, ordinal: int, message: Message, text: str) -> None:
        piece = {"message_ref": message.ref, "seq": seq, "ordinal": ordinal, "text": text}
        self._pieces.setdefault(message.ref, []).append(piece)

    def text_grew(self, message: Message, pieces: Sequence[tuple[int, str]]) -> None:
        ref = message.ref
        self._pieces.setdefault(ref, []).extend(
            [{"message_ref": ref, "seq": seq, "ordinal": 0, "text": text} for seq, text in pieces]
        )

    def call_grew(self, message: Message, entry: Entry, pieces: Sequence[tuple[int, str]]) -> None:
        ref, index, id = entry.ref, _integer(entry.index), entry.id
        self._calls[ref] = (message, entry)
        self._plain.setdefault("tool_call_chunks", []).extend(
            [
                {
                    "seq": seq,
                    "ordinal": 0,
                    "call_ref": ref,
                    "call_index": index,
                    "call_id": id,
                    "name": None,
                    "args": args,
                }
                for seq, args in pieces
            ]
        )

    def chunk_gathered(self, seq: int, ordinal: int, message: Message, step: GatherStep) -> None:
        entry = step.entry
        self._calls[entry.ref] = (message, entry)
        if step.cleared is not None:
            self._clear(*step.cleared)
        self._plain.setdefault("tool_call_chunks", []).append(
            {
                "seq": seq,
                "ordinal": ordinal,
                "call_ref": entry.ref,
                "call_index": _integer(entry.index),
                "call_id": entry.id,
                "name": step.name,
                "args": step.args,
            }
        )

    def _clear(self, seq: int, ordinal: int) -> None:
        """Takes the arguments out of a chunk's row, written or not: they were a placeholder."""
        for row in self._plain.get("tool_call_chunks", ()):
            if (row["seq"], row["ordinal"]) == (seq, ordinal):
                row["args"] = None
                return
        self._add("tool_call_chunks", seq=seq, ordinal=ordinal, args=None)

    def run_changed(self, seq: int, run: Run) -> None:
        self._runs[run.run_id] = run

    def pairing_changed(self, seq: int, pairing: Pairing) -> None:
        self._pairings[pairing.position] = pairing

    def call_restated(self, seq: int, call: HistoryCall, pairing: Pairing, run_id: str, layer: str) -> None:
        valid = isinstance(strict_value(call.args), dict) or (call.free_text and bool(call.args))
        self._add(
            "tool_calls",
            call_ref=pairing.call_ref,
            layer=layer,
            run_id=run_id,
            message_ref=None,
            choice=0,
            position=pairing.position,
            call_index=None,
            call_id=call.id,
            name=call.name,
            args=call.args,
            args_state="complete" if valid else "invalid" if call.args else "empty",
            first_seq=seq,
            last_seq=seq,
            executor=call.executor,
            source="history",
            legacy=int(call.legacy),
        )

    def tool_message(
        self, seq: int, ordinal: int, answer: HistoryAnswer, source: str, run_id: str, executor: str
    ) -> None:
        # A lone surrogate would come back as its escape: as JSON the text comes back as it was.
        plain = isinstance(answer.content, str) and jsontext.is_clean(answer.content)
        self._add(
            "tool_messages",
            seq=seq,
            ordinal=ordinal,
            tool_call_id=answer.tool_call_id,
            name=answer.name,
            content=answer.content if plain else jsontext.encode(answer.content),
            content_is_json=int(not plain),
            status=answer.status,
            artifact=None if answer.artifact is None else jsontext.encode(answer.artifact),
            message_id=answer.message_id,
            additional_kwargs=jsontext.encode(answer.additional_kwargs),
            response_metadata=jsontext.encode(answer.response_metadata),
            source=source,
            run_id=run_id,
            executor=executor,
        )

    def found(self, seq: int, ordinal: int, finding: Finding) -> None:
        self._add(
            "findings",
            seq=seq,
            ordinal=ordinal,
            rule=finding.rule,
            severity=finding.severity,
            run_id=finding.run_id,
            call_id=finding.call_id,
            detail=finding.detail,
        )

    def take(self) -> tuple[Mapping[str, Sequence[Row]], list[str]]:
        """The rows by table, and the refs of closed messages whose earlier written pieces must go."""
        rows: dict[str, list[Row]] = dict(self._plain)
        closed = {message.ref for _, message in self._closed}
        rows["messages"] = [_message_row(message) for message in self._messages.values()]
        rows.setdefault("tool_calls", []).extend(self._call_rows())
        rows["runs"] = [_run_row(run) for run in self._runs.values()]
        rows["pairings"] = [_pairing_row(pairing) for pairing in self._pairings.values()]
        rows["message_states"] = [
            {
                "message_ref": message.ref,
                "closed_seq": seq,
                "body": jsontext.encode(render.message(message)).encode(),
            }
            for seq, message in self._closed
        ]
        open_pieces = {ref: pieces for ref, pieces in self._pieces.items() if ref not in closed}
        rows["message_pieces"] = [piece for pieces in open_pieces.values() for piece in pieces]
        dropped = [ref for ref in closed if ref in self._written_pieces]
        self._written_pieces = (self._written_pieces | open_pieces.keys()) - closed
        self._begin()
        return {table: found for table, found in rows.items() if found}, dropped

    def _call_rows(self) -> Iterator[Row]:
        positions: dict[str, dict[str, int]] = {}
        for message, entry in self._calls.values():
            if message.ref not in positions:
                positions[message.ref] = {each.ref: place for place, each in enumerate(message.gather.entries)}
            yield _call_row(message, entry, positions[message.ref][entry.ref])

    def assume_written(self, refs: set[str]) -> None:
        """Says which open messages have pieces in the read model already: after a resume from a snapshot."""
        self._written_pieces |= refs

    def _add(self, table: str, **row: Any) -> None:
        self._plain.setdefault(table, []).append(row)


def _message_row(message: Message) -> Row:
    usage = message.usage
    return {
        "message_ref": message.ref,
        "layer": message.layer,
        "run_id": message.run_id,
        "message_id": message.id,
        "choice": message.choice,
        "role": message.role,
        "model": message.model,
        "first_seq": message.first_seq,
        "last_seq": message.last_seq,
        "finish_reason": message.finish_reason,
        "input_tokens": _integer(usage.get("input_tokens")),
        "output_tokens": _integer(usage.get("output_tokens")),
        "text": message.text if message.closed or message.scattered else None,
        "closed": int(message.closed),
        "superseded": int(message.superseded),
    }


def _call_row(message: Message, entry: Entry, position: int) -> Row:
    return {
        "call_ref": entry.ref,
        "layer": message.layer,
        "run_id": message.run_id,
        "message_ref": message.ref,
        "choice": message.choice,
        "position": position,
        "call_index": _integer(entry.index),
        "call_id": entry.id,
        "name": entry.name,
        "args": _text(entry) if message.closed else None,
        "args_state": message.state_of(entry),
        "first_seq": entry.first_seq,
        "last_seq": entry.last_seq,
        "executor": entry.executor,
        "source": "stream",
        "legacy": int(entry.legacy),
    }


def _text(entry: Entry) -> str:
    return entry.args.text if entry.args is not None else ""


def _run_row(run: Run) -> Row:
    return {
        "run_id": run.run_id,
        "layer": run.layer,
        "parent_run_id": run.parent_run_id,
        "kind": run.kind,
        "name": run.name,
        "tags": jsontext.encode(run.tags or []),
        "metadata": jsontext.encode(run.metadata or {}),
        "first_seq": run.first_seq,
        "last_seq": run.last_seq,
        "status": run.status,
        "error": run.error,
        "serves": None,
        "input_seq": run.input_seq,
        "input_path": run.input_path,
        "output_seq": run.output_seq,
        "output_path": run.output_path,
    }


def _pairing_row(pairing: Pairing) -> Row:
    return {
        "position": pairing.position,
        "call_ref": pairing.call_ref,
        "call_id": pairing.call_id,
        "name": pairing.name,
        "status": pairing.status,
        "call_seq": pairing.call_seq,
        "answer_seq": pairing.answer_seq,
        "answer_status": pairing.answer_status,
        "executor": pairing.executor,
        "failed_seq": pairing.failed_seq,
    }


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) and -(1 << 63) <= value < 1 << 63 else None
