"""An agent of real libraries against a server that pauses: recorded whole, on both layers, and not changed by it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recorder
from recorder.events.framing import frame_of
from recorder.ledger.verify import verify_all
from tests.capture.live.wire import Answer, Server, serving
from tests.databases import made

PROGRAM = Path(__file__).with_name("agent_program.py")
CALLS = [("call_1", "get_weather", ['{"ci', 'ty": "Os', 'lo"}']), ("call_2", "get_time", ['{"city": ', '"Oslo"}'])]


class Turns(dict[str, Answer]):
    """The first answer to the first request, the second to all after it."""

    def __init__(self, server: Server, *answers: Answer) -> None:
        super().__init__()
        self._server, self._answers = server, answers

    def __getitem__(self, path: str) -> Answer:
        return self._answers[min(len(self._server.requests), len(self._answers)) - 1]


def paused(frames: list[bytes]) -> Answer:
    return Answer(frames, gate=lambda number: time.sleep(0.005))


def openai_frames(number: int) -> list[bytes]:
    head = {"id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "created": 1, "model": "demo-1"}

    def frame(delta: dict[str, Any], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return b"data: " + json.dumps({**head, "choices": [choice]}).encode() + b"\n\n"

    if number == 2:
        text = [frame({"content": piece}) for piece in ("It is ", "7 degrees.")]
        return [frame({"role": "assistant", "content": ""}), *text, frame({}, "stop"), b"data: [DONE]\n\n"]
    frames = [frame({"role": "assistant", "content": None})]
    for index, (id, name, pieces) in enumerate(CALLS):
        function = {"name": name, "arguments": ""}
        frames.append(frame({"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]}))
        frames += [frame({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}) for piece in pieces]
    return [*frames, frame({}, "tool_calls"), b"data: [DONE]\n\n"]


def anthropic_frames(number: int) -> list[bytes]:
    def frame(kind: str, **fields: Any) -> bytes:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()

    usage = {"input_tokens": 5, "output_tokens": 1}
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "demo-1", "content": []}
    frames = [frame("message_start", message={**message, "stop_reason": None, "stop_sequence": None, "usage": usage})]
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]]
    if number == 2:
        blocks = [({"type": "text", "text": ""}, [{"type": "text_delta", "text": t} for t in ("It is ", "7 degrees.")])]
    else:
        blocks = [
            (
                {"type": "tool_use", "id": id, "name": name, "input": {}},
                [{"type": "input_json_delta", "partial_json": piece} for piece in pieces],
            )
            for id, name, pieces in CALLS
        ]
    for index, (block, deltas) in enumerate(blocks):
        frames.append(frame("content_block_start", index=index, content_block=block))
        frames += [frame("content_block_delta", index=index, delta=delta) for delta in deltas]
        frames.append(frame("content_block_stop", index=index))
    reason = "end_turn" if number == 2 else "tool_use"
    end = {"stop_reason": reason, "stop_sequence": None}
    return [*frames, frame("message_delta", delta=end, usage={"output_tokens": 9}), frame("message_stop")]


FRAMES = {"openai": openai_frames, "anthropic": anthropic_frames}


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as played:
        yield played


def run(server: Server, kind: str, *before: str) -> subprocess.CompletedProcess[str]:
    frames = FRAMES[kind]
    server.requests.clear()
    server.answers = Turns(server, paused(frames(1)), paused(frames(2)))
    # What would report to a service, or go through a proxy, is left out.
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith(("LANG", "HTTP"))}
    return subprocess.run(
        [*before, sys.executable, str(PROGRAM), kind],
        env={**kept, "BASE": server.url, "NO_PROXY": "*"},
        capture_output=True,
        text=True,
        timeout=180,
        check=True,
    )


@pytest.mark.parametrize("kind", FRAMES)
def test_both_readings_are_what_the_program_held(kind: str, server: Server, tmp_path: Path) -> None:
    pytest.importorskip(f"langchain_{kind}")
    database = made(tmp_path / "runs.db")
    plain = run(server, kind)
    sent = list(server.requests)
    recorded = run(server, kind, sys.executable, "-m", "recorder", "capture", "-d", str(database), "--name", "s", "--")
    *_, held = map(json.loads, recorded.stdout.splitlines())
    assert [_without_ids(line) for line in recorded.stdout.splitlines()] == [
        _without_ids(line) for line in plain.stdout.splitlines()
    ]
    assert len(server.requests) == len(sent) == 2

    with recorder.open(database, readonly=True) as ledger:
        (head,) = ledger.streams()
        assert [verdict.problem for verdict in verify_all(ledger.store, [head], projections=True)] == [None]
        state = ledger.state("s").to_dict()
        wire = [message for message in state["messages"] if message["layer"] == "wire"]
        framework = [message for message in state["messages"] if message["layer"] == "framework"]
        bodies: dict[str, bytes] = {}
        for event in ledger.events("s"):
            if event.layer == "wire" and not event.kind.startswith("http."):
                bodies[event.run_id or ""] = bodies.get(event.run_id or "", b"") + frame_of(event)
    # The wire, byte for byte, and what it means.
    assert list(bodies.values()) == [b"".join(FRAMES[kind](1)), b"".join(FRAMES[kind](2))]
    said = [[(call["id"], call["name"], call["raw"], call["state"]) for call in message["calls"]] for message in wire]
    assert said == [[(id, name, "".join(pieces), "complete") for id, name, pieces in CALLS], []]
    # What the program itself held, by LangChain's reading.
    of_model = [each for each in held if "tool_calls" in each]
    assert [message["message_id"] for message in framework] == [message["id"] for message in of_model]
    assert [message["tool_calls"] for message in framework] == [message["tool_calls"] for message in of_model]
    assert [_text(message) for message in framework] == [message["text"] for message in of_model]
    # Tools: one answered, one raised and was answered with its error.
    answers = [each for each in held if "tool_call_id" in each]
    told = {each["tool_call_id"]: each for each in state["tool_messages"]}
    assert {id: (each["content"], each["status"]) for id, each in told.items()} == {
        each["tool_call_id"]: (each["content"], each["status"]) for each in answers
    }
    assert {pairing["call_id"] for pairing in state["pairings"] if pairing["status"] in ("answered", "error")} == set(
        told
    )
    for file in tmp_path.iterdir():
        assert b"planted-key" not in file.read_bytes(), file


def _text(message: dict[str, Any]) -> str:
    return "".join(block.get("text", "") for block in message["blocks"] if block["type"] == "text")


def _without_ids(line: str) -> Any:
    """A line of the program without what is new in each run: the ids of LangChain's own."""
    value = json.loads(line)
    if value and isinstance(value[0], dict):
        return [{name: item for name, item in each.items() if name != "id"} for each in value]
    return value
