"""A ledger on a fresh file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recorder.ledger import Ledger
from tests.command import Rec
from tests.databases import made


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(made(tmp_path / "ledger.db")) as opened:
        yield opened


@pytest.fixture
def rec(tmp_path: Path) -> Rec:
    """The command inside this process, on an empty database that no command has made yet."""
    return Rec(tmp_path / "runs.db")
