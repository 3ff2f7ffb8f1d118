"""Calls of a response as they grow: their arguments piece by piece, and what is said of them again at their end."""

from __future__ import annotations

from typing import Any

from recorder.deltas import BlockItem, ToolCallChunk, ToolFailed, ToolMessage
from recorder.dialects.frames import Deltas, finding, malformed
from recorder.dialects.openai_responses_calls import TOOL_SEARCH, Answer, call_of, details_of, is_free_text, outcome_of
from recorder.dialects.openai_responses_items import Item, Part
from recorder.dialects.openai_responses_strings import begin_diff, end_commands, end_diff
from recorder.dialects.values import cleaned, dict_of

TOOL_CALL = "tool_call"
_PART = "arguments"


def start_call(run_id: str, item: Item, fields: dict[str, Any], out: Deltas) -> None:
    """`output_item.added`. Of arguments only text counts here: an object may be half a one until the item is done."""
    call = call_of(item.kind, fields)
    item.executor = call.executor
    item.name = item.name or cleaned(call.name)
    args = next((fields[key] for key in ("arguments", "input", "code") if isinstance(fields.get(key), str)), None)
    # A search for tools may be announced under another id than it has in the end (measured on recordings).
    id = None if item.kind == TOOL_SEARCH else call.id
    item.known = bool(id and call.name)
    _chunk(run_id, item, out, id=id, name=call.name, args=args)
    _set_details(run_id, item, {"item_id": fields.get("id")}, out)
    if item.kind == "apply_patch_call":
        _add(run_id, item, begin_diff(item, fields.get("operation")), out)


def add_arguments(run_id: str, item: Item, text: object, out: Deltas) -> None:
    """More of the arguments' text."""
    if not isinstance(text, str):
        out.append(malformed(run_id, "arguments delta", text))
    elif text or not item.parts:
        # The first one opens the call, be it empty.
        _chunk(run_id, item, out, args=text)


def settle_arguments(run_id: str, item: Item, text: object, out: Deltas) -> None:
    """The whole arguments, said again: gathering compares them, or takes them where there are none."""
    if isinstance(text, str) and _part(item).differs(text):
        _chunk(run_id, item, out, args=text, restated=True)


def settle_call(run_id: str, item: Item, fields: dict[str, Any], out: Deltas, *, streamed: bool) -> None:
    """The whole item; `streamed`: it says again what was streamed, and what of it was not is taken."""
    call = call_of(item.kind, fields)
    if not item.parts:
        item.executor = call.executor
    _end_string(run_id, item, fields, out)
    # LangChain reads the input of a custom tool here only, so that it is said even where it is known.
    said = item.known and not (call.free_text and not item.done)
    if (call.args is not None and _part(item).differs(call.args)) or not said:
        item.known = True
        restated = streamed or call.free_text
        _chunk(run_id, item, out, id=call.id, name=call.name, args=call.args, restated=restated)
    if item.name is not None and call.name and cleaned(call.name) != item.name:
        detail = f"call {item.name!r} ends under the name {call.name!r}"
        out.append(finding(run_id, "name-changed", detail, "warning"))
    item.name = item.name or cleaned(call.name)
    if not item.done:
        _set_details(run_id, item, {"item_id": fields.get("id"), **details_of(item.kind, fields)}, out)
    _say_outcome(run_id, item, fields, out)


def say_answer(run_id: str, item: Item, answer: Answer, out: Deltas) -> None:
    """A tool's answer within the response, once."""
    if item.answered:
        return
    item.answered = True
    out.append(
        ToolMessage(
            run_id=run_id,
            tool_call_id=answer.tool_call_id,
            content=answer.content,
            status=answer.status,
            executor="server",
        )
    )


def _say_outcome(run_id: str, item: Item, fields: dict[str, Any], out: Deltas) -> None:
    outcome = outcome_of(item.kind, fields)
    if outcome is not None:
        say_answer(run_id, item, outcome, out)
    elif fields.get("status") == "failed" and not item.answered:
        item.answered = True
        call = call_of(item.kind, fields)
        failed = ToolFailed(run_id=run_id, tool_call_id=call.id, name=call.name, error=f"{item.kind} failed")
        out.append(failed)


def _end_string(run_id: str, item: Item, fields: dict[str, Any], out: Deltas) -> None:
    """Ends the JSON text of an object of which one string was streamed."""
    if item.kind == "apply_patch_call":
        _add(run_id, item, end_diff(item, dict_of(fields.get("operation")).get("diff")), out)
    elif item.kind == "shell_call":
        _add(run_id, item, end_commands(item, fields.get("action")), out)


def _add(run_id: str, item: Item, text: str, out: Deltas) -> None:
    if text:
        _chunk(run_id, item, out, args=text)


def _set_details(run_id: str, item: Item, details: dict[str, Any], out: Deltas) -> None:
    """What else is known of the call, as fields of its block."""
    for name, value in details.items():
        if value is not None:
            block = BlockItem(run_id=run_id, block=item.key, kind=TOOL_CALL, field=name, value=value, replace=True)
            out.append(block)


def _chunk(
    run_id: str,
    item: Item,
    out: Deltas,
    *,
    id: str | None = None,
    name: str | None = None,
    args: str | None = None,
    restated: bool = False,
) -> None:
    part = _part(item)
    if args and not (restated and part.units):
        part.grow(args)
    out.append(
        ToolCallChunk(
            run_id=run_id,
            index=item.index,
            id=id,
            name=name,
            args=args,
            block=item.key,
            executor=item.executor,
            restated=restated,
            free_text=is_free_text(item.kind),
        )
    )


def _part(item: Item) -> Part:
    """The arguments; with the first chunk of the call they are noted, be they empty."""
    return item.parts.setdefault(_PART, Part(item.key))
