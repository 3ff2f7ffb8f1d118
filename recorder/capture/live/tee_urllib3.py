"""What passes through urllib3, and so through requests and botocore.

Seen at the connection: what it sends, and each read of the response of `http.client` below urllib3's own, as the bytes
lie on the wire without their transfer-coding. Two methods of urllib3's that read chunks past `http.client` are wrapped
as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http.client import IncompleteRead
from typing import Any

import urllib3.connection
import urllib3.response

from recorder.capture.live.exchange import Exchange, begin, fail
from recorder.capture.live.items import Current, Taker
from recorder.capture.live.patching import Patch, Patches

_EXCHANGE = "_recorder_exchange"
"""The attribute, of a connection and then of its response, that holds the exchange."""
_SENDING = "_recorder_sending"
"""The attribute of a connection whose request is being sent: a class further out has seen it."""
_DEPTH = "_recorder_depth"
"""How many of a response's methods are running inside one another: only the outermost tells."""

_SKIP = "@@@SKIP_HEADER@@@"
"""What stands for a header that urllib3 must not send (`urllib3.util.SKIP_HEADER`)."""

_installed = Patches()
_teed: dict[type, type] = {}


def install(current: Current, *, everything: bool = False) -> None:
    """Makes every connection in the process pass through here; as for `tee_httpx.install`."""
    _installed.install(*patches(urllib3.connection.HTTPConnection, current, everything))


def uninstall() -> None:
    """Puts back what was there. A second call does nothing."""
    _installed.uninstall()


def patches(connection: type, current: Current, everything: bool) -> list[Patch]:
    """What sees the exchanges of a class of connections."""
    response = urllib3.response.HTTPResponse
    return [
        Patch(connection, "request", _wrap_request(current, everything)),
        Patch(connection, "getresponse", _wrap_getresponse),
        Patch(response, "_handle_chunk", _wrap_handle_chunk),
        Patch(response, "_update_chunk_length", _wrap_update_chunk_length),
    ]


