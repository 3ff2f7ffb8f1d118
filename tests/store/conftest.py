"""Stores on fresh files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recorder.store import Store, open_store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with open_store(path) as opened:
        yield opened
