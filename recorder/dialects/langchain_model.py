"""The events of one model run: what it was asked, the chunks it streamed, and the whole message at its end."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from msgspec import Struct, field

from recorder.deltas import History, MessageChunk, MessageClosed, MessageFinished, MessageStarted, Restatement
from recorder.dialects.finish_reasons import is_truncating, reason_of
from recorder.dialects.frames import Deltas, malformed
from recorder.dialects.langchain_messages import message_chunk_of, message_of, restatement_of, tool_call_chunks_of
from recorder.dialects.langchain_repr import is_message_repr
from recorder.dialects.langchain_walk import entries_in
from recorder.dialects.values import cleaned, compact, dict_of, list_of, text_of

_REASONS = ("finish_reason", "stop_reason", "done_reason", "finishReason", "stopReason")
"""Under which names integrations keep the provider's reason in `response_metadata`, in this order."""
_MOST_ENDED = 256
"""Model runs of which the end is remembered."""


class ModelRun(Struct):
    """What a decoder must remember of an open model run."""

    finished: bool = False
    start: str = ""
    """Digest of its start event's data; empty where the start was not recorded."""


class EndedRuns(Struct):
    """The model runs that ended last, for a run may be delivered twice.

    What an agent inside a tool streams reaches the iterators of both agents (langchain#22227).
    """

    starts: dict[str, str] = field(default_factory=dict)
    """The digest of each one's start, oldest run first."""

    def add(self, run_id: str, run: ModelRun) -> None:
        self.starts[run_id] = run.start
        if len(self.starts) > _MOST_ENDED:
            del self.starts[next(iter(self.starts))]

    def forget(self, run_id: str) -> None:
        self.starts.pop(run_id, None)

    def has(self, run_id: str) -> bool:
        return run_id in self.starts

    def has_start(self, run_id: str, digest: str) -> bool:
        """Whether the start is that of an ended run, by what it was asked: a program may use one id for two runs."""
        return self.starts.get(run_id) in ("", digest)


def start(run_id: str, metadata: dict[str, Any], data: dict[str, Any], out: Deltas) -> ModelRun:
    """`on_chat_model_start`, `on_llm_start`."""
    out.append(MessageStarted(run_id=run_id, role="ai", model=cleaned(metadata.get("ls_model_name"))))
    if entries := entries_in(data.get("input")):
        out.append(History(run_id=run_id, entries=entries, source="request"))
    return ModelRun()


def start_digest(data: dict[str, Any]) -> str:
    """What tells a start that is delivered twice from another run's."""
    return sha256(compact(data).encode("utf-8", "surrogatepass")).hexdigest()[:16] if data else ""


def stream(run: ModelRun, run_id: str, data: dict[str, Any], out: Deltas, *, chat: bool) -> None:
    """`on_chat_model_stream`, `on_llm_stream`; `chat`: a text that is a message's repr is no text of the model."""
    chunk = data.get("chunk")
    message = message_of(chunk) or message_of(_generation(chunk).get("message"))
    if message is not None:
        fields = message.fields
        out.append(message_chunk_of(run_id, fields))
        out.extend(tool_call_chunks_of(run_id, fields))
        _finish(run, run_id, fields, out)
        return
    if chat and isinstance(chunk, str) and is_message_repr(chunk):
        return
    text = chunk if isinstance(chunk, str) else text_of(_generation(chunk).get("text"))
    if text is not None:
        out.append(MessageChunk(run_id=run_id, content=text))
        _finish(run, run_id, {"response_metadata": _generation(chunk).get("generation_info")}, out)
    elif chunk is not None:
        out.append(malformed(run_id, "data.chunk", chunk))


def end(run: ModelRun, run_id: str, data: dict[str, Any], out: Deltas, *, chat: bool) -> None:
    """`on_chat_model_end`, `on_llm_end`; an output that was not recorded leaves what was streamed. `chat`: as above."""
    output = data.get("output")
    generation = _first_generation(output)
    message = message_of(output) or message_of(generation.get("message"))
    if message is not None:
        out.append(restatement_of(run_id, message.fields))
        _finish(run, run_id, message.fields, out, once=True)
    elif not (chat and isinstance(output, str) and is_message_repr(output)):
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
        if reason := reason_of(text_of(metadata.get(key))):
            return reason
    if metadata.get("status") == "incomplete":
        # OpenAI's responses give no reason for a whole answer, and one for a cut-off one.
        return text_of(dict_of(metadata.get("incomplete_details")).get("reason")) or "incomplete"
    # JavaScript's Anthropic integration puts the message_delta there.
    return reason_of(text_of(dict_of(fields.get("additional_kwargs")).get("stop_reason")))


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
