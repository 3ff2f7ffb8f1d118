"""What recording costs the program that is recorded: a LangChain callback a chunk, and a tee on an HTTP answer."""

from __future__ import annotations

import itertools
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.callbacks.manager import CallbackManager
from langchain_core.messages import AIMessageChunk, HumanMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk

from benchmarks.append import bodies
from benchmarks.measuring import Result, Table, race
from recorder.capture.live import langchain, tee_httpx
from recorder.capture.live.sink import Sink

CHUNKS = 20_000
FRAMES, PACED, FIRSTS = 5_000, 300, 100
"""Frames of an answer that comes at once, of one that is paced, and answers of which the first frame is waited for."""
PAUSE_SECONDS = 0.002
_numbers = itertools.count(1)
_TOKEN = ChatGenerationChunk(
    message=AIMessageChunk(content="", id="run-1", tool_call_chunks=[tool_call_chunk(args='{"city"', index=0)])
)


class Nothing(BaseCallbackHandler):
    """A handler that does nothing, inline: what LangChain itself costs."""

    run_inline = True

    def on_chat_model_start(self, *_: Any, **__: Any) -> None: ...

    def on_llm_new_token(self, *_: Any, **__: Any) -> None: ...

    def on_llm_end(self, *_: Any, **__: Any) -> None: ...


Run = Callable[[], None]


def tables(rounds: int) -> list[Table]:
    with tempfile.TemporaryDirectory(prefix="recorder-bench-") as folder:
        place = Path(folder)
        return [_call(place), _callback(place, rounds), _process(place, rounds), *_tee(place, rounds)]


# The callback


def _call(place: Path) -> Table:
    """The callback alone: each call timed by itself, so that what other threads take meanwhile falls into few."""
    sink = Sink(place / "call.db", "bench", spool=place / "call.spool")
    results = []
    for name, handler in (("a handler that does nothing", Nothing()), ("recorder", langchain.handler(sink))):
        run = uuid4()
        handler.on_chat_model_start({}, [[HumanMessage("hi")]], run_id=run)
        result = Result(name=name, units=1)
        for number in range(CHUNKS):
            if number % 50 == 0:
                time.sleep(PAUSE_SECONDS)
            began = time.perf_counter()
            handler.on_llm_new_token("", chunk=_TOKEN, run_id=run, parent_run_id=None, tags=[])
            result.seconds.append(time.perf_counter() - began)
        results.append(result)
    sink.close(120)
    note = "bar: 10 µs; the median call, with pauses as a model makes them"
    return Table(title="the callback alone", unit="call", results=results, notes=[note])


def _callback(place: Path, rounds: int) -> Table:
    contestants = [
        ("a handler that does nothing", CHUNKS, partial(_tokens, Nothing)),
        ("recorder", CHUNKS, partial(_recorded, place)),
        ("LangSmith's tracer", CHUNKS, partial(_tokens, _langsmith)),
        *([("Langfuse's handler", CHUNKS, partial(_tokens, _langfuse))] if _has_langfuse() else []),
    ]
    note = "without a pause, with what other threads of the process take; the peers reach no server"
    title = "a token through LangChain's callback manager"
    return Table(title=title, unit="chunk", results=race(contestants, rounds), notes=[note])


def _call_back(handler: BaseCallbackHandler, count: int) -> None:
    """A model's run of so many tokens, as LangChain calls back."""
    (run,) = CallbackManager([handler]).on_chat_model_start({}, [[HumanMessage("hi")]])
    for _ in range(count):
        run.on_llm_new_token("", chunk=_TOKEN)


@contextmanager
def _tokens(make: Callable[[], BaseCallbackHandler]) -> Iterator[Run]:
    handler = make()
    _call_back(handler, 100)
    yield partial(_call_back, handler, CHUNKS)


@contextmanager
def _recorded(place: Path) -> Iterator[Run]:
    number = next(_numbers)
    sink = Sink(place / f"{number}.db", "bench", spool=place / f"{number}.spool")
    handler = langchain.handler(sink)
    _call_back(handler, 100)
    sink.flush()
    yield partial(_call_back, handler, CHUNKS)
    counts = sink.close(120)
    assert counts.lost == 0, counts


def _langsmith() -> BaseCallbackHandler:
    from langchain_core.tracers.langchain import LangChainTracer
    from langsmith import Client

    os.environ["LANGSMITH_TRACING"] = "true"
    return LangChainTracer(client=Client(api_url="http://127.0.0.1:9", api_key="none", timeout_ms=100))


def _has_langfuse() -> bool:
    try:
        import langfuse.langchain  # noqa: F401
    except ImportError:
        return False
    return True


