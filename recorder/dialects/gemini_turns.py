"""Turns of a live session: where a message begins, how it ends, and when the next one begins.

A turn of the model is a message. A `toolCall` ends one too, though its turn may go on: the client runs the calls, and
what the model says then is another message. A message is closed only when the next one begins, for counts may follow.
"""

from __future__ import annotations

from typing import Literal

from msgspec import field

from recorder.deltas import MessageFinished, MessageStarted
from recorder.dialects.frames import Deltas
from recorder.dialects.gemini_answer import OTHER, Answer, Target
from recorder.dialects.gemini_calls import tell_unfinished
from recorder.dialects.http import Exchange, begin_answer

INTERRUPTED = "interrupted"


class TurnState(Exchange):
    """The message that is open in a live session."""

    answer: Answer = field(default_factory=Answer)
    phase: Literal["", "open", "asked", "over"] = ""
    """None yet; the model speaks; it asked for calls, and more of them may come; whatever comes next is another's."""
    model: str = ""

    def target(self, run_id: str, out: Deltas) -> Target:
        return Target(run_id, 0, self.answer, out)


def content_target(state: TurnState, run_id: str, out: Deltas) -> Target:
    """The message that content belongs to."""
    if state.phase != "open":
        _begin(state, run_id, out)
        state.phase = "open"
    return state.target(run_id, out)


def tool_call_target(state: TurnState, run_id: str, out: Deltas) -> Target:
    """The message that calls belong to."""
    if state.phase in ("", "over"):
        _begin(state, run_id, out)
    state.phase = "asked"
    return state.target(run_id, out)


def finish(state: TurnState, run_id: str, reason: str | None, out: Deltas, *, truncating: bool = False) -> None:
    """The message is finished; an interruption of one that was finished before stopped only its being played."""
    target = state.target(run_id, out)
    if state.answer.finished and reason == INTERRUPTED:
        target.add_item(OTHER, OTHER, reason, True)
        return
    if state.answer.finished and reason is None:
        return
    if not truncating:
        tell_unfinished(target)
    out.append(MessageFinished(run_id=run_id, finish_reason=reason, truncating=truncating))
    state.answer.finished = state.terminated = True


def end_turn(state: TurnState) -> None:
    """What comes next is another message's."""
    if state.phase:
        state.phase = "over"


def _begin(state: TurnState, run_id: str, out: Deltas) -> None:
    if state.phase or state.ended:
        begin_answer(state, run_id, out)
    state.terminated, state.answer = False, Answer()
    out.append(MessageStarted(run_id=run_id, role="ai", model=state.model or None))
