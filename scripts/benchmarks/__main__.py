"""The command line of `scripts/bench`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks import append, capture, start
from benchmarks.measuring import Table

WHAT: dict[str, Callable[[int], list[Table]]] = {
    "append": append.tables,
    "capture": capture.tables,
    "start": start.tables,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Measure what recording costs.")
    parser.add_argument("what", nargs="*", choices=[*WHAT, []], help=f"some of {', '.join(WHAT)}; all by default")
    parser.add_argument("--rounds", type=int, default=5, help="how often each is run, in turn (default 5)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    given = parser.parse_args()
    tables = [table for what in given.what or WHAT for table in WHAT[what](given.rounds)]
    for table in tables:
        print("\n".join(table.lines()), end="\n\n")
    if given.json is not None:
        given.json.write_text(json.dumps([table.plain() for table in tables], indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
