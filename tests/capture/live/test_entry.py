"""The recorder in a program's own code: what is in the block, or is given to it, is recorded."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import httpx2
import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

import recorder
from recorder.capture.live import endings, hooks
from recorder.capture.live import session as sessions
from recorder.capture.live.session import Session, current, settled
from recorder.errors import BadInput
from tests.capture.live.test_sink import whole
from tests.capture.live.wire import Answer, Server, serving
from tests.capture.live.words import Word
from tests.capture.made import CALL, calls, sse
from tests.databases import made

README = Path(__file__).parents[3] / "README.md"
CHAT = "/v1/chat/completions"


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The commands' own database. Every session that a test leaves is ended."""
    path = made(tmp_path / "runs.db")
    monkeypatch.setenv("REC_DATABASE", str(path))
    yield path
    for session in sessions._running[:]:
        session.stop()


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        running.answers[CHAT] = Answer([sse(*CALL, "[DONE]")])
        yield running


def model() -> GenericFakeChatModel:
    return GenericFakeChatModel(messages=iter([AIMessage("hello big world")]))


def texts(database: Path, stream: str) -> list[str]:
    with recorder.open(database, readonly=True) as log:
        return [message["text"] for message in log.state(stream).messages]


def streams(database: Path) -> list[str]:
    with recorder.open(database, readonly=True) as log:
        return [head.name for head in log.streams()]


def said(database: Path, stream: str) -> list[str]:
    with recorder.open(database, readonly=True) as log:
        return [event.body.decode()[9:-2] for event in log.events(stream)]


def put(text: str) -> None:
    sink = current()
    assert sink is not None
    sink.put(Word(text))


def test_what_is_in_the_block_is_recorded(database: Path, server: Server) -> None:
    with recorder.capture("monday"):
        assert model().invoke("hi").content == "hello big world"
        assert httpx.post(server.url + CHAT, json={"model": "m", "messages": []}).status_code == 200
    model().invoke("hi")
    httpx.post(server.url + CHAT, json={"model": "m", "messages": []})
    assert texts(database, "monday")[0] == "hello big world"
    with recorder.open(database, readonly=True) as log:
        assert calls(log, "monday") == [("c1", "add", '{"a": 1}', {"a": 1}, "complete")]
        assert [event.kind for event in log.events("monday")].count("http.request") == 1
    assert streams(database) == ["monday"]
    whole(database)


