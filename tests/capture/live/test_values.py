"""Live values as JSON: LangChain's own objects as `dumpd` writes them, everything else tagged, nothing raised."""

from __future__ import annotations

import asyncio
import collections
import dataclasses
import datetime
import decimal
import enum
import gc
import json
import sys
import uuid
import weakref
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("langgraph")

from langchain_core.documents import Document
from langchain_core.load import Serializable, dumpd
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, Generation, LLMResult
from langchain_core.prompt_values import ChatPromptValue, StringPromptValue
from langgraph.types import Command, Interrupt, Send
from msgspec import Struct
from pydantic import BaseModel, Field, SecretStr

from recorder.capture.live.values import encode
from recorder.dialects.langchain_walk import answers_of_tool, entries_in
from recorder.events import jsontext

HERE = __name__


def written(value: Any, **limit: int) -> Any:
    return jsontext.decode(encode(value, **limit))


class Colour(enum.Enum):
    RED = 1


class Word(enum.StrEnum):
    YES = "yes"


class Pair(NamedTuple):
    a: int
    b: Any


@dataclasses.dataclass
class Point:
    x: int
    kind: Any = None


@dataclasses.dataclass(slots=True)
class Slotted:
    x: int


class Model(BaseModel):
    x: int
    hidden: str = Field("h", exclude=True)
    key: SecretStr = SecretStr("k3y")


class Made(Struct):
    x: int


class Failing:
    """Whatever of it is called fails."""

    def __repr__(self) -> str:
        raise ValueError("planted")

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("planted")

    def __bool__(self) -> bool:
        raise RuntimeError("planted")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("planted")

    __hash__ = None  # type: ignore[assignment]


class Leaving:
    def __repr__(self) -> str:
        raise SystemExit(1)


class Lying(dict[str, Any]):
    """A dictionary whose methods say something else than what it holds."""

    def items(self) -> Any:
        raise RuntimeError("planted")

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError("planted")


class Loud(Exception):
    def __str__(self) -> str:
        raise ValueError("planted")


class Posing:
    """It says that it is a dictionary, as proxies and mocks do."""

    @property
    def __class__(self) -> type:
        return dict

    def __repr__(self) -> str:
        return "posing"


LANGCHAIN = [
    AIMessage("hello"),
    AIMessage("", tool_calls=[{"name": "f", "args": {"a": 1}, "id": "c1"}], id="1"),
    AIMessage(
        [{"type": "text", "text": "x"}], usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
    ),
    AIMessage(
        "", invalid_tool_calls=[{"name": "f", "args": "{", "id": None, "error": "e", "type": "invalid_tool_call"}]
    ),
    AIMessage("", additional_kwargs={"lc": 1}, response_metadata={"a": {"lc": 2, "b": {"lc": 3}}}, name="n"),
    AIMessageChunk("x", tool_call_chunks=[{"name": None, "args": '{"a', "id": None, "index": 0}], id="lc_run--1"),
    AIMessageChunk("", chunk_position="last"),
    ToolMessage("x", tool_call_id="c1", name="f"),
    ToolMessage("", tool_call_id="", status="error", artifact={"a": [1, 2.5, None, True]}),
    ToolMessage([], tool_call_id="c1", artifact=0),
    ToolMessage("x", tool_call_id="c1", artifact=""),
    HumanMessage("\u00e9\u2028"),
    SystemMessage("", id=""),
    Document("text", metadata={"lc": 1}, id="d"),
    ChatPromptValue(messages=[HumanMessage("x"), AIMessage("y")]),
    StringPromptValue(text="x"),
    ChatGenerationChunk(message=AIMessageChunk("x"), generation_info={"finish_reason": "stop"}),
    ChatGeneration(message=AIMessage("x")),
    Generation(text=""),
    [HumanMessage("x"), {"lc": 1}, {"__lc_escaped__": 1}, ("a", "b")],
    {"messages": [AIMessage("x")], "next": None},
]


