"""LangChain's callbacks: the events are LangChain's own, and the state at the end is what the program held."""

from __future__ import annotations

import asyncio
import copy
import gc
import json
import os
import pickle
import threading
import warnings
import weakref
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("langgraph")

from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.callbacks import (
    AsyncCallbackHandler,
    CallbackManager,
    adispatch_custom_event,
    dispatch_custom_event,
)
from langchain_core.documents import Document
from langchain_core.language_models.fake import FakeStreamingListLLM
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGenerationChunk, GenerationChunk, LLMResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableGenerator, RunnableLambda
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command

from recorder.capture.live import langchain, langchain_hearing, langchain_runs
from recorder.capture.live.langchain import Handler, handler
from recorder.capture.live.values import encode
from recorder.dialects import get
from tests import live_agent
from tests.capture.live.takers import Kept
from tests.live_agent import ANSWER, CALLING, Scripted, finish, piece
from tests.streams import state_of, stored


class Spoken(Scripted):  # type: ignore[misc]
    """Streams synchronously as well."""

    def _stream(
        self, messages: list[Any], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in self._turn(messages):
            yield ChatGenerationChunk(message=chunk.model_copy(deep=True))
        if self.fails:
            raise ValueError("the connection was lost")


class Shelf(BaseRetriever):
    fails: bool = False

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        if self.fails:
            raise ValueError("no shelf")
        return [Document(query, metadata={"lc": 1})]


@tool
def add(a: int, b: int) -> int:
    """Adds."""
    return a + b


@tool
def fail(a: int) -> int:
    """Fails."""
    return a // 0


@tool
def remember(a: int) -> Any:
    """Answers with a command."""
    return Command(update={"messages": [ToolMessage("kept", tool_call_id=f"c{a}")]})


def config(sink: Kept, **more: Any) -> Any:
    return {"callbacks": [handler(sink)], **more}


def kinds(sink: Kept) -> list[str]:
    return [event.kind for event in sink.events()]


def printed(sink: Kept) -> dict[str, Any]:
    """The state of the events, without a database."""
    return state_of([stored(event, seq) for seq, event in enumerate(sink.events(), 1)])


def without_ids(value: Any) -> Any:
    """Without the ids of tool messages, which LangGraph gives later."""
    if isinstance(value, dict):
        is_tool = value.get("type") == "tool"
        return {key: without_ids(item) for key, item in value.items() if not (is_tool and key == "id")}
    return [without_ids(item) for item in value] if isinstance(value, list) else value


# The events


async def _shadowed(runnable: Any, given: Any, sink: Kept) -> list[dict[str, Any]]:
    """LangChain's own events of the same run, each fixed as it comes."""
    found = []
    async for event in runnable.astream_events(given, config(sink, tags=["t"], metadata={"m": 1}), version="v2"):
        found.append(json.loads(encode(event)))
    return found


def sequence() -> Any:
    prompt = ChatPromptTemplate.from_messages([("human", "{question}")])
    return prompt | Spoken(turns=[ANSWER]) | StrOutputParser()


async def _upper(pieces: AsyncIterator[str]) -> AsyncIterator[str]:
    async for each in pieces:
        yield each.upper()


async def _noted(value: Any) -> Any:
    await adispatch_custom_event("noted", {"value": value})
    return await Shelf().ainvoke("q")


RUNNABLES: dict[str, tuple[Callable[[], Any], Any]] = {
    "agent": (live_agent.agent, live_agent.question()),
    "subgraph": (live_agent.outer, live_agent.question()),
    "sequence": (sequence, {"question": "1 + 2?"}),
    "generator": (lambda: sequence() | RunnableGenerator(_upper), {"question": "1 + 2?"}),
    "text model": (lambda: FakeStreamingListLLM(responses=["some words"]), "hello"),
    "retriever and custom event": (lambda: RunnableLambda(_noted), 1),
    "a tool that fails": (lambda: fail.with_fallbacks([add]), {"a": 1, "b": 2}),
}


@pytest.mark.parametrize("name", RUNNABLES)
def test_the_events_are_those_that_langchain_streams(name: str) -> None:
    make, given = RUNNABLES[name]
    sink = Kept()
    theirs = asyncio.run(_shadowed(make(), given, sink))
    ours = sink.bodies()
    for event in ours:
        # An addition of ours.
        if event["event"] == "on_tool_start":
            event["data"].pop("tool_call_id", None)
    root = theirs[0]["run_id"]
    by_run: dict[str, list[list[Any]]] = {}
    for which, events in enumerate((theirs, ours)):
        for event in events:
            kind = event["event"]
            model = kind.startswith(("on_chat_model", "on_llm"))
            if (kind.endswith("_stream") and not model) or (kind.endswith("_error") and kind != "on_tool_error"):
                continue
            if event["run_id"] == root and kind.endswith("_start"):
                # Theirs is the program's input, whatever the run made of it.
                event["data"].pop("input", None)
            by_run.setdefault(event["run_id"], [[], []])[which].append(without_ids(event))
    assert by_run
    for mine, own in by_run.values():
        assert own == mine


def test_the_envelope_is_what_the_dialect_reads_from_the_body() -> None:
    sink = Kept()
    asyncio.run(_shadowed(live_agent.outer(), live_agent.question(), sink))
    for event in sink.events():
        envelope = get(event.dialect).envelope(json.loads(event.body), None)
        assert (event.kind, event.run_id, event.parent_run_id, event.name) == (
            envelope.kind,
            envelope.run_id,
            envelope.parent_run_id,
            envelope.name,
        )
        assert (event.dialect, event.layer, event.framing) == ("langchain.v2", "framework", "{body}\n")


def test_failures_have_events_which_langchains_stream_does_not_have() -> None:
    sink = Kept()
    broken = Spoken(turns=[[piece(0, '{"a": 1', "c1", "add")]], fails=True)
    with pytest.raises(ValueError, match="lost"):
        list((RunnableLambda(lambda _: "x") | broken).stream("q", config(sink)))
    with pytest.raises(ValueError, match="shelf"):
        Shelf(fails=True).invoke("q", config(sink))
    failed = {body["event"]: body["data"] for body in sink.bodies() if body["event"].endswith("_error")}
    assert failed.keys() == {"on_chat_model_error", "on_chain_error", "on_retriever_error"}
    assert failed["on_chat_model_error"]["error"]["$message"] == "the connection was lost"
    assert failed["on_chat_model_error"]["output"]["kwargs"]["tool_call_chunks"][0]["args"] == '{"a": 1'
    (message,) = printed(sink)["messages"]
    assert [(call["raw"], call["state"]) for call in message["calls"]] == [('{"a": 1', "truncated")]


def test_a_stream_that_the_program_leaves_is_cut_off() -> None:
    sink = Kept()
    chunks = Spoken(turns=[[piece(0, '{"a"', "c1", "f"), piece(0, ": 1}"), finish("tool_calls")]]).stream(
        "q", config(sink)
    )
    next(chunks)
    chunks.close()
    assert kinds(sink)[-1] == "on_chat_model_error"
    (message,) = printed(sink)["messages"]
    assert message["calls"][0]["state"] == "truncated"


def test_what_happens_within_a_run() -> None:
    sink = Kept()
    chain = CallbackManager([handler(sink)]).on_chain_start({"name": "old"}, {"x": 1})
    chain.on_agent_action(AgentAction(tool="f", tool_input="x", log=""))
    chain.on_agent_finish(AgentFinish(return_values={"y": b"\x00"}, log=""))
    chain.on_text("a\ud800")
    chain.on_chain_end({})
    found = sink.bodies()
    assert [body["event"] for body in found[1:4]] == ["on_agent_action", "on_agent_finish", "on_text"]
    assert found[1]["data"]["action"]["kwargs"]["tool"] == "f"
    assert found[2]["data"]["finish"]["kwargs"]["return_values"] == {"y": {"$bytes": "00"}}
    assert found[3]["data"] == {"text": "a\ud800"}
    assert {body["run_id"] for body in found} == {str(chain.run_id)}


def test_retries_say_why() -> None:
    sink, tries = Kept(), []

    def shaky(value: int) -> int:
        tries.append(value)
        if len(tries) < 3:
            raise ValueError("again")
        return value

    from tenacity import RetryCallState, Retrying, stop_after_attempt, wait_none

    run = CallbackManager([handler(sink)]).on_chain_start({"name": "c"}, {})

    def told(state: RetryCallState) -> None:
        run.on_retry(state)

    assert Retrying(stop=stop_after_attempt(3), wait=wait_none(), before_sleep=told)(shaky, 1) == 1
    retries = [body["data"] for body in sink.bodies() if body["event"] == "on_retry"]
    assert [(data["attempt"], data["error"]["$repr"]) for data in retries] == [
        (1, "ValueError('again')"),
        (2, "ValueError('again')"),
    ]


# What is alive


def test_what_an_event_holds_is_fixed_when_it_happens() -> None:
    sink = Kept()
    messages: list[Any] = [HumanMessage("before")]
    (run,) = CallbackManager([handler(sink)]).on_chat_model_start({"name": "m"}, [messages])
    chunk = AIMessageChunk(
        [{"type": "text", "text": "one"}],
        tool_call_chunks=[tool_call_chunk(name="f", args="{", id="c", index=0)],
        additional_kwargs={"a": "b"},
        response_metadata={"c": "d"},
    )
    run.on_llm_new_token("", chunk=ChatGenerationChunk(message=chunk))
    before = json.loads(encode(chunk))
    answer = ToolMessage("x", tool_call_id="c")
    step = CallbackManager([handler(sink)]).on_tool_start({"name": "f"}, "")
    step.on_tool_end(answer)
    messages.append(HumanMessage("after"))
    messages[0].content = "after"
    chunk.content[0]["text"] = "two"  # type: ignore[index]
    chunk.tool_call_chunks[0]["args"] = "}"
    chunk.additional_kwargs["a"] = chunk.response_metadata["c"] = "after"
    chunk.id = answer.id = "after"
    start, streamed, _, end = sink.bodies()
    assert [each["kwargs"]["content"] for each in start["data"]["input"]["messages"][0]] == ["before"]
    assert streamed["data"]["chunk"] == before
    assert "id" not in end["data"]["output"]["kwargs"]


def test_nothing_of_a_run_that_is_over_is_kept() -> None:
    sink = Kept()
    each = handler(sink)
    live_agent.agent()
    asyncio.run(live_agent.agent().ainvoke(live_agent.question(), {"callbacks": [each]}))
    assert each._runs == {}
    assert each._inputs == 0
    assert each._owner.open == set()
    taken = weakref.ref(sink)
    sink.items.clear()
    del sink, each
    gc.collect()
    assert taken() is None


def test_runs_that_never_end_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(langchain_hearing, "MOST_RUNS", 10)
    monkeypatch.setattr(langchain_runs, "MOST_RUNS", 10)
    monkeypatch.setattr(langchain_hearing, "MOST_INPUTS", 1000)
    sink = Kept()
    each = handler(sink)
    ids = [uuid4() for _ in range(50)]
    for run_id in ids:
        each.on_chain_start(None, {"x": "y" * 90}, run_id=run_id, name="n")
    assert len(each._runs) == len(each._owner.open) == 10
    assert each._inputs == sum(len(run.input or b"") for run in each._runs.values()) <= 1000
    for run_id in ids:
        each.on_chain_end({"z": 1}, run_id=run_id, parent_run_id=uuid4())
    assert (each._runs, each._inputs) == ({}, 0)
    assert Counter(kinds(sink)) == {"on_chain_start": 50, "on_chain_end": 50}


# The state


def same_as(message: dict[str, Any], held: AIMessageChunk | AIMessage) -> None:
    assert message["text"] == held.text
    assert message["tool_calls"] == held.tool_calls
    assert message["invalid_tool_calls"] == held.invalid_tool_calls
    if isinstance(held, AIMessageChunk):
        assert message["tool_call_chunks"] == held.tool_call_chunks
    assert message["usage"] == (held.usage_metadata or {})


ARGS = [
    '{"city": "Almer\\u00eda", "days": [1, 2.5, null], "deep": {"a": {"b": "\\ud83d\\ude00"}}}',
    '{"a": 1, "b": -12.5e3}',
    '{"text": "with \\"quotes\\" and\nnew lines"}',
    '{"unfinished": [1, {"a": "b',
    '{"not": NaN, "far": 1e400}',
    "not json",
    "",
]


@st.composite
def turns(draw: st.DrawFn) -> list[AIMessageChunk]:
    """One answer in arbitrary pieces: text between calls, calls interleaved, ids and names once, late or never."""
    texts = draw(st.lists(st.sampled_from(ARGS), max_size=3))
    waiting: list[list[AIMessageChunk]] = [
        [AIMessageChunk(part) for part in draw(st.lists(st.text(max_size=5), max_size=3))]
    ]
    for index, text in enumerate(texts):
        cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=5)))
        parts = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        name, id = draw(st.sampled_from(["f", None])), draw(st.sampled_from([f"c{index}", None, ""]))
        head = piece(index, parts[0], id, name)
        waiting.append([head, *(piece(index, part) for part in parts[1:])])
    out: list[AIMessageChunk] = []
    while any(waiting):
        chosen = draw(st.sampled_from([place for place, pieces in enumerate(waiting) if pieces]))
        out.append(waiting[chosen].pop(0))
    return [*out, finish(draw(st.sampled_from(["stop", "tool_calls", "length"])))]


