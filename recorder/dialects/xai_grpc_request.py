"""The conversation that a request to xAI carries: earlier calls and their answers, in order."""

from __future__ import annotations

from collections.abc import Iterator

from recorder.deltas import History, HistoryAnswer, HistoryCall
from recorder.dialects.frames import Deltas, Frame
from recorder.dialects.tool_choice import forced
from recorder.dialects.values import arguments_of, dict_of, id_of, list_of, text_of
from recorder.dialects.xai_proto import MODES, enum_of, executor_of, fields_of, role_of, text_of_content


def read_request(frame: Frame, out: Deltas) -> None:
    """Appends the request's history, if it has any calls or answers, and a finding where it forces a tool."""
    fields = fields_of(frame.value)
    entries = [entry for message in list_of(fields.get("messages")) for entry in _entries(message)]
    if entries:
        out.append(History(run_id=frame.run_id, entries=entries, source="request"))
    choice = fields_of(fields.get("tool_choice"))
    name = text_of(choice.get("function_name"))
    if name or enum_of(choice.get("mode"), MODES) == "TOOL_MODE_REQUIRED":
        out.append(forced(frame.run_id, name or "any"))


def _entries(message: object) -> Iterator[HistoryCall | HistoryAnswer]:
    """Results of the server's tools are replayed with the call that they answer in the place of its id."""
    fields = fields_of(message)
    role = role_of(fields.get("role"))
    calls = [fields_of(call) for call in list_of(fields.get("tool_calls")) if isinstance(call, dict)]
    if role == "tool":
        id = id_of(fields.get("tool_call_id")) or next((id_of(call.get("id")) for call in calls), None)
        yield HistoryAnswer(
            tool_call_id=id, content=text_of_content(fields.get("content")), name=text_of(fields.get("name"))
        )
    elif role == "ai":
        for call in calls:
            function = dict_of(call.get("function"))
            yield HistoryCall(
                id=id_of(call.get("id")),
                name=text_of(function.get("name")),
                args=arguments_of(function.get("arguments")) or "",
                executor=executor_of(call.get("type")),
            )
