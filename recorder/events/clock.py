"""The one place that knows the time: microseconds since 1970-01-01 UTC, shown as ISO-8601 text."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

LAST = 253_402_300_799_999_999
"""The last microsecond of the year 9999, beyond which ISO-8601 has no plain spelling."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def now() -> int:
    """The wall clock in microseconds since the epoch, UTC."""
    return time.time_ns() // 1000


def to_text(microseconds: int) -> str:
    """`1700000000000000` → `2023-11-14T22:13:20.000000Z`, the spelling that the SQL views use too."""
    moment = _EPOCH + timedelta(microseconds=microseconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond:06d}Z"


def from_text(text: str) -> int:
    """ISO-8601 text (an offset is honoured, none means UTC) → microseconds. Raises `ValueError`."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // timedelta(microseconds=1)
