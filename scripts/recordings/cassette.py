"""A vcrpy cassette of the openai SDK, recorded against a server on this machine that plays our frames.

What a cassette of the real service holds beside the conversation (keys, cookies, the client's machine) is left out; the
host is `api.example.test`.
"""

from __future__ import annotations

import json
import re
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import vcr
from openai import OpenAI
from openai.types.chat import (
    ChatCompletionMessageFunctionToolCallParam,
    ChatCompletionMessageParam,
    ChatCompletionToolParam,
)

from recordings.frames import MODEL, ChatCompletion, sse

CALL_ID = "call_rec0004"
KEPT_HEADERS = {"accept", "content-type"}
TOOL: ChatCompletionToolParam = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The forecast for a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def yaml() -> bytes:
    """Two exchanges: the first streams a call, the second brings the tool's result and streams the answer."""
    with tempfile.TemporaryDirectory() as folder, _server() as base_url:
        path = Path(folder, "weather-agent.yaml")
        recorder = vcr.VCR(
            record_mode="all", before_record_request=_without_headers, before_record_response=_without_response_headers
        )
        with recorder.use_cassette(str(path)):
            _converse(OpenAI(base_url=base_url, api_key="none", max_retries=0))
        return re.sub(r"http://127\.0\.0\.1:\d+", "https://api.example.test", path.read_text("utf-8")).encode()


def _converse(client: OpenAI) -> None:
    messages: list[ChatCompletionMessageParam] = [{"role": "user", "content": "Is it warm in Almería?"}]
    arguments = ""
    for chunk in client.chat.completions.create(model=MODEL, messages=messages, tools=[TOOL], stream=True):
        for piece in (chunk.choices[0].delta.tool_calls or []) if chunk.choices else []:
            arguments += (piece.function and piece.function.arguments) or ""
    call: ChatCompletionMessageFunctionToolCallParam = {
        "id": CALL_ID,
        "type": "function",
        "function": {"name": "get_weather", "arguments": arguments},
    }
    messages += [
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": CALL_ID, "content": '{"sky": "sunny", "celsius": 24}'},
    ]
    for _ in client.chat.completions.create(model=MODEL, messages=messages, tools=[TOOL], stream=True):
        pass


def _call() -> bytes:
    chat = ChatCompletion("chatcmpl-rec0004")
    pieces = ((0, '{"city"'), (0, ': "Almer'), (0, 'ía"'), (0, "}"))
    frames = [chat.opening(None), chat.call(0, CALL_ID, "get_weather"), *chat.arguments(*pieces)]
    return sse([*frames, chat.finish("tool_calls"), chat.usage(70, 16), "[DONE]"])


def _answer() -> bytes:
    chat = ChatCompletion("chatcmpl-rec0005")
    return sse([chat.opening(), *chat.text("Yes: ", "24 °C ", "and sunny."), chat.finish("stop"), "[DONE]"])


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answered = request["messages"][-1]["role"] == "tool"
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.end_headers()
        self.wfile.write(_answer() if answered else _call())

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the base class writes to stderr."""


@contextmanager
def _server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            thread.join()


def _without_headers(request: Any) -> Any:
    request.headers = {name: value for name, value in request.headers.items() if name.lower() in KEPT_HEADERS}
    return request


def _without_response_headers(response: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in response["headers"].items() if name.lower() in KEPT_HEADERS}
    return {**response, "headers": kept}
