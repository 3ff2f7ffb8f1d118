"""`rec serve`: programs that know nothing of it get what their server says, and the log has it."""

from __future__ import annotations

import gzip
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

import recorder
from recorder.capture import capture_file
from recorder.events.framing import frame_of
from recorder.ledger import Ledger
from tests.capture.live.wire import Answer, Server, serving
from tests.databases import made
from tests.streams import CASSETTES, events_of, state_of

SSE = (CASSETTES / "weather.sse").read_bytes()
FRAMES = [block + b"\n\n" for block in SSE.split(b"\n\n") if block]
PATH = "/v1/chat/completions"
REQUEST = {"model": "demo-1", "stream": True, "messages": [{"role": "user", "content": "Weather?"}]}


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as played:
        yield played


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return made(tmp_path / "runs.db")


@contextmanager
def rec_serve(database: Path, *arguments: str) -> Iterator[str]:
    """A running `rec serve`; gives its address, and holds that it ends well."""
    command = [sys.executable, "-m", "recorder", "serve", "-d", str(database), "--port", "0", *arguments]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        yield process.stderr.readline().split()[0]
    finally:
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, "Traceback" in said) == (0, False), said


def answers(database: Path, stream: str = "s") -> list[bytes]:
    """The bodies of the answers in a stream, in the order of their exchanges."""
    with recorder.open(database, readonly=True) as ledger:
        bodies: dict[str, bytes] = {}
        for event in ledger.events(stream):
            bodies.setdefault(event.run_id or "", b"")
            if not event.kind.startswith("http."):
                bodies[event.run_id or ""] += frame_of(event)
        return list(bodies.values())


def calls(database: Path, stream: str = "s") -> list[str]:
    with recorder.open(database, readonly=True) as ledger:
        state = ledger.state(stream).to_dict()
    return [call["name"] for message in state["messages"] for call in message["calls"]]


def test_an_answer_passes_as_it_comes_and_is_recorded(server: Server, database: Path) -> None:
    seen = threading.Event()
    # The server goes on only when the client has what was sent so far.
    server.answers[PATH] = Answer(FRAMES, gate=lambda number: number < 2 or seen.wait(30))
    with (
        rec_serve(database, "--record", server.url, "--name", "s") as address,
        httpx2.stream("POST", address + PATH, json=REQUEST, headers={"authorization": "Bearer planted-key"}) as answer,
    ):
        got = b""
        for piece in answer.iter_raw():
            got += piece
            if got.startswith(b"".join(FRAMES[:2])):
                seen.set()
    assert (answer.status_code, got) == (200, SSE)
    assert json.loads(server.requests[0]) == REQUEST
    assert answers(database) == [SSE]
    assert calls(database) == ["get_weather"]
    for file in database.parent.iterdir():
        assert b"planted-key" not in file.read_bytes(), file


def test_what_the_server_says_reaches_the_program_unchanged(server: Server, database: Path) -> None:
    headers = {"content-type": "text/event-stream", "content-encoding": "gzip", "x-request-id": "r-1"}
    server.answers[PATH] = Answer([gzip.compress(SSE)], headers=headers, framing="length")
    server.answers["/v1/busy"] = Answer([b'{"error": {"message": "slow down"}}'], status=429, framing="length")
    with rec_serve(database, "--record", server.url + "/v1", "--name", "s") as address:
        answer = httpx2.post(address + "/chat/completions?a=%20b", json=REQUEST)
        busy = httpx2.post(address + "/busy", json=REQUEST)
    assert (answer.content, answer.headers["x-request-id"]) == (SSE, "r-1")
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["server"].startswith("BaseHTTP"), "the server's own, not the proxy's"
    assert (busy.status_code, busy.json()) == (429, {"error": {"message": "slow down"}})
    assert answers(database)[0] == SSE


def test_a_connection_that_breaks_breaks_for_the_program_too(server: Server, database: Path) -> None:
    server.answers[PATH] = Answer(FRAMES[:3], breaks=True)
    with rec_serve(database, "--record", server.url, "--name", "s") as address:
        got: list[bytes] = []
        with httpx2.stream("POST", address + PATH, json=REQUEST) as answer, pytest.raises(httpx2.RemoteProtocolError):
            got.extend(answer.iter_raw())
    assert answers(database) == [b"".join(FRAMES[:3])]
    with recorder.open(database, readonly=True) as ledger:
        assert [event.kind for event in ledger.events("s")][-1] == "http.error"


