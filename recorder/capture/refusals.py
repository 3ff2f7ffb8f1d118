"""Why a recording is refused, as the one line that the user reads."""

from __future__ import annotations

import re
from pathlib import Path

from recorder.errors import BadInput, NotAStream

_PYTHON = re.compile(rb"\s*[\[({]\s*[\[({]*\s*'")


def not_a_stream(error: NotAStream, head: bytes) -> NotAStream:
    """Nothing can be recognised in what begins with `head`."""
    advice = "rec capture --help says what can be"
    if _PYTHON.match(head):
        advice = "Python dicts are no JSON: write each event by json.dumps"
    return NotAStream(f"{error}; nothing was stored ({advice})")


def other_bytes(path: Path, stream: str) -> BadInput:
    """The stream of that name is of another recording."""
    return BadInput(f"{path}: the stream {stream!r} holds other bytes; give this recording another name with --name")


def erased_already(path: Path, stream: str) -> BadInput:
    """Of the stream of that name something was erased: nothing is left to compare the recording with."""
    return BadInput(
        f"{path}: of the stream {stream!r} something was erased, so that it cannot be compared with this recording;"
        " capture it under another name with --name, or give the stream's up with rec erase --all"
    )


def no_model_traffic(path: Path, exchanges: int) -> BadInput:
    """None of the document's exchanges is one with a model."""
    count = "its one exchange is none" if exchanges == 1 else f"none of its {exchanges} exchanges is one"
    return BadInput(f"{path}: {count} with a model that rec knows; nothing was stored (--all takes them as they are)")


def taken_meanwhile(stream: str) -> BadInput:
    """Another program made a stream of that name between the look for it and the first append."""
    return BadInput(f"another capture makes the stream {stream!r} as well; give this one another name with --name")


def unreadable(path: Path, error: OSError | ValueError) -> BadInput:
    """The file cannot be opened or read. (`ValueError`: a NUL character in its name.)"""
    reason = (isinstance(error, OSError) and error.strerror) or str(error)
    return BadInput(f"{path}: {reason[:1].lower()}{reason[1:]}; nothing was stored")
