"""The events of one model run: what it was asked, the chunks it streamed, and the whole message at its end."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from recorder.deltas import (
    Failure,
    History,
    MessageChunk,
    MessageClosed,
    MessageStarted,
    Restatement,
    RunEnded,
    Runtime,
)
from recorder.dialects.finish_reasons import finish_of, reason_of
from recorder.dialects.frames import Deltas, finding, malformed
from recorder.dialects.http import error_text
from recorder.dialects.langchain_messages import message_chunk_of, message_of, restatement_of, tool_call_chunks_of
from recorder.dialects.langchain_repr import is_message_repr
from recorder.dialects.langchain_walk import entries_in
from recorder.dialects.values import cleaned, dict_of, digest_of, int_of, list_of, text_of

_REASONS = ("finish_reason", "stop_reason", "done_reason", "finishReason", "stopReason")
"""Under which names integrations keep the provider's reason in `response_metadata`, in this order."""
_JAVASCRIPT_PACKAGE = "@langchain/core"
_MOST_ENDED = 256
"""Model runs of which the end is remembered."""


class ModelRun(Struct):
    """What a decoder must remember of an open model run."""

    finished: bool = False
    last: bool = False
    """A chunk said that it is the last one (`chunk_position`; since langchain-core 1.0)."""
    runtime: Runtime = "python"
    """Which LangChain runs it, once one of its events has said so."""
    start: str = ""
    """Digest of its start event's data; empty where the start was not recorded."""

    def learn(self, runtime: Runtime) -> None:
        """Takes what a message says of its writer; that none is said stands for Python."""
        if runtime == "javascript":
            self.runtime = runtime


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
    return ModelRun(runtime=runtime_of(metadata, data))


def start_digest(data: dict[str, Any]) -> str:
    """What tells a start that is delivered twice from another run's."""
    return digest_of(data) if data else ""


def stream(run: ModelRun, run_id: str, data: dict[str, Any], out: Deltas, *, chat: bool) -> None:
    """`on_chat_model_stream`, `on_llm_stream`; `chat`: a text that is a message's repr is no text of the model."""
    chunk = data.get("chunk")
    message = message_of(chunk) or message_of(_generation(chunk).get("message"))
    if message is not None:
        fields = message.fields
        run.learn(message.runtime)
        out.append(message_chunk_of(run_id, fields, run.runtime))
        out.extend(tool_call_chunks_of(run_id, fields))
        run.last = run.last or _is_last(fields)
        finish(run, run_id, fields, out)
        return
    if chat and isinstance(chunk, str) and is_message_repr(chunk):
        return
    text = chunk if isinstance(chunk, str) else text_of(_generation(chunk).get("text"))
    if text is not None:
        out.append(MessageChunk(run_id=run_id, content=text, runtime=run.runtime))
        finish(run, run_id, {"response_metadata": _generation(chunk).get("generation_info")}, out)
    elif chunk is not None:
        out.append(malformed(run_id, "data.chunk", chunk))


def end(run: ModelRun, run_id: str, data: dict[str, Any], out: Deltas, *, chat: bool) -> RunEnded:
    """`on_chat_model_end`, `on_llm_end`: the whole message, and how the run ended, which is to be told behind it.

    An output that was not recorded leaves what was streamed. `chat`: as above. Version v1 ends failed runs, too.
    """
    output = data.get("output")
    generation = _first_generation(output)
    message = message_of(output) or message_of(generation.get("message"))
    if (error := _error_of(data)) is not None:
        if message is not None and _refusal_of(generation) is None:
            restate(run, run_id, message.fields, out)
        out.append(Failure(run_id=run_id, error=error))
        return RunEnded(run_id=run_id, kind="model", status="error", error=error)
    if message is not None:
        run.learn(message.runtime)
        restate(run, run_id, message.fields, out)
        run.last = run.last or _is_last(message.fields)
    elif not (chat and isinstance(output, str) and is_message_repr(output)):
        text = output if isinstance(output, str) else text_of(generation.get("text"))
        if text is not None:
            out.append(Restatement(run_id=run_id, content=text, runtime=run.runtime))
        elif output is not None:
            out.append(malformed(run_id, "data.output", output))
    info = dict_of(generation.get("generation_info"))
    finish(run, run_id, {"response_metadata": info}, out, once=True)
    if _class_of(_first_of(output)) == "ChatGenerationChunk" and not (run.finished or run.last):
        detail = "the chunks of a run of version v1 ended, and nothing said that they were all"
        out.append(finding(run_id, "missing-terminator", detail, "warning"))
        return RunEnded(run_id=run_id, kind="model", terminated=False)
    out.append(MessageClosed(run_id=run_id))
    return RunEnded(run_id=run_id, kind="model")


