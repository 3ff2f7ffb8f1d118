"""What is shipped: the wheel, and the wheel in an environment that holds nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import recorder

REPOSITORY = Path(__file__).parents[1]
SHELL = dict(os.environ)
"""The environment before a fixture moves the home away: pip keeps its settings and its cache there."""


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, REPOSITORY]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return folder


def wheel_of(dist: Path) -> Path:
    (wheel,) = dist.glob("agent_stream_recorder-*-py3-none-any.whl")
    return wheel


@pytest.mark.slow
def test_wheel_holds_the_package_with_its_migrations_and_nothing_else(dist: Path) -> None:
    wheel = wheel_of(dist)
    names = set(zipfile.ZipFile(wheel).namelist())
    migrations = [path.relative_to(REPOSITORY).as_posix() for path in REPOSITORY.glob("migrations/versions/*.py")]
    assert migrations
    for name in ("migrations/env.py", "migrations/script.py.mako", *migrations):
        assert f"recorder/{name}" in names
    assert "recorder/py.typed" in names
    assert "recorder/capture/live/startup/sitecustomize.py" in names
    metadata = f"agent_stream_recorder-{recorder.__version__}.dist-info"
    assert {name.split("/")[0] for name in names} == {"recorder", metadata}
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]


@pytest.mark.slow
def test_sdist_holds_what_the_tests_need_and_no_leftovers(dist: Path) -> None:
    (sdist,) = dist.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for name in (
        "pyproject.toml",
        "LICENSE",
        "README.md",
        "cassettes/weather.sse",
        "tests/conftest.py",
        "scripts/test",
    ):
        assert name in names
    assert not [name for name in names if "__pycache__" in name or name.startswith((".venv", ".git/"))]


@pytest.mark.slow
def test_wheel_alone_in_an_empty_environment_records_and_replays(dist: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True, timeout=120)
    binaries = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin")
    install = [binaries / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel_of(dist)]
    environment = {name: value for name, value in SHELL.items() if name not in {"PYTHONPATH", "REC_DATABASE"}}
    subprocess.run(install, check=True, env=environment, timeout=600)

    def rec(*arguments: object) -> str:
        done = subprocess.run(
            [binaries / "rec", *map(str, arguments)],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert rec("--version").split() == ["rec", recorder.__version__]
    rec("capture", REPOSITORY / "cassettes" / "weather.sse", "-d", "x.db")
    state = json.loads(rec("replay", "weather", "--at", "5", "-d", "x.db", "--json"))
    (message,) = state["messages"]
    assert state["at"] == 5
    assert message["calls"][0]["raw"] == '{"ci'
    assert message["calls"][0]["state"] == "open"
    # vcrpy, which comes along, brings no HTTP library that the program imports here: the recorder is only waiting.
    waiting = "import sys; print([type(finder).__name__ for finder in sys.meta_path][0])"
    assert rec("capture", "-d", "x.db", "--", binaries / "python", "-c", waiting) == "_Waiting\n"
