"""The smallest item that there is: a word, which comes to one event."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from recorder.events import NewEvent


class Word(Struct):
    """An item that comes to one event."""

    text: str
    run: str = "r"
    size: int = 100

    def events(self, stream: bytes, next_id: Callable[[], bytes]) -> Iterable[NewEvent]:
        if self.text == "bad":
            raise ValueError("planted")
        body = f'{{"text":"{self.text}"}}'.encode()
        yield NewEvent(
            event_id=next_id(),
            dialect="unknown",
            layer="wire",
            kind="message",
            body=body,
            framing="{body}\n",
            arrived_at=1,
            run_id=self.run,
        )
