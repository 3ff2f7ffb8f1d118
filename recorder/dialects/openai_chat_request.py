"""The conversation that a chat completions request carries: earlier calls and their answers, in order."""

from __future__ import annotations

from collections.abc import Iterator

from recorder.deltas import History, HistoryAnswer, HistoryCall
from recorder.dialects.frames import Deltas, Frame
from recorder.dialects.openai_chat_delta import is_custom
from recorder.dialects.tool_choice import forced_tool_choice
from recorder.dialects.values import arguments_of, dict_of, id_of, list_of, text_of


def read_request(frame: Frame, out: Deltas) -> None:
    """Appends the request's history, if it has any calls or answers, and a finding where it forces a tool."""
    entries = [entry for message in list_of(dict_of(frame.value).get("messages")) for entry in _entries(message)]
    if entries:
        out.append(History(run_id=frame.run_id, entries=entries, source="request"))
    if (forced := forced_tool_choice(frame)) is not None:
        out.append(forced)


def _entries(message: object) -> Iterator[HistoryCall | HistoryAnswer]:
    fields = dict_of(message)
    role = fields.get("role")
    if role in ("tool", "function"):
        yield HistoryAnswer(
            tool_call_id=id_of(fields.get("tool_call_id")),
            content=fields.get("content"),
            name=text_of(fields.get("name")),
        )
        return
    if role != "assistant":
        return
    for call in list_of(fields.get("tool_calls")):
        function, custom = dict_of(dict_of(call).get("function")), dict_of(dict_of(call).get("custom"))
        if not isinstance(call, dict):
            continue
        yield HistoryCall(
            id=id_of(call.get("id")),
            name=text_of(function.get("name", custom.get("name"))),
            args=arguments_of(function.get("arguments", custom.get("input"))) or "",
            free_text=is_custom(call),
        )
    if isinstance(legacy := fields.get("function_call"), dict):
        args = arguments_of(legacy.get("arguments")) or ""
        yield HistoryCall(id=None, name=text_of(legacy.get("name")), args=args, legacy=True)
