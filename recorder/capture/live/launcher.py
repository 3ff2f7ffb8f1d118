"""`rec capture -- PROGRAM`: starts the program with the recorder in its Pythons, and tells what became of it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

import msgspec
from msgspec import Struct

from recorder.capture.live.intake import find_by_uuid, free_name, take_in
from recorder.capture.live.launched import FIRST, MISSING, RUN, SETTINGS, Report, Settings, reports
from recorder.capture.live.session import settled
from recorder.capture.live.sink import PATIENCE_SECONDS
from recorder.capture.names import checked, name_of_program
from recorder.errors import BadInput, RecorderError
from recorder.events.ids import new_stream_uuid
from recorder.ledger import Ledger

STARTUP = Path(__file__).parent / "startup"
"""The folder whose `sitecustomize` Python runs at its start."""

_PYTHON = re.compile(r"(?:python|pypy)[\d.]*w?(?:\.exe)?", re.IGNORECASE)
_PASSED_ON = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
_OF_TERMINAL = ("SIGINT", "SIGQUIT")
"""Those that a terminal sends to everybody in the foreground."""


class Recorded(Struct, frozen=True, kw_only=True):
    """What was recorded of one process."""

    process: int
    stream: str
    events: int
    lost: int = 0
    failures: int = 0
    reason: str | None = None
    spools: list[str] = []
    """Where events still wait."""
    runs: bool = False
    """It has not ended, and goes on recording."""
    told: bool = True
    """False of one that was killed before it could say what it had not written."""


class Outcome(Struct, frozen=True, kw_only=True):
    """How a program ended, and what was recorded of it."""

    code: int
    """Its exit code; of one that a signal ended, the signal's number below zero."""
    stream: str
    """The name of the run's own stream."""
    wanted: str
    """The name that was asked for."""
    recorded: list[Recorded]
    why_nothing: str
    """A likely reason, where nothing was recorded."""
    trouble: str | None = None
    """Why the database cannot be used."""


def run(command: Sequence[str], *, name: str | None, database: str) -> Outcome:
    """Runs the program with this process's standard streams, until it ends; its signals come through.

    Raises `BadInput` where it cannot be started, and for a name that no stream can have.
    """
    wanted = checked(name_of_program(program_name(command)) if name is None else name)
    place = str(settled(database))
    stream, folder = _free(place, wanted), _folder()
    try:
        settings = msgspec.json.encode(Settings(stream=stream, database=place)).decode()
        code = _ended(command, {**_environment(), SETTINGS: settings, RUN: str(folder)})
        found = list(reports(folder))
        why = _why_nothing(command, folder, found)
        recorded, trouble = _taken_in(place, found)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Outcome(code=code, stream=stream, wanted=wanted, recorded=recorded, why_nothing=why, trouble=trouble)


def program_name(command: Sequence[str]) -> str:
    """What the program is called: of a Python, what it runs."""
    first, *rest = command
    if not _PYTHON.fullmatch(Path(first).name):
        return Path(first).stem or "program"
    for argument, after in zip(rest, [*rest, ""][1:], strict=True):
        if argument == "-m":
            return after.rpartition(".")[2] or "python"
        if argument == "-c":
            break
        if not argument.startswith("-"):
            return Path(argument).stem or "python"
    return "python"


def die_by(number: int) -> int:
    """Ends this process by the signal that ended the program; where that cannot be, gives what a shell would say."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    with suppress(ImportError, OSError, ValueError):
        import resource

        # One dump of memory is enough, and it is the program's.
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    with suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    return 128 + number


def _free(database: str, wanted: str) -> str:
    """A name for the run's stream that no other has. While the database is away, the one that is wanted."""
    try:
        with Ledger.open(database, patience=PATIENCE_SECONDS) as ledger:
            return free_name(ledger, wanted, new_stream_uuid())
    except RecorderError:
        return wanted


def _folder() -> Path:
    try:
        return Path(tempfile.mkdtemp(prefix="recorder-"))
    except OSError as error:
        raise BadInput(f"no folder for temporary files can be made: {(error.strerror or str(error)).lower()}") from None


