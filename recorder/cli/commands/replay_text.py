"""A state as a person reads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recorder.cli.table import printable
from recorder.events import jsontext

CUT = 2000
"""Characters of one text that are shown on a terminal; elsewhere all are."""
MOST_FINDINGS = 10


def lines(state: dict[str, Any], *, cut: int | None = None) -> Iterator[str]:
    """The lines of `rec replay STREAM --at N`; `cut`: so many characters of one text are enough."""
    for line in map(printable, _lines(state)):
        indent = len(line) - len(line.lstrip())
        if cut is None or len(line) - indent <= cut:
            yield line
        else:
            yield f"{line[: indent + cut]}… ({len(line) - indent:,} characters; --json has all)"


def _lines(state: dict[str, Any]) -> Iterator[str]:
    yield f"{state['stream']} at event {state['at']} of {state['of']} (gathered as {state['gather']})"
    answers: dict[str, list[dict[str, Any]]] = {}
    for row in state["pairings"]:
        answers.setdefault(row["call_ref"], []).append(row)
    for message in state["messages"]:
        yield ""
        yield from _message(message, answers)
    if state["tool_messages"]:
        yield ""
        yield "tool messages"
        for answer in state["tool_messages"]:
            name = f" {answer['name']}" if answer["name"] else ""
            mark = "" if answer["status"] == "success" else f" ({answer['status']})"
            yield f"  event {answer['seq']}: {answer['tool_call_id']}{name}{mark}: {_text(answer['content'])}"
    for row in state["pairings"]:
        if row["status"] == "orphan":
            yield f"  orphan: an answer at event {row['answer_seq']} to {row['call_id']}, which nobody called"
        elif row["status"] == "erased":
            yield f"  an answer at event {row['answer_seq']} to {row['call_id']}, whose call may have been erased"
    if not state["messages"] and not state["tool_messages"]:
        yield ""
        yield "nothing was gathered" + (" yet" if state["at"] < state["of"] else "")
    yield from _findings(state["findings"])


def _findings(findings: list[dict[str, Any]]) -> Iterator[str]:
    """What an auditor must not miss; of what is merely worth a note, the number."""
    told = [row for row in findings if row["severity"] != "info"]
    if findings:
        yield ""
        yield "findings"
    for row in told[:MOST_FINDINGS]:
        yield f"  event {row['seq']}: {row['rule']} ({row['severity']}): {_text(row['detail'])}"
    for number, what in ((len(told) - MOST_FINDINGS, "more"), (len(findings) - len(told), "of severity info")):
        if number > 0:
            yield f"  {number} {what}"


def _message(message: dict[str, Any], answers: dict[str, list[dict[str, Any]]]) -> Iterator[str]:
    head = [message["role"] or "ai"]
    if message["model"]:
        head.append(message["model"])
    head.append(f"events {message['first_seq']} to {message['last_seq']}")
    if message["choice"]:
        head.append(f"choice {message['choice']}")
    head.append(message["finish_reason"] or "not finished")
    if message.get("superseded"):
        head.append("started over by the server")
    yield " · ".join(head)
    calls = {call["call_ref"]: call for call in message["calls"]}
    for block in message["blocks"]:
        # What stands in LangChain's content is shown as it came, with whatever type.
        kind = block["type"] if isinstance(block.get("type"), str) else "block"
        call = calls.pop(str(block.get("call_ref")), None) if kind == "tool_call" else None
        if call is not None:
            yield from _call(call, answers.get(call["call_ref"], []))
        elif kind != "tool_call":
            text = block.get(kind)
            shown = text if isinstance(text, str) else jsontext.encode({k: v for k, v in block.items() if k != "type"})
            if shown:
                yield f"  {kind}: {_text(shown)}"
    for call in calls.values():
        yield from _call(call, answers.get(call["call_ref"], []))
    if message["usage"]:
        counts = {name: value for name, value in message["usage"].items() if isinstance(value, int)}
        yield "  tokens: " + ", ".join(f"{value} {name.removesuffix('_tokens')}" for name, value in counts.items())


def _call(call: dict[str, Any], pairings: list[dict[str, Any]]) -> Iterator[str]:
    yield f"  call {call['name'] or '(no name)'}  id {call['id']}  {call['state']}  events {_events(call['seqs'])}"
    yield (
        f"    arguments so far: {_text(call['raw'])}"
        if call["state"] == "open"
        else f"    arguments: {_text(call['raw'])}"
    )
    value = call["value"]
    yield "    read as: " + ("nothing that can be parsed" if value is None else _text(jsontext.encode(value)))
    if "gaps" in call:
        places = ", ".join(map(str, call["gaps"]))
        yield f"    event {places} among them could not be read: a piece may be lost"
    for pairing in pairings:
        if pairing["status"] == "duplicate":
            yield f"    answered again at event {pairing['answer_seq']}"
        elif pairing["answer_seq"] is not None:
            yield f"    {pairing['status']} at event {pairing['answer_seq']}"
        elif call["state"] != "open":
            yield f"    {'not answered' if pairing['status'] == 'open' else pairing['status']}"


def _events(seqs: list[list[int]]) -> str:
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in seqs)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else jsontext.encode(value)
