"""Running contestants in turn, and tables of what came out."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from msgspec import Struct, field


class Result(Struct):
    """One contestant: seconds of its rounds, for so many units of work."""

    name: str
    units: int
    seconds: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


class Table(Struct):
    """Contestants of one race. The first one is the bare limit that the others are measured by."""

    title: str
    unit: str
    results: list[Result]
    notes: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """The table as text: time a unit, units a second, and how fast it is as a part of the first."""
        limit = self.results[0].median / self.results[0].units
        wide = max(len(result.name) for result in self.results)
        shown = [self.title, f"{'':{wide}}  {'µs/' + self.unit:>12}  {self.unit + 's/s':>12}  of the first"]
        for result in self.results:
            each = result.median / result.units
            shown.append(f"{result.name:{wide}}  {each * 1e6:12.1f}  {1 / each:12,.0f}  {limit / each:12.3f}")
        return shown + [f"  {note}" for note in self.notes]

    def plain(self) -> dict[str, Any]:
        limit = self.results[0].median / self.results[0].units
        return {
            "title": self.title,
            "unit": self.unit,
            "notes": self.notes,
            "results": [
                {
                    "name": result.name,
                    "units": result.units,
                    "seconds": result.seconds,
                    "of_the_first": limit / (result.median / result.units),
                }
                for result in self.results
            ],
        }


Contestant = tuple[str, int, Callable[[], AbstractContextManager[Callable[[], None]]]]
"""A name, its units of work, and a context that makes all ready and gives what is measured."""


def race(contestants: Sequence[Contestant], rounds: int) -> list[Result]:
    """Runs each once a round, in an order that turns, and one round before that is not counted."""
    results = [Result(name=name, units=units) for name, units, _ in contestants]
    for number in range(rounds + 1):
        for place in range(len(contestants)):
            at = (place + number) % len(contestants)
            with contestants[at][2]() as run:
                began = time.perf_counter()
                run()
                taken = time.perf_counter() - began
            if number:
                results[at].seconds.append(taken)
    return results


def fsync_microseconds(folder: Path) -> float:
    """What a durable write of one page costs on this disk: the median of 100."""
    taken = []
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        for _ in range(100):
            began = time.perf_counter()
            file.write(b"x" * 8192)
            file.flush()
            os.fsync(file.fileno())
            taken.append(time.perf_counter() - began)
    return statistics.median(taken) * 1e6