@pytest.mark.parametrize("value", LANGCHAIN, ids=lambda value: type(value).__name__)
def test_langchains_objects_are_written_as_dumpd_writes_them(value: Any) -> None:
    assert written(value) == json.loads(json.dumps(dumpd(value)))


FORMS = [
    (float("nan"), {"$number": "NaN"}),
    (
        [float("inf"), float("-inf"), 1e400],
        [{"$number": "Infinity"}, {"$number": "-Infinity"}, {"$number": "Infinity"}],
    ),
    (b"\xff\x00", {"$bytes": "ff00"}),
    (bytearray(b"a"), {"$bytes": "61"}),
    (memoryview(b"a"), {"$bytes": "61"}),
    ((1, ("a",)), [1, ["a"]]),
    ({3}, {"$type": "builtins.set", "$items": [3]}),
    (frozenset({3}), {"$type": "builtins.frozenset", "$items": [3]}),
    (collections.deque([1]), {"$type": "collections.deque", "$items": [1]}),
    (collections.OrderedDict(a=1), {"a": 1}),
    (Lying(a=1), {"a": 1}),
    ({1: "a", "1": "b"}, {"$type": "builtins.dict", "$items": [[1, "a"], ["1", "b"]]}),
    (
        {(1, 2): {None: 3}},
        {"$type": "builtins.dict", "$items": [[[1, 2], {"$type": "builtins.dict", "$items": [[None, 3]]}]]},
    ),
    ({Word.YES: 1}, {"yes": 1}),
    (Word.YES, "yes"),
    (Colour.RED, {"$type": f"{HERE}.Colour", "$name": "RED", "$value": 1}),
    (Pair(1, b""), {"$type": f"{HERE}.Pair", "a": 1, "b": {"$bytes": ""}}),
    (Point(1, Point(2)), {"$type": f"{HERE}.Point", "x": 1, "kind": {"$type": f"{HERE}.Point", "x": 2, "kind": None}}),
    (Slotted(1), {"$type": f"{HERE}.Slotted", "x": 1}),
    (Made(1), {"$type": f"{HERE}.Made", "x": 1}),
    (
        Model(x=1),
        {
            "$type": f"{HERE}.Model",
            "x": 1,
            "key": {"$type": "pydantic.types.SecretStr", "$repr": "SecretStr('**********')"},
        },
    ),
    (uuid.UUID(int=1), {"$type": "uuid.UUID", "$value": "00000000-0000-0000-0000-000000000001"}),
    (datetime.date(2020, 1, 2), {"$type": "datetime.date", "$value": "2020-01-02"}),
    (datetime.timedelta(seconds=1), {"$type": "datetime.timedelta", "$value": "0:00:01"}),
    (decimal.Decimal("1.50"), {"$type": "decimal.Decimal", "$value": "1.50"}),
    (PurePosixPath("/x"), {"$type": "pathlib.PurePosixPath", "$value": "/x"}),
    (1 << 70, 1 << 70),
    (1 << 20_000, {"$type": "builtins.int", "$value": hex(1 << 20_000)}),
    ("\ud83d", "\ud83d"),
    (int, {"$type": "builtins.type", "$repr": "<class 'int'>"}),
    (ValueError("x"), {"$type": "builtins.ValueError", "$repr": "ValueError('x')", "$message": "x"}),
    (Loud(1), {"$type": f"{HERE}.Loud", "$repr": "Loud(1)", "$message": None}),
    (Failing(), {"$type": f"{HERE}.Failing", "$repr": None, "$error": "builtins.ValueError"}),
    (Leaving(), {"$type": f"{HERE}.Leaving", "$repr": None, "$error": "builtins.SystemExit"}),
    (Posing(), {"$type": f"{HERE}.Posing", "$repr": "posing"}),
    (Send("n", {"a": 1}), {"$type": "langgraph.types.Send", "node": "n", "arg": {"a": 1}, "timeout": None}),
    (
        Command(goto=[Send("n", 1)]),
        {
            "$type": "langgraph.types.Command",
            "graph": None,
            "update": None,
            "resume": None,
            "goto": [{"$type": "langgraph.types.Send", "node": "n", "arg": 1, "timeout": None}],
        },
    ),
    (
        Interrupt(value="v", id="i"),
        {"$type": "langgraph.types.Interrupt", "value": "v", "id": "i", "response_schema": None},
    ),
    (
        LLMResult(generations=[[Generation(text="x")]]),
        {
            "$type": "langchain_core.outputs.llm_result.LLMResult",
            "generations": [[dumpd(Generation(text="x"))]],
            "llm_output": None,
            "run": None,
            "type": "LLMResult",
        },
    ),
]