def test_the_example_of_the_readme(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = re.findall(r"```python\n([^`]*recorder\.capture\([^`]*)```", README.read_text("utf-8"))
    asked: list[Any] = []

    def invoke(inputs: dict[str, Any]) -> None:
        asked.append(model().invoke(inputs["messages"]))

    monkeypatch.setitem(sys.modules, "my_agent", SimpleNamespace(agent=SimpleNamespace(invoke=invoke)))
    exec(example, {})
    assert len(example.splitlines()) == 5
    assert texts(database, "monday")[-1] == asked[0].content == "hello big world"


def test_nothing_is_left_behind(database: Path) -> None:
    def state() -> tuple[Any, ...]:
        finders = list(sys.meta_path)
        return (os._exit, os.execv, signal.getsignal(15), finders, httpx.HTTPTransport.__dict__["handle_request"])

    before = state()
    with recorder.capture("a"), recorder.capture("b"):
        assert state() != before
    assert state() == before
    assert current() is None


def test_async_with_and_tasks_keep_their_sessions_apart(database: Path) -> None:
    async def one(name: str) -> None:
        async with recorder.capture(name):
            for number in range(20):
                await asyncio.sleep(0)
                put(f"{name} {number}")
                await asyncio.to_thread(put, f"{name} {number} thread")

    async def main() -> None:
        await asyncio.gather(*(one(f"s{number}") for number in range(10)))

    asyncio.run(main())
    for number in range(10):
        expected = [f"s{number} {n}{end}" for n in range(20) for end in ("", " thread")]
        assert said(database, f"s{number}") == expected
    whole(database)


def test_a_thread_without_context_records_into_the_newest(database: Path) -> None:
    with recorder.capture("outer"), recorder.capture("inner"):
        thread = threading.Thread(target=put, args=("thread",))
        thread.start()
        thread.join()
        with ThreadPoolExecutor(1) as pool:
            pool.submit(put, "pool").result()
    assert said(database, "inner") == ["thread", "pool"]
    assert streams(database) == ["inner"]


def test_an_exception_in_the_block_passes_and_all_is_kept(database: Path) -> None:
    def fail() -> None:
        with recorder.capture("a"):
            put("before")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert said(database, "a") == ["before"]


def test_a_name_that_is_taken_and_one_that_cannot_be(database: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for text in ("1", "2"):
        with recorder.capture("a"):
            put(text)
    other = next(name for name in streams(database) if name != "a")
    assert (said(database, "a"), said(database, other)) == (["1"], ["2"])
    assert capfd.readouterr().err == f"recorder: stream {other!r}: there was a stream 'a' already\n"
    with pytest.raises(BadInput, match="latest"):
        recorder.capture("latest")


def test_a_path_holds_where_the_program_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").mkdir()
    monkeypatch.chdir(tmp_path / "a")
    session = recorder.capture("s", database="../x.db").start()
    monkeypatch.chdir(tmp_path)
    put("a")
    session.stop()
    assert said(tmp_path / "x.db", "s") == ["a"]
    monkeypatch.chdir(tmp_path)
    assert settled("sqlite:///x.db?mode=rw") == f"sqlite:///{tmp_path / 'x.db'}?mode=rw"
    assert settled("postgresql://h/n") == "postgresql://h/n"


def test_a_callback_records_its_runs_and_no_others(database: Path) -> None:
    callback = recorder.callback()
    model().invoke("not seen")
    model().invoke("seen", config={"callbacks": [callback]})
    (session,) = sessions._running
    session.stop()
    assert texts(database, session.stream)[-1] == "hello big world"
    with recorder.open(database, readonly=True) as log:
        assert b"not seen" not in b"".join(event.body for event in log.events(session.stream))
    assert streams(database) == [session.stream]


def test_a_callback_inside_a_block_records_into_it_once(database: Path) -> None:
    with recorder.capture("a"):
        model().invoke("hi", config={"callbacks": [recorder.callback()]})
    with recorder.open(database, readonly=True) as log:
        assert [event.kind for event in log.events("a")].count("on_chat_model_start") == 1
    assert streams(database) == ["a"]


@pytest.mark.filterwarnings("ignore:astream_events version='v1'")
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_stream_of_events_passes_and_is_recorded(database: Path, version: Any) -> None:
    async def main() -> list[str]:
        events = model().astream_events("hi", version=version)
        return [event["event"] async for event in recorder.record(events)]

    seen = asyncio.run(main())
    (session,) = sessions._running
    session.stop()
    with recorder.open(database, readonly=True) as log:
        assert [event.kind for event in log.events(session.stream)] == seen
    assert texts(database, session.stream)[-1] == "hello big world"


@pytest.mark.parametrize("library", [httpx, httpx2])
def test_a_transport_records_what_passes(database: Path, server: Server, library: Any) -> None:
    async def ask() -> bytes:
        inner = recorder.async_transport(library.AsyncHTTPTransport())
        async with library.AsyncClient(transport=inner) as client:
            return (await client.post(server.url + CHAT, json={"model": "m"})).content

    with library.Client(transport=recorder.transport(library.HTTPTransport())) as client:
        assert client.post(server.url + CHAT, json={"model": "m"}).content == sse(*CALL, "[DONE]")
    assert asyncio.run(ask()) == sse(*CALL, "[DONE]")
    with library.Client() as client:
        client.post(server.url + CHAT, json={"model": "other"})
    (session,) = sessions._running
    session.stop()
    with recorder.open(database, readonly=True) as log:
        requests = [event for event in log.events(session.stream) if event.kind == "http.request"]
    assert [b"other" in request.body for request in requests] == [False, False]


def test_a_transport_inside_a_block_records_an_exchange_once(database: Path, server: Server) -> None:
    with recorder.capture("a"), httpx.Client(transport=recorder.transport(httpx.HTTPTransport())) as client:
        client.post(server.url + CHAT, json={"model": "m"})
    with recorder.open(database, readonly=True) as log:
        assert [event.kind for event in log.events("a")].count("http.request") == 1


def test_a_session_that_does_not_listen_takes_only_what_is_given_to_it(database: Path) -> None:
    session = Session("own", listens=False).start()
    assert current() is None
    assert hooks._hooks not in sys.meta_path
    session.sink.put(Word("a"))
    session.stop()
    assert said(database, "own") == ["a"]
    assert endings._leave is None