def _wrap_request(current: Current, everything: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
        def request(
            connection: Any, method: str, url: str, body: Any = None, headers: Any = None, *args: Any, **kwargs: Any
        ) -> Any:
            def make(sink: Taker) -> Exchange | None:
                if _SENDING in vars(connection):
                    return None
                pairs = _pairs(headers)
                full = _url(connection, url)
                return Exchange(sink, method, full, pairs, _bytes(body), everything=everything)

            if _SENDING not in vars(connection):
                unanswered: Exchange | None = vars(connection).pop(_EXCHANGE, None)
                if unanswered is not None:
                    unanswered.error("no answer was read")
            exchange = begin(current, make)
            if exchange is None:
                return original(connection, method, url, body, headers, *args, **kwargs)
            setattr(connection, _EXCHANGE, exchange)
            setattr(connection, _SENDING, True)
            try:
                return original(connection, method, url, body, headers, *args, **kwargs)
            except BaseException as error:
                # A server may answer before it has read all, and break the pipe: urllib3 then reads the answer.
                if not isinstance(error, ConnectionError):
                    vars(connection).pop(_EXCHANGE, None)
                    exchange.failed(error)
                raise
            finally:
                vars(connection).pop(_SENDING, None)

        return request

    return wrap


def _wrap_getresponse(original: Callable[..., Any]) -> Callable[..., Any]:
    def getresponse(connection: Any, *args: Any, **kwargs: Any) -> Any:
        exchange: Exchange | None = vars(connection).pop(_EXCHANGE, None)
        if exchange is None or exchange.is_over:
            return original(connection, *args, **kwargs)
        own = vars(connection).get("response_class")
        make = connection.response_class

        def response_class(*args: Any, **kwargs: Any) -> Any:
            response = make(*args, **kwargs)
            _tee(response, exchange)
            return response

        connection.response_class = response_class
        try:
            return original(connection, *args, **kwargs)
        except BaseException as error:
            exchange.failed(error)
            raise
        finally:
            if own is None:
                vars(connection).pop("response_class", None)
            else:
                connection.response_class = own

    return getresponse


def _tee(response: Any, exchange: Exchange) -> None:
    """Makes a response of `http.client` one that tells: its class is replaced, so that no cycle keeps it alive."""
    try:
        kind = type(response)
        if kind not in _teed:
            _teed[kind] = type(kind.__name__, (_Tee, kind), {"__module__": kind.__module__})
        setattr(response, _EXCHANGE, exchange)
        setattr(response, _DEPTH, 0)
        response.__class__ = _teed[kind]
    except Exception as error:
        fail(exchange.sink, error)


class _Tee:
    """The methods of a response of `http.client` by which its body is read."""

    def begin(self) -> None:
        self._told(super().begin, ())  # type: ignore[misc]
        exchange: Exchange = getattr(self, _EXCHANGE)
        status, reason, message = (getattr(self, name, None) for name in ("status", "reason", "msg"))
        exchange.response(status or 0, reason, _pairs(message))

    def read(self, *args: Any) -> Any:
        return self._told(super().read, args, lambda data: data)  # type: ignore[misc]

    def read1(self, *args: Any) -> Any:
        return self._told(super().read1, args, lambda data: data)  # type: ignore[misc]

    def readline(self, *args: Any) -> Any:
        return self._told(super().readline, args, lambda data: data)  # type: ignore[misc]

    def readinto(self, buffer: Any) -> Any:
        return self._told(super().readinto, (buffer,), lambda count: bytes(memoryview(buffer)[:count]))  # type: ignore[misc]

    def close(self) -> None:
        exchange: Exchange = getattr(self, _EXCHANGE)
        if getattr(self, _DEPTH) == 0:
            exchange.end(early=getattr(self, "length", None) != 0)
        super().close()  # type: ignore[misc]

    def __del__(self) -> None:
        getattr(self, _EXCHANGE).abandon()
        setattr(self, _DEPTH, 1)  # What closes itself now tells nothing more.
        super().__del__()  # type: ignore[misc]

    def _told(
        self,
        method: Callable[..., Any],
        args: tuple[Any, ...],
        data_of: Callable[[Any], bytes] | None = None,
        *,
        ends: bool = True,
    ) -> Any:
        """What the method gives; told if it is the outermost one and reads.

        `ends`: whether the response itself then knows that the answer is over.
        """
        depth = getattr(self, _DEPTH)
        if depth:
            return method(*args)
        exchange: Exchange = getattr(self, _EXCHANGE)
        setattr(self, _DEPTH, depth + 1)
        try:
            result = method(*args)
        except BaseException as error:
            if isinstance(error, IncompleteRead):
                exchange.chunk(error.partial)
            exchange.failed(error)
            raise
        finally:
            setattr(self, _DEPTH, depth)
        if data_of is not None:
            try:
                exchange.chunk(data_of(result))
                if ends:
                    self._tell_end(exchange)
            except Exception as error:
                fail(exchange.sink, error)
        return result

    def _tell_end(self, exchange: Exchange) -> None:
        length = getattr(self, "length", None)
        if length == 0:
            exchange.end()
        elif getattr(self, "fp", None) is None:
            if length is None:
                exchange.end()
            else:
                exchange.error(f"the connection closed with {length} bytes of the answer missing")


def _wrap_handle_chunk(original: Callable[..., Any]) -> Callable[..., Any]:
    """Where urllib3 reads a chunk's data itself."""

    def _handle_chunk(response: Any, *args: Any, **kwargs: Any) -> Any:
        below = _outermost(response)
        if below is None:
            return original(response, *args, **kwargs)
        return _Tee._told(below, original, (response, *args), lambda data: data, ends=False)

    return _handle_chunk


def _wrap_update_chunk_length(original: Callable[..., Any]) -> Callable[..., Any]:
    """Where urllib3 reads how long the next chunk is; the last one is of length 0."""

    def _update_chunk_length(response: Any, *args: Any, **kwargs: Any) -> Any:
        below = _outermost(response)
        if below is None:
            return original(response, *args, **kwargs)
        # It closes what it cannot read, and raises then: within, the closing is not told.
        result = _Tee._told(below, original, (response, *args))
        if response.chunk_left == 0:
            getattr(below, _EXCHANGE).end()
        return result

    return _update_chunk_length


def _outermost(response: Any) -> Any:
    """The response of `http.client` below one of urllib3's, if it tells and none of its methods is running."""
    below = getattr(response, "_fp", None)
    return below if isinstance(below, _Tee) and getattr(below, _DEPTH) == 0 else None


def _url(connection: Any, target: str) -> str:
    """The URL of a request target, which is one itself where a proxy is asked."""
    if "://" in target.partition("?")[0]:
        return target
    host = getattr(connection, "_tunnel_host", None) or connection.host
    port = getattr(connection, "_tunnel_port", None) or connection.port
    secure = isinstance(connection, urllib3.connection.HTTPSConnection)
    host = f"[{host}]" if ":" in host and not host.startswith("[") else host
    shown = "" if port in (None, 443 if secure else 80) else f":{port}"
    return f"{'https' if secure else 'http'}://{host}{shown}{target}"


def _pairs(headers: Any) -> list[tuple[str | bytes, str | bytes]]:
    if headers is None:
        return []
    items = headers.items() if isinstance(headers, Mapping) or hasattr(headers, "items") else headers
    return [(name, value if isinstance(value, bytes) else str(value)) for name, value in items if value != _SKIP]


def _bytes(body: Any) -> bytes | None:
    """A body that is there as a whole, None where it is a stream."""
    if body is None:
        return b""
    if isinstance(body, str):
        return body.encode("utf-8", "surrogateescape")
    return bytes(body) if isinstance(body, bytes | bytearray | memoryview) else None
