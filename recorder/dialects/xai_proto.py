"""xAI's protocol buffers as JSON prints them: names of fields, enums, roles, counts.

Source: xAI's API definition (package `xai_api`: MessageRole, ToolCallType, ToolCallStatus, FinishReason, ToolMode,
SamplingUsage) and the protocol buffers guide, "ProtoJSON Format": field names in either spelling, enums by name or by
number, fields that have their default left out.
"""

from __future__ import annotations

import re
from typing import Any

from recorder.deltas import Executor
from recorder.dialects.usage import counts_of
from recorder.dialects.values import cleaned, dict_of, int_of, text_of

FINISH_REASONS = (
    "REASON_INVALID",
    "REASON_MAX_LEN",
    "REASON_MAX_CONTEXT",
    "REASON_STOP",
    "REASON_TOOL_CALLS",
    "REASON_TIME_LIMIT",
)
STATUSES = (
    "TOOL_CALL_STATUS_IN_PROGRESS",
    "TOOL_CALL_STATUS_COMPLETED",
    "TOOL_CALL_STATUS_INCOMPLETE",
    "TOOL_CALL_STATUS_FAILED",
)
MODES = ("TOOL_MODE_INVALID", "TOOL_MODE_AUTO", "TOOL_MODE_NONE", "TOOL_MODE_REQUIRED")
_ROLES = (
    "INVALID_ROLE",
    "ROLE_USER",
    "ROLE_ASSISTANT",
    "ROLE_SYSTEM",
    "ROLE_FUNCTION",
    "ROLE_TOOL",
    "ROLE_DEVELOPER",
)
_LANGCHAIN_ROLES = {"assistant": "ai", "user": "human", "function": "tool"}
_TYPES_OF_CLIENTS = ("TOOL_CALL_TYPE_INVALID", "TOOL_CALL_TYPE_CLIENT_SIDE_TOOL")
_COUNTS = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens", "total_tokens": "total_tokens"}
_DETAILS = {
    "cached_prompt_text_tokens": ("input_token_details", "cache_read"),
    "prompt_text_tokens": ("input_token_details", "text_tokens"),
    "prompt_image_tokens": ("input_token_details", "image_tokens"),
    "reasoning_tokens": ("output_token_details", "reasoning"),
}
_CAPITAL = re.compile("(?<=[a-z0-9])([A-Z])")


def fields_of(value: object) -> dict[str, Any]:
    """The object's fields under their names in the definition (`finishReason` → `finish_reason`), or none."""
    return {_CAPITAL.sub(lambda match: f"_{match[1].lower()}", key): item for key, item in dict_of(value).items()}


def enum_of(value: object, names: tuple[str, ...]) -> str:
    """An enum's name; the first one, the default, where nothing (or nothing known) stands."""
    number = 0 if value is None else int_of(value)
    if number is not None:
        return names[number] if 0 <= number < len(names) else str(number)
    return cleaned(value) or names[0]


def role_of(value: object) -> str | None:
    """LangChain's word for a role; None where none was said."""
    role = enum_of(value, _ROLES)
    name = role.removeprefix("ROLE_").lower()
    return None if role == _ROLES[0] else _LANGCHAIN_ROLES.get(name, name)


def executor_of(kind: object) -> Executor:
    """Who runs a call of this type: only the client's own tools are called by the client."""
    return "client" if enum_of(kind, _TYPES_OF_CLIENTS) in _TYPES_OF_CLIENTS else "server"


def xai_counts(usage: object) -> dict[str, Any]:
    """SamplingUsage → the keys of LangChain's UsageMetadata; output does not count the reasoning beside it."""
    return counts_of(fields_of(usage), _COUNTS, _DETAILS)


def text_of_content(content: object) -> object:
    """A message's content: its text where it is nothing else, as it came where it is."""
    parts = content if isinstance(content, list) else [content]
    texts = [text_of(part) if isinstance(part, str) else text_of(dict_of(part).get("text")) for part in parts]
    known = [text for text in texts if text is not None]
    return "".join(known) if len(known) == len(texts) else content
