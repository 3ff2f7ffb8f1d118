"""Tools in Gemini's parts, in answers and in requests that restate them: a call's arguments, a result's content.

Source: Google's API reference, `ExecutableCode`, `CodeExecutionResult`, `ToolCall`, `ToolResponse`, `FunctionResponse`.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from recorder.dialects.values import compact, dict_of, id_of, text_of

CODE_EXECUTION = "code_execution"
"""The tool that runs an `executableCode`, which itself names none."""


class ServerCall(Struct, frozen=True):
    """A call that the provider's own tool answers: `executableCode`, `toolCall`."""

    id: str | None
    name: str | None
    args: str


class Result(Struct, frozen=True):
    """What a tool answered: `codeExecutionResult`, `toolResponse`, `functionResponse`."""

    id: str | None
    name: str | None
    content: Any
    status: str


def server_call(part: str, fields: dict[str, Any]) -> ServerCall:
    """Of an `executableCode` the language and the code are the arguments."""
    id = id_of(fields.get("id"))
    if part == "executableCode":
        return ServerCall(id, CODE_EXECUTION, compact({key: item for key, item in fields.items() if key != "id"}))
    args = fields.get("args")
    return ServerCall(id, text_of(fields.get("toolType")), "" if args is None else compact(args))


def result(part: str, fields: dict[str, Any]) -> Result:
    """Code that was run gives its output, and failed where its outcome is not `OUTCOME_OK`; a function's response has
    its error under the key `error`, as Google's reference asks."""
    id = id_of(fields.get("id"))
    if part == "codeExecutionResult":
        output = fields.get("output")
        ok = text_of(fields.get("outcome")) in (None, "OUTCOME_OK")
        return Result(id, CODE_EXECUTION, "" if output is None else output, "success" if ok else "error")
    response = fields.get("response")
    failed = bool(dict_of(response).get("error"))
    name = text_of(fields.get("toolType" if part == "toolResponse" else "name"))
    return Result(id, name, response, "error" if failed else "success")
