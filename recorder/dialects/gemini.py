"""`gemini`: Google's generateContent and streamGenerateContent, of the Gemini API and of Vertex AI, streamed or whole.

Source: the reference of both, `GenerateContentResponse`, `Candidate`, `Part`. A chunk and a whole answer are the same
object, and no terminator follows the last one: a reason to stop in every candidate is the end.
"""

from __future__ import annotations

from typing import Any

from msgspec import field

from recorder.deltas import MessageFinished, Usage
from recorder.dialects.base import DONE, Dialect, Envelope, is_done
from recorder.dialects.finish_reasons import reason_of
from recorder.dialects.frames import Deltas, Frame, malformed, unknown_frame
from recorder.dialects.gemini_answer import Answer, Target
from recorder.dialects.gemini_calls import tell_unfinished
from recorder.dialects.gemini_names import named
from recorder.dialects.gemini_parts import read_content
from recorder.dialects.gemini_request import read_request
from recorder.dialects.gemini_usage import google_counts
from recorder.dialects.http import Exchange, begin_answer, fail, stepper
from recorder.dialects.message_head import tell_head
from recorder.dialects.values import cleaned, dict_of, int_of, list_of

_MOST_CANDIDATES = 1 << 16
"""An index beyond it is no candidate's; it is read as the first."""
_NATURAL = "STOP"
"""The one reason of Google's list that is no cut-off; one that is added to the list later is taken for one."""
_UNSPECIFIED = "_UNSPECIFIED"
"""How the names of enums end that stand for a field without a value."""
_READ = frozenset({"content", "finishReason", "index"})
"""A candidate's fields that are read by name; the others (grounding, citations, ratings) are kept as they are."""
_KIND = "GenerateContentResponse"
"""The object's name in Google's reference."""
_FIELDS = frozenset({"candidates", "promptFeedback", "usageMetadata", "modelVersion", "responseId"})


class State(Exchange):
    """The candidates of the answer that is open, by their index."""

    candidates: dict[int, Answer] = field(default_factory=dict)
    id: str = ""
    """The `responseId` of the answer's chunks."""


def recognises(value: Any, event_name: str | None) -> bool:
    """Candidates as Google's are, a blocked prompt, or counts with the response's id; also an array of such."""
    if isinstance(value, list):
        return any(isinstance(item, dict) and recognises(item, event_name) for item in value)
    fields = _response(value)
    candidates = fields.get("candidates")
    if isinstance(candidates, list) and candidates:
        return all(_is_candidate(candidate) for candidate in candidates)
    if isinstance(fields.get("promptFeedback"), dict):
        return True
    return isinstance(fields.get("usageMetadata"), dict) and bool(fields.keys() & {"modelVersion", "responseId"})


def envelope(value: Any, event_name: str | None) -> Envelope:
    """The kind is the object's name in Google's reference, `error` or `done`."""
    if is_done(value):
        return Envelope(kind=DONE)
    first = value[0] if isinstance(value, list) and value else value
    if event_name == "error" or dict_of(first).get("error"):
        return Envelope(kind="error")
    known = isinstance(value, list) or _response(value).keys() & _FIELDS
    return Envelope(kind=_KIND if known else cleaned(event_name) or "unknown")


def _is_candidate(value: object) -> bool:
    fields = named(value)
    return isinstance(fields.get("content"), dict) or bool(fields.keys() & {"finishReason", "safetyRatings"})


def _response(value: object) -> dict[str, Any]:
    """The response's fields; Code Assist, which Gemini's command line asks, wraps it in `response`."""
    fields = named(value)
    inner = fields.get("response")
    return named(inner) if isinstance(inner, dict) and "candidates" in inner else fields


def _read(state: State, frame: Frame, out: Deltas) -> None:
    """A chunk or a whole answer; an array that was not framed as one holds several."""
    values = frame.value if isinstance(frame.value, list) and frame.value else [frame.value]
    for value in values:
        if not isinstance(value, dict) or not _read_response(state, frame, _response(value), out):
            out.append(unknown_frame(frame))