def test_a_server_that_is_away_is_told_in_one_line(database: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        away = f"http://127.0.0.1:{free.getsockname()[1]}"
        with rec_serve(database, "--record", away, "--name", "s") as address:
            answer = httpx2.post(address + PATH, json=REQUEST)
    assert answer.status_code == 502
    assert answer.json()["error"].startswith(f"{away} cannot be reached: ")
    with recorder.open(database, readonly=True) as ledger:
        assert [event.kind for event in ledger.events("s")] == ["http.request", "http.error"]


def test_many_programs_at_once(server: Server, database: Path) -> None:
    server.answers[PATH] = Answer(FRAMES, gate=lambda number: time.sleep(0.002))
    bodies: list[bytes] = []
    with rec_serve(database, "--record", server.url, "--name", "s") as address:
        threads = [
            threading.Thread(target=lambda: bodies.append(httpx2.post(address + PATH, json=REQUEST).content))
            for _ in range(20)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert bodies == [SSE] * 20
    assert answers(database) == [SSE] * 20


def test_an_openai_client_needs_nothing_but_its_base_url(server: Server, database: Path) -> None:
    openai = pytest.importorskip("openai")
    server.answers[PATH] = Answer(FRAMES)
    with rec_serve(database, "--record", server.url, "--name", "s") as address:
        client = openai.OpenAI(base_url=f"{address}/v1", api_key="planted-key", max_retries=0)
        chunks = list(client.chat.completions.create(**REQUEST))
    said = "".join(
        call.function.arguments or ""
        for chunk in chunks
        for choice in chunk.choices
        for call in choice.delta.tool_calls or ()
    )
    with recorder.open(database, readonly=True) as ledger:
        state = ledger.state("s").to_dict()
    assert [call["raw"] for message in state["messages"] for call in message["calls"]] == [said]


# Posted events


@pytest.mark.parametrize(("name", "type"), [("agent.jsonl", "application/x-ndjson"), ("weather.sse", "text/plain")])
def test_posted_events_are_what_a_captured_file_is(name: str, type: str, database: Path, tmp_path: Path) -> None:
    data = (CASSETTES / name).read_bytes()
    with rec_serve(database) as address:
        answer = httpx2.post(f"{address}/streams/a/b/events", content=data, headers={"content-type": type})
    assert answer.status_code == 200, answer.text
    with recorder.open(database, readonly=True) as ledger:
        events = list(ledger.events("a/b"))
        state = ledger.state("a/b").to_dict()
    assert answer.json() == {"stream": "a/b", "events": len(events), "last_seq": len(events)}
    assert b"".join(map(frame_of, events)) == data
    assert [message["calls"] for message in state["messages"]] == [
        message["calls"] for message in state_of(events_of(data))["messages"]
    ]


def test_events_that_are_posted_one_by_one_make_one_stream(database: Path) -> None:
    lines = (CASSETTES / "agent.jsonl").read_bytes().splitlines(keepends=True)
    with rec_serve(database) as address, httpx2.Client() as client:
        url = f"{address}/streams/run/events"
        posted = [
            client.post(url, content=line, headers={"content-type": "application/jsonl"}).json()["last_seq"]
            for line in lines
        ]
    assert posted == list(range(1, len(lines) + 1))
    whole = made(database.parent / "whole.db")
    with Ledger.open(whole) as ledger, recorder.open(database, readonly=True) as other:
        capture_file(ledger, CASSETTES / "agent.jsonl", name="run")
        assert other.state("run").to_dict()["messages"] == ledger.state("run").to_dict()["messages"]


def test_events_are_stored_while_their_body_still_comes(database: Path) -> None:
    lines = (CASSETTES / "agent.jsonl").read_bytes().splitlines(keepends=True)

    def body() -> Iterator[bytes]:
        yield b"".join(lines[:3])
        deadline = time.monotonic() + 30
        while True:
            with recorder.open(database, readonly=True) as ledger:
                found = ledger.find("live")
                if found is not None and found.last_seq == 3:
                    break
            assert time.monotonic() < deadline
            time.sleep(0.02)
        yield b"".join(lines[3:])

    with rec_serve(database) as address:
        answer = httpx2.post(f"{address}/streams/live/events", content=body(), timeout=60)
    assert answer.json()["events"] == len(lines)


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b"", 400, "the body is empty"),
        (b"\x00\x01\x02 nothing", 400, "the body"),
        (b"a page of text", 400, "the body"),
    ],
)
def test_a_body_that_is_none_is_refused_in_one_line(body: bytes, status: int, said: str, database: Path) -> None:
    with rec_serve(database) as address:
        answer = httpx2.post(f"{address}/streams/x/events", content=body)
        other = httpx2.get(f"{address}/elsewhere")
    assert (answer.status_code, answer.json()["error"].startswith(said)) == (status, True), answer.text
    assert "\n" not in answer.json()["error"]
    assert other.status_code == 404
    with recorder.open(database, readonly=True) as ledger:
        assert ledger.streams() == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--record", "api.openai.com"), "give https://HOST"),
        (("--port", "x"), "is no port"),
        (("--host", "256.1.1.1"), "cannot be listened on"),
    ],
)
def test_what_cannot_be_served_is_said_at_once(arguments: tuple[str, ...], said: str, database: Path) -> None:
    command = [sys.executable, "-m", "recorder", "serve", "-d", str(database), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
