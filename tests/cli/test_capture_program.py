"""`rec capture -- PROGRAM` and `rec capture --spool`: what they take, refuse and say."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from recorder.capture.live.launcher import Outcome, Recorded
from recorder.capture.live.sink import Sink
from recorder.cli.commands.capture_program import summary
from tests.capture.live.words import Word
from tests.command import CASSETTES, SECONDS, Rec, command, environment, here
from tests.command import rec as run

WEATHER = CASSETTES / "weather.sse"


def spooled(folder: Path, stream: str, words: int = 3) -> Path:
    """A spool as a program leaves it that had no database."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{stream}.spool"
    sink = Sink(folder / "none" / "runs.db", stream, spool=path)
    for number in range(words):
        sink.put(Word(str(number)))
    sink.close()
    return path


def streams(rec: Rec) -> dict[str, int]:
    return {row["stream"]: row["events"] for row in rec("ls", "--json").fine().json}


# A program


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--"], "-- comes before a program: rec capture -- python agent.py"),
        ([str(WEATHER), "--", "true"], f"-- goes without recordings: leave {WEATHER} out"),
        (["--tee", "--", "true"], "-- goes without --tee: leave that out"),
        (["--all", "--", "true"], "-- goes without --all: leave that out"),
        (["--dialect", "unknown", "--", "true"], "-- goes without --dialect: leave that out"),
        (["--spool", ".", "--", "true"], "-- goes without --spool: leave that out"),
        (["--spool", ".", "--name", "x"], "--spool goes without --name: leave that out"),
        (["--spool", ".", str(WEATHER)], f"--spool goes without recordings: leave {WEATHER} out"),
        (["--name", "latest", "--", "true"], "'latest' cannot be a stream's name"),
        (["--name", " ", "--", "true"], "a stream's name cannot be empty"),
        (["--", "no-such-program"], "no-such-program: no such program"),
        (["--", "none.py"], "none.py: no such program; for a script write: rec capture -- python none.py"),
        (["--", str(CASSETTES)], f"{CASSETTES} cannot be started: permission denied"),
        (["--", ""], "-- comes before a program: rec capture -- python agent.py"),
        (["--", "a\0b"], "cannot be started: embedded null byte"),
        ([], "name recordings, or - for standard input, or -- and a program"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, arguments: list[str], told: str) -> None:
    database = tmp_path / "runs.db"
    assert told in here("capture", "-d", database, *arguments).refusal
    assert not database.exists() or streams(Rec(database)) == {}


def test_a_file_behind_the_mark_is_a_program_and_its_options_are_its_own(tmp_path: Path) -> None:
    script = tmp_path / "weather.sse"
    script.write_text('#!/bin/sh\necho "$@"\n')
    script.chmod(0o755)
    done = run("capture", "-d", "x.db", "--", script, "--name", "x", "--debug", "--", "-h", folder=tmp_path)
    assert (done.code, done.out) == (0, "--name x --debug -- -h\n")
    name, _, said = done.err.partition(": ")
    assert name.startswith("weather-")
    assert said == "nothing was recorded: no Python that takes a recorder in was run\n"


def test_standard_streams_and_descriptors_are_the_programs_own(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.set_inheritable(write, True)
    code = f"import os, sys; os.write({write}, sys.stdin.buffer.read()); sys.stderr.write('err'); print('out')"
    arguments = ("capture", "-d", str(tmp_path / "x.db"), "--", sys.executable, "-c", code)
    done = subprocess.run(
        command(*arguments), input=b"in", capture_output=True, env=environment(), pass_fds=[write], timeout=SECONDS
    )
    os.close(write)
    assert os.read(read, 100) == b"in"
    os.close(read)
    assert (done.returncode, done.stdout) == (0, b"out\n")
    assert done.stderr.startswith(b"err")


@pytest.mark.parametrize(
    ("recorded", "stream", "said"),
    [
        ([], "s", "s: nothing was recorded: WHY"),
        ([Recorded(process=1, stream="s", events=0)], "s", "s: nothing was recorded: WHY"),
        ([Recorded(process=1, stream="s", events=1)], "s", "s: recorded 1 event"),
        ([Recorded(process=2, stream="s/2", events=5)], "s", "s/2: recorded 5 events"),
        (
            [Recorded(process=1, stream="s", events=2), Recorded(process=2, stream="s/2", events=5)],
            "s",
            "s: recorded 2 events; 5 events of its processes in s/2",
        ),
        (
            [Recorded(process=1, stream="s", events=2, lost=3, failures=1, reason="the disk is full")],
            "s",
            "s: recorded 2 events; 3 things that happened could not be kept (the disk is full); "
            "the recorder failed 1 times in process 1 (the disk is full)",
        ),
        (
            [Recorded(process=1, stream="s", events=0, spools=["/a.spool"], reason="it is away")],
            "s",
            "events wait in /a.spool: rec capture --spool takes them in (it is away)",
        ),
        (
            [Recorded(process=7, stream="s", events=1, runs=True)],
            "s",
            "s: recorded 1 event; process 7 runs on, and goes on recording into s",
        ),
        (
            [Recorded(process=1, stream="s-1", events=1)],
            "s-1",
            "s-1: recorded 1 event; there was a stream 's' already",
        ),
    ],
)
def test_the_line_at_the_end(recorded: list[Recorded], stream: str, said: str) -> None:
    assert summary(Outcome(code=0, stream=stream, wanted="s", recorded=recorded, why_nothing="WHY")) == said


# Spools


def test_a_spool_is_taken_in_and_gone(rec: Rec, tmp_path: Path) -> None:
    path = spooled(tmp_path / "a", "s")
    kept = path.read_bytes()
    assert rec("capture", "--spool", path).fine().err == "s: stored 3 events\n"
    assert not path.exists()
    path.write_bytes(kept)
    assert rec("capture", "--spool", path).fine().err == "s: stored 0 events\n"
    assert streams(rec) == {"s": 3}


def test_a_folder_of_spools_and_one_that_is_damaged(rec: Rec, tmp_path: Path) -> None:
    for number in range(3):
        spooled(tmp_path / "a", f"s{number}", number + 1)
    (tmp_path / "a" / "s1.spool").write_bytes(b"{}\n")
    (tmp_path / "a" / "other.txt").write_bytes(b"")
    done = rec("capture", "--spool", tmp_path / "a")
    assert done.code == 2
    assert done.err.splitlines() == [
        "s0: stored 1 event",
        f"rec: {tmp_path / 'a' / 's1.spool'} is no spool",
        "s2: stored 3 events",
    ]
    assert streams(rec) == {"s0": 1, "s2": 3}
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["other.txt", "s1.spool"]


def test_a_spool_that_a_program_still_writes_to_is_left(rec: Rec, tmp_path: Path) -> None:
    path = spooled(tmp_path / "a", "s")
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        told = rec("capture", "--spool", path).refusal
    assert told == f"{path}: a program that runs is writing to it: take it in when that has ended"
    assert rec("capture", "--spool", path).fine().err == "s: stored 3 events\n"


def test_where_no_spool_is(rec: Rec, tmp_path: Path) -> None:
    assert rec("capture", "--spool", tmp_path).fine().err == f"{tmp_path}: no spool waits there; nothing was stored\n"
    missing = tmp_path / "none"
    assert rec("capture", "--spool", missing).refusal == f"{missing}: no such file or directory; nothing was stored"
    assert rec("capture", "--spool", WEATHER).refusal == f"{WEATHER} is no spool"
