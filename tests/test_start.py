"""What a start imports: counted, not timed, for it is what the time goes to."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]


def imported_by(*arguments: str, folder: Path) -> set[str]:
    """The names of the top-level packages that `rec ARGUMENTS` imports."""
    command = [sys.executable, "-X", "importtime", "-m", "recorder", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}


def test_version_imports_nothing_but_the_version(tmp_path: Path) -> None:
    idle = [sys.executable, "-X", "importtime", "-c", "import runpy, __future__, typing"]
    done = subprocess.run(idle, capture_output=True, text=True, check=True, timeout=60)
    python = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert imported_by("--version", folder=tmp_path) - python == {"recorder"}


def test_capture_of_frames_imports_no_framework(tmp_path: Path) -> None:
    arguments = ("capture", str(REPOSITORY / "cassettes" / "weather.sse"), "-d", "x.db")
    heavy = {"langchain_core", "langgraph", "starlette", "uvicorn", "vcr", "yaml"}
    assert not imported_by(*arguments, folder=tmp_path) & heavy


def test_replay_imports_only_what_it_needs(tmp_path: Path) -> None:
    imported_by("capture", str(REPOSITORY / "cassettes" / "weather.sse"), "-d", "x.db", folder=tmp_path)
    heavy = {"alembic", "langchain_core", "langgraph", "mako", "rich", "starlette", "uvicorn", "vcr", "yaml"}
    assert not imported_by("replay", "weather", "--at", "5", "-d", "x.db", folder=tmp_path) & heavy
    assert not imported_by("replay", "weather", "--at", "5", "-d", "x.db", "--json", folder=tmp_path) & heavy
