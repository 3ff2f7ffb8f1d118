"""What an interaction's request tells of earlier calls and their results.

The server keeps the conversation (`previous_interaction_id`), so that a request mostly brings results alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recorder.deltas import History, HistoryAnswer, HistoryCall
from recorder.dialects.frames import Deltas, Frame
from recorder.dialects.tool_choice import forced
from recorder.dialects.values import arguments_of, cleaned, dict_of, id_of, list_of, text_of


def read_request(frame: Frame, out: Deltas) -> None:
    """Appends the request's history, if it has any calls or results, and a finding where it forces a tool."""
    fields = dict_of(frame.value)
    given = fields.get("input")
    entries = [entry for item in (given if isinstance(given, list) else [given]) for entry in _entries(dict_of(item))]
    if entries:
        out.append(History(run_id=frame.run_id, entries=entries, source="request"))
    if (tool := _forced(dict_of(fields.get("generation_config")).get("tool_choice"))) is not None:
        out.append(forced(frame.run_id, tool))


def _entries(item: dict[str, Any]) -> Iterator[HistoryCall | HistoryAnswer]:
    """Of a step or a content; of a turn (`{"role", "content": […]}`) those of its contents."""
    type = cleaned(item.get("type")) or ""
    if type.endswith("_call"):
        yield HistoryCall(
            id=id_of(item.get("id")),
            name=text_of(item.get("name")) or (None if type == "function_call" else type.removesuffix("_call")),
            args=arguments_of(item.get("arguments")) or "",
            executor="client" if type == "function_call" else "server",
        )
    elif type.endswith("_result"):
        yield HistoryAnswer(
            tool_call_id=id_of(item.get("call_id")),
            content=item.get("result"),
            name=text_of(item.get("name")) or (None if type == "function_result" else type.removesuffix("_result")),
            status="error" if item.get("is_error") is True else "success",
        )
    elif not type:
        for content in list_of(item.get("content")):
            if isinstance(content, dict) and content.get("type"):
                yield from _entries(content)


def _forced(choice: object) -> str | None:
    """`"any"`, or the tools that are allowed under the mode `any`."""
    allowed = dict_of(dict_of(choice).get("allowed_tools"))
    mode = text_of(allowed.get("mode")) if allowed else text_of(choice)
    if mode != "any":
        return None
    tools = list_of(allowed.get("tools"))
    return text_of(tools[0]) or "any" if len(tools) == 1 else "any"
