"""Answers of Bedrock's text models: within `bedrock.invoke` each maker has a form of its own, all of them small.

Source: the Amazon Bedrock user guide, "Inference request parameters and response fields for foundation models" (Titan
Text, Llama, Mistral, Cohere Command, DeepSeek, Claude's text completions). None of these models calls tools. A message
ends with its reason to stop: nothing else says so.
"""

from __future__ import annotations

from typing import Any

from recorder.deltas import AnyDelta, MessageStarted, TextChunk, Usage
from recorder.dialects.base import Dialect, Envelope
from recorder.dialects.bedrock_exchange import BedrockExchange, model_of
from recorder.dialects.finish_reasons import finish_of
from recorder.dialects.frames import Deltas, Frame, unknown_frame
from recorder.dialects.http import begin_answer, fail, stepper
from recorder.dialects.usage import counts_of
from recorder.dialects.values import dict_of, list_of
from recorder.events import Event, NewEvent

_TEXTS = ("outputText", "generation", "text", "completion")
_LISTS = ("results", "outputs", "generations", "choices")
"""Where a maker allows for several answers, they are objects in a list."""
_REASONS = ("completionReason", "stop_reason", "finish_reason")
_COUNTS = {
    "inputTextTokenCount": "input_tokens",
    "totalOutputTextTokenCount": "output_tokens",
    "prompt_token_count": "input_tokens",
    "generation_token_count": "output_tokens",
}


class State(BedrockExchange):
    """The open message of one exchange."""

    open: bool = False


def recognises(value: Any, event_name: str | None) -> bool:
    """A text under one of the makers' names; that is nobody's mark, but within `bedrock.invoke` it will do."""
    del event_name
    return any(isinstance(answer.get(name), str) for answer in _answers(value) for name in _TEXTS)


def envelope(value: Any, event_name: str | None) -> Envelope:
    """These frames have no names."""
    del value, event_name
    return Envelope(kind="chunk")


def step(state: State, event: Event | NewEvent) -> tuple[State, list[AnyDelta]]:
    """As every exchange, with the model that the URL names."""
    state.model = model_of(event) or state.model
    return _step(state, event)


def _read(state: State, frame: Frame, out: Deltas) -> None:
    value, run_id = dict_of(frame.value), frame.run_id
    answers = _answers(value)
    reasons = [next((answer[name] for name in _REASONS if name in answer), None) for answer in answers]
    finishes = [finish_of(run_id, reason, choice=choice) for choice, reason in enumerate(reasons)]
    if not (recognises(value, None) or any(finishes)):
        if value.get("error"):
            fail(state, run_id, value["error"], out)
        else:
            out.append(unknown_frame(frame))
        return
    if not state.open or state.terminated:
        _open_messages(state, run_id, len(answers), out)
    for choice, (answer, finished) in enumerate(zip(answers, finishes, strict=True)):
        text = next((answer[name] for name in _TEXTS if isinstance(answer.get(name), str)), "")
        if text:
            out.append(TextChunk(run_id=run_id, block="text", text=text, choice=choice))
        if finished is not None:
            out.append(finished)
    if counts := counts_of(value, _COUNTS):
        out.append(Usage(run_id=run_id, counts=counts))
    state.terminated = all(finishes)


def _open_messages(state: State, run_id: str, count: int, out: Deltas) -> None:
    if state.open or state.ended:
        begin_answer(state, run_id, out)
    state.open = True
    for choice in range(count):
        out.append(MessageStarted(run_id=run_id, choice=choice, role="ai", model=state.model))


def _answers(value: object) -> list[dict[str, Any]]:
    """The answers in a frame: those of its list, or the frame itself."""
    fields = dict_of(value)
    listed = next((list_of(fields[name]) for name in _LISTS if isinstance(fields.get(name), list)), None)
    return [fields] if listed is None else [dict_of(each) for each in listed]


def _read_request(frame: Frame, out: Deltas) -> None:
    """A prompt is a text: no calls stand in it, and no results."""
    del frame, out


_step = stepper(_read, _read_request)

BEDROCK_INVOKE_TEXT = Dialect(
    name="bedrock.invoke",
    layer="wire",
    state=State,
    recognises=recognises,
    envelope=envelope,
    step=step,
)
"""No dialect of its own: what `bedrock.invoke` reads where no other dialect's frames are in it."""