@given(turns(), st.sampled_from(["stream", "astream", "invoke", "ainvoke"]))
@settings(max_examples=150)
def test_the_state_is_what_the_program_held(turn: list[AIMessageChunk], method: str) -> None:
    sink = Kept()
    model = Spoken(turns=[turn])
    held: Any = None
    if method == "stream":
        for chunk in model.stream("q", config(sink)):
            held = chunk if held is None else held + chunk
    elif method == "astream":

        async def read() -> Any:
            total: Any = None
            async for chunk in model.astream("q", config(sink)):
                total = chunk if total is None else total + chunk
            return total

        held = asyncio.run(read())
    else:
        held = model.invoke("q", config(sink)) if method == "invoke" else asyncio.run(model.ainvoke("q", config(sink)))
    (message,) = printed(sink)["messages"]
    tagged = json.loads(encode({"calls": held.tool_calls}))["calls"]
    if tagged == held.tool_calls:
        same_as(message, held)
    else:
        # Numbers that JSON has no spelling for.
        assert message["tool_call_chunks"] == getattr(held, "tool_call_chunks", message["tool_call_chunks"])
        assert message["tool_calls"] == tagged


def tools_in_parallel() -> Any:
    turn = [
        AIMessageChunk("All at once."),
        *(piece(place, "", f"c{place}", name) for place, name in enumerate(["add", "fail", "remember", "add"])),
        *(piece(place, '{"a": ') for place in (3, 0, 2, 1)),
        piece(0, '1, "b": 2}'),
        piece(3, '3, "b": 4}'),
        piece(1, "1}"),
        piece(2, "2}"),
        finish("tool_calls"),
    ]
    model = Spoken(turns=[turn, ANSWER])

    def call_model(state: MessagesState) -> dict[str, Any]:
        answered = any(isinstance(message, ToolMessage) for message in state["messages"])
        return {"messages": [(Spoken(turns=[ANSWER]) if answered else model).invoke(state["messages"])]}

    inner = StateGraph(MessagesState)
    inner.add_node("model", call_model)
    inner.add_node("tools", ToolNode([add, fail, remember], handle_tool_errors=True))
    inner.add_node("again", call_model)
    inner.add_edge(START, "model")
    inner.add_edge("model", "tools")
    inner.add_edge("tools", "again")
    graph = StateGraph(MessagesState)
    graph.add_node("inner", inner.compile())
    graph.add_edge(START, "inner")
    return graph.compile()


