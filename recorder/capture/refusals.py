"""Why a recording is refused, as the one line that the user reads."""

from __future__ import annotations

from pathlib import Path

from recorder.errors import BadInput


def other_bytes(path: Path, stream: str) -> BadInput:
    """The stream of that name is of another recording."""
    return BadInput(f"{path}: the stream {stream!r} holds other bytes; give this recording another name with --name")


def unreadable(path: Path, error: OSError | ValueError) -> BadInput:
    """The file cannot be opened or read. (`ValueError`: a NUL character in its name.)"""
    reason = (isinstance(error, OSError) and error.strerror) or str(error)
    return BadInput(f"{path}: {reason[:1].lower()}{reason[1:]}; nothing was stored")
