"""What passes through aiohttp: what a request sends, and what the parser feeds to the answer's reader.

Bytes are seen as they come in, before the program asks for them, without their content-coding where the session takes
it off.
"""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from aiohttp import client_reqrep
from aiohttp.payload import BytesPayload
from aiohttp.streams import StreamReader

from recorder.capture.live.exchange import Exchange, begin, fail, within
from recorder.capture.live.items import Current, Taker
from recorder.capture.live.patching import Patch, Patches

_EXCHANGE = "_recorder_exchange"
"""The attribute of a `ClientResponse` that holds its exchange, and whether the session takes content-codings off."""
_CLOSED = getattr(client_reqrep, "_CONNECTION_CLOSED_EXCEPTION", None)
"""What a reader is given when the program closes the response before its end."""

_installed = Patches()
_exchanges: dict[int, Exchange] = {}
"""By the `id` of the reader: readers have no room for attributes, and take no weak references."""


def install(current: Current, *, everything: bool = False) -> None:
    """Makes every session in the process pass through here; as for `tee_httpx.install`."""
    _installed.install(
        Patch(client_reqrep.ClientRequest, "send", _wrap_send(current, everything)),
        Patch(client_reqrep.ClientResponse, "start", _wrap_start),
    )


def uninstall() -> None:
    """Puts back what was there. What is being read is recorded to its end. A second call does nothing."""
    _installed.uninstall()


def _wrap_send(current: Current, everything: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
        async def send(request: Any, *args: Any, **kwargs: Any) -> Any:
            def make(sink: Taker) -> Exchange:
                pairs = list(request.headers.items())
                return Exchange(sink, request.method, str(request.url), pairs, _body_of(request), everything=everything)

            exchange = begin(current, make)
            if exchange is None:
                return await original(request, *args, **kwargs)
            try:
                with within():
                    response = await original(request, *args, **kwargs)
            except BaseException as error:
                exchange.failed(error)
                raise
            # The session may be gone from the response as soon as that is whole.
            decoded = bool(getattr(getattr(response, "_session", None), "auto_decompress", True))
            setattr(response, _EXCHANGE, (exchange, decoded))
            return response

        return send

    return wrap


def _wrap_start(original: Callable[..., Any]) -> Callable[..., Any]:
    async def start(response: Any, *args: Any, **kwargs: Any) -> Any:
        found: tuple[Exchange, bool] | None = vars(response).pop(_EXCHANGE, None)
        if found is None:
            return await original(response, *args, **kwargs)
        exchange, decoded = found
        try:
            result = await original(response, *args, **kwargs)
        except BaseException as error:
            exchange.failed(error)
            raise
        _answered(exchange, response, decoded=decoded)
        return result

    return start


def _answered(exchange: Exchange, response: Any, *, decoded: bool) -> None:
    try:
        exchange.response(response.status, response.reason, response.raw_headers, decoded=decoded)
        reader = response.content
        if response.status == HTTPStatus.SWITCHING_PROTOCOLS or type(reader) is not StreamReader:
            exchange.end()  # A body that is empty has a reader of another kind.
        elif not exchange.is_over:
            _tee(reader, exchange)
    except Exception as error:
        fail(exchange.sink, error)


def _tee(reader: Any, exchange: Exchange) -> None:
    """Makes a reader one that tells what it is fed, what it has been fed already included."""
    for piece in list(reader._buffer):
        exchange.chunk(piece)
    if reader.exception() is not None:
        exchange.failed(reader.exception())
    elif reader.is_eof():
        exchange.end()
    else:
        _exchanges[id(reader)] = exchange
        reader.__class__ = _Reader


class _Reader(StreamReader):
    """A reader that tells."""

    __slots__ = ()

    def feed_data(self, data: bytes, *args: Any, **kwargs: Any) -> Any:
        exchange = _exchanges.get(id(self))
        if exchange is not None:
            exchange.chunk(bytes(data))
        return super().feed_data(data, *args, **kwargs)

    def feed_eof(self) -> None:
        exchange = _exchanges.pop(id(self), None)
        if exchange is not None:
            exchange.end()
        super().feed_eof()

    def set_exception(self, exc: Any, *args: Any, **kwargs: Any) -> None:
        exchange = _exchanges.pop(id(self), None)
        if exchange is not None:
            if exc is _CLOSED:
                exchange.end(early=True)
            else:
                exchange.failed(exc)
        super().set_exception(exc, *args, **kwargs)

    def __del__(self) -> None:
        exchange = _exchanges.pop(id(self), None)
        if exchange is not None:
            exchange.abandon()


def _body_of(request: Any) -> bytes | None:
    """A body that is there as a whole, None where it is a stream."""
    body = request.body
    if isinstance(body, BytesPayload):
        body = body._value
    if isinstance(body, bytes | bytearray | memoryview):
        return bytes(body)
    return b"" if body is None else None
