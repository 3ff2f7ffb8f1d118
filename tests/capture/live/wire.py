"""A server that plays answers with pauses, and sinks that keep what is put into them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

from msgspec import Struct, field
from uuid_utils import uuid7

from recorder.capture.live.items import Item
from recorder.dialects import base
from recorder.events import NewEvent
from recorder.events.framing import frame_of
from recorder.ledger import Ledger

SECONDS = 30
"""How long anything waits before a test fails."""
STREAM = bytes(16)
HEADS = (base.REQUEST, base.RESPONSE, base.END, base.ERROR)


class Answer(Struct):
    """What the server says: `pieces` in turn, each when `gate` (called with its number) returns."""

    pieces: list[bytes]
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "text/event-stream"})
    status: int = 200
    framing: Literal["chunked", "length", "close"] = "chunked"
    breaks: bool = False
    """Whether the connection is cut behind the last piece."""
    gate: Callable[[int], object] = lambda number: None

    @property
    def body(self) -> bytes:
        return b"".join(self.pieces)


class Server:
    """Answers by path (without the query); `requests` are the bodies it got."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.answers: dict[str, Answer] = {}
        self.requests: list[bytes] = []


@contextmanager
def serving() -> Iterator[Server]:
    with _Threads(("127.0.0.1", 0), _Handler) as http:
        server = http.played = Server(f"http://127.0.0.1:{http.server_port}")  # type: ignore[attr-defined]
        thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            http.shutdown()
            thread.join(SECONDS)


class _Threads(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away early is what some tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        server: Server = self.server.played  # type: ignore[attr-defined]
        server.requests.append(self._request_body())
        answer = server.answers[self.path.partition("?")[0]]
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.framing == "chunked":
            self.send_header("transfer-encoding", "chunked")
        elif answer.framing == "length":
            self.send_header("content-length", str(len(answer.body) + (9 if answer.breaks else 0)))
        else:
            self.send_header("connection", "close")
        self.end_headers()
        for number, piece in enumerate(answer.pieces):
            answer.gate(number)
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if answer.framing == "chunked" else piece)
        if answer.framing == "chunked" and not answer.breaks:
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = answer.breaks or answer.framing == "close"

    do_GET = do_POST

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the tests' output is theirs."""

    def _request_body(self) -> bytes:
        if self.headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("content-length", 0)))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body


class ListSink:
    """Keeps the items; reads them when asked."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.failures: list[BaseException] = []
        self._read: list[NewEvent] = []

    def put(self, item: Item) -> None:
        self.items.append(item)

    def failed(self, where: str, error: BaseException) -> None:
        self.failures.append(error)

    @property
    def events(self) -> list[NewEvent]:
        """What the items that came so far come to. Nothing of the recorder has failed."""
        assert self.failures == []
        while self.items:
            self._read += self.items.pop(0).events(STREAM, lambda: uuid7().bytes)
        return self._read

    @property
    def kinds(self) -> list[str]:
        """The kinds of all events, frames as `.`."""
        return [event.kind if event.kind in HEADS else "." for event in self.events]

    @property
    def body(self) -> bytes:
        return body_of(self.events)

    def store(self, ledger: Ledger, stream: str) -> None:
        ledger.writer(stream).append(self.events)


def body_of(events: list[NewEvent]) -> bytes:
    return b"".join(frame_of(event) for event in events)


def shape(sink: ListSink) -> str:
    """The kinds in short: `request response . end`, any number of frames as one point."""
    words: list[str] = []
    for kind in sink.kinds:
        word = kind.removeprefix("http.")
        if word != "." or words[-1:] != ["."]:
            words.append(word)
    return " ".join(words)
