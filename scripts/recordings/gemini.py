"""Google's streams, written by hand: Gemini's chunks in both framings, a live session, an interaction."""

from __future__ import annotations

import json
from typing import Any

from recordings.frames import MODEL, compact, lines

SIGNATURE = "YSBzaWduYXR1cmUgZm9yIGFuIGV4YW1wbGU="


def calls() -> bytes:
    """`gemini`: thinking, two calls in one chunk, then a call whose arguments come value by value."""
    first = {"functionCall": {"name": "get_weather", "args": {"city": "Cádiz"}}, "thoughtSignature": SIGNATURE}
    chunks = [
        _chunk({"text": "Two cities, then a note.", "thought": True}),
        _chunk(first, {"functionCall": {"name": "get_weather", "args": {"city": "Oulu"}}}),
        _chunk({"functionCall": {"name": "save_note", "willContinue": True}}),
        _piece({"jsonPath": "$.title", "stringValue": "Wea", "willContinue": True}),
        _piece({"jsonPath": "$.title", "stringValue": "ther", "willContinue": True}),
        _piece({"jsonPath": "$.title", "stringValue": ""}),
        _piece(
            {"jsonPath": "$.days[0].city", "stringValue": "Cádiz"}, {"jsonPath": "$.days[0].high", "numberValue": 21}
        ),
        _piece(
            {"jsonPath": "$.days[1].city", "stringValue": "Oulu"}, {"jsonPath": "$.days[1].high", "nullValue": None}
        ),
        _piece(),
        _piece({"jsonPath": "$.final", "boolValue": False}),
        _chunk({"functionCall": {}}),
        _chunk({"text": ""}, finish="STOP", prompt=96, output=41, thoughts=12),
    ]
    return "".join(f"data: {compact(chunk)}\r\n\r\n" for chunk in chunks).encode()


def array() -> bytes:
    """`gemini`: an answer with code that the provider ran, in the array that Google sends without `alt=sse`."""
    code = {"language": "PYTHON", "code": "print(21 * 2)"}
    chunks = [
        _chunk({"text": "Let me "}),
        _chunk({"text": "reckon."}, {"executableCode": code}),
        _chunk({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "42\n"}}),
        _chunk({"text": "It is 42."}, finish="STOP", prompt=15, output=24),
    ]
    elements = [json.dumps(chunk, indent=2, ensure_ascii=False) for chunk in chunks]
    return ("[" + "\n,\n".join(elements) + "\n]\n").encode()


def live() -> bytes:
    """`gemini.live`: a call that is answered, a spoken answer, and one that the user speaks over."""
    call = {"name": "get_weather", "args": {"city": "Oulu"}, "id": "function-call-rec01"}
    answer = {"name": "get_weather", "response": {"output": "snow"}, "id": "function-call-rec01"}
    counts = {"promptTokenCount": 44, "responseTokenCount": 12, "totalTokenCount": 56}
    return lines(
        [
            {"setup": {"model": f"models/{MODEL}"}},
            {"setupComplete": {"sessionId": "rec-0001"}},
            {"serverContent": {"inputTranscription": {"text": "And in"}}},
            {"serverContent": {"inputTranscription": {"text": " Oulu?"}}},
            {"toolCall": {"functionCalls": [call]}},
            {"toolResponse": {"functionResponses": [answer]}},
            _spoken("It "),
            _spoken("snows."),
            {"serverContent": {"generationComplete": True}},
            {"serverContent": {"turnComplete": True}, "usageMetadata": counts},
            {"sessionResumptionUpdate": {"newHandle": "rec-0002", "resumable": True}},
            _spoken("Also, I could"),
            {"serverContent": {"interrupted": True}},
            {"serverContent": {"turnComplete": True}},
        ]
    )


def interaction() -> bytes:
    """`gemini.interactions`: a thought, a sentence, a call whose arguments come in pieces."""
    head = {"id": "v1_rec0001", "object": "interaction", "model": MODEL}
    call = {"type": "function_call", "id": "rec0001", "name": "get_weather", "arguments": {}}
    usage = {"total_tokens": 61, "total_input_tokens": 33, "total_output_tokens": 19, "total_thought_tokens": 9}
    events = [
        {"interaction": {**head, "status": "in_progress"}, "event_type": "interaction.created"},
        *_step(
            0,
            {"type": "thought"},
            {"content": {"text": "One city.", "type": "text"}, "type": "thought_summary"},
            {"signature": SIGNATURE, "type": "thought_signature"},
        ),
        *_step(1, {"type": "model_output"}, *({"text": text, "type": "text"} for text in ("I'll ", "look."))),
        *_step(2, call, *({"arguments": text, "type": "arguments_delta"} for text in ('{"city": "Ou', 'lu"}'))),
        {"interaction": {**head, "status": "requires_action", "usage": usage}, "event_type": "interaction.completed"},
    ]
    blocks = (f"event: {event['event_type']}\ndata: {compact(event)}\n\n" for event in events)
    return "".join(blocks).encode() + b"event: done\ndata: [DONE]\n\n"


def _chunk(*parts: dict[str, Any], finish: str | None = None, **counts: int) -> dict[str, Any]:
    names = {"prompt": "promptTokenCount", "output": "candidatesTokenCount", "thoughts": "thoughtsTokenCount"}
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    usage = {names[name]: count for name, count in counts.items()}
    return {
        "candidates": [candidate if finish is None else {**candidate, "finishReason": finish}],
        "usageMetadata": {**usage, "totalTokenCount": sum(counts.values())},
        "modelVersion": MODEL,
        "responseId": "rec-0001",
    }


def _piece(*pieces: dict[str, Any]) -> dict[str, Any]:
    """A chunk with more of the open call, which goes on."""
    partial = {"partialArgs": list(pieces)} if pieces else {}
    return _chunk({"functionCall": {**partial, "willContinue": True}})


def _spoken(text: str) -> dict[str, Any]:
    sound = {"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": "AAAAAAAAAAA="}}
    return {"serverContent": {"modelTurn": {"parts": [sound]}, "outputTranscription": {"text": text}}}


def _step(index: int, step: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"index": index, "step": step, "event_type": "step.start"},
        *({"index": index, "delta": delta, "event_type": "step.delta"} for delta in deltas),
        {"index": index, "event_type": "step.stop"},
    ]
