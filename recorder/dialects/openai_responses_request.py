"""The conversation that a request to the Responses API carries: earlier calls and their answers, in order.

With `previous_response_id` the server has what came before, and the request only what is new.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recorder.deltas import History, HistoryAnswer, HistoryCall, RunStarted
from recorder.dialects.frames import Deltas, Frame
from recorder.dialects.openai_responses_calls import (
    TOOL_SEARCH,
    Answer,
    answer_of,
    call_of,
    is_answer,
    is_call,
    outcome_of,
)
from recorder.dialects.tool_choice import forced, forced_tool
from recorder.dialects.values import cleaned, dict_of, list_of, text_of


def read_request(frame: Frame, out: Deltas) -> None:
    """Appends the request's history, if it has any calls or answers, and a finding where it forces a tool."""
    fields = dict_of(frame.value)
    if previous := cleaned(fields.get("previous_response_id")):
        out.append(RunStarted(run_id=frame.run_id, kind="exchange", metadata={"previous_response_id": previous}))
    if entries := list(_entries(list_of(fields.get("input")))):
        out.append(History(run_id=frame.run_id, entries=entries, source="request"))
    if (tool := forced_tool(fields) or _forced_tool(fields.get("tool_choice"))) is not None:
        out.append(forced(frame.run_id, tool))


def _entries(items: list[Any]) -> Iterator[HistoryCall | HistoryAnswer]:
    searched: str | None = None
    for item in items:
        fields = dict_of(item)
        kind = cleaned(fields.get("type")) or ""
        if is_answer(kind):
            yield _answer(answer_of(kind, fields, searched))
        elif is_call(kind):
            call = call_of(kind, fields)
            searched = call.id if kind == TOOL_SEARCH else searched
            yield HistoryCall(
                id=call.id, name=call.name, args=call.args or "", executor=call.executor, free_text=call.free_text
            )
            if (outcome := outcome_of(kind, fields)) is not None:
                yield _answer(outcome)


def _forced_tool(choice: object) -> str | None:
    """The tool that `tool_choice` forces in this API's own spelling: a built-in one, by its type."""
    fields = dict_of(choice)
    kind = text_of(fields.get("type"))
    if kind in (None, "auto", "none", "allowed_tools"):
        return None
    return text_of(fields.get("name")) or kind


def _answer(answer: Answer) -> HistoryAnswer:
    return HistoryAnswer(tool_call_id=answer.tool_call_id, content=answer.content, status=answer.status)
