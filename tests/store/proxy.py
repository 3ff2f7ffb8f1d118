"""A proxy in front of a Postgres server that loses what it is told to lose."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Literal

from sqlalchemy import make_url

Loss = Literal["nothing", "the question", "the answer"]

_FIELDS = b"SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0"
_STARTING = b"E" + (len(_FIELDS) + 4).to_bytes(4, "big") + _FIELDS


class Proxy:
    """Passes on what comes, until a client's message holds `watched`; then both its connections end.

    `the question`: before the server got it; `the answer`: after the server answered, before the client hears.
    """

    def __init__(self, upstream: str | tuple[str, int]) -> None:
        self._upstream = upstream
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self.loses: Loss = "nothing"
        self.watched = b"COMMIT"
        self.starting = 0
        """How many connections the server says it is starting up to."""
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            if self.starting:
                self.starting -= 1
                client.recv(65536)
                client.sendall(_STARTING)
                client.close()
                continue
            if isinstance(self._upstream, str):
                server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                server.connect(self._upstream)
            else:
                server = socket.create_connection(self._upstream)
            dropping = threading.Event()
            for source, sink, is_client in ((client, server, True), (server, client, False)):
                threading.Thread(target=self._pass_on, args=(source, sink, is_client, dropping), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket, is_client: bool, dropping: threading.Event) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if is_client and self.loses != "nothing" and self.watched in data:
                    if self.loses == "the question":
                        break
                    dropping.set()
                if not is_client and dropping.is_set():
                    break
                sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@contextmanager
def proxied(url: str) -> Iterator[tuple[Proxy, str]]:
    """A proxy in front of a URL's server, and the URL through it."""
    parsed = make_url(url)
    host, port = parsed.query.get("host", parsed.host), parsed.port or 5432
    assert isinstance(host, str)
    proxy = Proxy(f"{host}/.s.PGSQL.{port}" if host.startswith("/") else (host, port))
    query = {"sslmode": "disable", "gssencmode": "disable"}
    through = parsed.set(host="127.0.0.1", port=proxy.port, query=query)
    try:
        yield proxy, through.render_as_string(hide_password=False)
    finally:
        proxy.close()
