"""`rec serve`: the recording proxy and the intake of posted events, on one port."""

from __future__ import annotations

import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from recorder.capture.live.posted import Posts
from recorder.capture.live.proxy import Proxy
from recorder.errors import BadInput
from recorder.ledger import Ledger

_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


def application(ledger: Ledger, proxy: Proxy | None) -> Starlette:
    """The ASGI application: `POST /streams/NAME/events` takes events, everything else goes to the proxy's upstream."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        if proxy is not None:
            await proxy.close()

    async def refuse(_: Request) -> Response:
        error = "rec serve takes POST /streams/NAME/events; with --record URL it passes everything else on to that URL"
        return JSONResponse({"error": error}, status_code=404)

    routes = [
        Route("/streams/{name:path}/events", Posts(ledger).take, methods=["POST"]),
        Route("/{path:path}", proxy.forward if proxy is not None else refuse, methods=_METHODS),
    ]
    return Starlette(routes=routes, lifespan=lifespan)


def serve(application: Starlette, host: str, port: int, started: Callable[[str], None]) -> None:
    """Serves until it is told to stop by SIGINT or SIGTERM. `started` gets the address; port 0 takes a free one.

    Raises `BadInput` where the address cannot be had.
    """
    listening = _listening(host, port)
    config = uvicorn.Config(
        application,
        # What breaks between the two is in the log, not on the terminal.
        log_level="critical",
        access_log=False,
        # The upstream's own are passed on.
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=5,
        ws="none",
    )
    shown = f"[{host}]" if ":" in host else host
    started(f"http://{shown}:{listening.getsockname()[1]}")
    _Server(config).run(sockets=[listening])


class _Server(uvicorn.Server):
    """As uvicorn's, but a signal that ended it is not raised again: what was recorded is still to be written."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
        found.listen(128)
    except (OSError, OverflowError) as error:
        found.close()
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise BadInput(f"{host}:{port} cannot be listened on: {reason}: give another --port") from None
    return found
