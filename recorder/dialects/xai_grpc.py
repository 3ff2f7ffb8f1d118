"""`xai.grpc`: xAI's own chat API, whose protocol buffers recorders print as JSON, streamed or whole.

Source: xAI's API definition (package `xai_api`: GetChatCompletionChunk, CompletionOutputChunk, Delta, ToolCall,
GetChatCompletionResponse). That the outputs of one answer follow each other by index, each a turn of the model or a
result of a server's tool, was measured on recordings.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from recorder.deltas import BlockItem, MessageFinished, MessageStarted, TextChunk, ToolCallChunk, ToolMessage, Usage
from recorder.dialects.base import Dialect, Envelope
from recorder.dialects.finish_reasons import is_truncating, reason_of
from recorder.dialects.frames import Deltas, Frame, malformed, unknown_frame
from recorder.dialects.http import Exchange, begin_answer, end_exchange, fail, stepper
from recorder.dialects.values import arguments_of, cleaned, dict_of, id_of, int_of, list_of, text_of
from recorder.dialects.xai_grpc_request import read_request
from recorder.dialects.xai_proto import FINISH_REASONS, STATUSES, enum_of, executor_of, fields_of, role_of, xai_counts

_MOST_OUTPUTS = 1 << 16
"""An index beyond it is no output's; it is read as the first."""
_TEXTS = {
    "reasoning_content": ("thinking", "thinking"),
    "encrypted_content": ("thinking", "encrypted_content"),
    "content": ("text", "text"),
}
"""Field of a delta → its block and the field there."""
_READ = {*_TEXTS, "role", "tool_calls", "citations"}
_IN_PROGRESS, _COMPLETED, _, _FAILED = STATUSES


class Output(Struct):
    """What a decoder must remember of one turn of the model."""

    finished: bool = False
    waiting: int = 0
    """How many of its calls the server has not answered yet."""
    goes_on: bool = False
    """Whether the server answers all its calls, and the model then takes another turn."""


class State(Exchange):
    """The turns of the answer that is open, by the index of their output."""

    outputs: dict[int, Output] = field(default_factory=dict)
    waiting: dict[str, int] = field(default_factory=dict)
    """Ids of calls that the server has not answered yet, and the index of their output."""
    id: str = ""


def recognises(value: Any, event_name: str | None) -> bool:
    """Outputs, one of them with a delta or a message."""
    del event_name
    outputs = list_of(dict_of(value).get("outputs"))
    return any("delta" in fields or "message" in fields for fields in map(dict_of, outputs))


def envelope(value: Any, event_name: str | None) -> Envelope:
    """Messages have no type: the kind is `chunk`, `completion` for a whole answer, or `error`."""
    fields = dict_of(value)
    if outputs := list_of(fields.get("outputs")):
        return Envelope(kind="completion" if _is_whole(outputs) else "chunk")
    return Envelope(kind="error" if fields.get("error") else cleaned(event_name) or "unknown")


def _is_whole(outputs: list[Any]) -> bool:
    return any("message" in dict_of(output) for output in outputs)


def _read(state: State, frame: Frame, out: Deltas) -> None:
    value, run_id = fields_of(frame.value), frame.run_id
    outputs = value.get("outputs")
    if value.get("error"):
        fail(state, run_id, value["error"], out)
    elif not isinstance(outputs, list):
        out.append(unknown_frame(frame))
    if not isinstance(outputs, list):
        return
    _read_id(state, run_id, value, out)
    for position, output in enumerate(outputs):
        if isinstance(output, dict):
            _read_output(state, run_id, value, fields_of(output), out)
        else:
            out.append(malformed(run_id, f"outputs[{position}]", output))
    _read_sources(state, run_id, value, out)
    if counts := xai_counts(value.get("usage")):
        out.append(Usage(run_id=run_id, counts=counts))
    state.terminated = _is_settled(state)
    if _is_whole(outputs):
        end_exchange(state, run_id, out)


def _is_settled(state: State) -> bool:
    """Whether every turn is finished, and none follows the last one. Of its own the wire has no terminator."""
    if not state.outputs or state.outputs[max(state.outputs)].goes_on:
        return False
    return all(output.finished for output in state.outputs.values())


def _read_id(state: State, run_id: str, value: dict[str, Any], out: Deltas) -> None:
    """In a dump of several answers they come one behind the other, each under its id."""
    new_id = cleaned(value.get("id")) or ""
    settled = state.terminated or state.error is not None
    if state.ended or (settled and new_id and state.id and new_id != state.id):
        begin_answer(state, run_id, out)
        state.outputs, state.waiting, state.id = {}, {}, ""
    state.id = new_id or state.id


