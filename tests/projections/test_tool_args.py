"""What a call's raw arguments are worth, against the library's own message."""

from __future__ import annotations

import pytest

from recorder.projections.partial_json import INVALID
from recorder.projections.tool_args import tool_call_value

messages = pytest.importorskip("langchain_core.messages", reason="langchain-core is the oracle of these tests")

RAW = [None, "", " ", "{", '{"a":1', '{"a":1}', '{"a":1}{"b":2}', "{bad", '{"a":1}}', "[1]", '"x"', "5", "null", "NaN"]


@pytest.mark.parametrize("raw", RAW)
def test_a_call_is_valid_exactly_where_langchain_takes_it_for_one(raw: str | None) -> None:
    chunk = {"name": "f", "args": raw, "id": "call_1", "index": 0, "type": "tool_call_chunk"}
    message = messages.AIMessageChunk(content="", tool_call_chunks=[chunk])
    value = tool_call_value(raw)
    if value is INVALID:
        assert [call["args"] for call in message.invalid_tool_calls] == [raw]
        assert message.tool_calls == []
    else:
        assert [call["args"] for call in message.tool_calls] == [value]
        assert message.invalid_tool_calls == []
