"""How long commands take to start, in CPU time of user and system, for other programs' noise is not in it."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measuring import Result, Table

_ROOT = Path(__file__).parents[2]
_IMPORTS = (
    "import typer, sqlalchemy, msgspec\n"
    "engine = sqlalchemy.create_engine('sqlite:///{database}')\n"
    "with engine.connect() as connection:\n"
    "    connection.exec_driver_sql('SELECT count(*) FROM log_events').scalar()\n"
)


def tables(rounds: int) -> list[Table]:
    with tempfile.TemporaryDirectory() as folder:
        database = f"{folder}/start.db"
        rec = str(Path(sys.executable).with_name("rec"))
        recording = str(_ROOT / "cassettes" / "weather.sse")
        subprocess.run([rec, "capture", "-d", database, recording], check=True, stderr=subprocess.DEVNULL)
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "rec --version": [rec, "--version"],
            "imports and open": [sys.executable, "-c", _IMPORTS.format(database=database)],
            "rec replay weather --at 8": [rec, "replay", "weather", "--at", "8", "-d", database],
        }
        results = [Result(name=name, units=1) for name in commands]
        for _ in range(rounds * 5):
            for result, command in zip(results, commands.values(), strict=True):
                result.seconds.append(_cpu_seconds(command))
    version, replay = results[1].median / results[0].median, results[3].median / results[2].median
    notes = [
        f"rec --version is {version:.2f} times python -c pass (bar 2)",
        f"rec replay is {replay:.2f} times importing Typer, SQLAlchemy and msgspec and opening the file (bar 1.25)",
    ]
    return [Table(title="start, CPU time", unit="run", results=results, notes=notes)]


def _cpu_seconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
