"""`openai.chat`: OpenAI's chat completions, streamed or whole, as OpenAI and some thirty others speak it.

Source: OpenAI's API reference, "Chat Completions" (the chunk object, the completion object); the additions of Azure,
DeepSeek, Groq, LiteLLM, Mistral, Moonshot, OpenRouter and Perplexity from their own pages and from recordings.
"""

from __future__ import annotations

from typing import Any

from recorder.deltas import Usage
from recorder.dialects.base import DONE, Dialect, Envelope, is_done
from recorder.dialects.finish_reasons import finish_of
from recorder.dialects.frames import Deltas, Frame, malformed, unknown_frame
from recorder.dialects.http import begin_answer, end_exchange, fail, stepper
from recorder.dialects.message_head import tell_head
from recorder.dialects.openai_chat_delta import Choice, State, Target, carries_answer, read_delta
from recorder.dialects.openai_chat_piece import piece
from recorder.dialects.openai_chat_request import read_request
from recorder.dialects.openai_usage import openai_counts
from recorder.dialects.values import ROLES, cleaned, dict_of, int_of, list_of, text_of

_MOST_CHOICES = 1 << 16
"""An index beyond it is no choice's; it is read as the first."""
_OF_THE_ANSWER = ("citations", "search_results")
"""Perplexity's sources: they stand beside the choices and belong to the text."""


def recognises(value: Any, event_name: str | None) -> bool:
    """A `chat.completion…` object, or choices with a delta or a message; Azure's filter results without choices too."""
    del event_name
    if not isinstance(value, dict):
        return False
    if isinstance(kind := value.get("object"), str) and kind:
        return kind.startswith("chat.completion")
    choices = value.get("choices")
    if not isinstance(choices, list):
        return False
    if not choices:
        return "prompt_filter_results" in value
    return all(isinstance(choice, dict) and ("delta" in choice or "message" in choice) for choice in choices)


def envelope(value: Any, event_name: str | None) -> Envelope:
    """The kind is the frame's `object`, `error` or `done`."""
    if is_done(value):
        return Envelope(kind=DONE)
    fields = dict_of(value)
    if event_name == "error" or fields.get("error"):
        return Envelope(kind="error")
    if kind := cleaned(fields.get("object")):
        return Envelope(kind=kind)
    if isinstance(fields.get("choices"), list):
        return Envelope(kind="chat.completion.chunk")
    return Envelope(kind=cleaned(event_name) or "unknown")


def read(state: State, frame: Frame, out: Deltas) -> None:
    """Takes a frame of the answer: a chunk, a whole completion, an error."""
    value = frame.value
    if not isinstance(value, dict):
        out.append(unknown_frame(frame))
        return
    choices = value.get("choices")
    if isinstance(choices, list):
        _read_id(state, frame.run_id, value, choices, out)
    error = value.get("error")
    failed = bool(error) or frame.kind == "error"
    if failed:
        fail(state, frame.run_id, error or value, out)
    if isinstance(choices, list):
        for position, choice in enumerate(choices):
            if isinstance(choice, dict):
                _read_choice(state, frame.run_id, value, choice, out)
            else:
                out.append(malformed(frame.run_id, f"choices[{position}]", choice))
        _read_sources(state, frame.run_id, value, out)
    # A frame that says its type and has no choices is another protocol's, whatever it counts.
    is_foreign = not isinstance(choices, list) and text_of(value.get("type")) is not None
    counted = not is_foreign and _read_usage(frame.run_id, value, out)
    if isinstance(choices, list) and _is_whole(choices):
        end_exchange(state, frame.run_id, out)
    elif not (failed or counted or isinstance(choices, list)):
        out.append(unknown_frame(frame))


