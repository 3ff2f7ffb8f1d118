"""The conversation that a Messages request carries: earlier calls and their results, in order."""

from __future__ import annotations

from collections.abc import Iterator

from recorder.deltas import History, HistoryAnswer, HistoryCall
from recorder.dialects.anthropic_blocks import executor_of, status_of_result
from recorder.dialects.frames import Deltas, Frame
from recorder.dialects.tool_choice import forced_tool_choice
from recorder.dialects.values import arguments_of, dict_of, id_of, list_of, text_of


def read_request(frame: Frame, out: Deltas) -> None:
    """Appends the request's history, if it has any calls or results, and a finding where it forces a tool."""
    entries = [
        entry
        for message in list_of(dict_of(frame.value).get("messages"))
        for block in list_of(dict_of(message).get("content"))
        for entry in _entries(block)
    ]
    if entries:
        out.append(History(run_id=frame.run_id, entries=entries, source="request"))
    if (forced := forced_tool_choice(frame)) is not None:
        out.append(forced)


def _entries(block: object) -> Iterator[HistoryCall | HistoryAnswer]:
    fields = dict_of(block)
    kind = text_of(fields.get("type")) or ""
    executor = executor_of(kind)
    if executor is not None:
        yield HistoryCall(
            id=id_of(fields.get("id")),
            name=text_of(fields.get("name")),
            args=arguments_of(fields.get("input")) or "",
            executor=executor,
        )
    elif kind == "tool_result" or kind.endswith("_tool_result"):
        yield HistoryAnswer(
            tool_call_id=id_of(fields.get("tool_use_id")),
            content=fields.get("content"),
            status=status_of_result(fields),
        )
