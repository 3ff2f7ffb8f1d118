"""One HTTP exchange of the program's, as it is seen while it happens.

Here, on the program's thread, the time is taken and nothing else: what was seen is read by the writer's thread
(`exchange_events`). Nothing here raises.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar

from recorder.capture.live.exchange_events import (
    Broken,
    Ended,
    ExchangeEvents,
    Head,
    Piece,
    Said,
    Sent,
)
from recorder.capture.live.items import Current, Taker
from recorder.events import NewEvent, clock

_ITEM_BYTES = 200
"""What an item weighs beside its bytes, roughly."""
_PAIR_BYTES = 150

_within: ContextVar[bool] = ContextVar("recorder_within_an_exchange", default=False)


_abandoned: deque[Exchange] = deque()
"""Exchanges whose answer the program has dropped, and of which that is not told yet."""


class Exchange:
    """A request that the program makes, and what comes back. Its methods never raise and never wait.

    `body`: None where the program sends a stream, which is not read here. `everything`: also what is no model traffic
    is recorded.
    """

    def __init__(
        self,
        sink: Taker,
        method: str,
        url: str,
        headers: Iterable[tuple[str | bytes, str | bytes]],
        body: bytes | None,
        *,
        everything: bool = False,
    ) -> None:
        self.sink = sink
        self._events = ExchangeEvents(everything=everything)
        self._over = False
        try:
            pairs = tuple(headers)
            size = len(body or b"") + len(url) + _PAIR_BYTES * len(pairs)
            self._put(Sent(method, url, pairs, body), size)
        except Exception as error:
            self._fail(error)

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be taken: it ended, or it is none of those that are recorded."""
        return self._over or self._events.dropped

    def response(
        self,
        status: int,
        reason: str | None,
        headers: Iterable[tuple[str | bytes, str | bytes]],
        *,
        decoded: bool = False,
    ) -> None:
        """The answer's head. `decoded`: the bytes that follow are without their content-coding."""
        if self.is_over:
            return
        try:
            pairs = tuple(headers)
            self._put(Head(status, reason, pairs, decoded), _PAIR_BYTES * len(pairs))
        except Exception as error:
            self._fail(error)

    def chunk(self, data: bytes) -> None:
        """What one read of the answer brought."""
        if self._over or self._events.dropped or not data:
            return
        try:
            self.sink.put(_Seen(self._events, Piece(data), clock.now(), _ITEM_BYTES + len(data)))
        except Exception as error:
            self._fail(error)

    def end(self, *, early: bool = False) -> None:
        """The answer is over; `early`: the program has closed it before its end."""
        self._finish(Ended(early))

    def error(self, text: str) -> None:
        """It broke."""
        self._finish(Broken(text))

    def failed(self, error: BaseException) -> None:
        """It broke with this exception, which the program gets."""
        text = ""
        with suppress(Exception):
            text = str(error)
        name = type(error).__name__
        self.error(f"{name}: {text}" if text else name)

    def abandon(self) -> None:
        """As `end(early=True)`, for finalizers: it takes no lock, and is told when something else is.

        The garbage collector may run one in any place, also where this thread holds the sink's lock.
        """
        if not self.is_over:
            _abandoned.append(self)

    def _finish(self, last: Said) -> None:
        if self.is_over:
            return
        self._over = True
        try:
            self._put(last, 0)
        except Exception as error:
            self._fail(error)

    def _put(self, said: Said, size: int) -> None:
        while _abandoned:
            with suppress(IndexError):
                _abandoned.pop().end(early=True)
        self.sink.put(_Seen(self._events, said, clock.now(), _ITEM_BYTES + size))

    def _fail(self, error: Exception) -> None:
        fail(self.sink, error)


class _Seen:
    """One part of an exchange on its way to the writer's thread."""

    __slots__ = ("_at", "_events", "_said", "size")

    def __init__(self, events: ExchangeEvents, said: Said, at: int, size: int) -> None:
        self._events, self._said, self._at = events, said, at
        self.size = size

    def events(self, stream: bytes, next_id: Callable[[], bytes]) -> Sequence[NewEvent]:
        del stream  # Runs have ids of their own: a stream may be written by several processes.
        return self._events.read(self._said, self._at, next_id)


def begin(current: Current, make: Callable[[Taker], Exchange | None]) -> Exchange | None:
    """The exchange that begins here; None where nobody records, or where it is seen from further out already."""
    sink: Taker | None = None
    try:
        if _within.get() or (sink := current()) is None:
            return None
        return make(sink)
    except Exception as error:
        fail(sink, error)
        return None


def fail(sink: Taker | None, error: BaseException) -> None:
    """Counts a failure of the recorder's own part."""
    with suppress(Exception):
        if sink is not None:
            sink.failed("an exchange", error)


@contextmanager
def within() -> Iterator[None]:
    """While a library makes an exchange that is seen, those that it makes it of are not seen again."""
    token = _within.set(True)
    try:
        yield
    finally:
        # A coroutine may be closed in another context than its own.
        with suppress(ValueError):
            _within.reset(token)
