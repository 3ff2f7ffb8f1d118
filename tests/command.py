"""The command `rec`, as a process of its own and inside this one."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

import pytest
from msgspec import Struct

from recorder.cli.app import main

REPOSITORY = Path(__file__).parents[1]
CASSETTES = REPOSITORY / "cassettes"
SECONDS = 120


class Done(Struct, frozen=True):
    """What a command gave."""

    code: int
    stdout: bytes
    stderr: bytes

    @property
    def out(self) -> str:
        return self.stdout.decode()

    @property
    def err(self) -> str:
        return self.stderr.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.stdout)

    def fine(self) -> Done:
        """Itself, if its exit code is 0."""
        assert self.code == 0, self.err
        return self

    @property
    def refusal(self) -> str:
        """The one line of an error: exit code 2, nothing on stdout, no traceback."""
        assert self.code == 2, (self.code, self.out, self.err)
        assert self.stdout == b""
        assert self.err.count("\n") == 1, self.err
        assert self.err.startswith("rec: "), self.err
        assert "Traceback" not in self.err
        assert "--debug" not in self.err, "an error that nobody expected"
        return self.err.removeprefix("rec: ").removesuffix("\n")


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of this process, with this checkout in front of what is installed."""
    return {**os.environ, "PYTHONPATH": str(REPOSITORY), **(extra or {})}


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "recorder", *map(str, arguments)]


def rec(
    *arguments: str | Path,
    given: bytes = b"",
    folder: Path | None = None,
    env: Mapping[str, str] | None = None,
    under: Sequence[str] = (),
) -> Done:
    """Runs the command as a process of its own; `given` is its standard input, `under` a command that runs it."""
    done = subprocess.run(
        [*under, *command(*arguments)],
        input=given,
        capture_output=True,
        cwd=folder,
        env=environment(env),
        timeout=SECONDS,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def on_terminal(*arguments: str | Path, stream: Literal["stdout", "stderr"], columns: int = 100) -> str:
    """What the command writes to `stream` where that is a terminal; it must be fine. Skips where there are none."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: theirs}
    process = subprocess.Popen(
        command(*arguments), stdin=subprocess.DEVNULL, env=environment({"COLUMNS": str(columns)}), **streams
    )
    os.close(theirs)
    written = b""
    # On Linux the end of a terminal is an error.
    with suppress(OSError):
        while data := os.read(ours, 65536):
            written += data
    os.close(ours)
    process.communicate(timeout=SECONDS)
    assert process.returncode == 0
    return written.decode().replace("\r\n", "\n")


def here(*arguments: str | Path, given: bytes = b"") -> Done:
    """Runs the command inside this process."""
    with _standard_streams(given) as (out, err):
        code = main([*map(str, arguments)])
        return Done(code, _written(out), _written(err))


class Rec:
    """The command on one database, inside this process: what a process of its own would only repeat."""

    def __init__(self, database: Path) -> None:
        self.database = database

    def __call__(self, *arguments: str | Path, given: bytes = b"") -> Done:
        return here(*arguments, "-d", str(self.database), given=given)

    def rows(self, query: str) -> list[list[Any]]:
        """The rows of a query."""
        return [list(row.values()) for row in self("sql", "--json", query).fine().json]

    def file(self, name: str, content: bytes) -> Path:
        """A file beside the database."""
        path = self.database.parent / name
        path.write_bytes(content)
        return path


@contextmanager
def _standard_streams(given: bytes) -> Iterator[tuple[io.TextIOWrapper, io.TextIOWrapper]]:
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given), "utf-8"))
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        yield out, err


def _written(stream: io.TextIOWrapper) -> bytes:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue()
