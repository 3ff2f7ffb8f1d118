"""The conversation that a request to Ollama carries: earlier calls and their answers, in order."""

from __future__ import annotations

from collections.abc import Iterator

from recorder.deltas import History, HistoryAnswer, HistoryCall
from recorder.dialects.frames import Deltas, Frame
from recorder.dialects.values import arguments_of, dict_of, id_of, list_of, text_of


def read_request(frame: Frame, out: Deltas) -> None:
    """Appends the request's history, if it has any calls or answers."""
    entries = [entry for message in list_of(dict_of(frame.value).get("messages")) for entry in _entries(message)]
    if entries:
        out.append(History(run_id=frame.run_id, entries=entries, source="request"))


def _entries(message: object) -> Iterator[HistoryCall | HistoryAnswer]:
    """An answer names its tool (`tool_name`, `name` in older clients), and its call's id where there was one."""
    fields = dict_of(message)
    role = fields.get("role")
    if role == "tool":
        yield HistoryAnswer(
            tool_call_id=id_of(fields.get("tool_call_id")) or None,
            content=fields.get("content"),
            name=text_of(fields.get("tool_name", fields.get("name"))),
        )
    elif role == "assistant":
        for call in list_of(fields.get("tool_calls")):
            if isinstance(call, dict):
                function = dict_of(call.get("function"))
                yield HistoryCall(
                    id=id_of(call.get("id")) or None,
                    name=text_of(function.get("name")),
                    args=arguments_of(function.get("arguments")) or "",
                )
