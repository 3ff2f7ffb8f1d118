"""`openai.completions`: OpenAI's legacy completions, streamed or whole, as vLLM, llama.cpp and others speak them too.

Source: OpenAI's API reference, "Completions" (the completion object, which is a chunk's shape as well). A choice has a
`text` where a chat completion has a delta or a message, and is like it in all else: so it is read as one.
"""

from __future__ import annotations

from typing import Any

from msgspec import structs

from recorder.dialects import openai_chat
from recorder.dialects.base import Dialect, Envelope
from recorder.dialects.frames import Deltas, Frame
from recorder.dialects.http import stepper
from recorder.dialects.openai_chat_delta import State
from recorder.dialects.values import dict_of

_OBJECTS = ("text_completion", "text.completion")


def recognises(value: Any, event_name: str | None) -> bool:
    """A `text_completion` object, or choices with a text and neither delta nor message."""
    del event_name
    fields = dict_of(value)
    if isinstance(kind := fields.get("object"), str) and kind:
        return kind.startswith(_OBJECTS)
    choices = fields.get("choices")
    return isinstance(choices, list) and bool(choices) and all(map(_is_text_choice, choices))


def envelope(value: Any, event_name: str | None) -> Envelope:
    """The kind is the frame's `object`, `error` or `done`."""
    named = openai_chat.envelope(value, event_name)
    has_object = bool(dict_of(value).get("object"))
    return Envelope(kind="text_completion") if named.kind == "chat.completion.chunk" and not has_object else named


def _is_text_choice(choice: object) -> bool:
    fields = dict_of(choice)
    return "text" in fields and "delta" not in fields and "message" not in fields


def _read(state: State, frame: Frame, out: Deltas) -> None:
    fields = dict_of(frame.value)
    choices = fields.get("choices")
    if isinstance(choices, list):
        field = "message" if _is_whole(state, fields, choices) else "delta"
        frame = structs.replace(frame, value={**fields, "choices": [_as_chat(choice, field) for choice in choices]})
    openai_chat.read(state, frame, out)


def _is_whole(state: State, fields: dict[str, Any], choices: list[Any]) -> bool:
    """Whether the frame is an answer that was not streamed: at once it says all, why it stopped, and what it cost."""
    begun = bool(state.choices) and not state.ended
    stopped = bool(choices) and all(dict_of(choice).get("finish_reason") for choice in choices)
    return stopped and not begun and bool(dict_of(fields.get("usage")))


def _as_chat(choice: object, field: str) -> object:
    """The choice of a chat completion that says the same; its last chunk may have an empty delta for a text."""
    if not isinstance(choice, dict):
        return choice
    others = {key: value for key, value in choice.items() if key not in ("text", "delta", "message")}
    return {**others, field: {"content": choice.get("text")}}


def _read_request(frame: Frame, out: Deltas) -> None:
    """A prompt is text: there are no calls in it."""


OPENAI_COMPLETIONS = Dialect(
    name="openai.completions",
    layer="wire",
    state=State,
    recognises=recognises,
    envelope=envelope,
    step=stepper(_read, _read_request),
)
