"""The events of `astream_events`, recorded as a program reads them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable
from types import TracebackType
from typing import Any, Generic, TypeVar, cast
from uuid import UUID

from recorder.capture.live.items import Taker
from recorder.capture.live.langchain_items import V2, V3, Copy, Passed
from recorder.capture.live.langchain_runs import Owner, book_of
from recorder.capture.live.values import encode
from recorder.dialects.langgraph_messages import run_of_id
from recorder.events import clock

Event = TypeVar("Event")

_OF_MODELS = ("on_chat_model_", "on_llm_")
_STREAM = "_stream"


class Recorded(Generic[Event]):
    """An async iterator of the same events. Closing it closes the stream; what the stream raises comes out of it."""

    def __init__(self, events: AsyncIterator[Event] | Awaitable[AsyncIterator[Event]], sink: Taker | None) -> None:
        self._given = events
        self._iterator: AsyncIterator[Event] | None = None
        self._sink = sink
        self._owner = Owner(handles=False)
        self._skipping = False
        """Within a message of a model's own v3 stream that a handler records."""

    def __aiter__(self) -> Recorded[Event]:
        return self

    async def __anext__(self) -> Event:
        if self._iterator is None:
            # Version v3 gives a coroutine first.
            given: Any = self._given
            if not hasattr(given, "__aiter__"):
                self._given = given = await given
            self._iterator = cast("AsyncIterator[Event]", aiter(given))
        event = await anext(self._iterator)
        if self._sink is not None:
            self._record(event, self._sink)
        return event

    async def aclose(self) -> None:
        """Closes the stream, begun or not."""
        for each in (self._iterator, self._given):
            if (close := getattr(each, "aclose", None)) is not None:
                await close()
                return
        if (drop := getattr(self._given, "close", None)) is not None:
            drop()

    async def __aenter__(self) -> Recorded[Event]:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def _record(self, event: Any, sink: Taker) -> None:
        try:
            now = clock.now()
            item = self._item(event, sink, now)
            if item is not None:
                sink.put(item)
        except Exception as error:
            sink.failed("record", error)

    def _item(self, event: Any, sink: Taker, now: int) -> Passed | None:
        kind = event.get("event") if isinstance(event, dict) else None
        if not isinstance(kind, str) or not kind.startswith("on_"):
            return None if self._is_recorded_v3(event, sink) else Passed(V3, encode(event), None, now)
        if self._is_recorded(event, kind, sink):
            return None
        chunk = event["data"].get("chunk") if kind == "on_chat_model_stream" else None
        if chunk is None or not hasattr(chunk, "__pydantic_extra__"):
            return Passed(V2, encode(event), None, now)
        return Passed(V2, dict(event), Copy(chunk), now)

    def _is_recorded(self, event: dict[str, Any], kind: str, sink: Taker) -> bool:
        """Whether somebody else records this, too: a handler, or another reader of the same run's events."""
        owner = book_of(sink).own(UUID(event["run_id"]), self._owner)
        if owner is self._owner:
            return False
        # What chains and parsers stream is in no callback.
        streamed = kind.endswith(_STREAM) and not kind.startswith(_OF_MODELS)
        return not owner.handles or not streamed

    def _is_recorded_v3(self, event: Any, sink: Taker) -> bool:
        """Whether it is of a message that somebody else records. The message's first event alone may say the run."""
        if not isinstance(event, dict):
            return False
        if event.get("type") == "event":
            data = event.get("params", {}).get("data") if event.get("method") == "messages" else None
            metadata = data[1] if isinstance(data, list | tuple) and len(data) == 2 else None
            return isinstance(metadata, dict) and self._is_others(metadata.get("run_id"), sink)
        if event.get("event") == "message-start":
            self._skipping = self._is_others(run_of_id(event.get("id")), sink)
        return self._skipping

    def _is_others(self, run_id: object, sink: Taker) -> bool:
        try:
            owner = book_of(sink).owners.get(UUID(str(run_id)))
        except ValueError:
            return False
        return owner is not None and owner is not self._owner
