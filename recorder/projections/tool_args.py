"""What LangChain takes a tool call's raw arguments for."""

from __future__ import annotations

from recorder.projections.partial_json import INVALID, Invalid, Json, parse_partial


def tool_call_value(raw: str | None) -> dict[str, Json] | Invalid:
    """The arguments that LangChain puts under `tool_calls`; INVALID: it puts the call under `invalid_tool_calls`.

    None and "" are `{}`. Half-written text is repaired (`{"a":[1` is `{"a": [1]}`), so that a value says nothing of the
    call being whole; whatever is not an object then is INVALID.
    """
    if not raw:
        return {}
    value = parse_partial(raw)
    return value if isinstance(value, dict) else INVALID
