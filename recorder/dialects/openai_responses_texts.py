"""Texts of a response's items: what messages say and reasoning thinks, part by part, and what is said of it again.

A part of a message is a block of its own (`0.1`: item 0, part 1). So is a part of reasoning, but the first one is the
item's block (`0`), which holds what else the item has: its id, its encrypted content.
"""

from __future__ import annotations

from typing import NamedTuple

from recorder.deltas import BlockItem, BlockStarted, TextChunk
from recorder.dialects.frames import Deltas, finding, malformed
from recorder.dialects.openai_responses_items import Item, Part
from recorder.dialects.values import cleaned, dict_of, position_of, text_of

MESSAGE, REASONING = "message", "reasoning"
THINKING = "thinking"
_TEXTS = frozenset({"output_text", "text", "refusal", "reasoning_text", "summary_text"})
"""Types of parts that have a text."""


class Place(NamedTuple):
    """Where a text belongs: the part's name in its item, the block's kind, and the block's field."""

    part: str
    kind: str
    field: str


def part_of(where: str, index: object) -> str:
    """The name of the part that an event is about: `where` is the list that has it in the item."""
    return f"{where} {position_of(index)}"


def parts_of(item: Item, where: str, count: int) -> list[str]:
    """The names of the parts in a whole item's list: those that were streamed, where they are as many.

    vLLM counts a message's parts from 1, or on from the reasoning's (measured on recordings).
    """
    streamed = [name for name in item.parts if name.startswith(f"{where} ")]
    return streamed if len(streamed) == count else [part_of(where, position) for position in range(count)]


def place_of(item: Item, part: str, kind: str) -> Place:
    """The place of a part of this type."""
    if item.kind == REASONING:
        return Place(part, THINKING, THINKING)
    return Place(part, "refusal", "refusal") if kind == "refusal" else Place(part, "text", "text")


def add_text(run_id: str, item: Item, place: Place, text: object, out: Deltas) -> None:
    """A delta, which opens its part where it is new."""
    if not isinstance(text, str):
        out.append(malformed(run_id, f"{place.kind} delta", text))
        return
    part = _part_at(run_id, item, place, out)
    if text:
        part.grow(text)
        out.append(TextChunk(run_id=run_id, block=part.block, kind=place.kind, field=place.field, text=text))


def settle_text(run_id: str, item: Item, place: Place, text: object, out: Deltas) -> None:
    """The whole text, said again: it is taken where nothing was streamed, else it confirms."""
    if not isinstance(text, str):
        return
    part = _part_at(run_id, item, place, out)
    if not part.units:
        add_text(run_id, item, place, text, out)
    elif part.differs(text):
        detail = f"the wire restates the text of block {part.block} otherwise: {len(text):,} characters"
        out.append(finding(run_id, "restatement-differs", detail, "warning"))


def add_annotation(run_id: str, item: Item, part_name: str, annotation: object, out: Deltas) -> None:
    """A citation of a text."""
    part = _part_at(run_id, item, place_of(item, part_name, "output_text"), out)
    part.items += 1
    out.append(BlockItem(run_id=run_id, block=part.block, field="annotations", value=annotation))


def start_part(run_id: str, item: Item, part: str, value: object, out: Deltas) -> None:
    """`….part.added`: a part that grows from the text that it has."""
    kind = text_of(dict_of(value).get("type")) or ""
    if kind in _TEXTS:
        text = text_of(dict_of(value).get("refusal" if kind == "refusal" else "text")) or ""
        add_text(run_id, item, place_of(item, part, kind), text, out)


def settle_part(run_id: str, item: Item, part: str, value: object, out: Deltas) -> None:
    """A whole part: `{"type": "output_text", "text", "annotations"}` and its like; any other is a block of its own."""
    if not isinstance(value, dict):
        out.append(malformed(run_id, f"{item.kind} {part}", value))
        return
    kind = cleaned(value.get("type")) or "unknown"
    place = place_of(item, part, kind)
    if kind in _TEXTS:
        settle_text(run_id, item, place, value.get("refusal" if kind == "refusal" else "text"), out)
        _settle_annotations(run_id, item, place, value.get("annotations"), out)
    elif place.part not in item.parts:
        key = f"{item.key}.{len(item.parts)}"
        item.parts[place.part] = Part(key)
        data = {str(name): field for name, field in value.items() if name != "type"}
        out.append(BlockStarted(run_id=run_id, block=key, kind=kind, data=data))


def _part_at(run_id: str, item: Item, place: Place, out: Deltas) -> Part:
    """The part, and its block where it is new."""
    part = item.parts.get(place.part)
    if part is not None:
        return part
    if item.kind == REASONING:
        key = f"{item.key}.{len(item.parts)}" if item.parts else item.key
        data = {"part": "summary_text" if place.part.startswith("summary") else "reasoning_text"}
    else:
        key = f"{item.key}.{place.part.removeprefix('content ')}"
        data = {"phase": item.phase} if item.phase else {}
    if item.id:
        data["id"] = item.id
    part = item.parts[place.part] = Part(key)
    out.append(BlockStarted(run_id=run_id, block=key, kind=place.kind, data=data or None))
    return part


def _settle_annotations(run_id: str, item: Item, place: Place, annotations: object, out: Deltas) -> None:
    part = item.parts.get(place.part)
    if part is None or not isinstance(annotations, list) or len(annotations) == part.items:
        return
    if part.items:
        detail = f"the wire restates {len(annotations)} annotations of block {part.block}, it streamed {part.items}"
        out.append(finding(run_id, "restatement-differs", detail, "warning"))
    else:
        out.append(BlockItem(run_id=run_id, block=part.block, field="annotations", value=annotations, replace=True))
    part.items = len(annotations)