def restate(run: ModelRun, run_id: str, fields: dict[str, Any], out: Deltas) -> None:
    """The whole message's fields, and the reason that they have."""
    out.append(restatement_of(run_id, fields, run.runtime))
    finish(run, run_id, fields, out, once=True)


def finish(run: ModelRun, run_id: str, fields: dict[str, Any], out: Deltas, *, once: bool = False) -> None:
    """Says the reason that these fields have; `once`: only if no chunk had one, for sums may have it doubled."""
    if once and run.finished:
        return
    if (finished := finish_of(run_id, _reason(fields))) is not None:
        run.finished = True
        out.append(finished)


def runtime_of(metadata: dict[str, Any], data: dict[str, Any]) -> Runtime:
    """LangChain.js names itself among the versions in a model's metadata, and in the messages that it writes."""
    if _JAVASCRIPT_PACKAGE in dict_of(metadata.get("versions")):
        return "javascript"
    first = dict_of(data.get("input")).get("messages")
    while isinstance(first, list):
        first = first[0] if first else None
    message = message_of(first)
    return message.runtime if message is not None else "python"


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


def _is_last(fields: dict[str, Any]) -> bool:
    return fields.get("chunk_position") == "last"


def _error_of(data: dict[str, Any]) -> str | None:
    """What is known of the error of a run whose end is that of a failed one; None for any other end.

    Version v1 ends a failed run without an output, or with an `LLMResult` whose last batch is empty, or has an answer
    made of the server's refusal, behind a batch with what had come. Version v2 does not end it.
    """
    output = data.get("output")
    result = _generation(output)
    batches = list_of(result.get("generations"))
    last = list_of(batches[-1]) if batches else []
    if last:
        refusal = _refusal_of(_generation(last[0]))
        return None if refusal is None else f"HTTP {refusal['status_code']}: {error_text(refusal.get('body'))}"
    failed = "generations" in result or (output is None and "output" in data)
    return "the run failed: its end has no output, and version v1 does not say why" if failed else None


def _refusal_of(generation: dict[str, Any]) -> dict[str, Any] | None:
    """The response's parts that langchain-core writes into the message that it makes of an error."""
    message = message_of(generation.get("message"))
    if message is None or message.fields.get("content"):
        return None
    metadata = dict_of(message.fields.get("response_metadata"))
    status = int_of(metadata.get("status_code"))
    return metadata if status is not None and status >= 400 else None


def _first_generation(output: object) -> dict[str, Any]:
    """The fields of the first generation of an LLMResult (v1 events and `on_llm_end`), or of the output itself."""
    first = _first_of(output)
    return _generation(output) if first is None else _generation(first)


def _first_of(output: object) -> object:
    """The first generation of an LLMResult as it is; None where there is none."""
    batches = list_of(_generation(output).get("generations"))
    first = batches[0] if batches else None
    return (first[0] if first else None) if isinstance(first, list) else first


def _class_of(value: object) -> str | None:
    """The class of one of LangChain's objects: of a constructor, or the type among its fields."""
    fields = dict_of(value)
    names = list_of(fields.get("id")) if "lc" in fields else []
    return text_of(names[-1]) if names else text_of(fields.get("type"))
