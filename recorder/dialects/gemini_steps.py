"""Steps of a Gemini interaction, streamed or whole: which block a delta belongs to, and what it says.

A step has an index; a step of the model's output may hold several contents, text and media, and each is a block. Keys
of blocks are the step's index, for its later blocks with a number behind (`3.2`); an index that opens another step gets
a key of its own (`3#2`).
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from recorder.deltas import BlockItem, BlockStarted, BlockStopped, Executor, TextChunk, ToolCallChunk, ToolMessage
from recorder.dialects.frames import Deltas, finding, malformed, unknown_part
from recorder.dialects.values import arguments_of, cleaned, dict_of, id_of, list_of, position_of, text_of

TOOL_CALL = "tool_call"
_STEP_OF_DELTA = {
    "text": "model_output",
    "text_annotation_delta": "model_output",
    "thought_summary": "thought",
    "thought_signature": "thought",
    "arguments_delta": "function_call",
}
"""The type of step that a delta belongs to, for steps whose start is missing."""
_MEDIA = frozenset({"image", "audio", "video", "document"})


class Step(Struct):
    """What a decoder must remember of a step."""

    key: str
    index: int | str
    """As the wire said it."""
    type: str
    kind: str = ""
    """The kind of its latest block."""
    blocks: int = 0
    call_id: str | None = None
    name: str | None = None
    """Of a result: which call it answers, and of which tool; lone surrogates as their escapes."""
    answered: bool = False
    """A result's content has been told."""

    def block(self, kind: str) -> str:
        """The key of the block that content of this kind goes to."""
        if self.kind != kind:
            self.kind = kind
            self.blocks += 1
        return self.key if self.blocks == 1 else f"{self.key}.{self.blocks}"


class Steps(Struct):
    """The steps of the interaction that is open."""

    by_index: dict[str, Step] = field(default_factory=dict)
    uses: dict[str, int] = field(default_factory=dict)

    def start(self, run_id: str, index: object, type: str, out: Deltas) -> Step:
        place = self._place(index)
        name = str(place)
        uses = self.uses[name] = self.uses.get(name, 0) + 1
        if uses > 1:
            out.append(finding(run_id, "block-index-reused", f"step index {name} opens a step again", "warning"))
        step = self.by_index[name] = Step(f"{name}#{uses}" if uses > 1 else name, place, type)
        return step

    def find(self, run_id: str, index: object, type: str, out: Deltas) -> Step:
        """The step that a delta belongs to; one that nobody started is opened, with a finding."""
        step = self.by_index.get(str(self._place(index)))
        if step is None:
            step = self.start(run_id, index, type, out)
            out.append(finding(run_id, "block-without-start", f"step {step.index} has deltas but no start", "warning"))
        return step

    def stop(self, index: object) -> Step | None:
        return self.by_index.get(str(self._place(index)))

    def _place(self, index: object) -> int | str:
        return position_of(index, max(len(self.by_index) - 1, 0))


class Target(Struct, frozen=True):
    """A step, and where what it says goes."""

    run_id: str
    step: Step
    out: Deltas

    def add_text(self, kind: str, text: object, field: str | None = None) -> None:
        if isinstance(text, str) and text:
            block = self.step.block(kind)
            self.out.append(TextChunk(run_id=self.run_id, block=block, kind=kind, field=field or kind, text=text))
        elif text is not None and not isinstance(text, str):
            self.out.append(malformed(self.run_id, f"delta.{field or kind}", text))

    def add_item(self, kind: str, name: str, value: Any, *, replace: bool = True) -> None:
        block = self.step.block(kind)
        self.out.append(BlockItem(run_id=self.run_id, block=block, kind=kind, field=name, value=value, replace=replace))

    def add_fields(self, kind: str, fields: dict[str, Any], *, without: tuple[str, ...]) -> None:
        """The fields that have a value, each as a field of the block."""
        for name, value in fields.items():
            if name not in ("type", *without) and value is not None and value != "":
                self.add_item(kind, cleaned(name) or "", value)


def start_step(steps: Steps, run_id: str, index: object, value: object, out: Deltas, *, whole: bool) -> None:
    """`step.start` (in the API's first version `content.start`), or a step of an interaction that was not streamed."""
    if not isinstance(value, dict):
        out.append(malformed(run_id, "step", value))
    fields = dict_of(value)
    type = cleaned(fields.get("type")) or "unknown"
    target = Target(run_id, steps.start(run_id, index, type, out), out)
    if type == "model_output":
        for content in list_of(fields.get("content")):
            _add_content(target, content)
        if fields.get("error"):
            target.add_item("non_standard", "error", fields["error"])
    elif type == "thought":
        _read_thought(target, fields)
    elif type.endswith("_call"):
        _start_call(target, type, fields, whole=whole)
    elif type.endswith("_result"):
        _read_result(target, type, fields)
    elif type == "text" or type in _MEDIA:
        _add_content(target, fields)
    else:
        data = {name: item for name, item in fields.items() if name != "type" and item is not None}
        out.append(BlockStarted(run_id=run_id, block=target.step.block(type), kind=type, data=data or None))
    if whole:
        stop_step(steps, run_id, index, out)


