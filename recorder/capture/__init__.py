"""Recordings into the log: files, cassettes, what comes through a pipe."""

from recorder.capture.captured import Captured
from recorder.capture.exports import capture_export_file, is_export_file
from recorder.capture.files import capture_file
from recorder.capture.interrupts import Interrupts
from recorder.capture.names import checked, name_of_file, name_of_program
from recorder.capture.pipe import capture_pipe

__all__ = [
    "Captured",
    "Interrupts",
    "capture_export_file",
    "capture_file",
    "capture_pipe",
    "checked",
    "is_export_file",
    "name_of_file",
    "name_of_program",
]
