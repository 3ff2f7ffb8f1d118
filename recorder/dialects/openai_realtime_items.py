"""What the events of one realtime response say: its items, their parts, and how both grow.

A block is named after its item, a part of a message after item and place: xAI gives two items the same output index.
Speech is not copied: a message's `audio` block has its transcript, the log's events (`response.output_audio.delta`)
have the sound.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from recorder.deltas import BlockStarted, Executor, TextChunk, ToolCallChunk, ToolMessage
from recorder.dialects.frames import Deltas, finding, malformed
from recorder.dialects.http import error_text
from recorder.dialects.values import arguments_of, cleaned, dict_of, id_of, index_of, list_of, position_of, text_of

_PARTS = {
    "text": ("text", "text"),
    "output_text": ("text", "text"),
    "audio": ("audio", "transcript"),
    "output_audio": ("audio", "transcript"),
}
"""Type of a part → the kind of its block, and the field that holds its text."""
_TEXTS = {"text": ("text", "text"), "audio_transcript": ("audio", "transcript")}
"""The same by the name of the events, less `response.` and the `output_` of the general release."""
_CALLS: dict[str, Executor] = {"function_call": "client", "mcp_call": "server", "mcp_approval_request": "local"}
"""Type of an item that is a call → who runs it, or answers it."""
_ARGUMENTS = {"function_call_arguments": "function_call", "mcp_call_arguments": "mcp_call"}
_SAYS_NOTHING = frozenset({"audio", "audio_timestamp", "animation_blendshapes", "animation_viseme"})
"""Events of sound and of what goes with it."""


class Response(Struct):
    """What a decoder must remember of one open response."""

    choice: int
    items: dict[str, bool] = field(default_factory=dict)
    """Its items, and whether each is done."""
    lengths: dict[str, int] = field(default_factory=dict)
    """How much text of each part came, in UTF-16 units: a delta may end within a surrogate pair."""


class Target(Struct, frozen=True):
    """The response that an event is about, and where what it says goes."""

    run_id: str
    response: Response
    out: Deltas

    def add_text(self, block: str, kind: str, name: str, text: str) -> None:
        if text:
            self.response.lengths[block] = self.response.lengths.get(block, 0) + _length(text)
            chunk = TextChunk(
                run_id=self.run_id, choice=self.response.choice, block=block, kind=kind, field=name, text=text
            )
            self.out.append(chunk)

    def confirm_text(self, block: str, kind: str, name: str, text: str) -> None:
        """The whole text of a part: taken where nothing of it was streamed, else compared by its length."""
        came = self.response.lengths.get(block, 0)
        if not came:
            self.add_text(block, kind, name, text)
        elif came != _length(text):
            detail = f"the wire restates {kind} otherwise: {_length(text)} characters for the {came} that were streamed"
            self.out.append(finding(self.run_id, "restatement-differs", detail, "warning"))

    def start_block(self, block: str, kind: str, data: dict[str, Any] | None = None) -> None:
        started = BlockStarted(run_id=self.run_id, choice=self.response.choice, block=block, kind=kind, data=data)
        self.out.append(started)

    def add_call(
        self, block: str, executor: Executor, index: object, fields: dict[str, Any], *, restated: bool
    ) -> None:
        chunk = ToolCallChunk(
            run_id=self.run_id,
            choice=self.response.choice,
            block=block,
            index=index_of(index),
            id=id_of(fields.get("call_id" if executor == "client" else "id")),
            name=text_of(fields.get("name")),
            args=arguments_of(fields.get("arguments")),
            executor=executor,
            restated=restated,
        )
        self.out.append(chunk)


def read_response_event(target: Target, kind: str, value: dict[str, Any]) -> bool:
    """An event between `response.created` and `response.done`; false where its kind is not known."""
    what, _, step = kind.removeprefix("response.").removeprefix("output_").rpartition(".")
    item = _item_of(target, value)
    if what == "item":
        _read_item(target, value.get("output_index"), value.get("item"), done=step == "done")
    elif what == "content_part":
        if step == "added":
            _start_part(target, f"{item}.{position_of(value.get('content_index'))}", value.get("part"))
    elif what in _TEXTS:
        block, (kind_of_block, name) = f"{item}.{position_of(value.get('content_index'))}", _TEXTS[what]
        if step == "delta":
            target.add_text(block, kind_of_block, name, _text(target, "delta", value.get("delta")))
        elif (text := text_of(value.get(name))) is not None:
            target.confirm_text(block, kind_of_block, name, text)
    elif what in _ARGUMENTS:
        _read_arguments(target, item, _CALLS[_ARGUMENTS[what]], value, done=step == "done")
    return what in (*_TEXTS, *_ARGUMENTS, *_SAYS_NOTHING, "item", "content_part")


def read_output(target: Target, output: object) -> None:
    """The items of `response.done`: of those that were not done before, what was not streamed."""
    for index, item in enumerate(list_of(output)):
        if not target.response.items.get(cleaned(dict_of(item).get("id")) or ""):
            _read_item(target, index, item, done=True)


def _item_of(target: Target, value: dict[str, Any]) -> str:
    """The id of the item that an event is about, which becomes known by it."""
    id = cleaned(value.get("item_id")) or cleaned(dict_of(value.get("item")).get("id"))
    if id is None:
        return f"output {position_of(value.get('output_index'))}"
    target.response.items.setdefault(id, False)
    return id


def _text(target: Target, where: str, value: object) -> str:
    if not isinstance(value, str):
        target.out.append(malformed(target.run_id, where, value))
        return ""
    return value


def _start_part(target: Target, block: str, part: object) -> None:
    fields = dict_of(part)
    kind = cleaned(fields.get("type")) or "unknown"
    block_kind, name = _PARTS.get(kind, (kind, "text"))
    target.start_block(block, block_kind)
    target.add_text(block, block_kind, name, text_of(fields.get(name)) or "")


def _read_arguments(target: Target, block: str, executor: Executor, value: dict[str, Any], *, done: bool) -> None:
    """A piece of a call's arguments, or all of them again; a server's call is known by its item."""
    fields = {"name": value.get("name"), "call_id": value.get("call_id"), "id": value.get("item_id")}
    fields["arguments"] = value.get("arguments") if done else _text(target, "delta", value.get("delta"))
    target.add_call(block, executor, value.get("output_index"), fields, restated=done)


def _read_item(target: Target, index: object, item: object, *, done: bool) -> None:
    if not isinstance(item, dict):
        target.out.append(malformed(target.run_id, "item", item))
        return
    key = _item_of(target, {"item": item, "output_index": index})
    kind = cleaned(item.get("type")) or "unknown"
    if kind in _CALLS:
        target.add_call(key, _CALLS[kind], index, item, restated=done)
        if done and kind == "mcp_call":
            read_result(target.run_id, item, target.out)
    elif kind == "message":
        for place, part in enumerate(list_of(item.get("content")) if done else []):
            block_kind, name = _PARTS.get(text_of(dict_of(part).get("type")) or "", ("text", "text"))
            text = text_of(dict_of(part).get(name))
            if text is not None and not target.response.lengths.get(f"{key}.{place}"):
                target.add_text(f"{key}.{place}", block_kind, name, text)
    elif done:
        target.start_block(key, kind, {name: part for name, part in item.items() if name not in ("type", "object")})
    target.response.items[key] = done


def read_result(run_id: str, item: dict[str, Any], out: Deltas) -> None:
    """What the server's tool answered, or the error that it ended with; nothing while it runs."""
    output, error = item.get("output"), item.get("error")
    if output is None and not error:
        return
    message = ToolMessage(
        run_id=run_id,
        tool_call_id=id_of(item.get("id")),
        content=error_text(error) if error else output,
        name=text_of(item.get("name")),
        status="error" if error else "success",
        executor="server",
    )
    out.append(message)


def _length(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
