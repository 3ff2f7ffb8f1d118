"""The items of a response's output: announced, done, and said again with the whole response at its end."""

from __future__ import annotations

from typing import Any

from recorder.deltas import BlockItem, BlockStarted
from recorder.dialects.frames import Deltas, finding, malformed
from recorder.dialects.openai_responses_arguments import say_answer, settle_call, start_call
from recorder.dialects.openai_responses_calls import (
    TOOL_SEARCH,
    answer_of,
    call_of,
    details_of,
    is_answer,
    is_call,
    own_id_of,
)
from recorder.dialects.openai_responses_items import Item, Items
from recorder.dialects.openai_responses_texts import MESSAGE, REASONING, THINKING, parts_of, settle_part
from recorder.dialects.values import cleaned, list_of


def start_item(items: Items, run_id: str, value: dict[str, Any], out: Deltas) -> None:
    """`response.output_item.added`."""
    fields = value.get("item")
    if not isinstance(fields, dict):
        out.append(malformed(run_id, "item", fields))
        return
    kind, id, call_id = _names(fields)
    index = value.get("output_index")
    item = items.announced(kind, id, index, call_id) or items.open(run_id, kind, index, out)
    again = item.announced
    item.kind, item.announced = kind, True
    items.name(item, id, call_id)
    if again:
        return
    if is_call(kind):
        start_call(run_id, item, fields, out)
    else:
        _start_block(run_id, item, fields, out)


def end_item(items: Items, run_id: str, value: dict[str, Any], out: Deltas) -> None:
    """`response.output_item.done`: what it says of the item counts, where nothing was streamed of it."""
    fields = value.get("item")
    if not isinstance(fields, dict):
        out.append(malformed(run_id, "item", fields))
        return
    kind, id, call_id = _names(fields)
    item = items.ended(kind, id, value.get("output_index"), call_id)
    if item is None:
        item = open_item(items, run_id, kind, id, value.get("output_index"), out)
    _settle(items, run_id, item, fields, out, streamed=True)


def restate_items(items: Items, run_id: str, output: list[Any], out: Deltas, *, streamed: bool) -> None:
    """`output` of a whole response; `streamed`: what was streamed is said again there, and what was not is new."""
    for position, fields in enumerate(output):
        if not isinstance(fields, dict):
            out.append(malformed(run_id, f"output[{position}]", fields))
            continue
        kind, id, call_id = _names(fields)
        item = items.restated(position, kind, id, call_id)
        if item is None:
            item = items.open(run_id, kind, None if str(position) in items.uses else position, out)
        item.confirmed = True
        _settle(items, run_id, item, fields, out, streamed=streamed)
    for item in items.all:
        if output and not item.confirmed:
            detail = f"the whole response has no {item.kind} {item.id or item.key}, which was streamed"
            out.append(finding(run_id, "restatement-differs", detail, "warning"))


def open_item(items: Items, run_id: str, kind: str, id: str, index: object, out: Deltas) -> Item:
    """An item that nobody announced."""
    item = items.open(run_id, kind, index, out)
    items.name(item, id, None)
    item.executor = call_of(kind, {}).executor
    out.append(finding(run_id, "block-without-start", f"{kind} {id or item.key} was not announced", "warning"))
    return item


def _settle(items: Items, run_id: str, item: Item, fields: dict[str, Any], out: Deltas, *, streamed: bool) -> None:
    kind, id, call_id = _names(fields)
    _note_ids(run_id, item, id, call_id, out)
    item.kind = kind
    items.name(item, id, call_id)
    if is_call(kind):
        item.incomplete = fields.get("status", "incomplete" if item.incomplete else None) == "incomplete"
        settle_call(run_id, item, fields, out, streamed=streamed)
        item.done = True
        return
    if not item.announced:
        item.announced = True
        _start_block(run_id, item, fields, out)
    if kind in (MESSAGE, REASONING):
        for where in ("summary", "content"):
            parts = list_of(fields.get(where))
            for name, part in zip(parts_of(item, where, len(parts)), parts, strict=True):
                settle_part(run_id, item, name, part, out)
    if kind != MESSAGE and not item.done:
        block_kind = THINKING if kind == REASONING else kind
        for name, value in (details_of(kind, fields) if kind == REASONING else _without_type(fields)).items():
            block = BlockItem(run_id=run_id, block=item.key, kind=block_kind, field=name, value=value, replace=True)
            out.append(block)
    if is_answer(kind):
        say_answer(run_id, item, answer_of(kind, fields, _last_search(items)), out)
    item.done = True


def _last_search(items: Items) -> str | None:
    """The id of the latest search for tools."""
    searches = (item for item in reversed(items.all) if item.kind == TOOL_SEARCH)
    return next((item.call_id or item.id or None for item in searches), None)


def _names(fields: dict[str, Any]) -> tuple[str, str, str | None]:
    """An item's type, its id, and the id of the call that it is."""
    kind = cleaned(fields.get("type")) or "unknown"
    return kind, cleaned(fields.get("id")) or "", cleaned(own_id_of(kind, fields))


def _note_ids(run_id: str, item: Item, id: str, call_id: str | None, out: Deltas) -> None:
    """An id that changed is told once: who gathers by it loses what came under the other."""
    changed = [(old, new) for old, new in ((item.call_id, call_id), (item.id, id)) if old and new and old != new]
    if changed and not item.renamed:
        item.renamed = True
        old, new = changed[0]
        out.append(finding(run_id, "id-changed", f"{item.kind} {old!r} goes on under the id {new!r}", "warning"))


def _start_block(run_id: str, item: Item, fields: dict[str, Any], out: Deltas) -> None:
    """An item that is no call: a message's blocks are its parts, reasoning and all others are one themselves."""
    if item.kind == MESSAGE:
        item.phase = cleaned(fields.get("phase"))
        return
    kind = THINKING if item.kind == REASONING else item.kind
    out.append(BlockStarted(run_id=run_id, block=item.key, kind=kind, data={"id": item.id} if item.id else None))


def _without_type(fields: dict[str, Any]) -> dict[str, Any]:
    return {str(key): value for key, value in fields.items() if key != "type" and value is not None}
