"""Reading a pipe until it ends or a signal comes."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO

import pytest

from recorder.capture import Interrupts

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no signals to oneself there")


@pytest.fixture
def pipe() -> Iterator[tuple[BinaryIO, int]]:
    """The end to read, and the descriptor to write to."""
    reading, writing = os.pipe()
    with open(reading, "rb") as file:
        yield file, writing
        with suppress(OSError):
            os.close(writing)


def test_pieces_come_as_they_are_written(pipe: tuple[BinaryIO, int]) -> None:
    file, writing = pipe
    interrupts = Interrupts()
    with interrupts.installed():
        pieces = interrupts.pieces(file)
        for sent in (b"a", b"bc"):
            os.write(writing, sent)
            assert next(pieces) == sent
        os.close(writing)
        assert list(pieces) == []
    assert not interrupts.stopped


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_waiting(pipe: tuple[BinaryIO, int], number: signal.Signals) -> None:
    interrupts = Interrupts()
    with interrupts.installed():
        timer = threading.Timer(0.05, os.kill, (os.getpid(), number))
        timer.start()
        assert list(interrupts.pieces(pipe[0])) == []
        timer.join()
    assert interrupts.stopped


def test_what_is_in_the_pipe_when_a_signal_comes_between_reads_stays_there(pipe: tuple[BinaryIO, int]) -> None:
    file, writing = pipe
    interrupts = Interrupts()
    with interrupts.installed():
        pieces = interrupts.pieces(file)
        os.write(writing, b"first")
        assert next(pieces) == b"first"
        os.kill(os.getpid(), signal.SIGINT)
        os.write(writing, b"second")
        assert list(pieces) == []
    assert os.read(file.fileno(), 10) == b"second"


def test_another_signal_does_not_end_it(pipe: tuple[BinaryIO, int]) -> None:
    file, writing = pipe
    seen: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(number))
    interrupts = Interrupts()
    try:
        with interrupts.installed():
            os.kill(os.getpid(), signal.SIGUSR1)
            timer = threading.Timer(0.05, os.write, (writing, b"after"))
            timer.start()
            assert next(interrupts.pieces(file)) == b"after"
            timer.join()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert seen == [signal.SIGUSR1]
    assert not interrupts.stopped


def test_the_handlers_of_before_are_put_back() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with Interrupts().installed():
        assert signal.getsignal(signal.SIGINT) != before[0]
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
    assert signal.set_wakeup_fd(-1) == -1


def test_outside_the_main_thread_and_without_a_descriptor_it_just_reads() -> None:
    read: list[bytes] = []

    def work() -> None:
        interrupts = Interrupts()
        with interrupts.installed():
            read.extend(interrupts.pieces(io.BytesIO(b"abc")))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert read == [b"abc"]
