"""The line on a terminal that tells how far a capture is."""

from __future__ import annotations

import sys
import time

PAUSE = 0.1
"""Seconds between two looks of the line; a capture that takes less shows none."""


class Progress:
    """Rewrites one line of stderr; called with the events stored and the bytes read so far."""

    def __init__(self, file: str) -> None:
        self._file = "standard input" if file == "-" else file
        self._shown_at = time.monotonic()
        self._width = 0

    def __call__(self, events: int, size: int) -> None:
        if time.monotonic() - self._shown_at < PAUSE:
            return
        self._shown_at = time.monotonic()
        line = f"{self._file}: {events:,} events, {size / 1e6:.1f} MB"
        print(f"\r{line.ljust(self._width)}", end="", file=sys.stderr, flush=True)
        self._width = len(line)

    def clear(self) -> None:
        if self._width:
            print(f"\r{' ' * self._width}\r", end="", file=sys.stderr, flush=True)
            self._width = 0
