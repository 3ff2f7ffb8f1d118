"""What passes through httpx and httpx2: their transports, wrapped.

Bytes pass as the transport gives them, one for one, as they lie on the wire: codings are taken off by the client, after
this.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Iterator
from http import HTTPStatus
from importlib import import_module
from types import TracebackType
from typing import Any

from recorder.capture.live.exchange import Exchange, begin, fail, within
from recorder.capture.live.items import Current, Taker
from recorder.capture.live.patching import Patch, Patches

_LIBRARIES = ("httpx", "httpx2")

_installed = Patches()


def install(current: Current, *, everything: bool = False) -> None:
    """Makes every client in the process pass through here, those that are there already included.

    Of both libraries the ones that are imported by now: a later call adds the other one, and else does nothing.
    `current()` gives the sink at each request; `everything`: what is no model traffic too.
    """
    patches = []
    for library in _LIBRARIES:
        module = sys.modules.get(library)
        if module is not None and hasattr(module, "AsyncHTTPTransport"):
            patches.append(Patch(module.HTTPTransport, "handle_request", _wrap_sync(current, everything)))
            patches.append(Patch(module.AsyncHTTPTransport, "handle_async_request", _wrap_async(current, everything)))
    _installed.install(*patches)


def uninstall() -> None:
    """Puts back what was there. What is being read is recorded to its end. A second call does nothing."""
    _installed.uninstall()


def transport(inner: Any, current: Current, *, everything: bool = False) -> Any:
    """A transport for `httpx.Client(transport=…)` that passes everything on to `inner`, and records it.

    It is one of the library that `inner` is of.
    """
    handle = _wrap_sync(current, everything)(lambda inner, request: inner.handle_request(request))
    return _made(_Transport, _library_of(inner).BaseTransport)(inner, handle)


def async_transport(inner: Any, current: Current, *, everything: bool = False) -> Any:
    """As `transport`, for `httpx.AsyncClient(transport=…)`."""

    async def pass_on(inner: Any, request: Any) -> Any:
        return await inner.handle_async_request(request)

    handle = _wrap_async(current, everything)(pass_on)
    return _made(_AsyncTransport, _library_of(inner).AsyncBaseTransport)(inner, handle)


class _Transport:
    """A transport that has another one do all of it."""

    def __init__(self, inner: Any, handle: Callable[..., Any]) -> None:
        self._inner, self._handle = inner, handle

    def handle_request(self, request: Any) -> Any:
        return self._handle(self._inner, request)

    def close(self) -> None:
        self._inner.close()

    def __enter__(self) -> _Transport:
        self._inner.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        self._inner.__exit__(kind, error, trace)


class _AsyncTransport:
    def __init__(self, inner: Any, handle: Callable[..., Any]) -> None:
        self._inner, self._handle = inner, handle

    async def handle_async_request(self, request: Any) -> Any:
        return await self._handle(self._inner, request)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> _AsyncTransport:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        await self._inner.__aexit__(kind, error, trace)


_kinds: dict[tuple[type, type], Any] = {}


def _made(kind: type, base: type) -> Any:
    """A class of this file's as one of the library's, which asks for that."""
    key = (kind, base)
    if key not in _kinds:
        _kinds[key] = type(kind.__name__.removeprefix("_"), (kind, base), {})
    return _kinds[key]


def _library_of(inner: Any) -> Any:
    for kind in type(inner).__mro__:
        name = kind.__module__.partition(".")[0]
        if name in _LIBRARIES:
            return sys.modules[name]
    return import_module(_LIBRARIES[0])


def _wrap_sync(current: Current, everything: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
        def handle_request(transport: Any, request: Any) -> Any:
            exchange = _begin(current, request, everything)
            if exchange is None:
                return original(transport, request)
            try:
                with within():
                    response = original(transport, request)
            except BaseException as error:
                exchange.failed(error)
                raise
            _answered(exchange, response, _Stream)
            return response

        return handle_request

    return wrap


def _wrap_async(current: Current, everything: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
        async def handle_async_request(transport: Any, request: Any) -> Any:
            exchange = _begin(current, request, everything)
            if exchange is None:
                return await original(transport, request)
            try:
                with within():
                    response = await original(transport, request)
            except BaseException as error:
                exchange.failed(error)
                raise
            _answered(exchange, response, _AsyncStream)
            return response

        return handle_async_request

    return wrap


def _begin(current: Current, request: Any, everything: bool) -> Exchange | None:
    def make(sink: Taker) -> Exchange:
        url, headers = str(request.url), request.headers.raw
        return Exchange(sink, request.method, url, headers, _body_of(request), everything=everything)

    return begin(current, make)


def _body_of(request: Any) -> bytes | None:
    """The body, None where it is a stream that nobody has read yet."""
    try:
        return bytes(request.content)
    except Exception as error:
        if type(error).__name__ == "RequestNotRead":
            return None
        raise


def _answered(exchange: Exchange, response: Any, stream: type[_Stream] | type[_AsyncStream]) -> None:
    try:
        if response.is_closed:
            # It was never a stream; what it holds is decoded.
            exchange.response(response.status_code, response.reason_phrase, response.headers.raw, decoded=True)
            exchange.chunk(response.content)
            exchange.end()
            return
        exchange.response(response.status_code, response.reason_phrase, response.headers.raw)
        if response.status_code == HTTPStatus.SWITCHING_PROTOCOLS:
            exchange.end()
        elif not exchange.is_over:
            library = _library_of(response)
            base = library.SyncByteStream if stream is _Stream else library.AsyncByteStream
            response.stream = _made(stream, base)(response.stream, exchange)
    except Exception as error:
        fail(exchange.sink, error)


class _Stream:
    """A response's stream that tells of each piece it gives. Whatever else is asked of it, the inner one is asked."""

    def __init__(self, inner: Any, exchange: Exchange) -> None:
        self._inner, self._exchange = inner, exchange

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __iter__(self) -> Iterator[bytes]:
        return _Pieces(iter(self._inner), self._exchange)

    def close(self) -> None:
        self._exchange.end(early=True)
        self._inner.close()


class _AsyncStream:
    def __init__(self, inner: Any, exchange: Exchange) -> None:
        self._inner, self._exchange = inner, exchange

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return _AsyncPieces(aiter(self._inner), self._exchange)

    async def aclose(self) -> None:
        self._exchange.end(early=True)
        await self._inner.aclose()


class _Pieces:
    """An iterator and no generator: whoever drops it drops the inner one in the same moment."""

    def __init__(self, inner: Iterator[bytes], exchange: Exchange) -> None:
        self._inner, self._exchange = inner, exchange

    def __iter__(self) -> _Pieces:
        return self

    def __next__(self) -> bytes:
        try:
            piece = next(self._inner)
        except StopIteration:
            self._exchange.end()
            raise
        except BaseException as error:
            self._exchange.failed(error)
            raise
        self._exchange.chunk(piece)
        return piece


class _AsyncPieces:
    def __init__(self, inner: AsyncIterator[bytes], exchange: Exchange) -> None:
        self._inner, self._exchange = inner, exchange

    def __aiter__(self) -> _AsyncPieces:
        return self

    async def __anext__(self) -> bytes:
        try:
            piece = await anext(self._inner)
        except StopAsyncIteration:
            self._exchange.end()
            raise
        except BaseException as error:
            self._exchange.failed(error)
            raise
        self._exchange.chunk(piece)
        return piece
