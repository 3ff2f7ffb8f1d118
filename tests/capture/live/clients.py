"""One request, made with every client that is recorded; each gives the pieces that it read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import aiohttp
import httpx
import httpx2
import requests
import urllib3

from recorder.capture.live import tee_aiohttp, tee_botocore, tee_httpx, tee_urllib3
from tests.capture.live.wire import SECONDS, ListSink

TEES: dict[str, Any] = {
    "httpx": tee_httpx,
    "urllib3": tee_urllib3,
    "aiohttp": tee_aiohttp,
    "botocore": tee_botocore,
}
Pieces = Callable[[bytes], None]


@contextmanager
def taped(*, everything: bool = False) -> Iterator[ListSink]:
    """Everything in the process passes through the tees."""
    sink = ListSink()
    with tees(lambda: sink, everything=everything):
        yield sink


@contextmanager
def tees(current: Callable[[], Any], *, everything: bool = False) -> Iterator[None]:
    for tee in TEES.values():
        tee.install(current, everything=everything)
    try:
        yield
    finally:
        for tee in reversed(TEES.values()):
            tee.uninstall()


def httpx_sync(url: str, body: bytes, piece: Pieces) -> None:
    with httpx.Client(timeout=SECONDS) as client, client.stream("POST", url, content=body) as response:
        for data in response.iter_raw():
            piece(data)


def httpx2_sync(url: str, body: bytes, piece: Pieces) -> None:
    with httpx2.Client(timeout=SECONDS) as client, client.stream("POST", url, content=body) as response:
        for data in response.iter_raw():
            piece(data)


def httpx_async(url: str, body: bytes, piece: Pieces) -> None:
    async def main() -> None:
        async with httpx.AsyncClient(timeout=SECONDS) as client, client.stream("POST", url, content=body) as response:
            async for data in response.aiter_raw():
                piece(data)

    asyncio.run(main())


def httpx2_async(url: str, body: bytes, piece: Pieces) -> None:
    async def main() -> None:
        async with httpx2.AsyncClient(timeout=SECONDS) as client, client.stream("POST", url, content=body) as response:
            async for data in response.aiter_raw():
                piece(data)

    asyncio.run(main())


def requests_stream(url: str, body: bytes, piece: Pieces) -> None:
    with (
        requests.Session() as session,
        session.post(url, data=body, stream=True, timeout=SECONDS) as response,
    ):
        for data in response.raw.stream(2**16, decode_content=False):
            piece(data)


def urllib3_read1(url: str, body: bytes, piece: Pieces) -> None:
    with urllib3.PoolManager() as pool:
        response = pool.request("POST", url, body=body, preload_content=False, timeout=SECONDS)
        while data := response.read1(decode_content=False):
            piece(data)
        response.release_conn()


def urllib3_readline(url: str, body: bytes, piece: Pieces) -> None:
    with urllib3.PoolManager() as pool:
        response = pool.request("POST", url, body=body, preload_content=False, decode_content=False, timeout=SECONDS)
        response.auto_close = False
        while line := response.readline():
            piece(line)
        response.close()


def urllib3_readinto(url: str, body: bytes, piece: Pieces) -> None:
    with urllib3.PoolManager() as pool:
        response = pool.request("POST", url, body=body, preload_content=False, decode_content=False, timeout=SECONDS)
        buffer = bytearray(7)
        while count := response.readinto(buffer):
            piece(bytes(buffer[:count]))
        response.release_conn()


def urllib3_whole(url: str, body: bytes, piece: Pieces) -> None:
    with urllib3.PoolManager() as pool:
        piece(pool.request("POST", url, body=body, decode_content=False, timeout=SECONDS).data)


def aiohttp_any(url: str, body: bytes, piece: Pieces) -> None:
    async def main() -> None:
        timeout = aiohttp.ClientTimeout(total=SECONDS)
        async with (
            aiohttp.ClientSession(timeout=timeout, auto_decompress=False) as session,
            session.post(url, data=body) as response,
        ):
            async for data in response.content.iter_any():
                piece(data)

    asyncio.run(main())


STREAMING = [
    httpx_sync,
    httpx2_sync,
    httpx_async,
    httpx2_async,
    requests_stream,
    urllib3_read1,
    aiohttp_any,
]
"""Clients that give a piece as soon as it is there."""
CLIENTS = [*STREAMING, urllib3_readline, urllib3_readinto, urllib3_whole]
