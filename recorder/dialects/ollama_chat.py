"""`ollama.chat`: Ollama's own API, `/api/chat` and `/api/generate`, streamed as lines of JSON or whole.

Source: Ollama's API reference, "Generate a chat message" and "Generate a response", and its guides on streaming,
thinking and tool calling. A call comes whole, in a line of its own or with others; that older servers give it neither
an id nor an index was measured on recordings, that some give every call the index 0 is told in Ollama's issues.
"""

from __future__ import annotations

from typing import Any

from recorder.deltas import BlockItem, MessageStarted, TextChunk, ToolCallChunk, Usage
from recorder.dialects.base import Dialect, Envelope
from recorder.dialects.finish_reasons import finish_of
from recorder.dialects.frames import Deltas, Frame, malformed, unknown_frame
from recorder.dialects.http import Exchange, begin_answer, end_exchange, fail, stepper
from recorder.dialects.ollama_chat_request import read_request
from recorder.dialects.usage import counts_of
from recorder.dialects.values import ROLES, arguments_of, cleaned, dict_of, id_of, index_of, text_of

_COUNTS = {"prompt_eval_count": "input_tokens", "eval_count": "output_tokens"}
_READ = frozenset({"role", "content", "thinking", "tool_calls"})


class State(Exchange):
    """The open message of one exchange."""

    open: bool = False
    nameless: int = 0
    """How many calls without an id the message has: each is a call of its own, whatever it looks like."""


def recognises(value: Any, event_name: str | None) -> bool:
    """A line with `model`, `done`, and either a `message` or the text of a `response`."""
    del event_name
    fields = dict_of(value)
    if not (isinstance(fields.get("model"), str) and isinstance(fields.get("done"), bool)):
        return False
    return isinstance(fields.get("message"), dict) or isinstance(fields.get("response"), str)


def envelope(value: Any, event_name: str | None) -> Envelope:
    """Lines have no type: the kind is the field that they carry, `message`, `response` or `error`."""
    fields = dict_of(value)
    kinds = (kind for kind in ("error", "message", "response") if fields.get(kind) is not None)
    return Envelope(kind=next(kinds, cleaned(event_name) or "unknown"))


def _read(state: State, frame: Frame, out: Deltas) -> None:
    value, run_id = frame.value, frame.run_id
    if not isinstance(value, dict):
        out.append(unknown_frame(frame))
        return
    message = value.get("message")
    whole = message if isinstance(message, dict) else _generated(value)
    if whole is not None:
        _open_message(state, run_id, value, whole, out)
        _read_message(state, run_id, whole, out)
    if value.get("error"):
        # What the line says beside its error belongs to the message that failed.
        fail(state, run_id, value["error"], out)
        state.open = False
    elif whole is None:
        out.append(unknown_frame(frame))
        return
    if value.get("done") is True:
        _finish(state, run_id, value, out)


def _generated(value: dict[str, Any]) -> dict[str, Any] | None:
    """A line of `/api/generate` as a message."""
    if not isinstance(value.get("response"), str):
        return None
    return {"content": value["response"], "thinking": value.get("thinking")}


def _open_message(state: State, run_id: str, value: dict[str, Any], message: dict[str, Any], out: Deltas) -> None:
    """The first line of an answer, or the first one after the last line of another, or after its failure."""
    if state.open:
        return
    if state.ended or state.error is not None:
        begin_answer(state, run_id, out)
    role = text_of(message.get("role")) or "assistant"
    out.append(MessageStarted(run_id=run_id, role=ROLES.get(role, role), model=cleaned(value.get("model"))))
    state.open, state.nameless = True, 0


def _read_message(state: State, run_id: str, message: dict[str, Any], out: Deltas) -> None:
    for field, block in (("thinking", "thinking"), ("content", "text")):
        text = message.get(field)
        if isinstance(text, str) and text:
            out.append(TextChunk(run_id=run_id, block=block, kind=block, field=block, text=text))
        elif text is not None and not isinstance(text, str):
            out.append(malformed(run_id, f"message.{field}", text))
    calls = message.get("tool_calls")
    for position, call in enumerate(calls if isinstance(calls, list) else [] if calls is None else [calls]):
        if isinstance(call, dict):
            _read_call(state, run_id, call, out)
        else:
            out.append(malformed(run_id, f"message.tool_calls[{position}]", call))
    for key, item in message.items():
        if key not in _READ and item is not None:
            out.append(BlockItem(run_id=run_id, block="non_standard", kind="non_standard", field=str(key), value=item))


def _read_call(state: State, run_id: str, call: dict[str, Any], out: Deltas) -> None:
    """A whole call. Without an id nothing tells it from the next, so that it gets a block of its own."""
    function = dict_of(call.get("function"))
    id = id_of(call.get("id")) or None
    block = None
    if id is None:
        block = f"tool_call#{state.nameless}"
        state.nameless += 1
    out.append(
        ToolCallChunk(
            run_id=run_id,
            index=index_of(function.get("index", call.get("index"))),
            id=id,
            name=text_of(function.get("name")),
            args=arguments_of(function.get("arguments")),
            block=block,
        )
    )


def _finish(state: State, run_id: str, value: dict[str, Any], out: Deltas) -> None:
    """The last line. `load` and `unload` are whole answers too, to a request that asks for nothing else."""
    finished = finish_of(run_id, value.get("done_reason"))
    if state.open and finished is not None:
        out.append(finished)
    if counts := counts_of(value, _COUNTS):
        out.append(Usage(run_id=run_id, counts=counts))
    state.open = False
    end_exchange(state, run_id, out)


OLLAMA_CHAT = Dialect(
    name="ollama.chat",
    layer="wire",
    state=State,
    recognises=recognises,
    envelope=envelope,
    step=stepper(_read, read_request),
)
