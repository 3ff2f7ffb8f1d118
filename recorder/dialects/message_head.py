"""The head of a message whose every chunk repeats it, or brings one more piece: its start, its id, its model."""

from __future__ import annotations

from recorder.deltas import MessageStarted
from recorder.dialects.frames import Deltas
from recorder.dialects.values import cleaned

_BEGUN, _ID, _MODEL = 1, 2, 4
WHOLE = _BEGUN | _ID | _MODEL
"""All of a head was said."""


def tell_head(
    told: int, run_id: str, choice: int, out: Deltas, *, message_id: object, model: object, role: str = "ai"
) -> int:
    """Says the message's start, and again where a later chunk knows more; some servers send an empty id first.

    `told` is what was said of the head before, 0 of a new message; gives what is said of it now, as bits.
    """
    if told == WHOLE:
        return told
    new_id = None if told & _ID else cleaned(message_id) or None
    new_model = None if told & _MODEL else cleaned(model) or None
    if told and not (new_id or new_model):
        return told
    out.append(
        MessageStarted(run_id=run_id, choice=choice, message_id=new_id, model=new_model, role=None if told else role)
    )
    return told | _BEGUN | (_ID if new_id else 0) | (_MODEL if new_model else 0)