def answered(state: dict[str, Any], held: dict[str, Any]) -> None:
    """The state has the messages, calls, answers and pairings that the program's state has at the end."""
    spoken = [message for message in held["messages"] if isinstance(message, AIMessage)]
    for message, own in zip(state["messages"], spoken, strict=True):
        assert (message["text"], message["tool_calls"]) == (own.text, own.tool_calls)
        assert all(call["state"] == "complete" for call in message["calls"])
    answers = {message.tool_call_id: message for message in held["messages"] if isinstance(message, ToolMessage)}
    found = {each["tool_call_id"]: (each["content"], each["status"]) for each in state["tool_messages"]}
    assert found == {id: (message.content, message.status) for id, message in answers.items()}
    status = {each["call_id"]: each["status"] for each in state["pairings"]}
    assert status == {id: "error" if each.status == "error" else "answered" for id, each in answers.items()}


@pytest.mark.parametrize("method", ["invoke", "ainvoke", "stream", "astream_events", "batch"])
def test_an_agent_with_parallel_tools_of_which_one_fails(method: str, tmp_path: Path) -> None:
    sink, graph = Kept(), tools_in_parallel()

    async def events() -> Any:
        last: Any = None
        async for event in graph.astream_events(live_agent.question(), config(sink), version="v2"):
            last = event["data"].get("output", last)
        return last

    match method:
        case "invoke":
            held = graph.invoke(live_agent.question(), config(sink))
        case "ainvoke":
            held = asyncio.run(graph.ainvoke(live_agent.question(), config(sink)))
        case "stream":
            *_, held = graph.stream(live_agent.question(), config(sink), stream_mode="values")
        case "batch":
            (held,) = graph.batch([live_agent.question()], config(sink))
        case _:
            held = asyncio.run(events())
    state = sink.state(tmp_path)
    answered(
        {"messages": state.messages, "tool_messages": state.tool_messages, "pairings": state.pairings},
        held,
    )
    assert [finding for finding in state.findings if finding["severity"] != "info"] == []
    assert len(state.pairings) == 4


