"""Arguments that are an object of which the API streams one string: they grow as that object's JSON text.

So what is known of a patch's diff and of a shell's commands can be read while it comes. The whole object at the end
confirms it.
Source: OpenAI's API reference, "Streaming events" (`apply_patch_call_operation_diff`, `shell_call_command`).
"""

from __future__ import annotations

from typing import Any

from recorder.dialects.openai_responses_items import Item
from recorder.dialects.values import compact, dict_of, position_of

_WITHIN = ("begun", "open")


def begin_diff(item: Item, operation: object) -> str:
    """The JSON text of a patch's operation up to its diff, and into it; nothing where it has none."""
    fields = dict_of(operation)
    diff = fields.get("diff")
    if item.string != "none" or not isinstance(diff, str):
        return ""
    item.string = "open" if diff else "begun"
    return f'{_unclosed(fields, "diff")}"diff":"{_inside(diff)}'


def grow_diff(item: Item, text: str) -> str:
    """A piece of the diff."""
    begun = begin_diff(item, {"diff": ""})
    return begun + _grow(item, text)


def end_diff(item: Item, diff: object) -> str:
    """The end of the diff, and of the operation with it; the whole diff where no piece of it came."""
    whole = _grow(item, diff) if item.string == "begun" and isinstance(diff, str) else ""
    if item.string not in _WITHIN:
        return ""
    item.string = "closed"
    return whole + '"}'


def begin_command(item: Item, index: object, text: str) -> str:
    """One more command of a shell's action."""
    joint = {"none": '{"commands":["', "closed": ',"', "lost": ""}.get(item.string, '","')
    if not joint:
        return ""
    item.string, item.command = "begun", str(position_of(index))
    return joint + _grow(item, text)


def grow_command(item: Item, index: object, text: str) -> str:
    """A piece of a command. Commands that come side by side can't be told as one text: the rest of it is lost."""
    begun = begin_command(item, index, "") if item.string == "none" else ""
    if item.string not in _WITHIN or item.command != str(position_of(index)):
        item.string = "lost"
    return begun + _grow(item, text)


def end_command(item: Item, index: object, command: object) -> str:
    """The end of a command; the whole of it where no piece of it came."""
    begun = begin_command(item, index, "") if item.string == "none" else ""
    if item.string not in _WITHIN or item.command != str(position_of(index)):
        return ""
    whole = _grow(item, command) if item.string == "begun" and isinstance(command, str) else ""
    item.string = "closed"
    return f'{begun}{whole}"'


def end_commands(item: Item, action: object) -> str:
    """The end of a shell's action: what else it has stands behind its commands."""
    if item.string not in (*_WITHIN, "closed"):
        return ""
    others = _unclosed(dict_of(action), "commands")[1:].removesuffix(",")
    quote = "" if item.string == "closed" else '"'
    item.string = "lost"
    return f"{quote}]{',' if others else ''}{others}}}"


def _grow(item: Item, text: str) -> str:
    """A piece of the string, where that is open."""
    if item.string not in _WITHIN:
        return ""
    if text:
        item.string = "open"
    return _inside(text)


def _unclosed(fields: dict[str, Any], left_out: str) -> str:
    """The JSON text of an object without one of its members, and without its end: `{"a":1,`, `{`."""
    others = {key: value for key, value in fields.items() if key != left_out}
    return f"{compact(others)[:-1]}," if others else "{"


def _inside(text: str) -> str:
    """The text as it stands between quotes."""
    return compact(text)[1:-1]
