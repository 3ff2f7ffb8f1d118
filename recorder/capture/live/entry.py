"""What a program gives itself to the recorder: a callback, a stream of events, a transport.

Each records into the session in which it was made. Where there is none, it records into the one that runs when
something happens, else into one of the process's own, which begins then and ends with the process.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Awaitable
from typing import TYPE_CHECKING, Any, TypeVar

from recorder.capture.live.session import Session, here, is_running

if TYPE_CHECKING:
    from recorder.capture.live.items import Current
    from recorder.capture.live.langchain import Handler, Recorded
    from recorder.capture.live.sink import Sink

Event = TypeVar("Event")

_lock = threading.Lock()
_of_process: Session | None = None


def callback() -> Handler:
    """A handler for LangChain's `config={"callbacks": [recorder.callback()]}`. Needs `langchain_core`."""
    from recorder.capture.live.langchain import Handler

    return Handler(_bound())


def record(events: AsyncIterator[Event] | Awaitable[AsyncIterator[Event]]) -> Recorded[Event]:
    """`async for event in recorder.record(agent.astream_events(…))`, of any version: the same events, recorded."""
    from recorder.capture.live import langchain

    return langchain.record(events, _bound()())


def transport(inner: Any) -> Any:
    """A transport for `httpx.Client(transport=…)` that has `inner` do all of it, and records what passes."""
    from recorder.capture.live import tee_httpx

    return tee_httpx.transport(inner, _bound())


def async_transport(inner: Any) -> Any:
    """As `transport`, for `httpx.AsyncClient(transport=…)`."""
    from recorder.capture.live import tee_httpx

    return tee_httpx.async_transport(inner, _bound())


def _bound() -> Current:
    made_in = here()

    def find() -> Sink:
        session = made_in
        if session is None or not is_running(session):
            session = here() or _own()
        return session.sink

    return find


def _own() -> Session:
    """The process's own session: it takes only what is given to it."""
    global _of_process
    with _lock:
        if _of_process is None or not is_running(_of_process):
            _of_process = Session(listens=False).start()
        return _of_process