@pytest.mark.parametrize(("value", "form"), FORMS, ids=lambda value: type(value).__name__)
def test_what_json_has_no_word_for_is_tagged(value: Any, form: Any) -> None:
    assert written(value) == form
    assert written({"deep": [value]}) == {"deep": [form]}


def test_an_artifact_is_tagged_within_its_message() -> None:
    message = ToolMessage("x", tool_call_id="c", artifact={"raw": b"\x00", "at": Failing()})
    kwargs = written(message)["kwargs"]
    assert kwargs["content"] == "x"
    assert kwargs["artifact"]["raw"] == {"$bytes": "00"}
    assert kwargs["artifact"]["at"]["$error"] == "builtins.ValueError"


def test_what_langchain_cannot_write_has_its_own_form_for_that() -> None:
    class Private(Serializable):
        x: int = 1

    assert written(Private(x=2)) == dumpd(Private(x=2))


def test_secrets_of_langchains_objects_stay_out() -> None:
    openai = pytest.importorskip("langchain_openai")
    model = openai.ChatOpenAI(model="m", api_key="sk-planted")
    assert b"sk-planted" not in encode({"model": model})
    assert written(model)["kwargs"]["openai_api_key"] == {"lc": 1, "type": "secret", "id": ["OPENAI_API_KEY"]}


def test_iterators_are_not_advanced() -> None:
    taken: list[int] = []

    def numbers() -> Iterator[int]:
        taken.append(1)
        yield 1

    async def words() -> Any:
        taken.append(2)
        yield 2

    async def later() -> None:
        taken.append(3)

    waiting = later()
    found = written([numbers(), words(), waiting, iter([1]), map(taken.append, [4])])
    waiting.close()
    gc.collect()
    assert [each["$type"].rpartition(".")[2] for each in found[:3]] == ["generator", "async_generator", "coroutine"]
    assert taken == []
    assert asyncio.run(anext(words())) == 2


def test_an_object_inside_of_itself() -> None:
    items: list[Any] = [1]
    items.append({"again": items})
    point = Point(1)
    point.kind = [point]
    assert written(items) == [1, {"again": {"$cycle": "builtins.list"}}]
    assert written(point)["kind"] == [{"$cycle": f"{HERE}.Point"}]
    # The same object twice, side by side, is no cycle.
    assert written([point.kind, point.kind])[1] == written([point.kind])[0]


def test_what_is_nested_too_deeply_is_cut() -> None:
    value: Any = "end"
    for _ in range(100_000):
        value = [value]
    body = b'{"event":{"data":{"input":%b}}}' % encode(value)
    found = json.dumps(jsontext.decode(body))
    assert "$deep" in found
    assert "end" not in found
    while value != "end":
        value = value[0]


def test_a_stack_that_is_nearly_full_costs_depth_only() -> None:
    value = {"messages": [AIMessage("x")], "deep": [[[[1]]]]}
    depths = set()

    def down(left: int) -> None:
        if left:
            down(left - 1)
        else:
            depths.add(encode(value))

    frames = len(list(_frames()))
    for left in range(sys.getrecursionlimit() - frames - 120, sys.getrecursionlimit() - frames - 20):
        down(left)
    assert encode(value) in depths
    for found in depths:
        jsontext.decode(found)


