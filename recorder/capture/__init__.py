"""Recordings into the log: files, cassettes, what comes through a pipe, what a program does.

The package can be called: `with recorder.capture("name"):` records what happens in the block. What it exports is
imported when it is first asked for, for a program that is recorded needs none of it.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recorder.capture.captured import Captured
    from recorder.capture.exports import capture_export_file, is_export_file
    from recorder.capture.files import capture_file
    from recorder.capture.interrupts import Interrupts
    from recorder.capture.live.session import Session
    from recorder.capture.names import checked, name_of_file, name_of_program
    from recorder.capture.pipe import capture_pipe

_PLACES = {
    "Captured": "captured",
    "Interrupts": "interrupts",
    "capture_export_file": "exports",
    "capture_file": "files",
    "capture_pipe": "pipe",
    "checked": "names",
    "is_export_file": "exports",
    "name_of_file": "names",
    "name_of_program": "names",
}
"""In which module each is."""
__all__ = [
    "Captured",
    "Interrupts",
    "capture_export_file",
    "capture_file",
    "capture_pipe",
    "checked",
    "is_export_file",
    "name_of_file",
    "name_of_program",
]


def __getattr__(name: str) -> object:
    if name in _PLACES:
        return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _Capture(ModuleType):
    def __call__(
        self, name: str | None = None, *, database: str | Path | None = None, spool: str | Path | None = None
    ) -> Session:
        """What this process does, recorded into a new stream: use it as `with` or `async with`.

        `name`: of the stream, None: made of the program's name and the time; where there is a stream of that name it
        gets another, and that is said. `database`: a path or URL, None for the commands' own. `spool`: the folder for
        what the database does not take, None for its own. Raises `BadInput` for a name that no stream can have.
        """
        from recorder.capture.live.session import Session

        return Session(name, database=database, spool=spool)


sys.modules[__name__].__class__ = _Capture
