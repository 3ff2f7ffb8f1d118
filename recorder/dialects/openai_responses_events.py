"""The events of a response's items: announced, grown piece by piece, and each piece said again in full.

Source: OpenAI's API reference, "Streaming events" of responses.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from recorder.deltas import TextChunk
from recorder.dialects.frames import Deltas, malformed
from recorder.dialects.openai_responses_arguments import add_arguments, settle_arguments
from recorder.dialects.openai_responses_items import Item, Items
from recorder.dialects.openai_responses_output import end_item, open_item, start_item
from recorder.dialects.openai_responses_strings import begin_command, end_command, end_diff, grow_command, grow_diff
from recorder.dialects.openai_responses_texts import (
    MESSAGE,
    REASONING,
    add_annotation,
    add_text,
    part_of,
    place_of,
    settle_part,
    settle_text,
    start_part,
)
from recorder.dialects.values import cleaned, dict_of

_TEXTS = {
    "output_text": (MESSAGE, "content", "output_text", "text"),
    "refusal": (MESSAGE, "content", "refusal", "refusal"),
    "reasoning_text": (REASONING, "content", "reasoning_text", "text"),
    "reasoning_summary_text": (REASONING, "summary", "summary_text", "text"),
}
"""Event → the item's type, the list that has the part there, the part's type, the field of `….done` with the whole."""
_PARTS = {
    "content_part": (MESSAGE, "content"),
    "reasoning_part": (REASONING, "content"),
    "reasoning_summary_part": (REASONING, "summary"),
}
"""Event → the item's type, and the list that has the part there."""
_ARGUMENTS = {
    "function_call_arguments": ("function_call", "arguments"),
    "mcp_call_arguments": ("mcp_call", "arguments"),
    "custom_tool_call_input": ("custom_tool_call", "input"),
    "code_interpreter_call_code": ("code_interpreter_call", "code"),
}
"""Event → the item's type, and the field of `….done` with the whole."""
_PROGRESS = re.compile(
    r"response\.\w+\.(in_progress|searching|interpreting|generating|calling|completed|incomplete|failed"
    r"|partial_image|compacting)"
)


class _Event(NamedTuple):
    """One event `response.{name}.{step}`, and where what it says goes."""

    items: Items
    run_id: str
    name: str
    step: str
    value: dict[str, Any]
    out: Deltas

    @property
    def id(self) -> str:
        return cleaned(self.value.get("item_id")) or ""

    def item(self, kind: str) -> Item:
        """The item that the event is about; one that nobody announced is opened, with a finding."""
        index = self.value.get("output_index")
        known = self.items.find(kind, self.id, index)
        return known or open_item(self.items, self.run_id, kind, self.id, index, self.out)


def is_event(kind: str) -> bool:
    """Whether `read_event` reads events of this kind."""
    return _names(kind) in _READERS


def is_progress(kind: str) -> bool:
    """Whether an event only says how far the provider is with an item: what comes of it is said by the item."""
    return _PROGRESS.fullmatch(kind) is not None


def read_event(items: Items, run_id: str, kind: str, value: dict[str, Any], out: Deltas) -> None:
    """Reads an event of an item."""
    names = _names(kind)
    _READERS[names](_Event(items, run_id, *names, value, out))


def _names(kind: str) -> tuple[str, str]:
    name, _, step = kind.removeprefix("response.").rpartition(".")
    return name, step


def _start_item(event: _Event) -> None:
    start_item(event.items, event.run_id, event.value, event.out)


def _end_item(event: _Event) -> None:
    end_item(event.items, event.run_id, event.value, event.out)


def _read_text(event: _Event) -> None:
    kind, where, part, whole = _TEXTS[event.name]
    item = event.item(kind)
    place = place_of(item, _part_of(event, where), part)
    if event.step == "delta":
        add_text(event.run_id, item, place, event.value.get("delta"), event.out)
    else:
        settle_text(event.run_id, item, place, event.value.get(whole), event.out)