def _read_id(state: State, run_id: str, value: dict[str, Any], choices: list[Any], out: Deltas) -> None:
    """Notes the chunk's id, and begins anew where the chunk is another answer's."""
    new_id = cleaned(value.get("id")) or ""
    other = bool(new_id and state.id and new_id != state.id)
    if _is_anothers(state, choices, told_by_id=other and not state.ids_vary):
        begin_answer(state, run_id, out)
        state.choices, state.id, state.ids_vary = {}, new_id, False
    elif not _is_settled(state):
        state.id = new_id or state.id
        state.ids_vary = state.ids_vary or other


def _is_anothers(state: State, choices: list[Any], *, told_by_id: bool) -> bool:
    """Whether the choices belong to an answer after the one that is known.

    After the terminator any content does. Without one (a dump of several answers, a gateway that asked again after a
    failure) it is content under another id, after the answer said why it stopped, or failed. Usage, and a finish
    reason that is said again, follow their own answer.
    """
    if not (state.ended or (told_by_id and _is_settled(state))):
        return False
    if state.ended and choices and (not state.choices or _is_whole(choices)):
        return True
    return any(carries_answer(_delta_of(dict_of(choice))) for choice in choices)


def _is_settled(state: State) -> bool:
    """Whether nothing more of the answer is to be expected."""
    return state.ended or state.terminated or state.error is not None


def _delta_of(choice: dict[str, Any]) -> dict[str, Any]:
    """The choice's delta; Perplexity and Writer send the message so far beside it: only the delta is new."""
    delta = choice.get("delta")
    return delta if isinstance(delta, dict) else dict_of(choice.get("message"))


def _read_choice(state: State, run_id: str, value: dict[str, Any], fields: dict[str, Any], out: Deltas) -> None:
    number = int_of(fields.get("index")) or 0
    if not 0 <= number < _MOST_CHOICES:
        out.append(malformed(run_id, "choices[].index", fields.get("index")))
        number = 0
    choice = state.choices.get(number)
    if choice is None:
        choice = state.choices[number] = Choice()
        state.terminated = False
    whole = not isinstance(fields.get("delta"), dict)
    if whole and fields.get("delta") is not None:
        out.append(malformed(run_id, "choices[].delta", fields["delta"]))
    delta = _delta_of(fields)
    # A few servers never say the role; an answer is the assistant's.
    role = text_of(delta.get("role")) or "ai"
    choice.head = tell_head(
        choice.head,
        run_id,
        number,
        out,
        message_id=value.get("id"),
        model=value.get("model"),
        role=ROLES.get(role, role),
    )
    if delta:
        read_delta(Target(run_id, number, choice, out), delta, whole=whole)
    if fields.get("error"):
        fail(state, run_id, fields["error"], out)
    if (finished := finish_of(run_id, fields.get("finish_reason"), choice=number)) is not None:
        out.append(finished)
        choice.finished = True
        state.terminated = all(other.finished for other in state.choices.values())


def _read_sources(state: State, run_id: str, value: dict[str, Any], out: Deltas) -> None:
    choice = state.choices.get(0)
    for key in _OF_THE_ANSWER:
        if choice is not None and value.get(key):
            Target(run_id, 0, choice, out).add_repeated("text", key, value[key])


def _read_usage(run_id: str, value: dict[str, Any], out: Deltas) -> bool:
    """The run's counts, wherever the server puts them: at the top, in a choice (Moonshot), in `x_groq` (Groq)."""
    places = [value, dict_of(value.get("x_groq")), *map(dict_of, list_of(value.get("choices")))]
    for place in places:
        if place.get("usage") and (counts := openai_counts(place["usage"])):
            out.append(Usage(run_id=run_id, counts=counts))
            return True
    return False


def _is_whole(choices: list[Any]) -> bool:
    """Whether the frame is an answer that was not streamed: messages, and no delta anywhere."""
    fields = [dict_of(choice) for choice in choices]
    return any(isinstance(choice.get("message"), dict) for choice in fields) and not any(
        isinstance(choice.get("delta"), dict) for choice in fields
    )


OPENAI_CHAT = Dialect(
    name="openai.chat",
    layer="wire",
    state=State,
    recognises=recognises,
    envelope=envelope,
    step=stepper(read, read_request),
    piece=piece,
)
