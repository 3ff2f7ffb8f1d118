"""What passes through the clients is recorded, and the program sees what it would see without."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import aiohttp
import httpx
import httpx2
import pytest
import requests
import vcr
import zstandard

from recorder.capture.live import tee_httpx
from recorder.ledger import Ledger
from recorder.replay import emit
from tests.capture.live.clients import CLIENTS, STREAMING, TEES, httpx_async, httpx_sync, requests_stream, taped, tees
from tests.capture.live.wire import SECONDS, Answer, ListSink, Server, body_of, serving, shape
from tests.capture.made import CALL, calls, sse

CHAT = "/v1/chat/completions"
BODY = sse(*CALL, "[DONE]")
PIECES = [BODY[start : start + 50] for start in range(0, len(BODY), 50)]
QUESTION = b'{"model":"m","messages":[{"role":"user","content":"1+2?"}],"stream":true}'
SHAPE = "request response . end"


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


def read(client: Any, url: str, body: bytes = QUESTION) -> tuple[list[bytes], str | None]:
    """The pieces that a client gives, and the exception with which it ends."""
    pieces: list[bytes] = []
    try:
        client(url, body, pieces.append)
    except Exception as error:
        return pieces, type(error).__name__
    return pieces, None


@pytest.mark.parametrize("framing", ["chunked", "length", "close"])
@pytest.mark.parametrize("client", CLIENTS)
def test_an_exchange_is_recorded_as_it_is_on_the_wire(
    client: Any, framing: Any, server: Server, ledger: Ledger
) -> None:
    server.answers[CHAT] = Answer(PIECES, framing=framing)
    with taped() as sink:
        pieces, error = read(client, server.url + CHAT)
    assert (b"".join(pieces), error) == (BODY, None)
    assert shape(sink) == SHAPE
    request, response, end = (event for event in sink.events if event.kind.startswith("http."))
    assert request.body == QUESTION == server.requests[0]
    assert json.loads(request.meta or b"")["url"] == server.url + CHAT
    assert json.loads(request.meta or b"")["method"] == "POST"
    assert json.loads(response.meta or b"")["status"] == 200
    assert json.loads(response.meta or b"")["reason"] == "OK"
    assert end.meta is None
    assert {(event.dialect, event.run_id) for event in sink.events} == {("openai.chat", request.run_id)}
    times = [event.arrived_at for event in sink.events]
    assert times == sorted(times)
    sink.store(ledger, "x")
    assert b"".join(emit(ledger, "x", "raw")) == QUESTION.replace(QUESTION, b"") + BODY
    assert calls(ledger, "x") == [("c1", "add", '{"a": 1}', {"a": 1}, "complete")]


@pytest.mark.parametrize("client", STREAMING)
def test_a_piece_is_there_before_the_next_one_is_sent(client: Any, server: Server) -> None:
    read_so_far = threading.Semaphore(0)

    def gate(number: int) -> None:
        assert number == 0 or read_so_far.acquire(timeout=SECONDS)

    server.answers[CHAT] = Answer(PIECES, gate=gate)
    pieces: list[bytes] = []

    def piece(data: bytes) -> None:
        pieces.append(data)
        read_so_far.release()

    with taped() as sink:
        client(server.url + CHAT, QUESTION, piece)
    assert pieces == PIECES
    assert sink.body == BODY
    frames = [event for event in sink.events if not event.kind.startswith("http.")]
    cuts = [json.loads(event.cuts or b"[]") for event in frames]
    starts = [len(body_of(frames[:number])) for number in range(len(frames))]
    inner = [start + offset for start, found in zip(starts, cuts, strict=True) for offset, _ in found]
    assert inner == [50 * number for number in range(1, len(PIECES)) if 50 * number not in starts]
    for frame, found in zip(frames, cuts, strict=True):
        assert all(moment <= frame.arrived_at for _, moment in found)


@pytest.mark.parametrize("framing", ["chunked", "length"])
@pytest.mark.parametrize("client", CLIENTS)
def test_an_answer_that_breaks_off(client: Any, framing: Any, server: Server) -> None:
    server.answers[CHAT] = Answer(PIECES[:3], framing=framing, breaks=True)
    _, without = read(client, server.url + CHAT)
    with taped() as sink:
        pieces, error = read(client, server.url + CHAT)
    assert error == without
    assert error is not None or (client.__name__ == "urllib3_read1" and framing == "length")
    assert shape(sink) == "request response . error"
    assert json.loads(sink.events[-1].meta or b"")["error"]
    assert sink.body.startswith(b"".join(pieces))
    assert b"".join(PIECES[:3]).startswith(sink.body)


def closed_by_httpx(url: str) -> None:
    with httpx.Client() as client, client.stream("POST", url, content=QUESTION) as response:
        next(response.iter_raw())


def closed_by_requests(url: str) -> None:
    with requests.post(url, data=QUESTION, stream=True, timeout=SECONDS) as response:
        next(response.iter_content(None))


def dropped_by_requests(url: str) -> None:
    response = requests.post(url, data=QUESTION, stream=True, timeout=SECONDS)
    next(response.iter_content(None))
    response.close()


def closed_by_aiohttp(url: str) -> None:
    async def main() -> None:
        async with aiohttp.ClientSession() as session, session.post(url, data=QUESTION) as response:
            await response.content.readany()

    asyncio.run(main())


def closed_by_async_httpx2(url: str) -> None:
    async def main() -> None:
        async with httpx2.AsyncClient() as client, client.stream("POST", url, content=QUESTION) as response:
            await anext(response.aiter_raw())

    asyncio.run(main())


@pytest.mark.parametrize(
    "close", [closed_by_httpx, closed_by_requests, dropped_by_requests, closed_by_aiohttp, closed_by_async_httpx2]
)
def test_a_program_that_closes_early_is_no_error(close: Any, server: Server, ledger: Ledger) -> None:
    stopped = threading.Event()
    server.answers[CHAT] = Answer([BODY[:200], BODY[200:]], gate=lambda number: number == 0 or stopped.wait(SECONDS))
    with taped() as sink:
        close(server.url + CHAT)
    stopped.set()
    assert shape(sink) == SHAPE
    assert json.loads(sink.events[-1].meta or b"") == {"closed_early": True}
    assert sink.body == BODY[:200]
    sink.store(ledger, "x")
    assert [call[4] for call in calls(ledger, "x")] == ["truncated"]


@pytest.mark.parametrize("library", ["httpx", "httpx2", "aiohttp"])
def test_a_task_that_is_cancelled(library: str, server: Server) -> None:
    stopped = threading.Event()
    server.answers[CHAT] = Answer([BODY[:200], BODY[200:]], gate=lambda number: number == 0 or stopped.wait(SECONDS))

    async def run(begun: asyncio.Event) -> None:
        if library == "aiohttp":
            async with aiohttp.ClientSession() as session, session.post(server.url + CHAT, data=QUESTION) as response:
                async for _ in response.content.iter_any():
                    begun.set()
        else:
            module = httpx if library == "httpx" else httpx2
            async with module.AsyncClient() as client, client.stream("POST", server.url + CHAT) as response:
                async for _ in response.aiter_raw():
                    begun.set()

    async def main() -> None:
        begun = asyncio.Event()
        task = asyncio.create_task(run(begun))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with taped() as sink:
        asyncio.run(main())
    stopped.set()
    assert shape(sink) in ("request response . error", SHAPE)
    last = json.loads(sink.events[-1].meta or b"")
    assert last == {"closed_early": True} or last["error"].startswith("CancelledError")


def test_a_server_that_is_not_there(ledger: Ledger) -> None:
    url = "http://127.0.0.1:1" + CHAT
    for client in CLIENTS:
        without = read(client, url)
        with taped() as sink:
            assert read(client, url) == without
        # aiohttp connects before it has a request to send; urllib3 tries again.
        tries = 0 if client is CLIENTS[6] else 4 if client.__name__.startswith("urllib3") else 1
        assert sink.kinds == ["http.request", "http.error"] * tries, client


CODED = {
    "gzip": gzip.compress(BODY, mtime=0),
    "deflate": zlib.compress(BODY),
    "zstd": zstandard.ZstdCompressor().compress(BODY),
}


@pytest.mark.parametrize("coding", CODED)
@pytest.mark.parametrize("client", CLIENTS)
def test_an_answer_with_a_content_coding(client: Any, coding: str, server: Server) -> None:
    data = CODED[coding]
    pieces = [data[start : start + 30] for start in range(0, len(data), 30)]
    headers = {"content-type": "text/event-stream", "content-encoding": coding}
    server.answers[CHAT] = Answer(pieces, headers=headers)
    with taped() as sink:
        found, error = read(client, server.url + CHAT)
    assert (b"".join(found), error) == (data, None)
    assert shape(sink) == SHAPE
    assert sink.body == BODY
    response = json.loads(sink.events[1].meta or b"")
    assert (response["encoding"], response["decoded"]) == (coding, True)


def test_an_answer_that_aiohttp_decodes(server: Server) -> None:
    headers = {"content-type": "text/event-stream", "content-encoding": "gzip"}
    server.answers[CHAT] = Answer([CODED["gzip"]], headers=headers)

    async def main() -> bytes:
        async with aiohttp.ClientSession() as session, session.post(server.url + CHAT, json={"a": 1}) as response:
            return await response.read()

    with taped() as sink:
        assert asyncio.run(main()) == BODY
    assert sink.body == BODY
    assert sink.events[0].body == b'{"a": 1}'
    assert json.loads(sink.events[1].meta or b"")["decoded"] is False


def exchanges(sink: ListSink) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for event in sink.events:
        found.setdefault(event.run_id or "", []).append(event)
    return found


def numbered(server: Server, count: int) -> None:
    for number in range(count):
        body = BODY.replace(b'"c1"', b'"c%d"' % number)
        pieces = [body[start : start + 40] for start in range(0, len(body), 40)]
        server.answers[f"/{number}{CHAT}"] = Answer(pieces)


def check_numbered(sink: ListSink, server: Server, count: int) -> None:
    found = exchanges(sink)
    assert len(found) == count
    for events in found.values():
        url = json.loads(events[0].meta)["url"]
        number = url.removeprefix(server.url).split("/")[1]
        assert events[0].body == number.encode()
        assert body_of(events) == server.answers[f"/{number}{CHAT}"].body
        assert [event.kind for event in events][-1] == "http.end"


def test_threads_at_once_record_each_its_own(server: Server) -> None:
    count = 50
    numbered(server, count)

    def ask(number: int) -> None:
        client = (httpx_sync, requests_stream)[number % 2]
        client(f"{server.url}/{number}{CHAT}", str(number).encode(), lambda data: None)

    with taped() as sink, ThreadPoolExecutor(16) as pool:
        list(pool.map(ask, range(count)))
    check_numbered(sink, server, count)


def test_tasks_at_once_record_each_their_own(server: Server) -> None:
    count = 100
    numbered(server, count)

    async def main() -> None:
        async with (
            httpx.AsyncClient(timeout=SECONDS) as one,
            httpx2.AsyncClient(timeout=SECONDS) as two,
            aiohttp.ClientSession() as three,
        ):

            async def ask(number: int) -> None:
                url, body = f"{server.url}/{number}{CHAT}", str(number).encode()
                if number % 3 == 2:
                    async with three.post(url, data=body) as response:
                        await response.read()
                else:
                    await (one, two)[number % 3].post(url, content=body)

            await asyncio.gather(*map(ask, range(count)))

    with taped() as sink:
        asyncio.run(main())
    check_numbered(sink, server, count)


class Broken(ListSink):
    """A sink of which every part fails."""

    def put(self, item: Any) -> None:
        self.failures.append(RuntimeError("planted"))
        raise RuntimeError("planted")

    def failed(self, where: str, error: BaseException) -> None:
        super().failed(where, error)
        raise RuntimeError("planted")


@pytest.mark.parametrize("client", CLIENTS)
def test_a_sink_that_fails_is_not_seen_by_the_program(client: Any, server: Server) -> None:
    server.answers[CHAT] = Answer(PIECES)
    sink = Broken()
    with tees(lambda: sink):
        pieces, error = read(client, server.url + CHAT)
    assert (b"".join(pieces), error) == (BODY, None)
    assert len(sink.failures) > 4


@pytest.mark.parametrize("client", CLIENTS)
def test_a_tee_that_fails_is_not_seen_by_the_program(
    client: Any, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def planted(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("planted")

    server.answers[CHAT] = Answer(PIECES)
    for target in ("exchange.clock.now", "tee_httpx._made", "tee_aiohttp._tee", "tee_urllib3._url"):
        sink = ListSink()
        with tees(lambda sink=sink: sink), monkeypatch.context() as patched:
            patched.setattr(f"recorder.capture.live.{target}", planted)
            pieces, error = read(client, server.url + CHAT)
        assert (b"".join(pieces), error) == (BODY, None), target

    def nobody() -> Any:
        raise RuntimeError("planted")

    with tees(nobody):
        assert read(client, server.url + CHAT)[1] is None


@pytest.mark.parametrize("client", CLIENTS)
def test_nothing_is_recorded_where_nobody_records(client: Any, server: Server) -> None:
    server.answers[CHAT] = Answer(PIECES)
    with tees(lambda: None):
        assert read(client, server.url + CHAT)[1] is None


OTHER = {
    "page": Answer([b"<html>" + b"x" * 70_000], {"content-type": "text/html"}),
    "document": Answer([b'{"a": 1}'], {"content-type": "application/json"}),
    "image": Answer([bytes(range(256)) * 400], {"content-type": "image/png"}),
    "nothing": Answer([], {}, status=204, framing="length"),
    "redirect": Answer([], {"location": "/page"}, status=302, framing="length"),
}


@pytest.mark.parametrize("what", OTHER)
@pytest.mark.parametrize("client", [httpx_sync, httpx_async, requests_stream, CLIENTS[6]])
def test_what_is_no_model_traffic_leaves_no_trace(client: Any, what: str, server: Server) -> None:
    server.answers.update({f"/{name}": answer for name, answer in OTHER.items()})
    with taped() as sink:
        pieces, error = read(client, f"{server.url}/{what}", b"{}")
    assert error is None
    assert sink.events == []
    with taped(everything=True) as sink:
        again, error = read(client, f"{server.url}/{what}", b"{}")
    assert (b"".join(again), error) == (b"".join(pieces), None)
    assert shape(sink).startswith("request response")
    assert shape(sink).endswith("end")
    assert sink.body == b"".join(pieces) or what == "redirect"


UNKNOWN_URL = {
    "streamed": (Answer([b'data: {"some": 1}\n\n', b"data: x\n\n"]), "unknown"),
    "shown by frames": (Answer(PIECES, {"content-type": "text/plain"}), "openai.chat"),
    "a document": (
        Answer([b'{"object": "chat.completion", "choices": [', b'{"message": {}}]}'], {}, framing="length"),
        "openai.chat",
    ),
}


@pytest.mark.parametrize("what", UNKNOWN_URL)
def test_model_traffic_that_no_url_tells(what: str, server: Server) -> None:
    server.answers["/v9/talk"], dialect = UNKNOWN_URL[what]
    with taped() as sink:
        httpx_sync(server.url + "/v9/talk", b"{}", lambda data: None)
    assert shape(sink) == SHAPE
    assert sink.body == server.answers["/v9/talk"].body
    assert {event.dialect for event in sink.events if not event.kind.startswith("http.")} == {dialect}


def test_a_stream_that_is_sent_is_not_read_ahead(server: Server) -> None:
    server.answers[CHAT] = Answer(PIECES)
    taken: list[int] = []

    def upload() -> Iterator[bytes]:
        for number in range(3):
            taken.append(number)
            yield b"part %d " % number

    with taped() as sink:
        response = httpx.post(server.url + CHAT, content=upload())
        requests.post(server.url + CHAT, data=upload(), timeout=SECONDS).close()
    assert response.content == BODY
    assert taken == [0, 1, 2] * 2
    assert server.requests == [b"part 0 part 1 part 2 "] * 2
    requests_seen = [event for event in sink.events if event.kind == "http.request"]
    assert [event.body for event in requests_seen] == [b"", b""]
    assert all(json.loads(event.meta or b"")["unrecorded"] for event in requests_seen)


@pytest.mark.parametrize("library", [httpx, httpx2])
def test_transports_wrap_any_other(library: Any, server: Server) -> None:
    server.answers[CHAT] = Answer(PIECES)
    sink = ListSink()
    wrapped = tee_httpx.transport(library.HTTPTransport(), lambda: sink)
    with library.Client(transport=wrapped) as client:
        assert client.post(server.url + CHAT, content=QUESTION).content == BODY
    made = library.MockTransport(lambda request: library.Response(200, content=BODY))
    with library.Client(transport=tee_httpx.transport(made, lambda: sink)) as client:
        assert client.post("https://api.example.test" + CHAT, content=QUESTION).content == BODY

    async def main() -> None:
        wrapped = tee_httpx.async_transport(library.AsyncHTTPTransport(), lambda: sink)
        async with library.AsyncClient(transport=wrapped) as client:
            assert (await client.post(server.url + CHAT, content=QUESTION)).content == BODY

    asyncio.run(main())
    assert shape(sink) == " ".join([SHAPE] * 3)
    assert sink.body == BODY * 3


def test_an_exchange_that_is_seen_twice_is_recorded_once(server: Server) -> None:
    server.answers[CHAT] = Answer(PIECES)
    with taped() as sink:
        wrapped = tee_httpx.transport(tee_httpx.transport(httpx.HTTPTransport(), lambda: sink), lambda: sink)
        with httpx.Client(transport=wrapped) as client:
            client.post(server.url + CHAT, content=QUESTION)
    assert shape(sink) == SHAPE
    assert sink.body == BODY


def patched() -> dict[str, Any]:
    import botocore.awsrequest
    import urllib3.connection
    import urllib3.response
    from aiohttp import client_reqrep

    owners = [
        *(httpx.HTTPTransport, httpx.AsyncHTTPTransport, httpx2.HTTPTransport, httpx2.AsyncHTTPTransport),
        *(urllib3.connection.HTTPConnection, urllib3.response.HTTPResponse),
        *(botocore.awsrequest.AWSHTTPConnection, botocore.awsrequest.AWSHTTPSConnection),
        *(client_reqrep.ClientRequest, client_reqrep.ClientResponse),
    ]
    return {f"{owner.__module__}.{owner.__qualname__}": dict(vars(owner)) for owner in owners}


def test_what_was_there_is_put_back(server: Server) -> None:
    before = patched()
    for _ in range(3):
        with taped():
            installed = patched()
            assert sum(installed[owner] != before[owner] for owner in before) == len(before)
            for tee in TEES.values():
                tee.install(lambda: None)
            assert patched() == installed
        assert patched() == before
        for tee in TEES.values():
            tee.uninstall()
        assert patched() == before


@pytest.mark.parametrize("client", [httpx_sync, httpx_async, requests_stream, CLIENTS[6]])
def test_another_program_that_patches_meanwhile(client: Any, server: Server, tmp_path: Path) -> None:
    server.answers[CHAT] = Answer(PIECES)
    before, sink = patched(), ListSink()
    url = server.url + CHAT
    with vcr.use_cassette(str(tmp_path / "before.yaml")):
        inside = patched()
        with tees(lambda: sink):
            assert b"".join(read(client, url)[0]) == BODY
        assert patched() == inside
    assert patched() == before
    for tee in TEES.values():
        tee.install(lambda: sink)
    with vcr.use_cassette(str(tmp_path / "after.yaml")):
        read(client, url)
        for tee in TEES.values():
            tee.uninstall()
        assert b"".join(read(client, url)[0]) == BODY
    count = len(sink.items)
    assert b"".join(read(client, url)[0]) == BODY
    assert len(sink.items) == count, "it is away, whoever holds on to it"
    with taped() as again:
        read(client, url)
    assert shape(again) == SHAPE
    assert "interactions" in (tmp_path / "after.yaml").read_text()


def test_secrets_do_not_pass(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REC_REDACT", "x-team, /weather-\\d+/")
    server.answers[CHAT] = Answer([PIECES[0], sse('{"choices": [{"delta": {"content": "weather-42"}}]}')])
    headers = {"authorization": "Bearer s3cret", "X-Team": "s3cret", "cookie": "s3cret"}
    with taped() as sink:
        url = f"{server.url}{CHAT}?key=s3cret&x-team=s3cret"
        httpx.post(url, headers=headers, content=b'{"messages": [{"content": "weather-42"}]}')
        requests.post(url, headers=headers, data=b'{"messages": [{"content": "weather-42"}]}', timeout=SECONDS)
    kept = b"".join(repr(event).encode() for event in sink.events)
    assert b"s3cret" not in kept
    assert b"weather-42" not in kept
    marks = {mark for event in sink.events for mark in (event.redacted or "").split(", ")}
    lower = {mark.lower() for mark in marks}
    assert {"header:authorization", "header:x-team", "query:key", "query:x-team", "body:rule"} <= lower


def test_an_answer_that_the_collector_finds_takes_no_lock(server: Server) -> None:
    """The garbage collector may run while this thread is inside the sink: then nothing may be put."""
    stopped = threading.Event()
    server.answers[CHAT] = Answer([BODY[:200], BODY[200:]], gate=lambda number: number == 0 or stopped.wait(SECONDS))
    with taped() as sink:
        response = requests.post(server.url + CHAT, data=QUESTION, stream=True, timeout=SECONDS)
        next(response.iter_content(None))
        below = response.raw._fp
        before = len(sink.items)
        below.__del__()
        assert len(sink.items) == before
        stopped.set()
        server.answers["/other"] = OTHER["document"]
        httpx_sync(server.url + "/other", b"{}", lambda data: None)
        response.close()
    assert shape(sink) == SHAPE
    assert json.loads(sink.events[-1].meta or b"") == {"closed_early": True}


def test_a_connection_that_was_left_without_an_answer_is_used_again(server: Server) -> None:
    from urllib3.connection import HTTPConnection

    server.answers[CHAT] = Answer(PIECES)
    host, port = server.url.removeprefix("http://").split(":")
    with taped() as sink:
        connection = HTTPConnection(host, int(port))
        connection.request("POST", CHAT, body=QUESTION, preload_content=False)
        connection.close()
        connection.request("POST", CHAT, body=QUESTION, preload_content=False)
        assert connection.getresponse().read() == BODY
        connection.close()
    assert shape(sink) == f"request error {SHAPE}"