def test_the_middle_of_an_argument_is_there_before_its_end() -> None:
    sink = Kept()
    chunks = Spoken(turns=[[piece(0, '{"a": "b', "c1", "f"), piece(0, 'c"}'), finish("tool_calls")]]).stream(
        "q", config(sink)
    )
    next(chunks)
    (message,) = printed(sink)["messages"]
    assert [(call["raw"], call["value"], call["state"]) for call in message["calls"]] == [
        ('{"a": "b', {"a": "b"}, "open")
    ]
    chunks.close()


# Version v3


def v3(stream: Callable[[], Any]) -> list[Any]:
    async def read() -> list[Any]:
        return [event async for event in await stream()]

    with warnings.catch_warnings():
        # It is in beta.
        warnings.simplefilter("ignore")
        return asyncio.run(read())


def test_a_model_in_version_v3() -> None:
    sink = Kept()
    model = Spoken(turns=[CALLING])
    v3(lambda: model.astream_events("q", config(sink), version="v3"))
    (message,) = printed(sink)["messages"]
    assert message["text"] == "Let me see."
    assert [(call["id"], call["value"], call["state"]) for call in message["calls"]] == [
        ("c_add", {"a": 1, "b": 2}, "complete"),
        ("c_div", {"a": 1}, "complete"),
    ]
    assert Counter(event.dialect for event in sink.events())["langchain.v3"] > 8


