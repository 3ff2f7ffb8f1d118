"""A reverse proxy that records: any program with a base URL can be recorded, in whatever language it is written.

Bytes pass as they come, in both directions, with their status and headers; only what belongs to one connection
(RFC 9110, section 7.6.1) stays behind. Whatever the recorder does with them happens on the sink's thread.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from recorder.capture.live.exchange import Exchange
from recorder.capture.live.sink import Sink
from recorder.errors import BadInput

_OF_THE_CONNECTION = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
Headers = list[tuple[bytes, bytes]]


class Proxy:
    """Passes requests on to one upstream, and records what passes."""

    def __init__(self, upstream: str, sink: Sink) -> None:
        """`upstream`: `https://api.openai.com`, with a path where it has one. Raises `BadInput` for anything else."""
        self.upstream = upstream.rstrip("/")
        try:
            url = httpx2.URL(self.upstream)
        except httpx2.InvalidURL as error:
            raise BadInput(f"{upstream} is no URL: {error}") from None
        if url.scheme not in ("http", "https") or not url.host or url.query or url.fragment:
            raise BadInput(f"{upstream} is no address of a server: give https://HOST, with a path where it has one")
        self._sink = sink
        # The program's own time limits count, none of ours; and what it would be redirected to is its own affair.
        self._client = httpx2.AsyncClient(timeout=None, follow_redirects=False, trust_env=True)

    async def close(self) -> None:
        """Closes the connections to the upstream."""
        await self._client.aclose()

    async def forward(self, request: Request) -> Response:
        """The upstream's answer to a request."""
        body = await request.body()
        headers = _passed_on(request.headers.raw, leave=(b"host",))
        query = request.scope["query_string"]
        target = self.upstream + _raw_path(request) + (f"?{query.decode('latin-1')}" if query else "")
        exchange = Exchange(self._sink, request.method, target, headers, body)
        try:
            sent = self._client.build_request(request.method, target, headers=headers, content=body)
            # What the client sets by itself the program did not ask for.
            named = {name.lower() for name, _ in headers} | {b"host", b"content-length"}
            for name in [name for name, _ in sent.headers.raw if name.lower() not in named]:
                del sent.headers[name.decode("latin-1")]
            answer = await self._client.send(sent, stream=True)
        except (httpx2.TransportError, httpx2.InvalidURL) as error:
            reason = str(error) or type(error).__name__
            exchange.error(reason)
            return JSONResponse({"error": f"{self.upstream} cannot be reached: {reason}"}, status_code=502)
        exchange.response(answer.status_code, answer.reason_phrase, answer.headers.raw)
        response = StreamingResponse(_pieces(answer, exchange), status_code=answer.status_code)
        response.raw_headers = _passed_on(answer.headers.raw)
        return response


async def _pieces(answer: httpx2.Response, exchange: Exchange) -> AsyncIterator[bytes]:
    """The answer's bytes as the network brought them, their content-coding left on."""
    try:
        async for piece in answer.aiter_raw():
            exchange.chunk(piece)
            yield piece
    except httpx2.TransportError as error:
        exchange.error(str(error) or type(error).__name__)
        raise
    except BaseException:
        exchange.error("the client closed the connection")
        raise
    else:
        exchange.end()
    finally:
        await answer.aclose()


def _passed_on(headers: Headers, leave: tuple[bytes, ...] = ()) -> Headers:
    own = {
        part.strip().lower() for name, value in headers if name.lower() == b"connection" for part in value.split(b",")
    }
    left = _OF_THE_CONNECTION | own | set(leave)
    return [(name, value) for name, value in headers if name.lower() not in left]


def _raw_path(request: Request) -> str:
    raw: bytes = request.scope.get("raw_path") or request.scope["path"].encode()
    return raw.partition(b"?")[0].decode("latin-1")
