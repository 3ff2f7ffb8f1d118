"""The scripts: runnable as they are, from any folder, with nobody at the keyboard."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
BASH = [".ci/run", "scripts/check", "scripts/demo", "scripts/environment", "scripts/test"]

needs_venv = pytest.mark.skipif(
    not (REPOSITORY / ".venv" / "installed-test").exists(), reason="no .venv: scripts/environment test makes it"
)


def run(script: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    # HOME as the tests have it: what a script leaves must be in the repository or a temporary folder.
    return subprocess.run(
        [REPOSITORY / script, *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.parametrize("script", [*BASH, "scripts/make_recordings"])
def test_script_is_executable(script: str) -> None:
    assert os.access(REPOSITORY / script, os.X_OK)


@pytest.mark.parametrize("script", BASH)
def test_script_stops_at_the_first_error_and_finds_the_repository(script: str) -> None:
    lines = (REPOSITORY / script).read_text().splitlines()
    assert lines[0] == "#!/usr/bin/env bash"
    code = [line for line in lines if line and not line.startswith("#")]
    assert code[:2] == ["set -euo pipefail", 'cd "$(dirname "${BASH_SOURCE[0]}")/.."']
    subprocess.run(["bash", "-n", REPOSITORY / script], check=True, timeout=30)


@needs_venv
def test_environment_that_is_up_to_date_is_left_alone(tmp_path: Path) -> None:
    done = run("scripts/environment", "test", folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@needs_venv
def test_test_passes_its_arguments_to_pytest_from_another_folder(tmp_path: Path) -> None:
    done = run("scripts/test", "--collect-only", "-q", "tests/test_scripts.py", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "tests/test_scripts.py::test_script_is_executable" in done.stdout


@needs_venv
def test_demo_shows_the_arguments_half_written_and_whole(tmp_path: Path) -> None:
    done = run("scripts/demo", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "$ rec replay weather --at 8" in done.stdout
    half, whole = done.stdout.split("$ rec replay weather --at end")
    assert "hourly" not in half
    assert "hourly" in whole
    assert list(tmp_path.iterdir()) == []
