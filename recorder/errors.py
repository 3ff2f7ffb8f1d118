"""Every error that `recorder` raises on purpose; the message is one line that says what, where and what to do."""

from __future__ import annotations


class RecorderError(Exception):
    """Base of all errors below. `str(error)` is the one line a user reads."""


class BadInput(RecorderError):
    """What was given cannot be used: a file, an argument, a query."""


class NotAStream(BadInput):
    """A file in which no frame can be recognised."""


class UnknownStream(BadInput):
    """No stream has this name."""


class OutOfRange(BadInput):
    """An event number outside 0..last."""


class DatabaseUnusable(RecorderError):
    """The database cannot be opened, read or written as asked."""


class Unstorable(DatabaseUnusable):
    """A value that this kind of database cannot hold, in a database that is well."""


class SchemaMismatch(DatabaseUnusable):
    """The database has a schema that this program does not know."""


class QueryRefused(BadInput):
    """SQL that is wrong, that fails, or that would write."""


class Conflict(RecorderError):
    """The stream is not at the version that the append expected.

    `actual` is the stream's last seq at the moment of the refusal.
    """

    def __init__(self, stream: str, expected: int, actual: int) -> None:
        super().__init__(
            f"stream {stream!r} is at event {actual}, not at {expected}: somebody else appended; read it and retry"
        )
        self.stream = stream
        self.expected = expected
        self.actual = actual


class IdentityClash(RecorderError):
    """An event with this id is stored already, with another body."""

    def __init__(self, stream: str, seq: int) -> None:
        super().__init__(
            f"stream {stream!r} holds another body for the same event id at event {seq}: nothing was stored"
        )
        self.stream = stream
        self.seq = seq


class NameTaken(BadInput):
    """The name belongs to another stream."""


class ProjectionFailed(RecorderError):
    """An event that the projections of this program fail on: a fault of theirs, the event is stored and unharmed."""

    def __init__(self, seq: int, error: Exception) -> None:
        super().__init__(
            f"event {seq} cannot be projected: {type(error).__name__}: {error} (it is stored, rec show prints it)"
        )
        self.seq = seq


class Corrupt(RecorderError):
    """The log contradicts its own hashes or numbers."""
