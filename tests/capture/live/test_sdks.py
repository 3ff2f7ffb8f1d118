"""The providers' own SDKs against recorded frames: what they give is what they give without, and all of it is kept."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import botocore.session
import openai
import pytest
from botocore.config import Config

from recorder.ledger import Ledger
from recorder.replay import emit
from tests.capture.live.clients import TEES, taped
from tests.capture.live.wire import SECONDS, Answer, ListSink, Server, serving, shape
from tests.capture.made import calls
from tests.command import CASSETTES

CHAT = (CASSETTES / "weather.sse").read_bytes()
THINKING = (CASSETTES / "thinking.sse").read_bytes()
CONVERSE = (CASSETTES / "converse.bin").read_bytes()
RESPONSES = (CASSETTES / "responses.sse").read_bytes()
USER = [{"role": "user", "content": "What is the weather?"}]


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        running.answers["/v1/chat/completions"] = Answer(pieces_of(CHAT))
        running.answers["/v1/responses"] = Answer(pieces_of(RESPONSES))
        running.answers["/v1/messages"] = Answer(pieces_of(THINKING))
        for name in ("converse-stream", "invoke-with-response-stream"):
            headers = {"content-type": "application/vnd.amazon.eventstream"}
            running.answers[f"/model/demo/{name}"] = Answer(pieces_of(CONVERSE), headers)
        document = (
            b'{"output": {"message": {"role": "assistant", "content": [{"text": "hi"}]}}, "stopReason": "end_turn"}'
        )
        running.answers["/model/demo/converse"] = Answer(
            [document], {"content-type": "application/json"}, framing="length"
        )
        yield running


def pieces_of(body: bytes) -> list[bytes]:
    """Reads of many sizes, the same in each run."""
    sizes, pieces, at = (7, 300, 41, 1000, 3), list[bytes](), 0
    while at < len(body):
        pieces.append(body[at : at + sizes[len(pieces) % len(sizes)]])
        at += len(pieces[-1])
    return pieces


def openai_chat(url: str) -> list[str]:
    with openai.OpenAI(base_url=url + "/v1", api_key="s3cret", max_retries=0) as client:
        stream: Any = client.chat.completions.create(model="demo", messages=USER, stream=True)  # type: ignore[call-overload]
        return [chunk.model_dump_json() for chunk in stream]


def openai_chat_async(url: str) -> list[str]:
    async def main() -> list[str]:
        async with openai.AsyncOpenAI(base_url=url + "/v1", api_key="s3cret", max_retries=0) as client:
            stream: Any = await client.chat.completions.create(model="demo", messages=USER, stream=True)  # type: ignore[call-overload]
            return [chunk.model_dump_json() async for chunk in stream]

    return asyncio.run(main())


def openai_responses(url: str) -> list[str]:
    with openai.OpenAI(base_url=url + "/v1", api_key="s3cret", max_retries=0) as client:
        return [event.model_dump_json() for event in client.responses.create(model="demo", input="Hi", stream=True)]


def anthropic_messages(url: str) -> list[str]:
    with anthropic.Anthropic(base_url=url, api_key="s3cret", max_retries=0) as client:
        stream: Any = client.messages.create(model="demo", max_tokens=9, messages=USER, stream=True)  # type: ignore[call-overload]
        return [event.model_dump_json() for event in stream]


def anthropic_messages_async(url: str) -> list[str]:
    async def main() -> list[str]:
        async with anthropic.AsyncAnthropic(base_url=url, api_key="s3cret", max_retries=0) as client:
            stream: Any = await client.messages.create(model="demo", max_tokens=9, messages=USER, stream=True)  # type: ignore[call-overload]
            return [event.model_dump_json() async for event in stream]

    return asyncio.run(main())


def _bedrock(url: str) -> Any:
    session = botocore.session.Session()
    session.set_credentials("AKIAs3cret", "s3cret")
    config = Config(retries={"max_attempts": 0}, read_timeout=SECONDS)
    return session.create_client("bedrock-runtime", region_name="us-east-1", endpoint_url=url, config=config)


def bedrock_converse_stream(url: str) -> list[str]:
    messages = [{"role": "user", "content": [{"text": "Hi"}]}]
    answer = _bedrock(url).converse_stream(modelId="demo", messages=messages)
    return [json.dumps(event, default=repr) for event in answer["stream"]]


def bedrock_converse(url: str) -> list[str]:
    messages = [{"role": "user", "content": [{"text": "Hi"}]}]
    answer = _bedrock(url).converse(modelId="demo", messages=messages)
    return [json.dumps(answer["output"])]


Ask = Callable[[str], list[str]]
SDKS: list[tuple[Ask, str, str]] = [
    (openai_chat, "/v1/chat/completions", "openai.chat"),
    (openai_chat_async, "/v1/chat/completions", "openai.chat"),
    (openai_responses, "/v1/responses", "openai.responses"),
    (anthropic_messages, "/v1/messages", "anthropic.messages"),
    (anthropic_messages_async, "/v1/messages", "anthropic.messages"),
    (bedrock_converse_stream, "/model/demo/converse-stream", "bedrock.converse"),
    (bedrock_converse, "/model/demo/converse", "bedrock.converse"),
]


@pytest.mark.parametrize(("ask", "path", "dialect"), SDKS)
def test_an_sdk_gives_what_it_gives_without(ask: Ask, path: str, dialect: str, server: Server, ledger: Ledger) -> None:
    expected = ask(server.url)
    assert expected
    with taped() as sink:
        assert ask(server.url) == expected
    assert shape(sink) == "request response . end"
    body = server.answers[path].body
    # OpenAI's SDK closes the answer behind its terminator.
    assert sink.body == body
    assert {event.dialect for event in sink.events} == {dialect}
    assert b"s3cret" not in b"".join(repr(event).encode() for event in sink.events)
    assert sink.events[0].body == server.requests[-1]
    sink.store(ledger, "live")
    assert b"".join(emit(ledger, "live", "raw")) == body
    _, rows = ledger.sql("SELECT status FROM runs WHERE kind = 'exchange'")
    assert [tuple(row) for row in rows] == [("ok",)]
    assert all(call[4] in ("complete", "empty") for call in calls(ledger, "live"))


@pytest.mark.parametrize("order", [("urllib3", "botocore"), ("botocore", "urllib3"), ("botocore",), ("urllib3",)])
def test_botocore_is_seen_once_whoever_looks(order: tuple[str, ...], server: Server) -> None:
    sink = ListSink()
    for name in order:
        TEES[name].install(lambda: sink)
    try:
        bedrock_converse_stream(server.url)
    finally:
        for name in order:
            TEES[name].uninstall()
    assert shape(sink) == "request response . end"
    assert sink.body == CONVERSE


@pytest.mark.parametrize("ask", [openai_chat, anthropic_messages])
def test_an_error_in_the_middle(ask: Ask, server: Server) -> None:
    for answer in server.answers.values():
        answer.pieces, answer.breaks = answer.pieces[:4], True

    def failed() -> tuple[str, str]:
        with pytest.raises(Exception) as caught:  # noqa: PT011 - whatever the SDK raises
            ask(server.url)
        return type(caught.value).__name__, str(caught.value)

    expected = failed()
    with taped() as sink:
        assert failed() == expected
    assert shape(sink) == "request response . error"
    assert sink.body.startswith(b"".join(server.answers["/v1/messages"].pieces)[:40]) or ask is openai_chat


def test_an_sdk_gets_the_first_chunk_before_the_second_is_sent(server: Server) -> None:
    seen = threading.Event()
    at = CHAT.index(b"\n\n") + 2
    server.answers["/v1/chat/completions"] = Answer(
        [CHAT[:at], CHAT[at:]], gate=lambda number: number == 0 or seen.wait(SECONDS)
    )
    with taped() as sink, openai.OpenAI(base_url=server.url + "/v1", api_key="k", max_retries=0) as client:
        for _ in client.chat.completions.create(model="demo", messages=USER, stream=True):  # type: ignore[call-overload]
            seen.set()
    assert sink.body == CHAT
