"""The conversation that a request of Cohere's version 1 carries: earlier calls and their results, in order."""

from __future__ import annotations

from typing import Any

from recorder.deltas import History, HistoryAnswer, HistoryCall
from recorder.dialects.frames import Deltas, Frame
from recorder.dialects.values import arguments_of, dict_of, list_of, text_of

_Waiting = dict[tuple[str | None, str], list[int]]
"""Places of calls without a result, by name and parameters."""


def read_request(frame: Frame, out: Deltas) -> None:
    """Appends the request's history, if it has any calls or results.

    A result names its call by name and parameters, not by id; results of one turn may come in any order.
    """
    value = dict_of(frame.value)
    turns = [dict_of(turn) for turn in list_of(value.get("chat_history"))]
    entries: list[HistoryCall | HistoryAnswer] = []
    waiting: _Waiting = {}
    for turn in [*turns, {"tool_results": value.get("tool_results")}]:
        for call in list_of(turn.get("tool_calls")):
            if isinstance(call, dict):
                _add_call(_call(call), entries, waiting)
        _add_answers(list_of(turn.get("tool_results")), entries, waiting)
    if entries:
        out.append(History(run_id=frame.run_id, entries=entries, source="request"))


def _call(call: dict[str, Any]) -> HistoryCall:
    return HistoryCall(id=None, name=text_of(call.get("name")), args=arguments_of(call.get("parameters")) or "")


def _add_call(call: HistoryCall, entries: list[HistoryCall | HistoryAnswer], waiting: _Waiting) -> None:
    waiting.setdefault((call.name, call.args), []).append(len(entries))
    entries.append(call)


def _add_answers(results: list[Any], entries: list[HistoryCall | HistoryAnswer], waiting: _Waiting) -> None:
    """The answers in the order of their calls, for by name they pair in order; a call may stand in its result only."""
    found: list[tuple[int, HistoryAnswer]] = []
    for result in results:
        if not isinstance(result, dict):
            continue
        call = _call(dict_of(result.get("call")))
        if not waiting.get((call.name, call.args)):
            _add_call(call, entries, waiting)
        place = waiting[call.name, call.args].pop(0)
        found.append((place, HistoryAnswer(tool_call_id=None, content=result.get("outputs"), name=call.name)))
    entries += [answer for _, answer in sorted(found, key=lambda each: each[0])]
