"""What producers see, and the sink takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from recorder.events import NewEvent


class Item(Protocol):
    """Something that a producer saw, on its way to the writer's thread.

    What may change later is fixed when the item is made, on the program's thread; everything costly waits for `events`.
    """

    @property
    def size(self) -> int:
        """Bytes that it holds, roughly: the queue is bounded by their sum."""

    def events(self, stream: bytes, next_id: Callable[[], bytes]) -> Iterable[NewEvent]:
        """The events that it comes to: none, one, or several.

        Called once, on the writer's thread, in the order of `put`. `stream` is the stream's UUID, 16 bytes; each event
        takes its id from `next_id`. What is raised is counted, and costs the item only.
        """


class Taker(Protocol):
    """What takes the items: a `recorder.capture.live.sink.Sink`."""

    def put(self, item: Item) -> None:
        """Takes an item. Never raises."""

    def failed(self, where: str, error: BaseException) -> None:
        """Counts a failure of the recorder's own part. Never raises."""


Current = Callable[[], Taker | None]
"""Gives the sink for what happens here and now; None where nobody records."""