def test_a_model_that_fails_in_version_v3() -> None:
    sink = Kept()
    model = Spoken(turns=[[piece(0, '{"a": 1, "b"', "c1", "add")]], fails=True)
    with pytest.raises(ValueError, match="lost"):
        v3(lambda: model.astream_events("q", config(sink), version="v3"))
    (message,) = printed(sink)["messages"]
    assert [(call["raw"], call["state"]) for call in message["calls"]] == [('{"a": 1, "b"', "truncated")]


def test_a_graph_in_version_v3() -> None:
    sink = Kept()
    parts = v3(lambda: live_agent.outer().astream_events(live_agent.question(), config(sink), version="v3"))
    held = [part["params"]["data"] for part in parts if part["method"] == "values"][-1]
    answered(printed(sink), held)


# Everywhere, and twice


@pytest.fixture
def everywhere() -> Iterator[Kept]:
    sink = Kept()
    langchain.register(lambda: sink)
    yield sink
    langchain.uninstall()


def test_every_run_of_the_process_is_recorded(everywhere: Kept) -> None:
    def run(_: int = 0) -> None:
        Spoken(turns=[ANSWER]).invoke("q")

    run()
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, range(4)))
    asyncio.run(Spoken(turns=[ANSWER]).ainvoke("q"))
    RunnableLambda(lambda _: run()).batch([1, 2])
    assert Counter(kinds(everywhere)) == {
        "on_chat_model_start": 9,
        "on_chat_model_end": 9,
        "on_chain_start": 2,
        "on_chain_end": 2,
    }
    assert len(printed(everywhere)["messages"]) == 9


def test_the_hook_comes_and_goes(everywhere: Kept) -> None:
    from langchain_core.tracers.context import _configure_hooks

    with_it = list(_configure_hooks)
    other = Kept()
    assert langchain.register(lambda: other) is langchain.register(lambda: other)
    assert _configure_hooks == with_it
    add.invoke({"a": 1, "b": 2})
    langchain.uninstall()
    langchain.uninstall()
    assert len(_configure_hooks) == len(with_it) - 1
    add.invoke({"a": 1, "b": 2})
    assert (kinds(everywhere), kinds(other)) == ([], ["on_tool_start", "on_tool_end"])