def _read_output(state: State, run_id: str, value: dict[str, Any], fields: dict[str, Any], out: Deltas) -> None:
    index = int_of(fields.get("index")) or 0
    if not 0 <= index < _MOST_OUTPUTS:
        out.append(malformed(run_id, "outputs[].index", fields.get("index")))
        index = 0
    delta = fields_of(fields.get("delta") or fields.get("message"))
    role = role_of(delta.get("role"))
    if role == "tool":
        _read_results(state, run_id, delta, out)
        return
    output = state.outputs.get(index)
    if output is None:
        output = state.outputs[index] = Output()
        out.append(
            MessageStarted(
                run_id=run_id,
                choice=index,
                message_id=cleaned(value.get("id")),
                role=role or "ai",
                model=cleaned(value.get("model")),
            )
        )
    _read_texts(run_id, index, delta, out)
    _read_calls(state, output, run_id, index, delta, out)
    reason = reason_of(enum_of(fields.get("finish_reason"), FINISH_REASONS))
    if reason is not None and reason != FINISH_REASONS[0]:
        _finish(output, run_id, index, reason, out)


def _read_texts(run_id: str, choice: int, delta: dict[str, Any], out: Deltas) -> None:
    for name, (block, part) in _TEXTS.items():
        text = delta.get(name)
        if isinstance(text, str) and text:
            out.append(TextChunk(run_id=run_id, choice=choice, block=block, kind=block, field=part, text=text))
        elif text is not None and not isinstance(text, str):
            out.append(malformed(run_id, f"delta.{name}", text))
    for citation in list_of(delta.get("citations")):
        out.append(BlockItem(run_id=run_id, choice=choice, block="text", field="citations", value=citation))
    for key, value in delta.items():
        if key not in _READ and value is not None:
            item = BlockItem(
                run_id=run_id, choice=choice, block="non_standard", kind="non_standard", field=key, value=value
            )
            out.append(item)


def _read_calls(state: State, output: Output, run_id: str, index: int, delta: dict[str, Any], out: Deltas) -> None:
    """Calls come whole, and have no index."""
    calls = _calls_of(run_id, delta, out)
    for call in calls:
        chunk = _chunk_of(run_id, index, call)
        out.append(chunk)
        if chunk.executor == "server":
            output.waiting += 1
            state.waiting[cleaned(chunk.id) or ""] = index
    if calls:
        output.goes_on = all(executor_of(call.get("type")) == "server" for call in calls)


def _calls_of(run_id: str, delta: dict[str, Any], out: Deltas) -> list[dict[str, Any]]:
    calls = list_of(delta.get("tool_calls"))
    out += [malformed(run_id, "delta.tool_calls[]", call) for call in calls if not isinstance(call, dict)]
    return [fields_of(call) for call in calls if isinstance(call, dict)]


def _chunk_of(run_id: str, choice: int, call: dict[str, Any], *, restated: bool = False) -> ToolCallChunk:
    function = dict_of(call.get("function"))
    return ToolCallChunk(
        run_id=run_id,
        choice=choice,
        id=id_of(call.get("id")),
        name=text_of(function.get("name")),
        args=arguments_of(function.get("arguments")),
        executor=executor_of(call.get("type")),
        restated=restated,
    )


def _read_results(state: State, run_id: str, delta: dict[str, Any], out: Deltas) -> None:
    """A result of the server's tool: the call again, with its status, beside the tool's answer."""
    encrypted = text_of(delta.get("encrypted_content"))
    for call in _calls_of(run_id, delta, out):
        status, error = enum_of(call.get("status"), STATUSES), text_of(call.get("error_message"))
        if status == _IN_PROGRESS:
            continue
        index = state.waiting.pop(cleaned(id_of(call.get("id"))) or "", None)
        if index is not None:
            out.append(_chunk_of(run_id, index, call, restated=True))
        out.append(
            ToolMessage(
                run_id=run_id,
                tool_call_id=id_of(call.get("id")),
                content=delta.get("content") or error or "",
                name=text_of(dict_of(call.get("function")).get("name")),
                status="success" if status == _COMPLETED and error is None else "error",
                additional_kwargs={"encrypted_content": encrypted} if encrypted else {},
                executor="server",
            )
        )
        if index is not None:
            _answer(state.outputs[index], run_id, index, status, out)


def _answer(output: Output, run_id: str, index: int, status: str, out: Deltas) -> None:
    """Notes a result. A turn whose calls all ran is finished by that: some turns never say a reason to stop."""
    output.waiting -= 1
    if not output.waiting and not output.finished and status in (_COMPLETED, _FAILED):
        _finish(output, run_id, index, None, out)


def _finish(output: Output, run_id: str, index: int, reason: str | None, out: Deltas) -> None:
    truncating = reason is not None and is_truncating(reason.removeprefix("REASON_"))
    out.append(MessageFinished(run_id=run_id, choice=index, finish_reason=reason, truncating=truncating))
    output.finished = True


def _read_sources(state: State, run_id: str, value: dict[str, Any], out: Deltas) -> None:
    """The answer's sources, as addresses: they stand beside the outputs and belong to the last one's text."""
    sources = list_of(value.get("citations"))
    if sources and state.outputs:
        last = max(state.outputs)
        out.append(BlockItem(run_id=run_id, choice=last, block="text", field="sources", value=sources, replace=True))


XAI_GRPC = Dialect(
    name="xai.grpc",
    layer="wire",
    state=State,
    recognises=recognises,
    envelope=envelope,
    step=stepper(_read, read_request),
)
