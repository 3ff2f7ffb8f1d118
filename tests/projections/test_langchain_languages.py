"""Where LangChain of Python and of JavaScript differ: one table, held against both readings and both libraries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk

from recorder.dialects.langchain_chunk import chunk_tool_call_chunks
from recorder.projections.langchain_sum import LangChainSum
from tests.javascript.library import Library
from tests.projections.langchain_oracle import RUN, delta_of, observed
from tests.projections.langchainjs_oracle import Sum

Fields = dict[str, Any]
REFUSED = "refused"
MALFORMED = {"error": "Malformed args.", "type": "invalid_tool_call"}


def called(*pieces: Fields) -> list[Fields]:
    """Chunks of one tool call chunk each."""
    return [{"content": "", "tool_call_chunks": [piece]} for piece in pieces]


def call(args: str, **fields: Any) -> list[Fields]:
    """The one chunk of a call."""
    return called({"index": 0, "id": "c", "name": "f", "args": args, **fields})


def kept(**fields: Any) -> list[Fields]:
    return [{"content": "", **{name: value[place] for name, value in fields.items()}} for place in (0, 1)]


def names(total: Fields) -> Any:
    return [chunk["name"] for chunk in total["tool_call_chunks"]]


def texts(total: Fields) -> Any:
    return [chunk["args"] for chunk in total["tool_call_chunks"]]


def args(total: Fields) -> Any:
    """The arguments of the calls; of an invalid one "invalid"."""
    return [each["args"] for each in total["tool_calls"]] + ["invalid"] * len(total["invalid_tool_calls"])


def content(total: Fields) -> Any:
    return total["content"]


def metadata(total: Fields) -> Any:
    return total["response_metadata"]


def message_id(total: Fields) -> Any:
    return total["id"]


def errors(total: Fields) -> Any:
    return [each["error"] for each in total["invalid_tool_calls"]]


TABLE: list[tuple[str, list[Fields], Callable[[Fields], Any], Any, Any]] = [
    ("a name that repeats", called({"index": 0, "name": "f"}, {"index": 0, "name": "f"}), names, ["ff"], ["f"]),
    ("a name that goes on", called({"index": 0, "name": "f"}, {"index": 0, "name": "g"}), names, ["fg"], ["g"]),
    ("an empty name", called({"index": 0, "name": "f"}, {"index": 0, "name": ""}), names, ["f"], ["f"]),
    (
        "ids of metadata that differ",
        kept(response_metadata=({"id": "a"}, {"id": "b"})),
        metadata,
        {"id": "ab"},
        {"id": "b"},
    ),
    (
        "no index, one id",
        called({"id": "c", "args": "{"}, {"id": "c", "args": "}"}),
        texts,
        ["{", "}"],
        ["{}"],
    ),
    (
        "a text for an index, of a chunk",
        called({"index": "a", "args": "{"}, {"index": "a", "args": "}"}),
        texts,
        REFUSED,
        ["{}"],
    ),
    (
        "a text for an index, of a block",
        kept(content=([{"index": "a", "text": "x"}], [{"index": "a", "text": "y"}])),
        content,
        [{"index": "a", "text": "x"}, {"index": "a", "text": "y"}],
        [{"index": "a", "text": "xy"}],
    ),
    (
        "0 and '0'",
        called({"index": 0, "args": "{"}, {"index": "0", "args": "}"}),
        texts,
        ["{}"],
        ["{", "}"],
    ),
    (
        "one index, two types",
        kept(content=([{"type": "text", "index": 0, "text": "x"}], [{"type": "other", "index": 0, "n": 1}])),
        content,
        [{"type": "text", "index": 0, "text": "x", "n": 1}],
        [{"type": "text", "index": 0, "text": "x"}, {"type": "other", "index": 0, "n": 1}],
    ),
    (
        "one index, a type and its delta",
        kept(content=([{"type": "text", "index": 0, "text": "x"}], [{"type": "text_delta", "index": 0, "text": "y"}])),
        content,
        [{"type": "text", "index": 0, "text": "xy"}],
        [{"type": "text", "index": 0, "text": "xy"}],
    ),
    ("a call without an id", called({"index": 0, "name": "f", "args": "{}"}), args, [{}], ["invalid"]),
    ("what is wrong with an invalid call", call("x"), errors, [None], ["Malformed args."]),
    (
        "calls that share an index and were not added",
        [{"content": "", "tool_call_chunks": [{"index": 0, "id": "c", "args": '{"a":'}, {"index": 0, "args": "1}"}]}],
        args,
        [{}, "invalid"],
        [{"a": 1}],
    ),
    ("white space for arguments", call(" "), args, ["invalid"], [{}]),
    ("a byte order mark", call('\ufeff{"a":1}'), args, ["invalid"], [{"a": 1}]),
    ("half a literal", call('{"a":tru'), args, [{}], [{"a": True}]),
    ("half a number", call('{"a":-'), args, [{}], [{"a": 0}]),
    ("half an escape", call('{"a":"x\\'), args, [{"a": "x"}], [{"a": "x\\"}]),
    ("half an escape of a number", call('{"a":"\\u00'), args, [{}], [{"a": "u00"}]),
    ("white space at the end", call('{"a":"x '), args, [{"a": "x "}], [{"a": "x"}]),
    ("more behind the arguments", call('{"a":1}{"b":2}'), args, [{"a": 1}], ["invalid"]),
    ("an infinity", call('{"a":Infinity'), args, [{"a": float("inf")}], ["invalid"]),
    ("single quotes", call("{'a"), args, [{}], ["invalid"]),
    ("a bracket that does not match", call('{"a":[1}'), args, ["invalid"], ["invalid"]),
    (
        "halves of a character",
        called({"index": 0, "args": '"\ud83d'}, {"index": 0, "args": "\ude00"}),
        texts,
        ['"\ud83d\ude00'],
        ['"\U0001f600'],
    ),
    (
        "a member that nobody knows",
        called({"index": 0, "n": 1}, {"index": 0, "n": 2}),
        lambda total: [chunk["n"] for chunk in total["tool_call_chunks"]],
        REFUSED,
        [3],
    ),
    ("equal numbers", kept(response_metadata=({"n": 5}, {"n": 5})), metadata, {"n": 5}, {"n": 10}),
    ("times", kept(response_metadata=({"created": 1}, {"created": 2})), metadata, {"created": 2}, {"created": 1}),
    ("equal texts", kept(response_metadata=({"m": "x"}, {"m": "x"})), metadata, {"m": "xx"}, {"m": "xx"}),
    ("truths", kept(response_metadata=({"m": True}, {"m": False})), metadata, REFUSED, {"m": True}),
    ("no blocks, then text", kept(content=([], "y")), content, [], [{"type": "text", "text": "y"}]),
    (
        "text, then blocks",
        kept(content=("x", [{"type": "text", "text": "y"}])),
        content,
        ["x", {"type": "text", "text": "y"}],
        [{"type": "text", "text": "x"}, {"type": "text", "text": "y"}],
    ),
    ("a run's id, then the provider's", kept(id=("lc_run-1", "msg_1")), message_id, "msg_1", "lc_run-1"),
    ("an empty id", kept(id=("", "msg_1")), message_id, "msg_1", ""),
    (
        "calls in additional_kwargs only",
        [
            {
                "content": "",
                "additional_kwargs": {
                    "tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}}]
                },
            }
        ],
        args,
        [{}],
        [],
    ),
    (
        "counts that nobody knows",
        kept(
            usage_metadata=(
                {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, "other": 1},
                {"input_tokens": 1, "output_tokens": 0, "total_tokens": 1},
            )
        ),
        lambda total: total["usage_metadata"].get("other"),
        1,
        None,
    ),
]
ROWS = pytest.mark.parametrize(
    ("chunks", "part", "python", "javascript"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)


@ROWS
def test_the_readings_differ_as_the_table_says(
    chunks: list[Fields], part: Callable[[Fields], Any], python: Any, javascript: Any
) -> None:
    assert repr(by_python_here(chunks, part)) == repr(python)
    assert repr(by_javascript_here(chunks, part)) == repr(javascript)


@ROWS
def test_langchain_core_does_what_the_table_says(
    chunks: list[Fields], part: Callable[[Fields], Any], python: Any, javascript: Any
) -> None:
    try:
        first, *others = [AIMessageChunk(**fields) for fields in chunks]
        total = sum(others, first)
    except (TypeError, ValueError):
        assert python == REFUSED
        return
    assert repr(part({name: getattr(total, name) for name in observed(LangChainSum())})) == repr(python)


@ROWS
def test_langchain_js_does_what_the_table_says(
    langchainjs: Library, chunks: list[Fields], part: Callable[[Fields], Any], python: Any, javascript: Any
) -> None:
    total = langchainjs.ask("sum", chunks=chunks)[-1]["sum"]
    total["tool_call_chunks"] = [{"name": None} | chunk for chunk in total["tool_call_chunks"]]
    assert repr(part(total)) == repr(javascript)


def by_python_here(chunks: list[Fields], part: Callable[[Fields], Any]) -> Any:
    total = LangChainSum()
    for seq, fields in enumerate(chunks, 1):
        try:
            AIMessageChunk(**fields)
        except (TypeError, ValueError):
            # No event holds what cannot be constructed.
            return REFUSED
        steps = total.add(seq, delta_of(fields, None), chunk_tool_call_chunks(fields, RUN))
        if total.message.refused or any(step.findings for step in steps):
            return REFUSED
    return part(observed(total))


def by_javascript_here(chunks: list[Fields], part: Callable[[Fields], Any]) -> Any:
    total = Sum()
    for seq, fields in enumerate(chunks, 1):
        event = {"lc": 1, "id": ["langchain_core", "messages", "AIMessageChunk"], "kwargs": fields}
        assert total.add(seq, event) == []
    return part(total.observed)