def read_delta(steps: Steps, run_id: str, index: object, value: object, out: Deltas) -> None:
    """`step.delta` (`content.delta`)."""
    if not isinstance(value, dict):
        out.append(malformed(run_id, "delta", value))
        return
    type = cleaned(value.get("type")) or "unknown"
    target = Target(run_id, steps.find(run_id, index, _STEP_OF_DELTA.get(type, type), out), out)
    if type in ("thought_summary", "thought_signature", "thought"):
        _read_thought(target, value)
    elif type in ("text", "text_annotation_delta") or type in _MEDIA:
        _add_content(target, value)
    elif type == "arguments_delta":
        _add_call(target, args=arguments_of(value.get("arguments")))
    elif type.endswith("_call"):
        _add_call_delta(target, type, value)
    elif type.endswith("_result"):
        _read_result(target, type, value)
    else:
        out.append(unknown_part(run_id, type, value))
        target.add_fields(type, value, without=())


def stop_step(steps: Steps, run_id: str, index: object, out: Deltas) -> None:
    """`step.stop` (`content.stop`); of a step that never was it says nothing."""
    step = steps.stop(index)
    if step is None:
        return
    if step.type.endswith("_result") and not step.answered:
        _answer(Target(run_id, step, out), None, failed=False)
    if step.blocks:
        out.append(BlockStopped(run_id=run_id, block=step.block(step.kind)))


def _add_content(target: Target, value: object) -> None:
    """Text with its annotations, or media."""
    fields = dict_of(value)
    type = cleaned(fields.get("type")) or "unknown"
    if type in ("text", "text_annotation_delta"):
        target.add_text("text", fields.get("text"))
        for annotation in list_of(fields.get("annotations")):
            target.add_item("text", "annotations", annotation, replace=False)
    else:
        target.add_fields(type, fields, without=())


def _read_thought(target: Target, fields: dict[str, Any]) -> None:
    """A summary (in a whole step a list of contents, in a delta one content), plain text, a signature."""
    summary = fields.get("summary")
    for content in [*list_of(summary), fields.get("content")]:
        if text_of(dict_of(content).get("type")) == "text":
            target.add_text("thinking", dict_of(content).get("text"))
        elif content is not None:
            target.add_item("thinking", "summary", content, replace=False)
    target.add_text("thinking", fields.get("thought"))
    target.add_text("thinking", fields.get("signature"), "signature")


def _start_call(target: Target, type: str, fields: dict[str, Any], *, whole: bool) -> None:
    """A streamed call starts with empty arguments whose text follows; what is not empty is all there is."""
    given = fields.get("arguments")
    args = arguments_of(given) if given or (whole and given is not None) else ""
    _add_call(target, id=id_of(fields.get("id")), name=_name_of(type, fields), args=args)
    target.add_fields(TOOL_CALL, fields, without=("id", "name", "arguments"))


def _add_call_delta(target: Target, type: str, fields: dict[str, Any]) -> None:
    """A call that comes whole in a delta."""
    given = fields.get("arguments")
    args = arguments_of(given) if given else None
    _add_call(target, id=id_of(fields.get("id")), name=_name_of(type, fields), args=args)
    target.add_fields(TOOL_CALL, fields, without=("id", "name", "arguments"))


def _add_call(target: Target, *, id: str | None = None, name: str | None = None, args: str | None) -> None:
    executor: Executor = "client" if target.step.type == "function_call" else "server"
    target.out.append(
        ToolCallChunk(
            run_id=target.run_id,
            index=target.step.index,
            id=id,
            name=name,
            args=args,
            block=target.step.block(TOOL_CALL),
            executor=executor,
        )
    )


def _name_of(type: str, fields: dict[str, Any]) -> str | None:
    """A provider's own tool is named by the step's type: `google_search_call` → `google_search`."""
    name = text_of(fields.get("name"))
    return name if name or type == "function_call" else type.removesuffix("_call")


def _read_result(target: Target, type: str, fields: dict[str, Any]) -> None:
    """A result is told when its content comes: with the step's start, or with a delta."""
    step = target.step
    step.call_id = cleaned(fields.get("call_id")) or step.call_id
    step.name = cleaned(text_of(fields.get("name"))) or step.name
    if step.name is None and type != "function_result":
        step.name = type.removesuffix("_result")
    target.add_fields(type, fields, without=())
    if fields.get("result") not in (None, "", [], {}) and not step.answered:
        _answer(target, fields["result"], failed=fields.get("is_error") is True)


def _answer(target: Target, content: object, *, failed: bool) -> None:
    target.step.answered = True
    target.out.append(
        ToolMessage(
            run_id=target.run_id,
            tool_call_id=target.step.call_id,
            content=content,
            name=target.step.name,
            status="error" if failed else "success",
            executor="client" if target.step.type == "function_result" else "server",
        )
    )