def _frames() -> Iterator[Any]:
    frame: Any = sys._getframe()
    while frame is not None:
        yield frame
        frame = frame.f_back


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ("x" * 2000, {"$left_out": {"type": "builtins.str", "length": 2000, "begins": "x" * 1000}}),
        (b"x" * 2000, {"$left_out": {"type": "builtins.bytes", "length": 2000}}),
        (["x" * 2000, "y"], [{"$left_out": {"type": "builtins.str", "length": 2000, "begins": "x" * 1000}}, "y"]),
        (
            ["\u00e9" * 600, "y"],
            [{"$left_out": {"type": "builtins.str", "length": 600, "begins": "\u00e9" * 600}}, "y"],
        ),
    ],
    ids=["text", "bytes", "among others", "beyond ASCII"],
)
def test_what_is_beyond_the_limit_is_marked(value: Any, form: Any) -> None:
    assert written(value, limit=1000) == form


@pytest.mark.parametrize("value", [list(range(100_000)), {str(n): n for n in range(100_000)}, set(range(100_000))])
def test_many_small_things_end_at_the_limit(value: Any) -> None:
    body = encode(value, limit=10_000)
    assert len(body) < 12_000
    (left,) = [part for part in _parts(jsontext.decode(body)) if isinstance(part, dict) and "items" in part]
    assert 100_000 - 2_500 < left["items"] < 100_000


def _parts(value: Any) -> Iterator[Any]:
    yield value
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _parts(part)


def test_a_large_artifact_costs_its_message_nothing() -> None:
    messages = [
        ToolMessage("one", tool_call_id="c1", artifact=b"x" * 100_000_000),
        ToolMessage("two", tool_call_id="c2", artifact=[1] * 10_000_000),
        ToolMessage("three", tool_call_id="c3"),
    ]
    found = written({"messages": messages})["messages"]
    assert [each["kwargs"]["content"] for each in found] == ["one", "two", "three"]
    assert found[0]["kwargs"]["artifact"] == {"$left_out": {"type": "builtins.bytes", "length": 100_000_000}}
    assert "$left_out" in found[1]["kwargs"]["artifact"][-1]
    assert len(encode({"messages": messages})) < 5 * 1024 * 1024


def test_a_value_with_everything_shared_stays_within_the_limit() -> None:
    value: Any = "leaf"
    for _ in range(100):
        value = [value, value]
    assert len(encode(value, limit=100_000)) < 150_000


def test_nothing_live_is_kept() -> None:
    class Local:
        pass

    item, point = Local(), Point(1)
    held = [weakref.ref(item), weakref.ref(point), weakref.ref(Local)]
    encode([item, point, Model(x=1), AIMessage("x", additional_kwargs={"a": item})])
    del item, point, Local
    gc.collect()
    assert [ref() for ref in held] == [None, None, None]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(max_size=8) | st.complex_numbers(),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers() | st.none(), inner)
        | inner.map(lambda value: Point(1, value))
        | inner.map(lambda value: ToolMessage("x", tool_call_id="c", artifact=value))
        | inner.map(lambda value: AIMessage("x", additional_kwargs={"v": value}))
        | inner.map(lambda value: Command(update=value))
    ),
    max_leaves=20,
)


@given(VALUES, st.integers(0, 300))
def test_whatever_the_value_is_its_form_is_strict_json(value: Any, limit: int) -> None:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    for most in (limit, 1 << 20):
        json.loads(encode(value, limit=most), parse_constant=refuse)


def test_the_dialect_finds_calls_and_answers_in_what_was_written() -> None:
    call = AIMessage("", tool_calls=[{"name": "f", "args": {"a": 1}, "id": "c1"}])
    answer = ToolMessage("x", tool_call_id="c1", artifact=Failing())
    holders = [
        {"messages": [call, answer]},
        Point(1, [call, answer]),
        Command(update={"messages": [call, answer]}),
        {7: [call, answer]},
        Send("n", (call, answer)),
    ]
    for holder in holders:
        assert len(entries_in(written(holder))) == 2
    for output in (answer, [answer], Command(update={"messages": [answer]})):
        (delta,) = answers_of_tool("r", written(output))
        assert delta.tool_call_id == "c1"  # type: ignore[union-attr]
