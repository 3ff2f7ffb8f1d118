"""The program that dies: it appends batches and says on standard output which are acknowledged.

usage: python -m crash.writer DATABASE STREAM POINT NUMBER
It kills itself with SIGKILL when it comes to POINT for the NUMBER-th time; with `-` it goes on until somebody else
does. Where an append is refused it ends with exit code 3.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from crash import workload
from recorder import ledger
from recorder.errors import RecorderError
from recorder.ledger.writer import StreamWriter
from recorder.store import Transaction

POINTS = ("before-lock", "after-insert", "before-commit", "after-commit")


def main(database: str, stream: str, point: str, number: int) -> int:
    with ledger.open(database) as log:
        if point != "-":
            _arm(point, number, type(log.store._backend))
        writer = log.writer(stream)
        done = writer.last_seq
        batch = workload.boundaries(done).index(done) + 1
        print("ready", flush=True)
        while True:
            events = workload.batch(batch, done + 1, stream)
            try:
                receipt = writer.append(events, expected=done)
            except RecorderError as error:
                print(f"error {error}", flush=True)
                return 3
            done, batch = receipt.last_seq, batch + 1
            os.write(1, f"acknowledged {done}\n".encode())


def _arm(point: str, number: int, backend: type[Any]) -> None:
    """Puts a shot at one point of the append."""
    left = [number]

    def shoot() -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    if point == "before-lock":
        _wrap(Transaction, "append", before=shoot)
    elif point == "after-insert":
        _wrap(backend, "insert_events", after=shoot)
    elif point == "before-commit":
        _wrap(StreamWriter, "append_in", after=shoot)
    else:
        _wrap(StreamWriter, "append", after=shoot)


def _wrap(
    owner: type[Any], name: str, before: Callable[[], None] | None = None, after: Callable[[], None] | None = None
) -> None:
    original = getattr(owner, name)

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        if before is not None:
            before()
        result = original(*args, **kwargs)
        if after is not None:
            after()
        return result

    setattr(owner, name, wrapped)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))
