"""An agent that answers its calls wrongly, as LangChain events: what the audits look for, in one short recording.

Written by hand: no library makes these mistakes by itself. Four calls; an answer whose id lost its capital letter, a
call that nobody answers, a second answer to a call that had one, arguments that are no JSON, and an end of the run that
gives other arguments than its chunks did.
"""

from __future__ import annotations

import json
from typing import Any

from recordings.frames import MODEL

MODEL_RUN, ANSWER_RUN, *TOOL_RUNS = (f"0de5a000-0000-7000-8000-0000000003{number:02}" for number in range(1, 7))
SEARCH, FETCH, SAVE, MAIL = "call_rec0201", "call_Rec0202", "call_rec0203", "call_rec0204"
QUESTION = {"type": "human", "content": "Find the forecast, keep it, and mail it to me."}


def jsonl() -> bytes:
    """One model run with four calls, three tool runs, and the model run that goes on from there."""
    called = [_call(SEARCH, "search", {"q": "forecast"}), _call(FETCH, "fetch", {"page": 2}), _call(SAVE, "save", {})]
    ai = {"type": "ai", "content": "Four things to do.", "tool_calls": called}
    answers = [
        _answer(SEARCH, "search", "3 pages"),
        _answer(FETCH.lower(), "fetch", "Rain."),
        _answer(SEARCH, "search", "4 pages"),
    ]
    events = [
        _event("on_chat_model_start", MODEL_RUN, MODEL, input={"messages": [[QUESTION]]}),
        _stream(MODEL_RUN, content="Four things to do."),
        _stream(MODEL_RUN, _piece(0, "", SEARCH, "search"), _piece(1, "", FETCH, "fetch")),
        _stream(MODEL_RUN, _piece(1, '{"page"'), _piece(0, '{"q": "fore')),
        _stream(MODEL_RUN),
        _stream(MODEL_RUN, _piece(0, 'cast"}'), _piece(1, ": 1}"), _piece(2, "", SAVE, "save")),
        _stream(MODEL_RUN, _piece(3, "to: me", MAIL, "mail")),
        _stream(MODEL_RUN, response_metadata={"finish_reason": "tool_calls"}),
        _event("on_chat_model_end", MODEL_RUN, MODEL, output=ai, input={"messages": [[QUESTION]]}),
    ]
    for run, answer in zip(TOOL_RUNS, answers, strict=False):
        events.append(_event("on_tool_start", run, str(answer["name"]), input={}))
        events.append(_event("on_tool_end", run, str(answer["name"]), output=answer, input={}))
    request = {"messages": [[QUESTION, ai, *answers]]}
    events += [
        _event("on_chat_model_start", ANSWER_RUN, MODEL, input=request),
        _stream(ANSWER_RUN, content="It will rain."),
        _stream(ANSWER_RUN, response_metadata={"finish_reason": "stop"}),
        _event(
            "on_chat_model_end", ANSWER_RUN, MODEL, output={"type": "ai", "content": "It will rain."}, input=request
        ),
    ]
    return "".join(json.dumps(event) + "\n" for event in events).encode()


def _event(kind: str, run_id: str, name: str, **data: Any) -> dict[str, Any]:
    metadata = {"ls_model_name": MODEL} if "chat_model" in kind else {}
    return {
        "event": kind,
        "run_id": run_id,
        "name": name,
        "tags": [],
        "metadata": metadata,
        "parent_ids": [],
        "data": data,
    }


def _stream(run_id: str, *pieces: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A chunk; one without calls has None where others have their list, as some integrations leave it."""
    chunk = {"type": "AIMessageChunk", "content": "", "tool_call_chunks": list(pieces) or None, **fields}
    return _event("on_chat_model_stream", run_id, MODEL, chunk=chunk)


def _piece(index: int, arguments: str, id: str | None = None, name: str | None = None) -> dict[str, Any]:
    return {"type": "tool_call_chunk", "index": index, "id": id, "name": name, "args": arguments}


def _call(id: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_call", "id": id, "name": name, "args": arguments}


def _answer(id: str, name: str, content: str) -> dict[str, Any]:
    return {"type": "tool", "tool_call_id": id, "name": name, "content": content, "status": "success"}
