"""`bedrock.invoke`: Amazon Bedrock's InvokeModel, a wrapper around whatever the model's maker speaks.

Source: the Bedrock Runtime API reference, "InvokeModelWithResponseStream" (`chunk`, `bytes`), and the Amazon Bedrock
user guide, "Inference request parameters and response fields for foundation models". A frame is base64 of a frame of
another dialect (Anthropic's of `anthropic.messages`, Nova's of `bedrock.converse`, …), and that dialect reads it: its
rules are the rules here. Which one it is, the frames say; before the first of them the request does.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

import msgspec
from msgspec import Struct, structs

from recorder import dialects
from recorder.deltas import AnyDelta, MessageClosed, Usage
from recorder.dialects.base import COMMENT, DAMAGED, END, ERROR, PARTIAL, REQUEST, RESPONSE, Dialect, Envelope
from recorder.dialects.bedrock_exchange import BedrockExchange, exception_in, model_of, read_error
from recorder.dialects.bedrock_invoke_text import BEDROCK_INVOKE_TEXT
from recorder.dialects.http import Exchange
from recorder.dialects.usage import counts_of
from recorder.dialects.values import cleaned, dict_of
from recorder.events import Event, NewEvent
from recorder.events.jsontext import NotJson, decode_leniently

_METRICS = "amazon-bedrock-invocationMetrics"
_COUNTS = {"inputTokenCount": "input_tokens", "outputTokenCount": "output_tokens"}
_MAKERS = {
    "anthropic.": "anthropic.messages",
    "amazon.nova": "bedrock.converse",
    "cohere.command-r": "cohere.v1",
    "deepseek.": "openai.chat",
    "mistral.": "openai.chat",
    "openai.": "openai.chat",
    "qwen.": "openai.chat",
}
"""Part of a model's id → the dialect that its maker speaks, as a rule."""
_MARKS = {
    "anthropic_version": "anthropic.messages",
    "inferenceConfig": "bedrock.converse",
    "schemaVersion": "bedrock.converse",
}
"""Fields of a request that say the same where the URL has an ARN."""
_NO_FRAMES = frozenset({REQUEST, RESPONSE, END, ERROR, COMMENT, PARTIAL, DAMAGED})


class State(Struct, kw_only=True):
    """Which dialect is spoken within the exchange, and its decoder's state."""

    speaks: str = ""
    """Its name; empty for texts in a form of their own."""
    model: str | None = None
    """Of the request's URL."""
    told: bool = False
    """Whether a frame said so; else it is a guess by the request."""
    inner: Any = None
    """A state of that dialect. It comes as plain values out of a snapshot, where its type is not known."""

    def __post_init__(self) -> None:
        kind = _get(self.speaks).state
        if not isinstance(self.inner, kind):
            self.inner = kind() if self.inner is None else msgspec.convert(self.inner, kind, str_keys=True)


def recognises(value: Any, event_name: str | None) -> bool:
    """A chunk in which JSON is wrapped; those of a Bedrock agent look alike, and hold its text."""
    del event_name
    payload = _payload(value)
    return payload is not None and isinstance(_json(payload), dict)


def envelope(value: Any, event_name: str | None) -> Envelope:
    """The kind is that of the frame within."""
    payload = _payload(value)
    if payload is None:
        name = cleaned(event_name) or exception_in(dict_of(value))
        return Envelope(kind=name or "unknown")
    frame = _json(payload)
    return Envelope(kind=_get(_recognise(frame) or "").envelope(frame, None).kind)


def step(state: State, event: Event | NewEvent) -> tuple[State, list[AnyDelta]]:
    """What the dialect within makes of the frame within."""
    frame = None
    if event.kind == REQUEST:
        state.model = model_of(event)
        _speak(state, _speaker_of_request(event, state.model or ""))
    elif event.kind not in _NO_FRAMES:
        frame = _json(event.body)
        payload = _payload(frame)
        if payload is not None:
            frame = _json(payload)
        _listen(state, frame)
        if payload is not None:
            event = structs.replace(event, kind=_get(state.speaks).envelope(frame, None).kind, body=payload)
    if (failure := read_error(state.inner, event)) is not None:
        return state, failure
    state.inner, deltas = _get(state.speaks).step(state.inner, event)
    _count(dict_of(dict_of(frame).get(_METRICS)), event.run_id or "", deltas)
    return state, deltas


def _listen(state: State, frame: object) -> None:
    """Goes over to the dialect whose frame this can only be; a text only shows where nobody else has spoken."""
    if state.told and _get(state.speaks).recognises(frame, None):
        return
    name = _recognise(frame)
    if name is not None and (name or not state.told):
        _speak(state, name)
        state.told = bool(name)


def _speak(state: State, name: str) -> None:
    """Another dialect's decoder takes over what is known of the exchange."""
    if name == state.speaks:
        return
    before, after = state.inner, _get(name).start()
    for known in Exchange.__struct_fields__:
        setattr(after, known, getattr(before, known))
    if isinstance(after, BedrockExchange):
        after.model = state.model
    state.speaks, state.inner = name, after


def _recognise(frame: object) -> str | None:
    """The name of the wire's dialect whose frame this is, empty for a text in a form of its own; None where unknown."""
    found = dialects.recognise(frame, None)
    if found is not None and issubclass(found.state, Exchange):
        return found.name
    return "" if BEDROCK_INVOKE_TEXT.recognises(frame, None) else None


def _speaker_of_request(event: Event | NewEvent, model: str) -> str:
    fields = dict_of(_json(event.body))
    by_body = (name for mark, name in _MARKS.items() if mark in fields)
    by_model = (name for part, name in _MAKERS.items() if part in model)
    return next(by_body, None) or next(by_model, "")


def _get(name: str) -> Dialect:
    return dialects.get(name) if name else BEDROCK_INVOKE_TEXT


def _payload(value: object) -> bytes | None:
    """The bytes in a chunk, whose base64 a recorder may have taken off; None where the value is none."""
    fields = dict_of(value)
    text = (dict_of(fields.get("chunk")) or fields).get("bytes")
    if not isinstance(text, str):
        return None
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return text.encode("utf-8", "replace")


def _json(body: bytes) -> Any:
    """The JSON value of the bytes; None where they are none, which the dialect within says in its own words."""
    try:
        return decode_leniently(body)[0]
    except NotJson:
        return None


def _count(metrics: dict[str, Any], run_id: str, deltas: list[AnyDelta]) -> None:
    """Adds what Bedrock itself counted: with the last frame, so before the message closes."""
    if counts := counts_of(metrics, _COUNTS):
        close = (place for place, delta in enumerate(deltas) if isinstance(delta, MessageClosed))
        deltas.insert(next(close, len(deltas)), Usage(run_id=run_id, counts=counts))


BEDROCK_INVOKE = Dialect(
    name="bedrock.invoke",
    layer="wire",
    state=State,
    recognises=recognises,
    envelope=envelope,
    step=step,
)
