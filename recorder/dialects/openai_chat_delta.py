"""What one `delta` (or whole `message`) of a choice says: thinking, text, refusal, tool calls, and the rest.

A choice has no block indices: each channel is one block, named after its kind (`text`, `thinking`, `refusal`, `audio`).
What a server adds on its own account lands in the block `non_standard` under its own name, so that nothing is lost.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from recorder.deltas import BlockItem, BlockStarted, TextChunk, ToolCallChunk
from recorder.dialects.frames import Deltas, malformed
from recorder.dialects.http import Exchange
from recorder.dialects.values import arguments_of, dict_of, digest_of, id_of, index_of, list_of, text_of

_ANSWER = frozenset(
    {
        "content",
        "reasoning",
        "reasoning_content",
        "reasoning_details",
        "thinking_blocks",
        "refusal",
        "tool_calls",
        "function_call",
        "annotations",
        "images",
        "audio",
    }
)
"""Fields of a delta that are read by name below: the answer itself."""
_READ = _ANSWER | {"role", "index"}
"""And those that are read by whoever reads the choice."""
_DETAIL_TEXT = {"reasoning.text": "text", "reasoning.summary": "summary", "thinking": "thinking"}
"""In which field OpenRouter's `reasoning_details` and LiteLLM's `thinking_blocks` have their text, by type."""


class Choice(Struct):
    """What a decoder must remember of one choice."""

    head: int = 0
    """What of the head was said (`message_head`)."""
    finished: bool = False
    parts: int = 0
    """How many blocks without a name of their own were opened."""
    digests: dict[str, str] = field(default_factory=dict)
    """Of fields that a server repeats whole in every chunk: a digest of the latest value, so that it is said once."""


class State(Exchange):
    """The choices of the answer that is open, by their index."""

    choices: dict[int, Choice] = field(default_factory=dict)
    id: str = ""
    """The latest id of the answer's chunks."""
    ids_vary: bool = False
    """Whether the answer's chunks have different ids: then another one says nothing."""


class Target(Struct, frozen=True):
    """Where a delta belongs, and where what it says goes."""

    run_id: str
    number: int
    choice: Choice
    out: Deltas

    def add_text(self, block: str, text: str, field: str) -> None:
        if text:
            chunk = TextChunk(run_id=self.run_id, choice=self.number, block=block, kind=block, field=field, text=text)
            self.out.append(chunk)

    def add_item(self, block: str, field: str, value: Any, *, replace: bool = False) -> None:
        item = BlockItem(
            run_id=self.run_id, choice=self.number, block=block, kind=block, field=field, value=value, replace=replace
        )
        self.out.append(item)

    def add_block(self, kind: str, data: dict[str, Any]) -> None:
        """A block of its own for a part that belongs to no channel."""
        key = f"{kind}#{self.choice.parts}"
        self.choice.parts += 1
        self.out.append(BlockStarted(run_id=self.run_id, choice=self.number, block=key, kind=kind, data=data))

    def add_repeated(self, block: str, field: str, value: Any) -> None:
        """A field that the server may repeat whole in every chunk: said only where it differs from what was said."""
        name = f"{block}.{field}"
        digest = digest_of(value)
        if self.choice.digests.get(name) != digest:
            self.choice.digests[name] = digest
            self.add_item(block, field, value, replace=True)

    def malformed(self, where: str, value: object) -> None:
        self.out.append(malformed(self.run_id, where, value))


def carries_answer(delta: dict[str, Any]) -> bool:
    """Whether the delta (or message) has anything of an answer: a role, nulls and empty texts are nothing."""
    return any(delta.get(key) for key in _ANSWER)


def is_custom(call: dict[str, Any]) -> bool:
    """Whether a call is a custom tool's, whose input is text as it is."""
    return isinstance(call.get("custom"), dict) and not isinstance(call.get("function"), dict)


def read_delta(target: Target, delta: dict[str, Any], *, whole: bool = False) -> None:
    """Appends what the delta adds to its choice; thinking first, wherever it stands, for it led to the rest.

    `whole`: it is a message, whose calls are all there is of them.
    """
    _read_reasoning(target, delta)
    content = delta.get("content")
    if isinstance(content, str):
        target.add_text("text", content, "text")
    elif content is not None:
        _read_parts(target, content)
    if (refusal := text_of(delta.get("refusal"))) is not None:
        target.add_text("refusal", refusal, "refusal")
    if delta.get("tool_calls") is not None:
        _read_tool_calls(target, delta["tool_calls"], whole=whole)
    if delta.get("function_call") is not None:
        _read_function_call(target, delta["function_call"])
    for key, value in delta.items():
        if value is None:
            continue
        if key not in _READ:
            target.add_repeated("non_standard", str(key), value)
        elif key in ("annotations", "images", "audio"):
            _read_media(target, key, value)


