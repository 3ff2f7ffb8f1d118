"""What a capture did, and how it tells while it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

Status = Literal["stored", "extended", "known"]
Progress = Callable[[int, int], None]
"""Told after every batch: events stored so far, bytes read so far."""


class Captured(Struct, frozen=True, kw_only=True):
    """What a capture did."""

    stream: str
    status: Status
    """`known`: the same bytes were captured under this name before, nothing was stored."""
    events: int
    """How many events were stored now."""
    last_seq: int
    """0 where nothing came: then there is no stream."""
    note: str | None = None
    """What the user should know: the source could be read in part only."""
    passed_on: bool = True
    """False where a tee could not be written any more: all was stored all the same."""
