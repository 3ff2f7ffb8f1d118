"""SQLite databases that have the schema already: to make it anew takes longer than what most tests then do with it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from recorder.store import open_store


def made(path: Path) -> Path:
    """The path, with a database in it such as a program leaves that made one and stored nothing."""
    path.write_bytes(_empty())
    return path


@cache
def _empty() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "empty.db"
        with open_store(path):
            pass
        return path.read_bytes()
