"""The log played again: events as they came, what each changed, how two states differ."""

from recorder.replay.diff import Patch, compared, event_changes, event_patch, patch
from recorder.replay.emit import Form, emit

__all__ = ["Form", "Patch", "compared", "emit", "event_changes", "event_patch", "patch"]