def _once(sink: Kept, callbacks: list[Any]) -> None:
    graph = live_agent.agent()
    held = asyncio.run(graph.ainvoke(live_agent.question(), {"callbacks": callbacks}))
    ends = Counter((event.run_id, event.kind) for event in sink.events() if not event.kind.endswith("_stream"))
    assert ends
    assert set(ends.values()) == {1}
    answered(printed(sink), held)


def test_a_run_with_two_handlers_is_recorded_once(everywhere: Kept) -> None:
    _once(everywhere, [handler(everywhere)])
    everywhere.items.clear()
    _once(everywhere, [handler(everywhere), handler(everywhere)])
    everywhere.items.clear()
    one = handler(everywhere)
    _once(everywhere, [one, one])


def test_the_same_handler_in_one_list_hears_a_stream_once() -> None:
    sink = Kept()
    one = handler(sink)
    words = [chunk.text for chunk in Spoken(turns=[ANSWER]).stream("q", {"callbacks": [one, one, one]})]
    assert printed(sink)["messages"][0]["text"] == "".join(words) == "It is 3."
    assert Counter(kinds(sink)) == {"on_chat_model_start": 1, "on_chat_model_stream": 4, "on_chat_model_end": 1}
    assert one._runs == {}


def test_two_sinks_have_a_run_each(everywhere: Kept) -> None:
    other = Kept()
    Spoken(turns=[ANSWER]).invoke("q", config(other))
    assert kinds(other) == kinds(everywhere) == ["on_chat_model_start", "on_chat_model_end"]


def test_one_id_for_two_runs() -> None:
    sink = Kept()
    run_id = UUID(int=7)
    for _ in range(2):
        Spoken(turns=[ANSWER]).invoke("q", config(sink, run_id=run_id))
    assert kinds(sink) == ["on_chat_model_start", "on_chat_model_end"] * 2


def test_an_id_of_a_run_that_was_given_up(everywhere: Kept) -> None:
    run_id = UUID(int=8)
    chunks = Spoken(turns=[ANSWER]).stream("q", {"run_id": run_id})
    next(chunks)
    langchain.uninstall()
    Spoken(turns=[ANSWER]).invoke("q", config(everywhere, run_id=run_id))
    chunks.close()
    kinds_of_both = ["on_chat_model_start", "on_chat_model_stream", "on_chat_model_start", "on_chat_model_end"]
    assert kinds(everywhere) == kinds_of_both


def test_recording_that_begins_within_a_run(everywhere: Kept) -> None:
    on = False
    langchain.register(lambda: everywhere if on else None)
    chunks = Spoken(turns=[CALLING]).stream("q", {"callbacks": [handler(everywhere)]} if on else None)
    next(chunks)
    on = True
    rest: Any = None
    for chunk in chunks:
        rest = chunk if rest is None else rest + chunk
    (message,) = printed(everywhere)["messages"]
    assert message["tool_calls"] == rest.tool_calls
    assert kinds(everywhere)[-1] == "on_chat_model_end"


def test_threads_and_tasks_at_once(everywhere: Kept) -> None:
    def word(n: int) -> Spoken:
        return Spoken(turns=[[AIMessageChunk(part) for part in f"w{n}"] + [finish("stop")]])

    async def tasks() -> None:
        async def one(n: int) -> None:
            async for _ in word(n).astream("q"):
                await asyncio.sleep(0)

        await asyncio.gather(*(one(n) for n in range(100)))

    threads = [threading.Thread(target=lambda n=n: list(word(n).stream("q"))) for n in range(100, 130)]
    for thread in threads:
        thread.start()
    asyncio.run(tasks())
    for thread in threads:
        thread.join()
    assert sorted(message["text"] for message in printed(everywhere)["messages"]) == sorted(f"w{n}" for n in range(130))


# The program sees nothing of it


class Listening(AsyncCallbackHandler):
    """A handler of the program's own."""

    def __init__(self, inline: bool) -> None:
        self.run_inline = inline
        self.heard: list[str] = []

    async def on_llm_start(self, serialized: Any, prompts: list[str], **kwargs: Any) -> None:
        self.heard.append(prompts[0])


