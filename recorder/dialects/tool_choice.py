"""The tool that a request forces upon the model: in a loop such a request never lets the agent end."""

from __future__ import annotations

from typing import Any

from recorder.deltas import Finding
from recorder.dialects.frames import Frame, finding
from recorder.dialects.values import dict_of, text_of


def forced_tool_choice(frame: Frame) -> Finding | None:
    """The finding `forced-tool-choice` where the request leaves the model no way but to call a tool.

    OpenAI spells it `"required"` or `{"type": "function", "function": {"name"}}`, Anthropic `{"type": "any"}` or
    `{"type": "tool", "name"}`.
    """
    tool = _forced(dict_of(frame.value).get("tool_choice"))
    return None if tool is None else finding(frame.run_id, "forced-tool-choice", f"the request forces tool {tool!r}")


def _forced(choice: object) -> str | None:
    if isinstance(choice, str):
        return "any" if choice in ("required", "any") else None
    kind = text_of(dict_of(choice).get("type"))
    if kind == "any":
        return "any"
    if kind in ("function", "tool", "custom"):
        named: Any = dict_of(choice).get(kind, choice)
        return text_of(dict_of(named).get("name")) or "any"
    return None
