"""A program that is killed while it streams an argument: what is older than the flush interval is in the log."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import recorder
from recorder.capture.live.sink import FLUSH_SECONDS
from tests.capture.live.test_sink import whole
from tests.capture.live.wire import HEADS, SECONDS, Answer, body_of, serving
from tests.capture.made import chunk, sse
from tests.command import environment
from tests.databases import made

pytestmark = pytest.mark.skipif(os.name == "nt", reason="SIGKILL is of POSIX")

KILLS = int(os.environ.get("REC_KILLS", "8"))
"""At how many moments; the environment's `REC_KILLS` asks for more."""
PIECE_SECONDS = 0.004
"""Between two pieces of the argument."""
LONGEST_SECONDS = 2.2
"""The latest moment, from the first event in the database."""
APPEND_SECONDS = 1.0
"""What the append after the interval may take where other tests have the processors; a few milliseconds else."""

PROGRAM = """
import sys, time
import httpx2, recorder
seen = 0
with recorder.capture("s", database=sys.argv[1]) as session:
    with httpx2.stream("POST", sys.argv[2], json={"model": "m", "messages": []}, timeout=None) as answer:
        for part in answer.iter_raw():
            if seen == 0: session.sink.flush()
            seen += len(part)
            print(seen, time.monotonic(), flush=True)
"""
"""Prints how many bytes it has seen, and when, as often as there are more."""


@pytest.mark.parametrize("moment", range(KILLS))
def test_all_that_is_older_than_the_interval_is_there_and_the_call_is_open(tmp_path: Path, moment: int) -> None:
    database = made(tmp_path / "runs.db")
    arguments = [f"word{number} " for number in range(4 * int(LONGEST_SECONDS / PIECE_SECONDS))]
    beginning = '{"text": "'
    pieces = [sse(chunk(id="c1", name="say", args=beginning)), *(sse(chunk(args=word)) for word in arguments)]
    with serving() as server:
        server.answers["/v1/chat/completions"] = Answer(pieces, gate=lambda number: time.sleep(PIECE_SECONDS))
        seconds = random.Random(moment).uniform(0, LONGEST_SECONDS)
        killed_at, seen = _killed(database, f"{server.url}/v1/chat/completions", seconds)
    with recorder.open(database, readonly=True) as log:
        events = [event for event in log.events("s") if event.kind not in HEADS]
        (call,) = log.state("s").calls
    stored = body_of(events)
    assert stored == b"".join(pieces[: len(events)])
    old = killed_at - FLUSH_SECONDS - APPEND_SECONDS
    assert len(stored) >= max((size for size, at in seen if at < old), default=len(pieces[0]))
    assert (call["id"], call["name"], call["state"]) == ("c1", "say", "open")
    assert call["raw"] == beginning + "".join(arguments[: len(events) - 1])
    whole(database)


def _killed(database: Path, url: str, seconds: float) -> tuple[float, list[tuple[int, float]]]:
    """Kills the program so long after its first event is stored. Gives when that was, and what it has printed."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, database, url], stdout=subprocess.PIPE, env=environment(), text=True
    )
    assert process.stdout is not None
    first = process.stdout.readline()
    time.sleep(seconds)
    at = time.monotonic()
    process.kill()
    rest = process.stdout.read()
    process.stdout.close()
    assert process.wait(SECONDS) == -signal.SIGKILL
    # The last line may be cut off.
    lines = [line for line in (first + rest).splitlines(keepends=True) if line.endswith("\n")]
    return at, [(int(size), float(when)) for size, when in (line.split() for line in lines)]
