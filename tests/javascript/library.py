"""@langchain/core, asked by one Node process; installed by the tests themselves, where there is npm."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]


class NoLibrary(Exception):
    """Why @langchain/core cannot be asked here."""


class Library:
    """A Node process that answers one case at a time."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def ask(self, question: str, **given: Any) -> Any:
        """The answer of `oracle.mjs` to one of its questions; `given` is what that one takes, as JSON."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"ask": question, **given}).encode() + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise AssertionError(f"Node gave up on {question} {given!r}")
        return json.loads(line)


def pinned() -> dict[str, str]:
    """The packages that are installed, with their versions."""
    packages: dict[str, str] = json.loads((HERE / "package.json").read_bytes())["dependencies"]
    return packages


def install() -> Path:
    """The folder in which the packages are installed, which is done once for every change of them.

    Raises `NoLibrary` where there is no Node, no npm, or npm could not install.
    """
    if shutil.which("node") is None or (npm := shutil.which("npm")) is None:
        raise NoLibrary("node and npm are needed for @langchain/core")
    package = (HERE / "package.json").read_bytes()
    shelf = REPOSITORY / ".venv" / "javascript"
    folder = shelf / sha256(package).hexdigest()[:16]
    if folder.is_dir():
        return folder
    shelf.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(dir=shelf, prefix="installing-"))
    try:
        (fresh / "package.json").write_bytes(package)
        command = [
            npm,
            "install",
            "--no-package-lock",
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
            "--loglevel=error",
        ]
        done = subprocess.run(command, cwd=fresh, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
        if done.returncode:
            raise NoLibrary(f"npm could not install @langchain/core: {done.stderr.strip()[-300:]}")
        try:
            fresh.rename(folder)
        except OSError:
            # Another process of the same run was faster.
            if not folder.is_dir():
                raise
        return folder
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


@contextmanager
def library(folder: Path) -> Iterator[Library]:
    """A process that answers for @langchain/core, as it is installed in the folder."""
    command = ["node", str(HERE / "oracle.mjs"), str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_environment()) as process:
        try:
            yield Library(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(timeout=30)


def _environment() -> dict[str, str]:
    """Nothing that makes the library report to a service."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("LANGCHAIN_", "LANGSMITH_"))}
