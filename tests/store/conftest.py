"""Stores on one kind of database; `store` and `database`, of each kind, are everybody's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from recorder.store import Store, open_store
from tests import postgres_server


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a SQLite database may be made."""
    return tmp_path / "runs.db"


@pytest.fixture
def sqlite_store(path: Path) -> Iterator[Store]:
    with open_store(path) as opened:
        yield opened


@pytest.fixture
def postgres_store(url: str) -> Iterator[Store]:
    with open_store(url) as opened:
        yield opened


@pytest.fixture(scope="module")
def own_server() -> Iterator[Path]:
    """The folder of a running server that a test may stop and set up as it likes."""
    run = postgres_server.folder_of_worker()
    folder = run.with_name(f"{run.name}-{uuid4().hex[:6]}")
    postgres_server.start(folder)
    yield folder
    postgres_server.remove(folder)