def _environment() -> dict[str, str]:
    before = os.environ.get("PYTHONPATH")
    kept = [entry for entry in before.split(os.pathsep) if entry != str(STARTUP)] if before else []
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(STARTUP), *kept])}


def _ended(command: Sequence[str], environment: dict[str, str]) -> int:
    """Starts it, waits for its end, and gives how that was."""
    with _signals() as signals:
        try:
            # What a shell has opened for it stays open.
            process = subprocess.Popen(command, env=environment, close_fds=False)
        except FileNotFoundError:
            raise BadInput(f"{command[0]}: no such program{_advice(command[0])}") from None
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise BadInput(f"{command[0]} cannot be started: {reason}{_advice(command[0])}") from None
        except ValueError as error:
            raise BadInput(f"{command[0]!r} cannot be started: {error}") from None
        signals.go_to(process)
        return process.wait()


def _advice(program: str) -> str:
    return f"; for a script write: rec capture -- python {program}" if program.endswith(".py") else ""


class _Signals:
    """Passes on what this process is sent, to a program that it has started or is about to start."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._before: list[int] = []

    def take(self, number: int, frame: FrameType | None) -> None:
        if self._process is None:
            self._before.append(number)
        elif self._process.returncode is None and not (_name(number) in _OF_TERMINAL and _in_foreground()):
            with suppress(OSError):
                os.kill(self._process.pid, number)

    def go_to(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        for number in self._before:
            os.kill(process.pid, number)


@contextmanager
def _signals() -> Iterator[_Signals]:
    """Handles signals inside the block, but those that are ignored: the program ignores them as well."""
    signals, before = _Signals(), {}
    for name in _PASSED_ON:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            with suppress(ValueError):  # not the main thread
                before[number] = signal.signal(number, signals.take)
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _name(number: int) -> str:
    return signal.Signals(number).name


def _in_foreground() -> bool:
    """Whether a terminal's signal went to the program too, as to everybody in its foreground."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except (OSError, AttributeError):
        return os.name == "nt"
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _taken_in(database: str, found: list[Report]) -> tuple[list[Recorded], str | None]:
    """What was recorded of each process, their spools taken in; and why the database cannot be used, if it cannot."""
    if not found:
        return [], None
    try:
        with Ledger.open(database, patience=PATIENCE_SECONDS) as ledger:
            return [_recorded(ledger, report) for report in found], None
    except RecorderError as error:
        return [_unstored(report) for report in found], str(error)


def _recorded(ledger: Ledger, report: Report) -> Recorded:
    base = _unstored(report)
    spools = list(base.spools)
    try:
        while spools and not base.runs:
            take_in(ledger, Path(spools[0]))
            del spools[0]
    except (RecorderError, OSError) as error:
        base = msgspec.structs.replace(base, reason=base.reason or str(error))
    stream = find_by_uuid(ledger, report.uuid)
    events = 0 if stream is None else ledger.head(stream).last_seq
    return msgspec.structs.replace(base, stream=stream or report.stream, events=events, spools=spools)


def _unstored(report: Report) -> Recorded:
    counts = report.counts
    runs = counts is None and _is_running(report.process)
    return Recorded(
        process=report.process,
        stream=report.stream,
        events=0 if counts is None else counts.stored,
        lost=0 if counts is None else counts.lost,
        failures=0 if counts is None else counts.failures,
        reason=None if counts is None else counts.reason,
        spools=[spool for spool in report.spools if Path(spool).exists()],
        runs=runs,
        told=counts is not None or runs,
    )


def _is_running(process: int) -> bool:
    if os.name == "nt":
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _why_nothing(command: Sequence[str], run: Path, found: list[Report]) -> str:
    missing = run / MISSING
    if found:
        return "no traffic with a model was seen"
    if missing.exists():
        return f"{missing.read_text(errors='replace')} has no recorder installed"
    if (run / FIRST).exists():
        return "it used neither LangChain nor an HTTP library that is known"
    if _PYTHON.fullmatch(Path(command[0]).name):
        for option in command[1:]:
            if not option.startswith("-") or option in ("-c", "-m"):
                break
            if re.match(r"-[A-Za-z]*[EIS]", option):
                return f"Python takes no recorder in with {option}"
    return "no Python that takes a recorder in was run"
