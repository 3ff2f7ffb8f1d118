"""LangChain.js events as its HTTP streams frame them: `event: data` blocks, `event: end` at the end.

Written by hand after what @langchain/core 1.4 sends: no `parent_ids`, message ids `run-<uuid>`, parsed `tool_calls` on
every chunk, U+00ED as it is rather than escaped.
"""

from __future__ import annotations

import json
from typing import Any

MODEL_RUN, TOOL_RUN, ANSWER_RUN = (f"0de5a000-0000-7000-8000-00000000000{number}" for number in (1, 2, 3))
CALL_ID = "call_rec0003"
QUESTION = "Do I need an umbrella in Almería?"
ARGUMENTS = ("", '{"city"', ': "Almer', 'ía", ', '"days": 1', "}")
PARSED = {"city": "Almería", "days": 1}


def sse() -> bytes:
    """One model run that calls a tool, the tool's run, and the model run that answers."""
    human = _message("HumanMessage", content=QUESTION, id="human-1")
    call = {"name": "get_weather", "args": PARSED, "id": CALL_ID, "type": "tool_call"}
    tool = _message(
        "ToolMessage", content="sunny, 24 °C", name="get_weather", tool_call_id=CALL_ID, status="success", id="tool-1"
    )
    request = {"messages": [[human]]}
    whole = [_piece("".join(ARGUMENTS), first=True)]
    called = _chunk(
        MODEL_RUN, tool_call_chunks=whole, tool_calls=[call], response_metadata={"finish_reason": "tool_calls"}
    )
    events = [
        _event("on_chat_model_start", MODEL_RUN, "ScriptedChat", input=request),
        *(
            _event("on_chat_model_stream", MODEL_RUN, "ScriptedChat", chunk=_call_chunk(position, piece))
            for position, piece in enumerate(ARGUMENTS)
        ),
        _event("on_chat_model_end", MODEL_RUN, "ScriptedChat", output=called, input=request),
        _event("on_tool_start", TOOL_RUN, "get_weather", input=PARSED),
        _event("on_tool_end", TOOL_RUN, "get_weather", output=tool, input=PARSED),
    ]
    request = {"messages": [[human, called, tool]]}
    answer = ("No: ", "it stays ", "sunny.")
    events += [
        _event("on_chat_model_start", ANSWER_RUN, "ScriptedChat", input=request),
        *(
            _event("on_chat_model_stream", ANSWER_RUN, "ScriptedChat", chunk=_chunk(ANSWER_RUN, content=text))
            for text in answer
        ),
        _event(
            "on_chat_model_end",
            ANSWER_RUN,
            "ScriptedChat",
            output=_chunk(ANSWER_RUN, content="".join(answer), response_metadata={"finish_reason": "stop"}),
            input=request,
        ),
    ]
    frames = [f"event: data\ndata: {_text(event)}\n\n" for event in events]
    return "".join([*frames, "event: end\n\n"]).encode()


def _text(value: Any) -> str:
    """`JSON.stringify`: no spaces, nothing escaped that need not be."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _event(kind: str, run_id: str, name: str, **data: Any) -> dict[str, Any]:
    metadata = {"versions": {"@langchain/core": "1.4.0"}}
    return {"event": kind, "data": data, "run_id": run_id, "name": name, "tags": [], "metadata": metadata}


def _message(class_name: str, **fields: Any) -> dict[str, Any]:
    kwargs = {**fields, "additional_kwargs": {}, "response_metadata": fields.get("response_metadata", {})}
    return {"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", class_name], "kwargs": kwargs}


def _chunk(run_id: str, **fields: Any) -> dict[str, Any]:
    empty: dict[str, Any] = {"content": "", "tool_call_chunks": [], "tool_calls": [], "invalid_tool_calls": []}
    return _message("AIMessageChunk", **{**empty, **fields, "id": f"run-{run_id}"})


def _piece(arguments: str, *, first: bool) -> dict[str, Any]:
    head = {"id": CALL_ID, "name": "get_weather"} if first else {}
    return {"index": 0, "args": arguments, **head, "type": "tool_call_chunk"}


def _call_chunk(position: int, arguments: str) -> dict[str, Any]:
    """One streamed piece. A piece without the call's id is no valid call in JavaScript, whatever its text."""
    piece = _piece(arguments, first=position == 0)
    if position == 0:
        call = {"name": "get_weather", "args": {}, "id": CALL_ID, "type": "tool_call"}
        return _chunk(MODEL_RUN, tool_call_chunks=[piece], tool_calls=[call])
    invalid = {"name": "", "args": arguments.strip(), "error": "Malformed args.", "type": "invalid_tool_call"}
    return _chunk(MODEL_RUN, tool_call_chunks=[piece], invalid_tool_calls=[invalid])
