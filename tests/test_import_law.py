"""The floors of the house: import-linter holds them, and these tests hold import-linter."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]

UPWARD = "A floor imports only floors below it, and rooms on one floor never meet"
PURE = "What reads and folds knows no framework, no database and no terminal"
TYPER = "Only the command line knows Typer"
DATABASE = "Only the store knows a database"

VIOLATIONS = [
    pytest.param("errors.py", "recorder.deltas", UPWARD, id="upward"),
    pytest.param("deltas.py", "recorder.events", UPWARD, id="deltas-to-events"),
    pytest.param("events/clock.py", "recorder.deltas", UPWARD, id="events-to-deltas"),
    pytest.param("dialects/base.py", "recorder.projections", UPWARD, id="dialect-to-projection"),
    pytest.param("sources/__init__.py", "recorder.store", UPWARD, id="source-to-store"),
    pytest.param("projections/__init__.py", "recorder.sources", UPWARD, id="projection-to-source"),
    pytest.param("store/__init__.py", "recorder.ledger", UPWARD, id="store-to-ledger"),
    pytest.param("errors.py", "recorder", UPWARD, id="through-the-package"),
    pytest.param("attic.py", "recorder.errors", UPWARD, id="room-without-a-floor"),
    pytest.param("projections/__init__.py", "langchain_core", PURE, id="projection-knows-langchain"),
    pytest.param("sources/__init__.py", "sqlalchemy", PURE, id="source-knows-sql"),
    pytest.param("ledger/__init__.py", "typer", TYPER, id="ledger-knows-typer"),
    pytest.param("projections/__init__.py", "psycopg", PURE, id="projection-knows-postgres"),
    pytest.param("ledger/__init__.py", "psycopg", DATABASE, id="ledger-knows-postgres"),
    pytest.param("capture/__init__.py", "stamina", DATABASE, id="capture-knows-stamina"),
]


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A copy of the package with its contracts; rooms that are still to be built are empty packages."""
    shutil.copy(REPOSITORY / "pyproject.toml", tmp_path)
    package = tmp_path / "recorder"
    shutil.copytree(REPOSITORY / "recorder", package, ignore=shutil.ignore_patterns("__pycache__"))
    for room in ("audit", "capture", "cli", "dialects", "ledger", "projections", "replay", "sources", "store"):
        (package / room).mkdir(exist_ok=True)
        (package / room / "__init__.py").touch()
    return tmp_path


def lint(house: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache"]
    # Wide and plain, so that a contract's name is found in one line.
    environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "PYTHONPATH": str(house)}
    return subprocess.run(command, cwd=house, env=environment, capture_output=True, text=True, timeout=60)


def test_the_house_as_it_stands_keeps_the_law(house: Path) -> None:
    result = lint(house)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(("module", "imported", "contract"), VIOLATIONS)
def test_a_planted_violation_is_refused(house: Path, module: str, imported: str, contract: str) -> None:
    with (house / "recorder" / module).open("a") as file:
        file.write(f"\nimport {imported}\n")
    result = lint(house)
    assert result.returncode == 1, result.stdout + result.stderr
    assert f"{contract} BROKEN" in result.stdout