def _langfuse() -> BaseCallbackHandler:
    from langfuse import Langfuse
    from langfuse.langchain import CallbackHandler

    Langfuse(public_key="none", secret_key="none", host="http://127.0.0.1:9", tracing_enabled=True)
    handler: BaseCallbackHandler = CallbackHandler()
    return handler


def _process(place: Path, rounds: int) -> Table:
    """CPU of the whole process, the writer's thread included, until all is stored."""
    plain, recorded = Result(name="a handler that does nothing", units=CHUNKS), Result(name="recorder", units=CHUNKS)
    for _ in range(rounds):
        began = time.process_time()
        _call_back(Nothing(), CHUNKS)
        plain.seconds.append(time.process_time() - began)
        number = next(_numbers)
        began = time.process_time()
        sink = Sink(place / f"{number}.db", "bench", spool=place / f"{number}.spool")
        _call_back(langchain.handler(sink), CHUNKS)
        counts = sink.close(120)
        recorded.seconds.append(time.process_time() - began)
        assert counts.lost == 0, counts
    added = (statistics.median(recorded.seconds) - statistics.median(plain.seconds)) / CHUNKS * 1e6
    note = f"added: {added:.0f} µs of CPU a chunk: serialised, hashed, projected and stored on the writer's thread"
    return Table(
        title="CPU of the whole process, until all is stored", unit="chunk", results=[plain, recorded], notes=[note]
    )


# The tee


def _tee(place: Path, rounds: int) -> list[Table]:
    frames = [b"data: " + body + b"\n\n" for body in bodies(FRAMES)]
    with _server(frames) as url:
        whole = [
            ("httpx, bare", FRAMES, partial(_reading, f"{url}?whole")),
            ("httpx, recorded", FRAMES, partial(_teed, place, f"{url}?whole")),
        ]
        paced = [
            ("httpx, bare", PACED, partial(_reading, f"{url}?paced")),
            ("httpx, recorded", PACED, partial(_teed, place, f"{url}?paced")),
        ]
        first = [
            ("httpx, bare", FIRSTS, partial(_firsts, f"{url}?first")),
            ("httpx, recorded", FIRSTS, partial(_teed_firsts, place, f"{url}?first")),
        ]
        return [
            Table(
                title=f"an answer of {FRAMES:,} frames that come at once, read whole",
                unit="frame",
                results=race(whole, rounds),
                notes=["the writer's thread has the same interpreter: nothing is idle here"],
            ),
            Table(
                title=f"an answer of {PACED} frames, one each {PAUSE_SECONDS * 1000:.0f} ms, read whole",
                unit="frame",
                results=race(paced, rounds),
                notes=["bar: at most 1.05 times as long, 0.952 in the last column"],
            ),
            Table(
                title="an answer that pauses, until its first chunk",
                unit="answer",
                results=race(first, rounds),
                notes=["bar: at most 1.1 times as long, 0.909 in the last column"],
            ),
        ]


def _read(client: httpx.Client, url: str) -> None:
    with client.stream("POST", url, json={"stream": True}) as answer:
        for _ in answer.iter_raw():
            pass


def _read_firsts(client: httpx.Client, url: str) -> None:
    for _ in range(FIRSTS):
        with client.stream("POST", url, json={"stream": True}) as answer:
            next(answer.iter_raw())


@contextmanager
def _reading(url: str, read: Callable[[httpx.Client, str], None] = _read) -> Iterator[Run]:
    with httpx.Client(timeout=60) as client:
        yield partial(read, client, url)


@contextmanager
def _teed(place: Path, url: str, read: Callable[[httpx.Client, str], None] = _read) -> Iterator[Run]:
    number = next(_numbers)
    sink = Sink(place / f"{number}.db", "bench", spool=place / f"{number}.spool")
    transport = tee_httpx.transport(httpx.HTTPTransport(), lambda: sink)
    with httpx.Client(timeout=60, transport=transport) as client:
        yield partial(read, client, url)
    counts = sink.close(120)
    assert counts.lost == 0, counts
    assert counts.stored, counts


_firsts = partial(_reading, read=_read_firsts)
_teed_firsts = partial(_teed, read=_read_firsts)


@contextmanager
def _server(frames: list[bytes]) -> Iterator[str]:
    """Plays the frames at `…?whole` at once; with a pause before each some at `…?paced`, the first two at `…?first`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            how = self.path.partition("?")[2]
            count = {"paced": PACED, "first": 2}.get(how, FRAMES)
            # Who wanted the first frame only goes away.
            with suppress(ConnectionError):
                for frame in frames[:count]:
                    if how != "whole":
                        time.sleep(PAUSE_SECONDS)
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(frame), frame))
                self.wfile.write(b"0\r\n\r\n")

        def log_message(self, *_: Any) -> None: ...

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: Any) -> None:
            """A client that has its first frame goes away."""

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1/chat/completions"
        server.shutdown()