def _read_response(state: State, frame: Frame, fields: dict[str, Any], out: Deltas) -> bool:
    """Says whether anything in it is known."""
    run_id, candidates = frame.run_id, fields.get("candidates")
    error = fields.get("error")
    failed = bool(error) or frame.kind == "error"
    _read_id(state, run_id, fields, out)
    if failed:
        fail(state, run_id, error or fields, out)
    if candidates is not None and not isinstance(candidates, list):
        out.append(malformed(run_id, "candidates", candidates))
    for position, candidate in enumerate(list_of(candidates)):
        if isinstance(candidate, dict):
            _read_candidate(state, run_id, fields, named(candidate), out)
        else:
            out.append(malformed(run_id, f"candidates[{position}]", candidate))
    feedback = fields.get("promptFeedback")
    if isinstance(feedback, dict) and feedback:
        _read_feedback(state, run_id, fields, feedback, out)
    if counts := google_counts(fields.get("usageMetadata")):
        out.append(Usage(run_id=run_id, counts=counts))
    return failed or bool(fields.keys() & _FIELDS)


def _read_id(state: State, run_id: str, fields: dict[str, Any], out: Deltas) -> None:
    """Begins anew where the chunk is of another response: under another id, or after the end of the exchange."""
    new_id = cleaned(fields.get("responseId")) or ""
    other = bool(new_id and state.id and new_id != state.id)
    settled = state.ended or state.terminated or state.error is not None
    if (state.ended or (other and settled)) and _carries_answer(fields):
        begin_answer(state, run_id, out)
        state.candidates, state.id = {}, new_id
    state.id = state.id or new_id


def _carries_answer(fields: dict[str, Any]) -> bool:
    """Whether the chunk has parts, or says why there are none; counts alone follow their own answer."""
    candidates = [named(candidate) for candidate in list_of(fields.get("candidates"))]
    return _reason(named(fields.get("promptFeedback")).get("blockReason")) is not None or any(
        dict_of(candidate.get("content")).get("parts") or _reason(candidate.get("finishReason")) is not None
        for candidate in candidates
    )


def _reason(value: object) -> str | None:
    reason = reason_of(value)
    return None if reason is None or reason.upper().endswith(_UNSPECIFIED) else reason


def _read_candidate(state: State, run_id: str, response: dict[str, Any], fields: dict[str, Any], out: Deltas) -> None:
    number = int_of(fields.get("index")) or 0
    if not 0 <= number < _MOST_CANDIDATES:
        out.append(malformed(run_id, "candidates[].index", fields.get("index")))
        number = 0
    target = _target(state, run_id, number, response, out)
    read_content(target, fields.get("content"), "candidates[].content")
    for name, value in fields.items():
        if name not in _READ and value is not None and value not in ([], {}):
            target.add_said(cleaned(name) or "", value)
    if (reason := _reason(fields.get("finishReason"))) is not None:
        _finish(state, target, reason, truncating=reason.strip().upper() != _NATURAL)


def _target(state: State, run_id: str, number: int, response: dict[str, Any], out: Deltas) -> Target:
    """The candidate with this index; says its start, and again where a later chunk knows more of its head."""
    answer = state.candidates.get(number)
    if answer is None:
        answer = state.candidates[number] = Answer()
        state.terminated = False
    id, model = response.get("responseId"), response.get("modelVersion")
    answer.head = tell_head(answer.head, run_id, number, out, message_id=id, model=model)
    return Target(run_id, number, answer, out)


def _read_feedback(state: State, run_id: str, response: dict[str, Any], feedback: dict[str, Any], out: Deltas) -> None:
    """What Google says of the prompt; one that it blocked has no candidates, and the answer's end is the block."""
    target = _target(state, run_id, 0, response, out)
    target.add_said("promptFeedback", feedback)
    blocked = _reason(named(feedback).get("blockReason"))
    if blocked is not None and not response.get("candidates"):
        _finish(state, target, blocked, truncating=True)


def _finish(state: State, target: Target, reason: str, *, truncating: bool) -> None:
    if not truncating:
        tell_unfinished(target)
    target.out.append(
        MessageFinished(run_id=target.run_id, choice=target.choice, finish_reason=reason, truncating=truncating)
    )
    target.answer.finished = True
    state.terminated = all(answer.finished for answer in state.candidates.values())


GEMINI = Dialect(
    name="gemini",
    layer="wire",
    state=State,
    recognises=recognises,
    envelope=envelope,
    step=stepper(_read, read_request),
)
