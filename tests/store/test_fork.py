"""A database that was opened before a fork is of no use after it, and says so."""

from __future__ import annotations

import os
import sys

import pytest

from recorder.errors import DatabaseUnusable
from recorder.store import Store
from tests.store.made import append, events


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_forked_process_must_open_its_own(store: Store) -> None:
    append(store, "s", events(1, 3))
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        told = []
        for use in (store.streams, lambda: append(store, "s", events(4, 5))):
            try:
                use()
                told.append("worked")
            except DatabaseUnusable as error:
                told.append(str(error).rpartition(": ")[2])
        os.write(writing, "; ".join(told).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 1000).decode() == "; ".join(["open it again in this process"] * 2)
    append(store, "s", events(4, 5))
    assert store.head("s").last_seq == 5
