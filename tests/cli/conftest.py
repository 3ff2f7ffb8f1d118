"""The command on a fresh database."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import CASSETTES, Rec


@pytest.fixture
def rec(tmp_path: Path) -> Rec:
    """The command inside this process, on an empty database that no command has made yet."""
    return Rec(tmp_path / "runs.db")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Rec:
    """The command on a database that holds the project's own recordings; only for tests that do not write."""
    rec = Rec(tmp_path_factory.mktemp("recorded") / "runs.db")
    names = ("weather.sse", "thinking.sse", "truncated.sse", "agent.jsonl", "weather-agent.yaml")
    rec("capture", *(CASSETTES / name for name in names)).fine()
    return rec
