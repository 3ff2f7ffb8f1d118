"""Recordings into the log: files, cassettes, what comes through a pipe."""

from recorder.capture.files import Captured, capture_file
from recorder.capture.names import name_of_file, name_of_program
from recorder.capture.pipe import Interrupts, capture_pipe

__all__ = ["Captured", "Interrupts", "capture_file", "capture_pipe", "name_of_file", "name_of_program"]
