"""The tool that a request forces upon the model: in a loop such a request never lets the agent end."""

from __future__ import annotations

from typing import Any

from recorder.deltas import Finding
from recorder.dialects.frames import Frame, finding
from recorder.dialects.values import dict_of, text_of


def forced_tool_choice(frame: Frame) -> Finding | None:
    """The finding `forced-tool-choice` where the request leaves the model no way but to call a tool."""
    tool = forced_tool(dict_of(frame.value))
    return None if tool is None else forced(frame.run_id, tool)


def forced_tool(settings: dict[str, Any]) -> str | None:
    """The tool that the settings' `tool_choice` forces, `any` where it may be any; None where none is forced.

    OpenAI spells it `"required"`, `{"type": "function", "function": {"name"}}`, or `{"type": "allowed_tools", …}` with
    the mode `required`; in its legacy form `{"function_call": {"name"}}`. Anthropic has `{"type": "any"}` or
    `{"type": "tool", "name"}`, Cohere `"REQUIRED"`.
    """
    return _forced(settings.get("tool_choice")) or text_of(dict_of(settings.get("function_call")).get("name")) or None


def forced(run_id: str, tool: str) -> Finding:
    """The same finding, for a dialect that spells it in a way of its own; `tool`: its name, or `any`."""
    return finding(run_id, "forced-tool-choice", f"the request forces tool {tool!r}")


def _forced(choice: object) -> str | None:
    if isinstance(choice, str):
        return "any" if choice.lower() in ("required", "any") else None
    kind = text_of(dict_of(choice).get("type"))
    if kind == "any":
        return "any"
    if kind == "allowed_tools":
        allowed = dict_of(dict_of(choice).get("allowed_tools")) or dict_of(choice)
        return "any" if allowed.get("mode") == "required" else None
    if kind in ("function", "tool", "custom"):
        named: Any = dict_of(choice).get(kind, choice)
        return text_of(dict_of(named).get("name")) or "any"
    return None