def _read_part(event: _Event) -> None:
    kind, where = _PARTS[event.name]
    if kind == MESSAGE:
        # vLLM announces parts of reasoning so, too.
        kind = event.items.kind_of((MESSAGE, REASONING), event.id, event.value.get("output_index"))
    read = start_part if event.step == "added" else settle_part
    read(event.run_id, event.item(kind), _part_of(event, where), event.value.get("part"), event.out)


def _read_annotation(event: _Event) -> None:
    part = _part_of(event, "content")
    add_annotation(event.run_id, event.item(MESSAGE), part, event.value.get("annotation"), event.out)


def _read_arguments(event: _Event) -> None:
    kind, whole = _ARGUMENTS[event.name]
    item = event.item(kind)
    if event.step == "delta":
        add_arguments(event.run_id, item, event.value.get("delta"), event.out)
    else:
        settle_arguments(event.run_id, item, event.value.get(whole), event.out)


def _read_diff(event: _Event) -> None:
    item, text = event.item("apply_patch_call"), _text_of(event, "diff")
    if text is not None:
        grown = grow_diff(item, text) if event.step == "delta" else end_diff(item, text)
        _grow(event, item, grown)


def _read_command(event: _Event) -> None:
    item, text = event.item("shell_call"), _text_of(event, "command")
    if text is not None:
        read = {"added": begin_command, "delta": grow_command, "done": end_command}[event.step]
        _grow(event, item, read(item, event.value.get("command_index"), text))


def _read_output(event: _Event) -> None:
    """What a shell of the provider's prints while it runs; all of it comes once more with the item."""
    item = event.item("shell_call_output")
    for name, text in dict_of(event.value.get("delta")).items():
        if isinstance(text, str) and text:
            chunk = TextChunk(run_id=event.run_id, block=item.key, kind=item.kind, field=str(name), text=text)
            event.out.append(chunk)


def _read_speech(event: _Event) -> None:
    """Speech belongs to no item."""
    field = "data" if event.name == "audio" else "transcript"
    if text := _text_of(event, "delta"):
        event.out.append(TextChunk(run_id=event.run_id, block="audio", kind="audio", field=field, text=text))


def _ignore(_: _Event) -> None:
    """The event says nothing that the item does not."""


def _text_of(event: _Event, whole: str) -> str | None:
    """The event's text, with a finding where it is none."""
    field = "delta" if event.step == "delta" else whole
    text = event.value.get(field)
    if isinstance(text, str):
        return text
    event.out.append(malformed(event.run_id, f"{event.name}.{field}", text))
    return None


def _grow(event: _Event, item: Item, text: str) -> None:
    if text:
        add_arguments(event.run_id, item, text, event.out)


def _part_of(event: _Event, where: str) -> str:
    """The name of the part that the event is about."""
    return part_of(where, event.value.get("summary_index" if where == "summary" else "content_index"))


_READERS: dict[tuple[str, str], Callable[[_Event], None]] = {
    ("output_item", "added"): _start_item,
    ("output_item", "done"): _end_item,
    **{(name, step): _read_text for name in _TEXTS for step in ("delta", "done")},
    **{(name, step): _read_part for name in _PARTS for step in ("added", "done")},
    ("output_text.annotation", "added"): _read_annotation,
    **{(name, step): _read_arguments for name in _ARGUMENTS for step in ("delta", "done")},
    **{("apply_patch_call_operation_diff", step): _read_diff for step in ("delta", "done")},
    **{("shell_call_command", step): _read_command for step in ("added", "delta", "done")},
    ("shell_call_output_content", "delta"): _read_output,
    ("shell_call_output_content", "done"): _ignore,
    ("audio", "delta"): _read_speech,
    ("audio.transcript", "delta"): _read_speech,
    ("audio", "done"): _ignore,
    ("audio.transcript", "done"): _ignore,
}
