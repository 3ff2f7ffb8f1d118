"""A realtime session's events, written by hand: what the server sent, and the client's answer to a call."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from recordings.frames import MODEL, lines

CALL_ID = "call_rec0401"
ARGUMENTS = ('{"city"', ': "Oul', 'u"}')


def session() -> bytes:
    """`openai.realtime`: a call that is answered; an answer spoken beside another one; a call that is spoken over."""
    told = "It snows in Oulu."
    spoken, noted = "resp_rec02", "resp_rec03"
    frames = [
        {"type": "session.created", "session": {"id": "sess_rec01", "type": "realtime", "model": MODEL}},
        _item("added", {"id": "item_rec01", "type": "message", "status": "completed", "role": "user"}),
        *_called("resp_rec01", "item_rec02", CALL_ID, ARGUMENTS),
        {"type": "conversation.item.create", "item": _answer()},
        _item("added", {"id": "item_rec03", **_answer()}),
        _item("done", {"id": "item_rec03", **_answer()}),
        _created(spoken),
        _created(noted),
        _part(spoken, "item_rec04", "content_part.added", part={"type": "audio", "transcript": ""}),
        _part(spoken, "item_rec04", "output_audio.delta", delta="AAAAAA=="),
        _part(spoken, "item_rec04", "output_audio_transcript.delta", delta="It snows"),
        _part(noted, "item_rec05", "output_text.delta", delta="topic: "),
        _part(spoken, "item_rec04", "output_audio_transcript.delta", delta=" in Oulu."),
        _part(noted, "item_rec05", "output_text.delta", delta="weather"),
        _done(noted, "completed"),
        _part(spoken, "item_rec04", "output_audio_transcript.done", transcript=told),
        _done(spoken, "completed"),
        *_called("resp_rec04", "item_rec06", "call_rec0402", ARGUMENTS[:2], cut=True),
    ]
    numbers = count(1)
    return lines(_numbered(frame, numbers) for frame in frames)


def _numbered(frame: dict[str, Any], numbers: Iterator[int]) -> dict[str, Any]:
    """The event with its id; a client's own event has none."""
    if frame["type"] == "conversation.item.create":
        return frame
    return {"type": frame["type"], "event_id": f"event_rec{next(numbers):02}", **frame}


def _created(response: str) -> dict[str, Any]:
    head = {"object": "realtime.response", "id": response, "status": "in_progress", "output": []}
    return {"type": "response.created", "response": head}


def _done(response: str, status: str, *, reason: str | None = None, output: Any = ()) -> dict[str, Any]:
    details = None if reason is None else {"type": status, "reason": reason}
    usage = {"total_tokens": 85, "input_tokens": 63, "output_tokens": 22}
    head = {"object": "realtime.response", "id": response, "status": status, "status_details": details}
    return {"type": "response.done", "response": {**head, "output": list(output), "usage": usage}}


def _called(response: str, item: str, call: str, pieces: tuple[str, ...], *, cut: bool = False) -> list[dict[str, Any]]:
    """A response that is one call; `cut`: the user speaks before its arguments are whole."""
    at = {"response_id": response, "item_id": item, "output_index": 0, "call_id": call}
    written = "".join(pieces)
    named = {"id": item, "type": "function_call", "name": "get_weather", "call_id": call}
    whole = {**named, "status": "incomplete" if cut else "completed", "arguments": written}
    started = {**named, "status": "in_progress", "arguments": ""}
    frames = [
        _created(response),
        {"type": "response.output_item.added", "response_id": response, "output_index": 0, "item": started},
        *({"type": "response.function_call_arguments.delta", **at, "delta": piece} for piece in pieces),
    ]
    if cut:
        speech = {"type": "input_audio_buffer.speech_started", "audio_start_ms": 9120, "item_id": "item_rec07"}
        return [*frames, speech, _done(response, "cancelled", reason="turn_detected", output=[whole])]
    return [
        *frames,
        {"type": "response.function_call_arguments.done", **at, "name": "get_weather", "arguments": written},
        {"type": "response.output_item.done", "response_id": response, "output_index": 0, "item": whole},
        _done(response, "completed", output=[whole]),
    ]


def _part(response: str, item: str, kind: str, **fields: Any) -> dict[str, Any]:
    at = {"response_id": response, "item_id": item, "output_index": 0, "content_index": 0}
    return {"type": f"response.{kind}", **at, **fields}


def _item(kind: str, item: dict[str, Any]) -> dict[str, Any]:
    return {"type": f"conversation.item.{kind}", "item": item}


def _answer() -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": CALL_ID, "output": '{"sky": "snow"}'}
