"""The disk is full, or the database locked, in the middle of recording: one line, nothing half, and then it goes on."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from recorder import ledger
from recorder.errors import DatabaseUnusable
from recorder.ledger import Ledger
from recorder.ledger.verify import verify
from recorder.store.sqlite import backend as sqlite_backend
from tests import postgres_server
from tests.store.made import event

FILLER = 64 * 1024
MOUNTED = os.geteuid() == 0 and shutil.which("mount") is not None


@pytest.fixture
def small_disk(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A file system of its own, of so many megabytes, that a server's user may reach as well."""
    folder = Path(tempfile.mkdtemp(prefix="recorder-tests-disk-"))
    command = ["mount", "-t", "tmpfs", "-o", f"size={request.param}m,mode=777", "tmpfs", str(folder)]
    try:
        if not MOUNTED or subprocess.run(command, check=False, capture_output=True).returncode != 0:
            pytest.skip("no file system can be mounted here")
        folder.chmod(0o777)
        yield folder
        subprocess.run(["umount", "--lazy", folder], check=True)
    finally:
        folder.rmdir()


def fill(log: Ledger) -> tuple[int, str]:
    """Appends until there is no room: the last event that was acknowledged, and what the refusal said."""
    writer = log.writer("s")
    while True:
        first = writer.last_seq + 1
        events = [event(seq, os.urandom(FILLER), encoding="binary") for seq in range(first, first + 3)]
        try:
            writer.append(events, expected=writer.last_seq)
        except DatabaseUnusable as error:
            return writer.last_seq, str(error)


def must_hold(log: Ledger, acknowledged: int) -> None:
    head = log.head("s")
    assert head.last_seq == acknowledged
    assert verify(log.store, head, projections=True).problem is None


@pytest.mark.parametrize("small_disk", [4], indirect=True)
def test_a_full_disk_takes_nothing_back_and_leaves_nothing_half(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(1024 * 1024))
    with ledger.open(small_disk / "runs.db") as log:
        acknowledged, told = fill(log)
        assert told == f"{small_disk / 'runs.db'} cannot grow: the disk is full"
        assert acknowledged > 3
        must_hold(log, acknowledged)
        ballast.unlink()
        log.writer("s").append([event(acknowledged + 1)])
        must_hold(log, acknowledged + 1)
    with ledger.open(small_disk / "runs.db") as log:
        must_hold(log, acknowledged + 1)


@pytest.mark.postgres
@pytest.mark.slow
@pytest.mark.parametrize("small_disk", [120], indirect=True)
def test_a_full_disk_of_the_server_is_the_same(small_disk: Path) -> None:
    """Where its WAL finds no room the server stops itself; with room again it recovers."""
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(16 * 1024 * 1024))
    url = postgres_server.start(small_disk / "data")
    try:
        with ledger.open(url) as log:
            acknowledged, told = fill(log)
        assert acknowledged > 3
        assert (
            told.split("host=")[1]
            .partition(" ")[2]
            .startswith(("cannot grow: the server's disk is full", "cannot be reached", "crashed", "was shut down"))
        ), told
        ballast.unlink()
        url = postgres_server.start(small_disk / "data")
        with ledger.open(url) as log:
            must_hold(log, acknowledged)
    finally:
        postgres_server.stop(small_disk / "data")


def test_a_database_that_another_program_holds_is_refused_in_one_line(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_backend, "BUSY_SECONDS", 0.2)
    with ledger.open(path) as log, closing(sqlite3.connect(path, isolation_level=None)) as other:
        log.writer("s").append([event(1)])
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(DatabaseUnusable, match="is locked by another program: try again when that is done"):
            log.writer("s").append([event(2)])
        must_hold(log, 1)
        other.execute("COMMIT")
        log.writer("s").append([event(2)])
        must_hold(log, 2)
