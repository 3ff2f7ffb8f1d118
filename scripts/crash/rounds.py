"""Rounds of killing, and the checks after each."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct, field

from crash import workload
from crash.writer import POINTS
from recorder import ledger
from recorder.ledger.verify import verify

_PATH = Path(__file__).parents[1]
_LIVES = 20
"""Writers that die on one stream, before the next stream begins."""
_REFUSED = 3
"""The exit code of a writer whose append was refused."""
_LONGEST = 60.0
"""Seconds after which a writer that should have died is called stuck."""


class Tally(Struct):
    """What was done and found so far."""

    kills: Counter[str] = field(default_factory=Counter)
    acknowledged: int = 0
    """Events of which a writer had the receipt when it died."""
    unknown: int = 0
    """Events that were committed, and whose writer died before it knew."""
    lost: int = 0
    wrong: list[str] = field(default_factory=list)


def run_writer(
    database: str,
    stream: str,
    point: str = "-",
    number: int = 0,
    *,
    after: float | None = None,
    strike: Callable[[], None] | None = None,
) -> tuple[int, int]:
    """One life of a writer: the last acknowledged event (0: none), and its exit code.

    `after` so many seconds from its first append on it is killed, or `strike` is called.
    """
    command = [sys.executable, "-m", "crash.writer", database, stream, point, str(number)]
    process = subprocess.Popen(command, cwd=_PATH, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    acknowledged, timers = 0, [threading.Timer(_LONGEST, process.kill)]
    if after is not None:
        timers.append(threading.Timer(after, strike or process.kill))
    timers[0].start()
    for line in process.stdout:
        if line == b"ready\n":
            for timer in timers[1:]:
                timer.start()
        elif line.startswith(b"acknowledged ") and line.endswith(b"\n"):
            acknowledged = int(line.split()[1])
    code = process.wait()
    process.stdout.close()
    timers[0].cancel()
    for timer in timers[1:]:
        timer.join()
    return acknowledged, code


def check(database: str, stream: str, acknowledged: int, tally: Tally, *, projections: bool) -> int:
    """What must hold after a death: all that was acknowledged is there, whole batches only, and it verifies.

    Gives the stream's last event.
    """
    with ledger.open(database) as log:
        head = log.find(stream)
        last = head.last_seq if head is not None else 0
        tally.lost += max(acknowledged - last, 0)
        if last not in workload.boundaries(last):
            tally.wrong.append(f"{stream}: half a batch is there: {last} events")
        if head is not None:
            verdict = verify(log.store, head, projections=projections)
            if not verdict.whole:
                tally.wrong.append(f"{stream}: event {verdict.seq}: {verdict.problem}")
            other = next((event.seq for event in log.events(stream) if event.body != workload.body(event.seq)), None)
            if other is not None:
                tally.wrong.append(f"{stream}: event {other} holds something else")
        return last


def kill_rounds(database: str, rounds: int, seed: int, tally: Tally) -> None:
    """Kills at named points and at random moments, in turn; the next writer goes on where the last one died."""
    chance = random.Random(seed)
    last = 0
    for number in range(rounds):
        stream = f"crash-{number // _LIVES}"
        if number % _LIVES == 0:
            last = 0
        if number % 2:
            point = POINTS[number // 2 % len(POINTS)]
            acknowledged, code = run_writer(database, stream, point, chance.randint(1, 12))
        else:
            point = "random"
            acknowledged, code = run_writer(database, stream, after=chance.uniform(0, 0.15))
        if code != -signal.SIGKILL:
            tally.wrong.append(f"{stream}: the writer ended by itself, with {code}")
        tally.kills[point] += 1
        tally.acknowledged += max(acknowledged - last, 0)
        last = check(database, stream, acknowledged, tally, projections=number % 10 == 9)
        tally.unknown += max(last - acknowledged, 0) if acknowledged else 0


def stop_rounds(
    database: str, rounds: int, seed: int, tally: Tally, stop: Callable[[], None], start: Callable[[], None]
) -> None:
    """Stops the server under a writer, as a crash of the server would, and starts it again."""
    chance = random.Random(seed)
    last = 0
    for _ in range(rounds):
        acknowledged, code = run_writer(database, "stopped", after=chance.uniform(0, 0.5), strike=stop)
        start()
        if code != _REFUSED:
            tally.wrong.append(f"stopped: the writer ended with {code}, not with an error that it was told")
        tally.kills["server stopped"] += 1
        tally.acknowledged += max(acknowledged - last, 0)
        last = check(database, "stopped", acknowledged, tally, projections=True)
