"""The conversation that a Converse request carries: earlier calls and their results, in order."""

from __future__ import annotations

from collections.abc import Iterator

from recorder.deltas import History, HistoryAnswer, HistoryCall
from recorder.dialects.anthropic_blocks import executor_of
from recorder.dialects.bedrock_converse_blocks import status_of_result
from recorder.dialects.frames import Deltas, Frame
from recorder.dialects.tool_choice import forced
from recorder.dialects.values import arguments_of, dict_of, id_of, list_of, text_of


def read_request(frame: Frame, out: Deltas) -> None:
    """Appends the request's history, if it has any calls or results, and a finding where it forces a tool."""
    body = dict_of(frame.value)
    entries = [
        entry
        for message in list_of(body.get("messages"))
        for block in list_of(dict_of(message).get("content"))
        for entry in _entries(block)
    ]
    if entries:
        out.append(History(run_id=frame.run_id, entries=entries, source="request"))
    choice = dict_of(dict_of(body.get("toolConfig")).get("toolChoice"))
    if "any" in choice or "tool" in choice:
        out.append(forced(frame.run_id, text_of(dict_of(choice.get("tool")).get("name")) or "any"))


def _entries(block: object) -> Iterator[HistoryCall | HistoryAnswer]:
    fields = dict_of(block)
    if isinstance(call := fields.get("toolUse"), dict):
        yield HistoryCall(
            id=id_of(call.get("toolUseId")),
            name=text_of(call.get("name")),
            args=arguments_of(call.get("input")) or "",
            executor=executor_of(text_of(call.get("type")) or "") or "client",
        )
    if isinstance(result := fields.get("toolResult"), dict):
        yield HistoryAnswer(
            tool_call_id=id_of(result.get("toolUseId")),
            content=result.get("content"),
            status=status_of_result(result),
        )
