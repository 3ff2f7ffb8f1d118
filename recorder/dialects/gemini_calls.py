"""Function calls of Gemini: whole in one part, or growing over many (`willContinue`, `partialArgs`).

Source: the Vertex AI API reference, `FunctionCall` and `PartialArg`. A call that goes on is continued by parts that
name it by its id or not at all; the first of them that does not go on (`{"functionCall": {}}`) is its last.
"""

from __future__ import annotations

from typing import Any

from recorder.dialects.frames import finding
from recorder.dialects.gemini_answer import TOOL_CALL, GoingOn, Target
from recorder.dialects.gemini_arguments import OPENING, Step, piece_of
from recorder.dialects.gemini_names import named
from recorder.dialects.values import arguments_of, cleaned, compact, id_of, list_of, text_of


def read_call(target: Target, value: object) -> int | None:
    """A `functionCall`: a call, or the next piece of one. Gives its block, None where it is neither."""
    if not isinstance(value, dict):
        target.malformed("functionCall", value)
        return None
    fields = named(value)
    known = _continued(target, fields)
    goes_on = fields.get("willContinue") is True
    if known is not None:
        _continue(target, known, fields, goes_on=goes_on)
        return known.block
    if goes_on or fields.get("partialArgs"):
        begun = _begin(target, fields)
        _continue(target, begun, fields, goes_on=goes_on, text=OPENING)
        return begun.block
    if all(fields.get(name) is None for name in ("id", "name", "args")):
        return None
    target.add_call(
        target.open_block(TOOL_CALL),
        target.next_index(),
        arguments_of(fields.get("args")),
        id=id_of(fields.get("id")),
        name=text_of(fields.get("name")),
    )
    return target.block


def tell_unfinished(target: Target) -> None:
    """The answer ended properly: a call of which more was announced is not whole."""
    for call in target.answer.going_on:
        detail = f"call {call.id or call.name!r} was to go on when its message ended"
        target.out.append(finding(target.run_id, "arguments-unfinished", detail, "warning"))
    target.answer.going_on = []


def _continued(target: Target, fields: dict[str, Any]) -> GoingOn | None:
    """The open call that a part goes on with: by its id, else the latest one, unless the part names another."""
    going_on = target.answer.going_on
    id, name = cleaned(fields.get("id")), cleaned(text_of(fields.get("name")))
    if id and (known := next((call for call in going_on if call.id == id), None)) is not None:
        return known
    latest = going_on[-1] if going_on else None
    if latest is None or (id and latest.id) or (name and name != latest.name):
        return None
    return latest


def _begin(target: Target, fields: dict[str, Any]) -> GoingOn:
    call = GoingOn(
        block=target.open_block(TOOL_CALL),
        index=target.next_index(),
        id=cleaned(fields.get("id")) or "",
        name=cleaned(text_of(fields.get("name"))) or "",
    )
    target.answer.going_on.append(call)
    return call


def _continue(target: Target, call: GoingOn, fields: dict[str, Any], *, goes_on: bool, text: str = "") -> None:
    """What a part adds to the call's text; whole arguments at the end of a call that was streamed say it again."""
    args = fields.get("args")
    restated = args if isinstance(args, dict) and args and not goes_on and call.arguments.open else None
    if isinstance(args, dict):
        if restated is None:
            text += "".join(_add(target, call, [cleaned(name) or ""], item) for name, item in args.items())
    elif args is not None:
        target.malformed("functionCall.args", args)
    for piece in list_of(fields.get("partialArgs")):
        text += _add_piece(target, call, piece)
    if not goes_on:
        text += call.arguments.close()
        target.answer.going_on.remove(call)
    id, name = id_of(fields.get("id")), text_of(fields.get("name"))
    if text or id or name:
        target.add_call(call.block, call.index, text or None, id=id, name=name)
    if id and not call.id:
        call.id = cleaned(id) or ""
    if restated is not None:
        target.add_call(call.block, call.index, compact(restated), restated=True)


def _add_piece(target: Target, call: GoingOn, piece: object) -> str:
    path, has_value, value = piece_of(piece)
    if path is not None:
        return _add(target, call, path, value) if has_value else ""
    call.arguments.broken = True
    detail = f"partialArgs: {compact(named(piece).get('jsonPath'))[:80]} is no path to one value"
    target.out.append(finding(target.run_id, "malformed-field", detail, "warning"))
    return ""


def _add(target: Target, call: GoingOn, path: list[Step], value: Any) -> str:
    """The text that a value appends; where none can be appended a finding, once."""
    was_broken = call.arguments.broken
    text = call.arguments.add(path, value)
    if text is None and not was_broken:
        detail = f"call {call.id or call.name!r}: the value at {compact(path)} cannot follow the arguments so far"
        target.out.append(finding(target.run_id, "arguments-out-of-order", detail, "warning"))
    return text or ""
