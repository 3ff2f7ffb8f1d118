"""Items of OpenAI's responses that are calls or answers: what they call, with what, who runs it, what came back.

The same items stand in an answer's `output` and in the `input` of later requests.
Source: OpenAI's API reference, "Responses" (output items, input items), and its guides on the built-in tools.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from recorder.deltas import Executor
from recorder.dialects.values import arguments_of, compact, dict_of, id_of, text_of

_OWN_ID = frozenset(
    {
        "function_call",
        "custom_tool_call",
        "computer_call",
        "local_shell_call",
        "shell_call",
        "apply_patch_call",
        "program",
    }
)
"""Kinds that are answered under their `call_id` only; all others, where they have none, under the item's own id."""
_ARGUMENTS: dict[str, tuple[str, ...]] = {
    "apply_patch_call": ("operation",),
    "code_interpreter_call": ("code",),
    "custom_tool_call": ("input",),
    "file_search_call": (),
    "image_generation_call": (),
    "mcp_list_tools": (),
    "program": ("code",),
}
"""The fields that may hold a call's arguments, by kind; the first that is there does."""
_ANY_ARGUMENTS = ("arguments", "action", "input")
"""Those of any other kind."""
_ONE_ARGUMENT: dict[str, tuple[str, ...]] = {
    "computer_call": ("actions",),
    "file_search_call": ("queries",),
    "image_generation_call": ("revised_prompt", "prompt"),
    "mcp_list_tools": ("server_label",),
}
"""Fields that are one argument of the call, under their own name, by kind."""
_OUTCOMES: dict[str, tuple[str, ...]] = {
    "code_interpreter_call": ("outputs",),
    "file_search_call": ("results",),
    "image_generation_call": ("result",),
    "mcp_call": ("output",),
    "mcp_list_tools": ("tools",),
}
"""The fields in which a call that the provider ran has what came of it, by kind."""
TOOL_SEARCH = "tool_search_call"
_FREE_TEXT = frozenset({"custom_tool_call", "code_interpreter_call", "program"})
_CLIENTS = frozenset({"function_call", "custom_tool_call"})
_NAMED = _CLIENTS | {"mcp_call", "mcp_approval_request"}
"""Kinds that stand for tools of any name; the others are called as their kind is."""
_LOCAL = frozenset({"apply_patch_call", "computer_call", "local_shell_call", "mcp_approval_request"})
"""Tools of the provider's own that the client's side runs, or has to allow."""


class Call(Struct, frozen=True, kw_only=True):
    """A call as an item has it. `args` is None where the item does not say them (yet)."""

    id: str | None
    name: str | None
    args: str | None
    executor: Executor
    free_text: bool


class Answer(Struct, frozen=True, kw_only=True):
    """A tool's answer as an item has it."""

    tool_call_id: str | None
    content: Any
    status: str = "success"


def is_call(kind: str) -> bool:
    """Whether items of this type are calls; a type that came later than this decoder is, if its name ends so."""
    return kind.endswith("_call") or kind in ("mcp_approval_request", "mcp_list_tools", "program")


def is_answer(kind: str) -> bool:
    """Whether items of this type are answers to calls."""
    return kind.endswith("_output") or kind == "mcp_approval_response"


def is_free_text(kind: str) -> bool:
    """Whether the arguments of calls of this kind are text as it is, and no JSON."""
    return kind in _FREE_TEXT


def own_id_of(kind: str, fields: dict[str, Any]) -> str | None:
    """The id that a call has beside its item's."""
    return id_of(fields.get("call_id")) or None if is_call(kind) else None


def call_of(kind: str, fields: dict[str, Any]) -> Call:
    """The call that an item of this type is."""
    return Call(
        id=own_id_of(kind, fields) or (None if kind in _OWN_ID else id_of(fields.get("id")) or None),
        name=text_of(fields.get("name")) or (None if kind in _NAMED else kind.removesuffix("_call")),
        args=_arguments(kind, fields),
        executor=_executor(kind, fields),
        free_text=is_free_text(kind),
    )


def answer_of(kind: str, fields: dict[str, Any], searched: str | None) -> Answer:
    """The answer that an item of this type is; what a search for tools found has no id: it answers the last one."""
    if kind == "mcp_approval_response":
        decision = {key: fields[key] for key in ("approve", "reason") if fields.get(key) is not None}
        return Answer(tool_call_id=id_of(fields.get("approval_request_id")), content=decision)
    id = id_of(fields.get("call_id")) or None
    if id is None and kind == "local_shell_call_output":
        id = id_of(fields.get("id"))
    elif id is None and kind == "tool_search_output":
        id = searched
    content = next((fields[key] for key in ("output", "tools", "result") if fields.get(key) is not None), None)
    return Answer(
        tool_call_id=id,
        content=content,
        status="error" if fields.get("status") == "failed" else "success",
    )


def outcome_of(kind: str, fields: dict[str, Any]) -> Answer | None:
    """What came of a call that the provider ran, as the call's own item says it; None where it does not."""
    error = fields.get("error") or None
    content = next((fields[key] for key in _OUTCOMES.get(kind, ()) if fields.get(key) is not None), None)
    if content is None and (error is None or kind not in _OUTCOMES):
        return None
    failed = error is not None or fields.get("status") == "failed"
    return Answer(
        tool_call_id=call_of(kind, fields).id,
        content=error if content is None or (error is not None and not content) else content,
        status="error" if failed else "success",
    )


def details_of(kind: str, fields: dict[str, Any]) -> dict[str, Any]:
    """What else an item says: all that is neither its head nor read as arguments, outcome or text."""
    read = {
        "type",
        "id",
        "call_id",
        "name",
        "content",
        "summary",
        *_ARGUMENTS.get(kind, _ANY_ARGUMENTS),
        *_ONE_ARGUMENT.get(kind, ()),
        *_OUTCOMES.get(kind, ()),
    }
    return {str(key): value for key, value in fields.items() if value is not None and key not in read}


def _arguments(kind: str, fields: dict[str, Any]) -> str | None:
    for key in _ONE_ARGUMENT.get(kind, ()):
        if fields.get(key) is not None:
            return compact({key: fields[key]})
    keys = _ARGUMENTS.get(kind, _ANY_ARGUMENTS)
    return arguments_of(next((fields[key] for key in keys if fields.get(key) is not None), None))


def _executor(kind: str, fields: dict[str, Any]) -> Executor:
    if kind in _CLIENTS:
        return "client"
    if kind == TOOL_SEARCH:
        return "local" if fields.get("execution") == "client" else "server"
    if kind == "shell_call":
        environment = text_of(dict_of(fields.get("environment")).get("type")) or ""
        return "server" if environment.startswith("container") else "local"
    return "local" if kind in _LOCAL else "server"
