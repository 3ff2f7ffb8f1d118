"""OpenAI's responses, written by hand: what the events look like, with a conversation of our own."""

from __future__ import annotations

from typing import Any

from recordings.frames import CREATED, MODEL, sse

Value = dict[str, Any]
RESPONSE = "resp_rec0001"


def agent() -> bytes:
    """`openai.responses`: reasoning, a sentence, two calls side by side, and a custom tool whose input is no JSON."""
    reasoning, said, tromso, rome, query = _reasoning(), _message("Two forecasts, and the log."), *_calls(), _custom()
    events: list[Value] = [
        {"type": "response.created", "response": _response("in_progress")},
        {"type": "response.in_progress", "response": _response("in_progress")},
        _added(0, {**reasoning, "summary": [], "encrypted_content": "aGFsZg=="}),
        _of(0, reasoning, "reasoning_summary_part.added", summary_index=0, part={"type": "summary_text", "text": ""}),
        _of(0, reasoning, "reasoning_summary_text.delta", summary_index=0, delta="Both cities "),
        _of(0, reasoning, "reasoning_summary_text.delta", summary_index=0, delta="at once."),
        _of(0, reasoning, "reasoning_summary_text.done", summary_index=0, text="Both cities at once."),
        _of(0, reasoning, "reasoning_summary_part.done", summary_index=0, part=reasoning["summary"][0]),
        _done(0, reasoning),
        _added(1, {**said, "content": []}),
        _of(1, said, "content_part.added", content_index=0, part={**said["content"][0], "text": ""}),
        _of(1, said, "output_text.delta", content_index=0, delta="Two forecasts, "),
        _of(1, said, "output_text.delta", content_index=0, delta="and the log."),
        _of(1, said, "output_text.done", content_index=0, text="Two forecasts, and the log."),
        _of(1, said, "content_part.done", content_index=0, part=said["content"][0]),
        _done(1, said),
        _added(2, {**tromso, "arguments": ""}),
        _added(3, {**rome, "arguments": ""}),
        _of(2, tromso, "function_call_arguments.delta", delta='{"city":"T'),
        _of(3, rome, "function_call_arguments.delta", delta='{"city"'),
        _of(2, tromso, "function_call_arguments.delta", delta='romsø",'),
        _of(3, rome, "function_call_arguments.delta", delta=':"Rome","days":2}'),
        _of(3, rome, "function_call_arguments.done", arguments=rome["arguments"]),
        _done(3, rome),
        _of(2, tromso, "function_call_arguments.delta", delta='"days":1}'),
        _of(2, tromso, "function_call_arguments.done", arguments=tromso["arguments"]),
        _done(2, tromso),
        _added(4, {**query, "input": ""}),
        _of(4, query, "custom_tool_call_input.delta", delta="SELECT day, high\nFROM log "),
        _of(4, query, "custom_tool_call_input.delta", delta="WHERE city = 'Rome'"),
        _of(4, query, "custom_tool_call_input.done", input=query["input"]),
        _done(4, query),
        {"type": "response.completed", "response": _response("completed", reasoning, said, tromso, rome, query)},
    ]
    return sse([{**event, "sequence_number": number} for number, event in enumerate(events)], named=True)


def _reasoning() -> Value:
    summary = [{"type": "summary_text", "text": "Both cities at once."}]
    return {"id": "rs_rec0001", "type": "reasoning", "summary": summary, "encrypted_content": "YW4gZXhhbXBsZQ=="}


def _message(text: str) -> Value:
    part = {"type": "output_text", "annotations": [], "logprobs": [], "text": text}
    return {"id": "msg_rec0001", "type": "message", "content": [part], "role": "assistant"}


def _calls() -> tuple[Value, Value]:
    head = {"type": "function_call", "name": "get_weather"}
    return (
        {**head, "id": "fc_rec0001", "call_id": "call_rec0301", "arguments": '{"city":"Tromsø","days":1}'},
        {**head, "id": "fc_rec0002", "call_id": "call_rec0302", "arguments": '{"city":"Rome","days":2}'},
    )


def _custom() -> Value:
    text = "SELECT day, high\nFROM log WHERE city = 'Rome'"
    return {
        "id": "ctc_rec0001",
        "type": "custom_tool_call",
        "call_id": "call_rec0303",
        "name": "query_log",
        "input": text,
    }


def _response(status: str, *output: Value) -> Value:
    usage = {
        "input_tokens": 120,
        "input_tokens_details": {"cached_tokens": 64},
        "output_tokens": 88,
        "output_tokens_details": {"reasoning_tokens": 24},
        "total_tokens": 208,
    }
    return {
        "id": RESPONSE,
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "model": MODEL,
        "output": [_ended(item) for item in output],
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "usage": usage if output else None,
    }


def _added(index: int, item: Value) -> Value:
    begun = item if item["type"] == "reasoning" else {**item, "status": "in_progress"}
    return {"type": "response.output_item.added", "output_index": index, "item": begun}


def _done(index: int, item: Value) -> Value:
    return {"type": "response.output_item.done", "output_index": index, "item": _ended(item)}


def _ended(item: Value) -> Value:
    return item if item["type"] == "reasoning" else {**item, "status": "completed"}


def _of(index: int, item: Value, kind: str, **fields: Any) -> Value:
    return {"type": f"response.{kind}", "item_id": item["id"], "output_index": index, **fields}
