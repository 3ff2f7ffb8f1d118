"""The events of one model run: what it was asked, the chunks it streamed, and the whole message at its end."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from recorder.deltas import History, MessageChunk, MessageClosed, MessageFinished, MessageStarted, Restatement
from recorder.dialects.finish_reasons import is_truncating
from recorder.dialects.frames import Deltas, malformed
from recorder.dialects.langchain_messages import message_chunk_of, message_of, restatement_of, tool_call_chunks_of
from recorder.dialects.langchain_walk import entries_in
from recorder.dialects.values import cleaned, dict_of, list_of, text_of

_REASONS = ("finish_reason", "stop_reason", "done_reason", "finishReason", "stopReason")
"""Under which names integrations keep the provider's reason in `response_metadata`, in this order."""


class ModelRun(Struct):
    """What a decoder must remember of an open model run."""

    finished: bool = False


def start(run_id: str, metadata: dict[str, Any], data: dict[str, Any], out: Deltas) -> ModelRun:
    """`on_chat_model_start`, `on_llm_start`."""
    out.append(MessageStarted(run_id=run_id, role="ai", model=cleaned(metadata.get("ls_model_name"))))
    if entries := entries_in(data.get("input")):
        out.append(History(run_id=run_id, entries=entries, source="request"))
    return ModelRun()


def stream(run: ModelRun, run_id: str, data: dict[str, Any], out: Deltas) -> None:
    """`on_chat_model_stream`, `on_llm_stream`."""
    chunk = data.get("chunk")
    message = message_of(chunk) or message_of(_generation(chunk).get("message"))
    if message is not None:
        fields = message.fields
        out.append(message_chunk_of(run_id, fields))
        out.extend(tool_call_chunks_of(run_id, fields))
        _finish(run, run_id, fields, out)
        return
    text = chunk if isinstance(chunk, str) else text_of(_generation(chunk).get("text"))
    if text is not None:
        out.append(MessageChunk(run_id=run_id, content=text))
        _finish(run, run_id, {"response_metadata": _generation(chunk).get("generation_info")}, out)
    elif chunk is not None:
        out.append(malformed(run_id, "data.chunk", chunk))


def end(run: ModelRun, run_id: str, data: dict[str, Any], out: Deltas) -> None:
    """`on_chat_model_end`, `on_llm_end`; an output that was not recorded leaves what was streamed."""
    output = data.get("output")
    generation = _first_generation(output)
    message = message_of(output) or message_of(generation.get("message"))
    if message is not None:
        out.append(restatement_of(run_id, message.fields))
        _finish(run, run_id, message.fields, out, once=True)
    else:
        text = output if isinstance(output, str) else text_of(generation.get("text"))
        if text is not None:
            out.append(Restatement(run_id=run_id, content=text))
        elif output is not None:
            out.append(malformed(run_id, "data.output", output))
    info = dict_of(generation.get("generation_info"))
    _finish(run, run_id, {"response_metadata": info}, out, once=True)
    out.append(MessageClosed(run_id=run_id))


def _finish(run: ModelRun, run_id: str, fields: dict[str, Any], out: Deltas, *, once: bool = False) -> None:
    """Says the reason that these fields have; `once`: only if no chunk had one, for sums may have it doubled."""
    if once and run.finished:
        return
    reason = _reason(fields)
    if reason is not None:
        run.finished = True
        out.append(MessageFinished(run_id=run_id, finish_reason=reason, truncating=is_truncating(reason)))


def _reason(fields: dict[str, Any]) -> str | None:
    metadata = dict_of(fields.get("response_metadata"))
    for key in _REASONS:
        if reason := text_of(metadata.get(key)):
            return reason
    if metadata.get("status") == "incomplete":
        # OpenAI's responses give no reason for a whole answer, and one for a cut-off one.
        return text_of(dict_of(metadata.get("incomplete_details")).get("reason")) or "incomplete"
    # JavaScript's Anthropic integration puts the message_delta there.
    return text_of(dict_of(fields.get("additional_kwargs")).get("stop_reason")) or None


def _generation(value: object) -> dict[str, Any]:
    """A generation's fields: a `dumpd` constructor's, or its own."""
    fields = dict_of(value)
    return dict_of(fields.get("kwargs")) if "lc" in fields else fields


def _first_generation(output: object) -> dict[str, Any]:
    """The first generation of an LLMResult (v1 events and `on_llm_end`), or the output itself."""
    fields = _generation(output)
    batches = list_of(fields.get("generations"))
    if not batches:
        return fields
    first = batches[0]
    if isinstance(first, list):
        first = first[0] if first else None
    return _generation(first)
