"""A short run of `scripts/crash_test`: writers are killed, the server is stopped, and nothing acknowledged is lost."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "crash_test"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("store", "arguments", "deaths"),
    [
        ("sqlite", ["--rounds", "16"], 16),
        pytest.param("postgres", ["--rounds", "8", "--stops", "2"], 10, marks=pytest.mark.postgres),
    ],
)
def test_nothing_acknowledged_is_lost_where_writers_are_killed(store: str, arguments: list[str], deaths: int) -> None:
    command = [sys.executable, SCRIPT, "--store", store, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{store}: {deaths} deaths" in done.stdout
    acknowledged = re.search(r"(\d+) events acknowledged, 0 lost", done.stdout)
    assert acknowledged is not None
    assert int(acknowledged[1]) > 10 * deaths