@pytest.mark.parametrize("inline", [(False,), (False, False), (True,), (False, True)])
@pytest.mark.parametrize("more", [0, 1, 2])
def test_the_programs_handlers_hear_of_text_models_as_before(inline: tuple[bool, ...], more: int) -> None:
    def heard(recorders: list[Handler]) -> list[list[str]]:
        own = [Listening(each) for each in inline]
        asyncio.run(FakeStreamingListLLM(responses=["x"]).ainvoke("q", {"callbacks": [*recorders, *own]}))
        return [each.heard for each in own]

    sink = Kept()
    assert heard([handler(sink) for _ in range(more)]) == heard([])
    assert kinds(sink) == (["on_llm_start", "on_llm_end"] if more else [])
    assert all(event.name == "FakeStreamingListLLM" for event in sink.events())


class Broken(Kept):
    def put(self, item: Any) -> None:
        raise RuntimeError("planted")


def test_a_sink_that_fails_harms_nobody(caplog: pytest.LogCaptureFixture) -> None:
    sink = Broken()
    held = tools_in_parallel().invoke(live_agent.question(), config(sink))
    without = tools_in_parallel().invoke(live_agent.question())
    assert [message.text for message in held["messages"]] == [message.text for message in without["messages"]]
    assert {where for where, _ in sink.failures} >= {
        "langchain.on_chain_start",
        "langchain.on_chat_model_start",
        "langchain.on_tool_start",
        "langchain.on_tool_end",
    }
    assert caplog.records == []


def test_callbacks_of_nonsense_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    sink = Kept()
    each = handler(sink)
    run_id = uuid4()
    each.on_llm_new_token("x", chunk=object(), run_id=run_id)
    each.on_llm_end(None, run_id=run_id)
    each.on_retry(None, run_id=run_id)
    each.on_stream_event(None, run_id=run_id)
    Handler(lambda: 1 // 0).on_chain_start(None, {}, run_id=run_id)  # type: ignore[arg-type, return-value]
    assert [where for where, _ in sink.failures] == [
        "langchain.on_llm_new_token",
        "langchain.on_llm_end",
        "langchain.on_retry",
        "langchain.on_stream_event",
    ]


def test_tokens_without_chunks() -> None:
    sink = Kept()
    (chat,) = CallbackManager([handler(sink)]).on_chat_model_start({"name": "m"}, [[HumanMessage("q")]])
    chat.on_llm_new_token("one ")
    chat.on_llm_new_token([{"type": "text", "text": "two"}])  # type: ignore[arg-type]
    (text,) = CallbackManager([handler(sink)]).on_llm_start({"name": "m"}, ["q"])
    text.on_llm_new_token("three")
    text.on_llm_new_token("", chunk=GenerationChunk(text=" four"))
    chat.on_llm_end(LLMResult(generations=[]))
    first, second, third, fourth = (
        body["data"]["chunk"]["kwargs"] for body in sink.bodies() if body["event"].endswith("_stream")
    )
    assert (first["content"], second["content"]) == ("one ", [{"type": "text", "text": "two"}])
    assert (third["text"], fourth["text"]) == ("three", " four")


def test_custom_events_outside_of_async_code() -> None:
    sink = Kept()

    def noted(value: Any) -> Any:
        dispatch_custom_event("noted", value)
        return value

    RunnableLambda(noted).invoke(1.5, config(sink, tags=["t"]))
    (event,) = [event for event in sink.events() if event.kind == "on_custom_event"]
    body = json.loads(event.body)
    assert (event.name, body["name"], body["data"], body["tags"]) == ("noted", "noted", 1.5, ["t"])


def test_a_handler_can_be_copied_and_sent_elsewhere() -> None:
    sink = Kept()
    one = handler(sink)
    assert copy.copy(one) is copy.deepcopy({"callbacks": [one]})["callbacks"][0] is one
    elsewhere = pickle.loads(pickle.dumps(one))
    elsewhere.on_chain_start(None, {}, run_id=uuid4())
    assert sink.items == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_process_has_no_runs_of_its_parents() -> None:
    sink = Kept()
    one = handler(sink)
    one.on_chain_start(None, {"x": 1}, run_id=uuid4())
    one._lock.acquire()
    with warnings.catch_warnings():
        # Threads of other tests may be there.
        warnings.simplefilter("ignore")
        child = os.fork()
    if child == 0:
        fresh = one._runs == {} and one._owner.open == set() and one._lock.acquire(blocking=False)
        os._exit(0 if fresh else 1)
    one._lock.release()
    assert os.waitpid(child, 0)[1] == 0
    assert len(one._runs) == 1
