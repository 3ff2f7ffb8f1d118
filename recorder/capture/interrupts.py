"""Ctrl-C and SIGTERM as an end of the input, at which nothing that was read is lost."""

from __future__ import annotations

import os
import select
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import BinaryIO

from recorder.sources.files import READ_BYTES


class Interrupts:
    """Reads a pipe until it ends or the program is told to stop.

    The handler only takes a note, for an exception could be raised between the read and the moment in which its bytes
    are held; a file descriptor that the signal makes readable ends the waiting. Where no pipe can be waited for
    together with it (Windows; a file object without a descriptor), the signal is seen with the next bytes.
    """

    def __init__(self) -> None:
        self.stopped = False
        self._woken: int | None = None

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Handles both signals inside the block, where this is the main thread."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        woken, wake = os.pipe()
        os.set_blocking(wake, False)
        before_wake = signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        before = {number: signal.signal(number, self._note) for number in (signal.SIGINT, signal.SIGTERM)}
        self._woken = woken
        try:
            yield
        finally:
            self._woken = None
            for number, handler in before.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(before_wake)
            os.close(woken)
            os.close(wake)

    def pieces(self, pipe: BinaryIO) -> Iterator[bytes]:
        """What comes through the pipe, as it comes. `stopped` tells whether the pipe ended or the waiting did."""
        descriptor = _descriptor(pipe)
        while not self.stopped:
            if descriptor is None:
                data = getattr(pipe, "read1", pipe.read)(READ_BYTES)
            elif self._comes(descriptor):
                data = os.read(descriptor, READ_BYTES)
            else:
                continue
            if not data:
                return
            yield data

    def _comes(self, descriptor: int) -> bool:
        """Waits until there is something to read, or a signal came."""
        if self._woken is None or os.name == "nt":
            return True
        ready, _, _ = select.select([descriptor, self._woken], [], [])
        if self._woken in ready:
            # Any signal writes here, also one that is none of ours.
            os.read(self._woken, READ_BYTES)
        # What is there when the signal comes is still read: a program that was stopped as well may have flushed it.
        return descriptor in ready

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.stopped = True


def _descriptor(pipe: BinaryIO) -> int | None:
    try:
        return pipe.fileno()
    except (OSError, AttributeError):
        return None
