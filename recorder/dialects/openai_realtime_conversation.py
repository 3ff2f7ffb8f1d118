"""What a realtime session's conversation says beside its responses: the client's answers, calls of earlier sessions."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from recorder.deltas import Executor, History, HistoryAnswer, HistoryCall, ToolMessage
from recorder.dialects.frames import Deltas
from recorder.dialects.openai_realtime_items import read_result
from recorder.dialects.tool_choice import forced, forced_tool
from recorder.dialects.values import arguments_of, cleaned, dict_of, id_of, text_of

_FIRST_HAND = frozenset({"conversation.item.create", "conversation.item.created", "conversation.item.added"})
"""The client's own event, and the server's echo of it: in the beta one, since then another that a `done` follows."""
ITEM_KINDS = _FIRST_HAND | {"conversation.item.done", "conversation.item.retrieved"}


def read_conversation_item(run_id: str, kind: str, value: dict[str, Any], open_items: Set[str], out: Deltas) -> None:
    """An item that entered the conversation. Those of open responses are read with their responses."""
    item = dict_of(value.get("item"))
    what = item.get("type")
    if what == "function_call_output":
        _read_answer(run_id, kind, item, out)
    elif what == "mcp_approval_response":
        verdict = {name: item[name] for name in ("approve", "reason") if item.get(name) is not None}
        answer = {"call_id": item.get("approval_request_id"), "output": verdict}
        _read_answer(run_id, kind, answer, out, executor="local")
    elif what == "mcp_call":
        read_result(run_id, item, out)
    elif what == "function_call" and item.get("status") != "in_progress" and cleaned(item.get("id")) not in open_items:
        # A client that goes on with an earlier conversation says its calls first.
        call = HistoryCall(
            id=id_of(item.get("call_id")),
            name=text_of(item.get("name")),
            args=arguments_of(item.get("arguments")) or "",
        )
        out.append(History(run_id=run_id, entries=[call], source="event"))


def _read_answer(run_id: str, kind: str, item: dict[str, Any], out: Deltas, *, executor: Executor = "client") -> None:
    """The answer at its first hand, which every later event repeats."""
    id, output = id_of(item.get("call_id")), item.get("output")
    if kind in _FIRST_HAND:
        out.append(ToolMessage(run_id=run_id, tool_call_id=id, content=output, executor=executor))
    else:
        out.append(History(run_id=run_id, entries=[HistoryAnswer(tool_call_id=id, content=output)], source="event"))


def read_tool_choice(run_id: str, settings: dict[str, Any], out: Deltas, *, known: str | None = None) -> str | None:
    """The tool that the settings of a session or of a response force, with a finding where it is not known."""
    tool = cleaned(forced_tool(settings))
    if tool is not None and tool != known:
        out.append(forced(run_id, tool))
    return tool
