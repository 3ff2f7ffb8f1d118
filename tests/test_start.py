"""What a start imports: counted, not timed, for it is what the time goes to."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
VERSION_MODULES = 90
REPLAY_MODULES = 115
"""57 and 104 when they were set, on Python 3.11."""


def imported_by(*arguments: str, folder: Path) -> set[str]:
    """The names of the top-level packages that `rec ARGUMENTS` imports."""
    return {name.partition(".")[0] for name in modules_of(*arguments, folder=folder)}


def modules_of(*arguments: str, folder: Path) -> set[str]:
    """The names of all modules that `rec ARGUMENTS` imports."""
    command = [sys.executable, "-X", "importtime", "-m", "recorder", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines}


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
    heavy = {"alembic", "langchain_core", "langgraph", "mako", "pydantic", "rich", "starlette", "vcr", "yaml"}
    assert not imported_by("replay", "weather", "--at", "5", "-d", "x.db", folder=tmp_path) & heavy
    assert not imported_by("replay", "weather", "--at", "5", "-d", "x.db", "--json", folder=tmp_path) & heavy


def test_replay_imports_the_dialects_of_its_stream_only(tmp_path: Path) -> None:
    imported_by("capture", str(REPOSITORY / "cassettes" / "weather.sse"), "-d", "x.db", folder=tmp_path)
    modules = modules_of("replay", "weather", "--at", "5", "-d", "x.db", folder=tmp_path)
    assert "recorder.dialects.openai_chat_delta" in modules
    assert not [name for name in modules if name.startswith(("recorder.dialects.anthropic", "recorder.sources"))]
    assert not {"recorder.dialects.langchain_v2", "recorder.capture", "jsonpatch"} & modules


def test_what_a_start_imports_does_not_creep(tmp_path: Path) -> None:
    """Bounds a little above what was counted when they were set: whoever passes one should know what for."""
    assert len(modules_of("--version", folder=tmp_path)) < VERSION_MODULES
    imported_by("capture", str(REPOSITORY / "cassettes" / "weather.sse"), "-d", "x.db", folder=tmp_path)
    modules = modules_of("replay", "weather", "--at", "5", "-d", "x.db", folder=tmp_path)
    assert len([name for name in modules if name.startswith("recorder.")]) < REPLAY_MODULES
