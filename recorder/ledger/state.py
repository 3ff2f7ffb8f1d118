"""The state of a stream after one of its events, in the contract's shape."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from recorder.deltas import Finding, HistoryAnswer
from recorder.events import jsontext
from recorder.projections import render
from recorder.projections.messages import Message
from recorder.projections.observer import Silent
from recorder.projections.pairing import Pairings, row_of


class State(Struct, frozen=True):
    """What had been gathered after event `at` of `of`, as plain values.

    Its parts have the shapes that `rec replay STREAM --at N --json` prints.
    """

    stream: str
    at: int
    of: int
    gather: str
    """The reading that gathered the messages' calls; where they have several, all of them."""
    messages: list[dict[str, Any]]
    tool_messages: list[dict[str, Any]]
    pairings: list[dict[str, Any]]
    findings: list[dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of the contract."""
        return {name: getattr(self, name) for name in self.__struct_fields__}

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The calls of all messages, in order."""
        return [call for message in self.messages for call in message["calls"]]


def gathered_as(messages: Iterable[dict[str, Any]], otherwise: str) -> str:
    """The readings that gathered these messages, in the order in which they occur; `otherwise` without any message."""
    return ", ".join(dict.fromkeys(message["gather"] for message in messages)) or otherwise


class ClosedParts(Silent):
    """Keeps what leaves the fold for good: closed messages and tool messages."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.tool_messages: list[dict[str, Any]] = []
        self.findings: list[dict[str, Any]] = []

    def message_closed(self, seq: int, message: Message) -> None:
        self.messages.append(render.message(message))

    def tool_message(
        self, seq: int, ordinal: int, answer: HistoryAnswer, source: str, run_id: str, executor: str
    ) -> None:
        self.tool_messages.append(render.tool_message(seq, answer, source, run_id, executor))

    def found(self, seq: int, ordinal: int, finding: Finding) -> None:
        self.findings.append(render.finding(seq, finding))


def closed_message(row: Mapping[str, Any]) -> dict[str, Any]:
    """A closed message as the read model keeps it."""
    message: dict[str, Any] = jsontext.decode(row["body"])
    return message


def known_finding(row: Mapping[str, Any]) -> dict[str, Any]:
    """A finding of the read model, as the state shows it."""
    return {name: row[name] for name in ("seq", "rule", "severity", "detail", "run_id", "call_id")}


def known_tool_message(row: Mapping[str, Any]) -> dict[str, Any]:
    """A tool message of the read model, in the contract's shape."""
    content, artifact = row["content"], row["artifact"]
    return {
        "tool_call_id": row["tool_call_id"],
        "name": row["name"],
        "content": jsontext.decode(content.encode()) if row["content_is_json"] else content,
        "artifact": None if artifact is None else jsontext.decode(artifact.encode()),
        "status": row["status"],
        "id": row["message_id"],
        "additional_kwargs": jsontext.decode(row["additional_kwargs"].encode()),
        "response_metadata": jsontext.decode(row["response_metadata"].encode()),
        "seq": row["seq"],
        "source": row["source"],
        "run_id": row["run_id"],
        "executor": row["executor"],
    }


def in_order(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Messages by the event and the place in it at which they opened."""
    return sorted(messages, key=lambda message: tuple(int(part) for part in message["message_ref"].split(":")))


def pairing_rows(pairings: Pairings) -> list[dict[str, Any]]:
    """All pairings, in the order in which their calls (or orphaned answers) came."""
    return [row_of(pairing) for pairing in pairings.rows]
