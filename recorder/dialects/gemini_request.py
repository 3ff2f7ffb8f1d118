"""The conversation that a generateContent request carries: earlier calls and their answers, in order."""

from __future__ import annotations

from collections.abc import Iterator

from recorder.deltas import History, HistoryAnswer, HistoryCall
from recorder.dialects.frames import Deltas, Frame
from recorder.dialects.gemini_names import named
from recorder.dialects.gemini_tools import result, server_call
from recorder.dialects.tool_choice import forced
from recorder.dialects.values import arguments_of, dict_of, id_of, list_of, text_of

_SERVER_CALLS = ("executableCode", "toolCall")
_RESULTS = ("functionResponse", "codeExecutionResult", "toolResponse")


def read_request(frame: Frame, out: Deltas) -> None:
    """Appends the request's history, if it has any calls or answers, and a finding where it forces a tool.

    Code Assist wraps the request in `request`.
    """
    fields = named(frame.value)
    if isinstance(inner := fields.get("request"), dict):
        fields = named(inner)
    contents = fields.get("contents")
    entries = list(history_of(contents if isinstance(contents, list) else [contents]))
    if entries:
        out.append(History(run_id=frame.run_id, entries=entries, source="request"))
    if (tool := _forced(fields.get("toolConfig"))) is not None:
        out.append(forced(frame.run_id, tool))


def history_of(contents: list[object]) -> Iterator[HistoryCall | HistoryAnswer]:
    """The calls and answers in `Content` objects, in their order."""
    for content in contents:
        for part in list_of(dict_of(content).get("parts")):
            for name, value in named(part).items():
                if isinstance(value, dict):
                    yield from _entries(name, value)


def _entries(name: str, value: dict[str, object]) -> Iterator[HistoryCall | HistoryAnswer]:
    fields = named(value)
    if name == "functionCall":
        yield HistoryCall(
            id=id_of(fields.get("id")),
            name=text_of(fields.get("name")),
            args=arguments_of(fields.get("args")) or "",
        )
    elif name in _SERVER_CALLS:
        call = server_call(name, fields)
        yield HistoryCall(id=call.id, name=call.name, args=call.args, executor="server")
    elif name in _RESULTS:
        found = result(name, fields)
        yield HistoryAnswer(tool_call_id=found.id, content=found.content, name=found.name, status=found.status)


def _forced(config: object) -> str | None:
    """The function that the mode `ANY` forces: the only one that is allowed, else `any`."""
    calling = named(named(config).get("functionCallingConfig"))
    if (text_of(calling.get("mode")) or "").upper() != "ANY":
        return None
    allowed = list_of(calling.get("allowedFunctionNames"))
    return text_of(allowed[0]) or "any" if len(allowed) == 1 else "any"