def _read_reasoning(target: Target, delta: dict[str, Any]) -> None:
    """Thinking comes as plain text, as details, or as both at once; then the details' text is the same text again."""
    plain = text_of(delta.get("reasoning_content")) or text_of(delta.get("reasoning")) or ""
    target.add_text("thinking", plain, "thinking")
    for detail in list_of(delta.get("reasoning_details")) or list_of(delta.get("thinking_blocks")):
        kind = text_of(dict_of(detail).get("type")) or ""
        if kind not in _DETAIL_TEXT:
            target.add_item("thinking", "reasoning_details", detail)
            continue
        if not plain:
            target.add_text("thinking", text_of(detail.get(_DETAIL_TEXT[kind])) or "", "thinking")
        target.add_text("thinking", text_of(detail.get("signature")) or "", "signature")
    for key in ("reasoning", "reasoning_content", "reasoning_details", "thinking_blocks"):
        value = delta.get(key)
        if value is not None and not isinstance(value, str | list):
            target.add_repeated("non_standard", key, value)


def _read_parts(target: Target, content: object) -> None:
    """Content as a list of parts: Mistral's thinking and text, and whatever else has a type."""
    if not isinstance(content, list):
        target.malformed("content", content)
        target.add_block("non_standard", {"content": content})
        return
    for part in content:
        kind = text_of(dict_of(part).get("type"))
        if isinstance(part, str):
            target.add_text("text", part, "text")
        elif kind == "text" and isinstance(part.get("text"), str):
            target.add_text("text", part["text"], "text")
        elif kind == "thinking":
            _read_thinking_part(target, part)
        elif kind == "refusal" and isinstance(part.get("refusal"), str):
            target.add_text("refusal", part["refusal"], "refusal")
        else:
            data = {key: value for key, value in part.items() if key != "type"} if kind else {"content": part}
            target.add_block(kind or "non_standard", data)


def _read_thinking_part(target: Target, part: dict[str, Any]) -> None:
    thinking = part.get("thinking")
    for piece in thinking if isinstance(thinking, list) else [thinking]:
        text = piece if isinstance(piece, str) else text_of(dict_of(piece).get("text"))
        if text is not None:
            target.add_text("thinking", text, "thinking")
        elif piece is not None:
            target.add_item("thinking", "parts", piece)
    target.add_text("thinking", text_of(part.get("signature")) or "", "signature")


def _read_tool_calls(target: Target, calls: object, *, whole: bool) -> None:
    listed = calls if isinstance(calls, list) else [calls]
    # In a whole message a call without an id is told from the next one by its place only.
    placed = whole and not all(id_of(dict_of(call).get("id")) for call in listed)
    for position, call in enumerate(listed):
        if not isinstance(call, dict):
            target.malformed(f"tool_calls[{position}]", call)
            continue
        function, custom = dict_of(call.get("function")), dict_of(call.get("custom"))
        target.out.append(
            ToolCallChunk(
                run_id=target.run_id,
                choice=target.number,
                index=position if placed and call.get("index") is None else index_of(call.get("index")),
                id=id_of(call.get("id")),
                name=text_of(function.get("name", custom.get("name"))),
                args=arguments_of(function.get("arguments", custom.get("input"))),
                free_text=is_custom(call),
            )
        )
        for key, value in call.items():
            if value is not None and key not in ("index", "id", "type", "function", "custom"):
                target.add_item("non_standard", f"tool_calls.{key}", {"id": call.get("id"), key: value})


def _read_function_call(target: Target, call: object) -> None:
    if not isinstance(call, dict):
        target.malformed("function_call", call)
        return
    chunk = ToolCallChunk(
        run_id=target.run_id,
        choice=target.number,
        name=text_of(call.get("name")),
        args=arguments_of(call.get("arguments")),
        legacy=True,
    )
    target.out.append(chunk)


def _read_media(target: Target, key: str, value: object) -> None:
    """Citations of the text, images as blocks of their own, and speech, whose data and transcript grow."""
    if key == "audio" and isinstance(value, dict):
        for name, item in value.items():
            if name in ("data", "transcript") and isinstance(item, str):
                target.add_text("audio", item, name)
            elif item is not None:
                target.add_repeated("audio", str(name), item)
        return
    for item in value if isinstance(value, list) else [value]:
        if key == "annotations":
            target.add_item("text", "annotations", item)
        else:
            kind = text_of(dict_of(item).get("type")) or "image"
            data = {name: part for name, part in dict_of(item).items() if name != "type"} or {"content": item}
            target.add_block(kind, data)
