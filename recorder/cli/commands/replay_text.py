"""A state as a person reads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recorder.events import jsontext

_CUT = 2000
"""Characters of one text that are shown; the JSON form has all of it."""


def lines(state: dict[str, Any]) -> Iterator[str]:
    """The lines of `rec replay STREAM --at N`."""
    yield f"{state['stream']} at event {state['at']} of {state['of']} (gathered as {state['gather']})"
    answers = {row["call_ref"]: row for row in state["pairings"] if row["call_ref"] is not None}
    for message in state["messages"]:
        yield ""
        yield from _message(message, answers)
    orphans = [row for row in state["pairings"] if row["status"] in ("orphan", "duplicate")]
    if state["tool_messages"]:
        yield ""
        yield "tool messages"
        for answer in state["tool_messages"]:
            name = f" {answer['name']}" if answer["name"] else ""
            mark = "" if answer["status"] == "success" else f" ({answer['status']})"
            yield f"  event {answer['seq']}: {answer['tool_call_id']}{name}{mark}: {_text(answer['content'])}"
    for row in orphans:
        yield f"  {row['status']}: an answer at event {row['answer_seq']} to {row['call_id']}"
    if not state["messages"] and not state["tool_messages"]:
        yield ""
        yield "nothing was gathered yet"


def _message(message: dict[str, Any], answers: dict[str, dict[str, Any]]) -> Iterator[str]:
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
        call = calls.pop(block.get("call_ref", ""), None) if block["type"] == "tool_call" else None
        if call is not None:
            yield from _call(call, answers.get(call["call_ref"]))
        elif block["type"] == "tool_call":
            continue
        else:
            text = block.get(block["type"])
            shown = text if isinstance(text, str) else jsontext.encode({k: v for k, v in block.items() if k != "type"})
            if shown:
                yield f"  {block['type']}: {_text(shown)}"
    for call in calls.values():
        yield from _call(call, answers.get(call["call_ref"]))
    if message["usage"]:
        counts = {name: value for name, value in message["usage"].items() if isinstance(value, int)}
        yield "  tokens: " + ", ".join(f"{value} {name.removesuffix('_tokens')}" for name, value in counts.items())


def _call(call: dict[str, Any], pairing: dict[str, Any] | None) -> Iterator[str]:
    yield f"  call {call['name'] or '(no name)'}  id {call['id']}  {call['state']}  events {_events(call['seqs'])}"
    yield (
        f"    arguments so far: {_text(call['raw'])}"
        if call["state"] == "open"
        else f"    arguments: {_text(call['raw'])}"
    )
    value = call["value"]
    yield "    read as: " + ("nothing that can be parsed" if value is None else _text(jsontext.encode(value)))
    if pairing is not None and pairing["answer_seq"] is not None:
        yield f"    {pairing['status']} at event {pairing['answer_seq']}"
    elif pairing is not None and call["state"] != "open":
        yield f"    {'not answered' if pairing['status'] == 'open' else pairing['status']}"


def _events(seqs: list[list[int]]) -> str:
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in seqs)


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else jsontext.encode(value)
    text = text.replace("\r", "\\r").replace("\n", "\\n")
    text = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)
    return text if len(text) <= _CUT else f"{text[:_CUT]}… ({len(text):,} characters)"
